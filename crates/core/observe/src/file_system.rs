//! Statistics of file systems.

use rustix::fs::{StatVfs, statfs, statvfs, syncfs};
use std::fs::File;
use std::path::Path;

/// Size of the file system that holds a path, and what is free for us, in bytes.
pub fn space(path: &Path) -> Option<(u64, u64)> {
    let stat = statistics(path)?;
    Some((stat.f_blocks * stat.f_frsize, stat.f_bavail * stat.f_frsize))
}

/// Returns whether a folder is on btrfs, which compresses in kernel threads and reports
/// uncompressed file sizes.
pub fn is_on_btrfs(folder: &Path) -> bool {
    statfs(folder).is_ok_and(|stat| stat.f_type == libc::BTRFS_SUPER_MAGIC)
}

/// Bytes that are taken of the file system that holds a folder, metadata included, once what was
/// written is on its devices; and what tells that file system from others.
pub fn used(folder: &Path) -> Option<(u64, u64)> {
    // Where it fails, what is written is counted as far as the system does.
    let _ = syncfs(File::open(folder).ok()?);
    let stat = statistics(folder)?;
    Some((stat.f_fsid, (stat.f_blocks - stat.f_bfree) * stat.f_frsize))
}

/// Reads the statistics of the file system that holds a path (see statvfs(3)).
pub(crate) fn statistics(path: &Path) -> Option<StatVfs> {
    statvfs(path).ok()
}
