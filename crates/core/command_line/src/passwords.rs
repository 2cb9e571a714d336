//! Secrets that the program is started with, in its environment and on its command line: known from
//! the start on, so that no output has them. Those on the command line are warned about, and hidden
//! from other users.

use crate::output;
use observations::{Secret, names_secret, redacted, secrets_in};
use observe::processes;
use std::path::Path;

/// Variables that hold the working folder, of the shell and of the one before: `PWD` elsewhere is
/// short for a password.
const WORKING_FOLDERS: [&str; 2] = ["PWD", "OLDPWD"];

/// Characters from which on a password is looked for without the signs around it.
const SHORT: usize = 4;

/// Makes the secrets of the environment and of the arguments known.
pub fn remember_secrets() {
    for (name, value) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if names_secret(&name) && !WORKING_FOLDERS.contains(&&*name) {
            // GOOGLE_APPLICATION_CREDENTIALS is the name of a file.
            let is_file = Path::new(&value).is_absolute() && Path::new(&value).exists();
            let _ = (!is_file).then(|| Secret::from(&*value.to_string_lossy()));
        }
        // DATABASE_URL
        drop(password(&value.to_string_lossy()));
    }
    for argument in std::env::args_os() {
        let argument = argument.to_string_lossy();
        drop(password(&argument));
        drop(secrets_in(&argument));
    }
}

/// Overwrites the passwords in our own arguments, which every user of the machine can see (`ps`).
///
/// # Safety
/// No other thread may read or write the arguments.
pub(crate) unsafe fn hide_passwords() {
    // SAFETY: the caller's promise.
    if unsafe { overwrite_passwords() } {
        output::complain(
            "warning: other users of this machine may have seen the password on the command \
             line; pass it in PGPASSWORD or ~/.pgpass (PostgreSQL), MYSQL_PWD or ~/.my.cnf \
             (MariaDB), SQLCMDPASSWORD (SQL Server)",
        );
    }
}

/// The password of a URL; a short one with the signs around it. In an argument it may hold blanks
/// and quotes, at which it would end in a text.
fn password(argument: &str) -> Option<Secret> {
    let (_, login) = argument.split_once("://")?;
    let (password, _) = login.split_once(':')?.1.rsplit_once('@')?;
    let is_short = password.chars().count() < SHORT;
    Some(if is_short { format!(":{password}@").into() } else { password.into() })
}

/// Returns true when there were any.
///
/// # Safety
/// No other thread may read or write the arguments.
unsafe fn overwrite_passwords() -> bool {
    let Some((start, end)) = arguments_in_memory() else { return false };
    // SAFETY: the kernel has put the arguments there, for the program to write to (proc(5),
    // arg_start and arg_end).
    let bytes = unsafe { std::slice::from_raw_parts_mut(start as *mut u8, end - start) };
    let Ok(text) = str::from_utf8(bytes).map(|text| text.replace('\0', " ")) else { return false };
    let shown = redacted(&text);
    for ((at, before), after) in text.char_indices().zip(shown.chars()) {
        if before != after && bytes[at] != 0 {
            bytes[at..at + before.len_utf8()].fill(b'*');
        }
    }
    shown != text
}

/// The addresses between which the arguments are in memory.
fn arguments_in_memory() -> Option<(usize, usize)> {
    let [start, end] = processes::stat(std::process::id() as i32, [48, 49])?;
    (0 < start && start < end).then_some((start as usize, end as usize))
}
