//! The claim of one run on a results file.

use crate::{Fault, Result};
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// The byte of a results file that a run locks: far behind all content and the bytes that SQLite
/// locks (at 1 GiB).
const BYTE: i64 = 1 << 62;

/// A lock on the results file itself, so that it is one lock whatever name or link leads to the
/// file.
///
/// It belongs to the open file (`F_OFD_SETLK`, fcntl(2)) and the kernel releases it when the
/// process ends in any way, kill -9 included, so that there is never a stale claim.
///
/// *Rule*: dropped after the [`Store`](crate::Store) of the same file: whatever closes a file takes
/// SQLite's locks with it.
#[derive(Debug)]
pub struct RunLock {
    _file: File,
}

impl RunLock {
    pub(crate) fn acquire(results: &Path) -> Result<Self, Fault> {
        let mut open = OpenOptions::new();
        open.read(true).write(true).custom_flags(libc::O_NONBLOCK);
        let file = open.open(results).map_err(|error| Fault::io("open it for locking", error))?;
        match claim(&file) {
            Ok(()) => Ok(Self { _file: file }),
            Err(error)
                if [io::ErrorKind::WouldBlock, io::ErrorKind::PermissionDenied]
                    .contains(&error.kind()) =>
            {
                Err(Fault::InUse(file.metadata().ok().and_then(|file| holder(&file))))
            }
            Err(error) => Err(Fault::io("lock it", error)),
        }
    }
}

fn claim(file: &File) -> io::Result<()> {
    let lock = libc::flock {
        l_type: libc::F_WRLCK as _,
        l_whence: libc::SEEK_SET as _,
        l_start: BYTE,
        l_len: 1,
        l_pid: 0,
    };
    // SAFETY: the descriptor is open and the lock a valid one.
    let status = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &raw const lock) };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Looks at the kernel's list of locks.
const LOOKS: u32 = 5;

/// Returns whether a run of any process uses a results file. A kernel that hides its locks shows
/// none.
///
/// Takes no lock itself, so that a run that begins at this moment is not refused. Does not open the
/// file either: closing any descriptor of a file releases all of SQLite's locks that this process
/// has on it.
pub fn is_claimed(results: &Path) -> bool {
    let Ok(file) = results.metadata() else { return false };
    // One look can miss a lock while other processes take and release theirs.
    (0..LOOKS).any(|_| {
        let locks = std::fs::read_to_string("/proc/locks").unwrap_or_default();
        locks.lines().any(|line| is_claim_on(line, &file))
    })
}

/// The process that has the claim, if we may look at it.
fn holder(file: &Metadata) -> Option<u32> {
    let processes = std::fs::read_dir("/proc").ok()?.flatten();
    let mut pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.find(|pid| {
        let files =
            std::fs::read_dir(format!("/proc/{pid}/fdinfo")).into_iter().flatten().flatten();
        let mut facts = files.filter_map(|entry| std::fs::read_to_string(entry.path()).ok());
        facts.any(|facts| facts.lines().any(|line| is_claim_on(line, file)))
    })
}

/// Returns whether a line of `/proc/locks` or of a descriptor's `fdinfo` (proc(5)) is the claim on
/// a file: `1: OFDLCK ADVISORY WRITE -1 08:01:131 4611686018427387904 4611686018427387904`.
fn is_claim_on(line: &str, file: &Metadata) -> bool {
    let mut words = line.split_whitespace().skip_while(|word| *word != "OFDLCK").skip(4);
    let (Some(place), Some(start)) = (words.next(), words.next()) else { return false };
    let mut parts = place.split(':');
    let mut number = |radix| parts.next().and_then(|part| u64::from_str_radix(part, radix).ok());
    let (Some(major), Some(minor), Some(inode)) = (number(16), number(16), number(10)) else {
        return false;
    };
    let (known_major, known_minor) =
        (u64::from(libc::major(file.dev())), u64::from(libc::minor(file.dev())));
    // File systems without a device (btrfs, overlay) have another number here than in stat(2).
    let is_same_device =
        (major, minor) == (known_major, known_minor) || (major, known_major) == (0, 0);
    start.parse() == Ok(BYTE) && inode == file.ino() && is_same_device
}
