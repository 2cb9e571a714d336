//! Passwords on the command line: warned about, and hidden from other users.

use crate::output;
use observations::{Secret, redacted};

/// Overwrites the passwords in our own arguments, which every user of the machine can see (`ps`),
/// and keeps them out of complaints.
///
/// # Safety
/// No other thread may read or write the arguments.
pub(crate) unsafe fn hide_passwords() {
    output::hide(
        std::env::args_os().filter_map(|argument| password(&argument.to_string_lossy())).collect(),
    );
    // SAFETY: the caller's promise.
    if unsafe { overwrite_passwords() } {
        output::complain(
            "warning: other users of this machine may have seen the password on the command \
             line; pass it in PGPASSWORD or ~/.pgpass (PostgreSQL), MYSQL_PWD or ~/.my.cnf \
             (MariaDB), SQLCMDPASSWORD (SQL Server)",
        );
    }
}

/// The password of a URL with the signs around it. In an argument it may hold anything, also blanks
/// and quotes, at which it would end in a text.
fn password(argument: &str) -> Option<Secret> {
    let (_, login) = argument.split_once("://")?;
    let (password, _) = login.split_once(':')?.1.rsplit_once('@')?;
    Some(format!(":{password}@").into())
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
    let status = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program, the second field, can hold anything.
    let mut fields = status.rsplit_once(')')?.1.split_whitespace();
    let start = fields.nth(48 - 3)?.parse().ok()?;
    let end = fields.next()?.parse().ok()?;
    (0 < start && start < end).then_some((start, end))
}
