use crate::Fault;
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
    pub(crate) fn acquire(results: &Path) -> Result<Self, Fault> {
        // One lock for one file, whatever name or link leads to it.
        let real = results.canonicalize().map_err(|error| Fault::io("resolve its path", error))?;
        let mut open = OpenOptions::new();
        open.read(true).write(true).create(true).truncate(false);
        let mut file = open.open(lock_path(&real)).map_err(|error| Fault::io("open its lock file", error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut pid = String::new();
                // The holder's number only helps to find it; without it the error is as true.
                let _ = file.read_to_string(&mut pid);
                return Err(Fault::InUse(pid.trim().parse().ok()));
            }
            Err(TryLockError::Error(error)) => return Err(Fault::io("lock its lock file", error)),
        }
        let written = file.set_len(0).and_then(|()| file.rewind());
        written
            .and_then(|()| writeln!(file, "{}", std::process::id()))
            .map_err(|error| Fault::io("write to its lock file", error))?;
        Ok(Self { file })
    }
}

/// The process that holds the claim on a results file: `None` when no run uses it, and where the kernel does not
/// show us the locks of that process (another machine or container).
///
/// Claims nothing itself, not even for a moment, so that a run that begins meanwhile is not refused.
pub fn claimed_by(results: &Path) -> Option<u32> {
    let path = lock_path(&results.canonicalize().ok()?);
    let process: u32 = std::fs::read_to_string(path).ok()?.trim().parse().ok()?;
    // A killed run leaves its number; what it does not leave is a lock. proc(5): `1: FLOCK ADVISORY WRITE 4711 ...`.
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    let holds = |line: &str| {
        let mut words = line.split_whitespace().skip(1);
        words.next() == Some("FLOCK") && words.nth(2).is_some_and(|holder| holder.parse() == Ok(process))
    };
    locks.lines().any(holds).then_some(process)
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
