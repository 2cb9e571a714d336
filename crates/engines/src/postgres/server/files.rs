//! The files of clusters: copies that share their blocks where the file system can, their space and
//! their place in the page cache.

use super::account::Account;
use super::at;
use crate::EngineError;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// All files of a data directory, the log and tablespaces elsewhere included. Only the links that
/// PostgreSQL makes for these are followed.
pub(super) fn all(data: &Path) -> Result<Vec<PathBuf>, EngineError> {
    let mut files = Vec::new();
    walk(data, &mut files)?;
    let tablespaces = data.join("pg_tblspc");
    let links = std::fs::read_dir(&tablespaces).map_err(at(&tablespaces))?;
    let links = links.flatten().map(|entry| entry.path()).chain([data.join("pg_wal")]);
    for folder in links.filter(|path| path.is_symlink()).filter_map(|link| link.canonicalize().ok()) {
        walk(&folder, &mut files)?;
    }
    Ok(files)
}

/// Files come and go while a server runs: what is gone is left out.
fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), EngineError> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(at(folder))?,
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
pub(super) fn evict(files: &[PathBuf]) -> Result<(), EngineError> {
    for file in files {
        match observe::page_cache::evict(file) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => return Err(at(file)(source)),
            _ => {}
        }
    }
    Ok(())
}

/// Bytes that files have allocated.
pub(super) fn allocated_bytes(files: &[PathBuf]) -> u64 {
    // Blocks of 512 bytes, whatever the file system's are (stat(2)).
    files.iter().filter_map(|file| file.symlink_metadata().ok()).map(|found| found.blocks() * 512).sum()
}

/// Copies a folder with all it has to a new place and gives the copy to an account. Modes are kept;
/// files share their blocks with the original where the file system can, which the system's
/// `copy_file_range(2)` sees to.
pub(super) fn clone_folder(from: &Path, to: &Path, owner: &Account) -> Result<(), EngineError> {
    std::fs::create_dir(to).map_err(at(to))?;
    let mode = from.metadata().map_err(at(from))?.permissions();
    std::fs::set_permissions(to, mode).map_err(at(to))?;
    owner.own(to)?;
    for entry in std::fs::read_dir(from).map_err(at(from))? {
        let entry = entry.map_err(at(from))?;
        let (original, copy) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().map_err(at(&original))?;
        if kind.is_dir() {
            clone_folder(&original, &copy, owner)?;
        } else if kind.is_file() {
            std::fs::copy(&original, &copy).map_err(at(&copy))?;
            owner.own(&copy)?;
        } else {
            let strange = io::Error::new(io::ErrorKind::InvalidData, "is neither a file nor a folder");
            return Err(at(&original)(strange));
        }
    }
    Ok(())
}

/// Writes all that a file system holds back to its device, so that it does not do so later,
/// while something is measured.
pub(super) fn write_back(folder: &Path) -> Result<(), EngineError> {
    let file = File::open(folder).map_err(at(folder))?;
    rustix::fs::syncfs(file).map_err(|error| at(folder)(error.into()))
}
