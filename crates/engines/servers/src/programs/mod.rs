//! Helper programs (psql, `pg_restore`, `pg_dump`, the `mariadb` client): finding one of a version,
//! preparing its start, and logging in for them on a server by URL.
//!
//! A helper program connects to a private socket and needs no password there. Steelbench's own
//! client logs in on the server, by its rules: no password in cleartext, no file of this machine.
//! From then on the relay passes bytes. The program never knows a password of the server.
//!
//! - [`dump`]: formats and origins of dumps
//! - `relay`: the socket, its folder and its threads; [`Handshake`]: how a protocol begins
//! - `pump`: passing bytes in both directions
//! - [`libpq`]: how PostgreSQL's protocol begins; [`mysql`]: how MariaDB's and MySQL's does

pub mod dump;
pub mod libpq;
pub mod mysql;
mod pump;
mod relay;

use crate::account;
use crate::process::end_with_us;
use crate::version::{choose, printed_version};
pub use relay::{Handshake, Relay};
use rustix::process::Signal;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Finds the program of the version that suits a wanted one best ([`choose`]) under the first of
/// these names in each of these folders. `numbers` reads what a program prints as its version;
/// programs that print none are left out. Returns the numbers too.
pub fn find_version(
    names: &[&str],
    places: &[PathBuf],
    numbers: impl Fn(&str) -> Option<Vec<u32>>,
    requested: Option<&[u32]>,
    series: usize,
) -> Option<(PathBuf, Vec<u32>)> {
    let found = places.iter().filter_map(|place| {
        let program = names.iter().map(|name| place.join(name)).find(|path| path.is_file())?;
        let numbers = numbers(&printed_version(&program).ok()?)?;
        Some((program, numbers))
    });
    choose(found, requested, series, |(_, numbers)| numbers.clone())
}

/// A program without our environment, which ends when we do, in the folder from which the paths of
/// its files count.
pub fn command(program: &Path, folder: &Path) -> Command {
    let mut command = account::command(program);
    command.current_dir(if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
    end_with_us(&mut command, Signal::KILL);
    command
}
