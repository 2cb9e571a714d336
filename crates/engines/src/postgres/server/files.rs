//! The files of a cluster.

use super::file_error;
use crate::EngineError;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// All files of a data directory, the log and tablespaces elsewhere included. Only the links that
/// PostgreSQL makes for these are followed.
pub(super) fn all(data: &Path) -> Result<Vec<PathBuf>, EngineError> {
    let mut files = Vec::new();
    walk(data, &mut files)?;
    let tablespaces = data.join("pg_tblspc");
    let links = std::fs::read_dir(&tablespaces).map_err(|source| file_error(&tablespaces, source))?;
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
        entries => entries.map_err(|source| file_error(folder, source))?,
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
            Err(source) if source.kind() != io::ErrorKind::NotFound => return Err(file_error(file, source)),
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
