//! The files of private servers: what one has in its directory, copies that share their blocks
//! where the file system can, their space and their place in the page cache.

use super::account::Account;
use engine::{EngineError, Result};
use std::fs::{File, Permissions};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Names in the directory of a private server.
#[derive(Debug, Clone)]
pub struct Layout {
    /// The directory, marked as ours by its maker.
    pub directory: PathBuf,
    /// The server's data directory.
    pub data: PathBuf,
    /// Log of the server.
    pub log: PathBuf,
    /// The folder of its sockets, or a link to it.
    pub socket: PathBuf,
}

impl Layout {
    /// The names in this directory.
    pub fn in_directory(directory: &Path) -> Self {
        let [data, log, socket] = ["data", "server.log", "socket"].map(|name| directory.join(name));
        Self { directory: directory.into(), data, log, socket }
    }
}

/// Files come and go while a server runs: what is gone is left out.
pub fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(EngineError::at(folder))?,
    };
    for entry in entries.flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => walk(&entry.path(), files)?,
            Ok(kind) if kind.is_file() => files.push(entry.path()),
            _ => {}
        }
    }
    Ok(())
}

/// Syncs files and puts them out of the page cache.
pub fn evict(files: &[PathBuf]) -> Result<()> {
    for file in files {
        match File::open(file).and_then(|file| observe::page_cache::evict(&file)) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                return Err(EngineError::at(file)(source));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Bytes that files have allocated.
pub fn allocated_bytes(files: &[PathBuf]) -> u64 {
    // Blocks of 512 bytes for any file system (stat(2)).
    files
        .iter()
        .filter_map(|file| file.symlink_metadata().ok())
        .map(|found| found.blocks() * 512)
        .sum()
}

/// Copies a folder with all it has, or a file, to a new place and gives the copy to an account.
/// Modes are kept; files share their blocks with the original where the file system can, which the
/// system's `copy_file_range(2)` sees to.
pub fn clone_folder(from: &Path, to: &Path, owner: &Account) -> Result<()> {
    let found = from.symlink_metadata().map_err(EngineError::at(from))?;
    if found.is_file() {
        std::fs::copy(from, to).map_err(EngineError::at(to))?;
    } else if found.is_dir() {
        std::fs::create_dir(to).map_err(EngineError::at(to))?;
        std::fs::set_permissions(to, found.permissions()).map_err(EngineError::at(to))?;
        for entry in std::fs::read_dir(from).map_err(EngineError::at(from))? {
            let name = entry.map_err(EngineError::at(from))?.file_name();
            clone_folder(&from.join(&name), &to.join(&name), owner)?;
        }
    } else {
        let strange = io::Error::new(io::ErrorKind::InvalidData, "is neither a file nor a folder");
        return Err(EngineError::at(from)(strange));
    }
    owner.chown(to)
}

/// Writes all that a file system holds back to its device, so that it does not do so later,
/// while something is measured.
pub(crate) fn write_back(folder: &Path) -> Result<()> {
    let file = File::open(folder).map_err(EngineError::at(folder))?;
    rustix::fs::syncfs(file).map_err(|error| EngineError::at(folder)(error.into()))
}

/// Returns whether the server's place is empty: other files would be removed with it.
pub(crate) fn is_vacant(layout: &Layout, log: Option<&Path>) -> Result<()> {
    let places = [&layout.data, &layout.socket, &layout.log].map(PathBuf::as_path);
    match places.into_iter().chain(log).find(|place| place.symlink_metadata().is_ok()) {
        Some(taken) => Err(EngineError::at(taken)(io::ErrorKind::AlreadyExists.into())),
        None => Ok(()),
    }
}

/// Lets another account pass through our directory; the server's files in it are private.
pub(crate) fn open_for(account: &Account, directory: &Path) -> Result<()> {
    if account.is_other() {
        let found = directory.metadata().map_err(EngineError::at(directory))?;
        let mode = Permissions::from_mode(found.permissions().mode() | 0o111);
        std::fs::set_permissions(directory, mode).map_err(EngineError::at(directory))?;
    }
    account.can_enter(directory)
}

/// A path without links.
pub fn absolute(path: &Path) -> Result<PathBuf> {
    path.canonicalize().map_err(EngineError::at(path))
}

/// The last lines of a text.
pub(crate) fn last_lines(text: &str, lines: usize) -> String {
    let all: Vec<&str> = text.lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}

/// Bytes of a log that are looked at for its last lines.
const LOG_BYTES_MAX: u64 = 64 << 10;

/// Returns the end of a server's log since it had this length.
pub fn log_since(log: &Path, bytes: u64) -> String {
    let length = log.metadata().map_or(0, |found| found.len());
    let from = bytes.max(length.saturating_sub(LOG_BYTES_MAX));
    let mut sentences = Vec::new();
    let read = File::open(log).and_then(|mut log| {
        log.seek(SeekFrom::Start(from))?;
        log.take(LOG_BYTES_MAX).read_to_end(&mut sentences)
    });
    // An unreadable file counts as empty.
    read.map_or_else(|_| String::new(), |_| String::from_utf8_lossy(&sentences).into_owned())
}
