//! Statistics of file systems.

use std::ffi::CString;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Size of the file system that holds a path, and what is free for us, in bytes.
pub fn space(path: &Path) -> Option<(u64, u64)> {
    let stat = statistics(path)?;
    Some((stat.f_blocks * stat.f_frsize, stat.f_bavail * stat.f_frsize))
}

/// Returns whether a folder is on btrfs, which compresses in kernel threads and reports
/// uncompressed file sizes.
pub fn is_on_btrfs(folder: &Path) -> bool {
    let Ok(folder) = CString::new(folder.as_os_str().as_bytes()) else { return false };
    let mut stat = std::mem::MaybeUninit::<libc::statfs>::zeroed();
    // SAFETY: the path ends with a zero and `stat` is a valid place; zeroed is a valid value of it.
    let (rc, stat) =
        unsafe { (libc::statfs(folder.as_ptr(), stat.as_mut_ptr()), stat.assume_init()) };
    rc == 0 && stat.f_type == libc::BTRFS_SUPER_MAGIC
}

/// Bytes that are taken of the file system that holds a folder, metadata included, once what was
/// written is on its devices; and what tells that file system from others.
pub fn used(folder: &Path) -> Option<(u64, u64)> {
    let open = File::open(folder).ok()?;
    // SAFETY: the descriptor is open. Where it fails, what is written is counted as far as the
    // system does.
    unsafe { libc::syncfs(open.as_raw_fd()) };
    let stat = statistics(folder)?;
    Some((stat.f_fsid, (stat.f_blocks - stat.f_bfree) * stat.f_frsize))
}

/// Reads the statistics of the file system that holds a path (see statvfs(3)).
pub(crate) fn statistics(path: &Path) -> Option<libc::statvfs> {
    let path = CString::new(path.as_os_str().as_bytes()).ok()?;
    let mut stat = std::mem::MaybeUninit::<libc::statvfs>::zeroed();
    // SAFETY: the path ends with a zero and `stat` is a valid place; zeroed is a valid value of it.
    let (rc, stat) =
        unsafe { (libc::statvfs(path.as_ptr(), stat.as_mut_ptr()), stat.assume_init()) };
    (rc == 0).then_some(stat)
}
