//! What a run that was killed left: a server that goes on, and its files.

use super::layout::{Layout, Postmaster};
use super::process::{kill_all, processes_of};
use super::{failed, file_error, shared_memory, socket, wait_for};
use crate::{Cancel, EngineError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// So far below a marked directory clusters are looked for.
const DEPTH_MAX: u32 = 3;
/// How long an orphan may take for an immediate shutdown.
const STOP: Duration = Duration::from_secs(10);

/// Stops servers whose data directories are inside a directory that the caller knows as ours, and
/// frees what they have outside of it: shared memory and folders of sockets. The directory itself
/// is left to the caller. A server is known by the directory that its processes work in; others
/// are never touched.
///
/// # Errors
/// When a server goes on, or a folder cannot be removed.
pub fn reclaim(directory: &Path) -> Result<(), EngineError> {
    let Ok(directory) = directory.canonicalize() else { return Ok(()) };
    let mut data_directories = Vec::new();
    find(&directory, DEPTH_MAX, &mut data_directories);
    for data in &data_directories {
        end(data)?;
        if let Some(parent) = data.parent() {
            let layout = Layout::of(parent);
            socket::remove(&layout).map_err(|source| file_error(&layout.socket(), source))?;
        }
    }
    Ok(())
}

/// Removes the files of a cluster whose server has ended, in its directory and outside.
pub(super) fn remove_files(layout: &Layout, wal: Option<&Path>) -> Result<(), EngineError> {
    socket::remove(layout).map_err(|source| file_error(&layout.socket(), source))?;
    let data = layout.data();
    for folder in [Some(data.as_path()), wal].into_iter().flatten() {
        ignore_missing(folder, std::fs::remove_dir_all(folder))?;
    }
    ignore_missing(&layout.log(), std::fs::remove_file(layout.log()))
}

fn ignore_missing(path: &Path, result: io::Result<()>) -> Result<(), EngineError> {
    match result {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(file_error(path, source)),
        _ => Ok(()),
    }
}

fn find(folder: &Path, depth: u32, found: &mut Vec<PathBuf>) {
    if folder.join("PG_VERSION").is_file() && folder.join("global").is_dir() {
        found.push(folder.into());
        return;
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| depth > 0 && entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        find(&entry.path(), depth - 1, found);
    }
}

fn end(data: &Path) -> Result<(), EngineError> {
    let note = Postmaster::of(data);
    let running = processes_of(data, note.pid);
    if let Some(first) = note.pid.filter(|pid| running.contains(pid)) {
        // SAFETY: a system call. The process was seen to work for this data directory.
        unsafe { libc::kill(first, libc::SIGQUIT) };
        wait_for(STOP, &Cancel::new(), || Ok(processes_of(data, note.pid).is_empty().then_some(())))?;
    }
    if !kill_all(data, note.pid) {
        return Err(failed(data.display().to_string(), "a server of a run before cannot be killed"));
    }
    if let Some((key, id)) = note.shared_memory {
        shared_memory::free(key, id);
    }
    Ok(())
}
