use crate::{Result, StoreError};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

/// The claim of one run on a results file: an advisory lock on `<file>.lock` beside it.
///
/// The kernel releases it when the process ends in any way, kill -9 included, so there is never a
/// stale claim. The lock file stays (empty): removing it could let two runs each lock their own.
#[derive(Debug)]
pub struct RunLock {
    file: File,
}

impl RunLock {
    pub(crate) fn acquire(results: &Path) -> Result<Self> {
        // One lock for one file, whatever name or link leads to it.
        let real =
            results.canonicalize().map_err(|error| StoreError::io(results, "resolve its path", error))?;
        let path = lock_path(&real);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(|error| StoreError::io(&path, "open the lock file", error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut pid = String::new();
                // The holder's number only helps to find it; without it the error is as true.
                let _ = file.read_to_string(&mut pid);
                return Err(StoreError::InUse { path: results.to_owned(), pid: pid.trim().parse().ok() });
            }
            Err(TryLockError::Error(error)) => return Err(StoreError::io(&path, "lock it", error)),
        }
        file.set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| writeln!(file, "{}", std::process::id()))
            .map_err(|error| StoreError::io(&path, "write to the lock file", error))?;
        Ok(Self { file })
    }
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // Only tidiness: the lock itself goes with the descriptor.
        let _ = self.file.set_len(0);
    }
}

fn lock_path(results: &Path) -> PathBuf {
    let mut name = results.as_os_str().to_owned();
    name.push(".lock");
    name.into()
}
