//! State of a stream shared by the threads of a run: open files and rarely written flags.

use crate::error::{IoFailure, Misfit};
use crate::offsets::{Extent, Space};
use crate::{Access, DiskError, Region, Stream};
use std::fs::{File, OpenOptions};
use std::io::{self, Seek as _, SeekFrom};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Lines of cache of its own.
#[repr(align(128))]
#[derive(Debug, Default)]
pub(crate) struct CacheLine(pub AtomicU64);

/// A file or device, open for what a stream does to it.
#[derive(Debug)]
pub(crate) struct OpenFile {
    pub path: PathBuf,
    pub file: File,
    /// The first; no thread of the stream uses the file any more.
    failure: OnceLock<IoFailure>,
}

/// A stream with its files, for all threads that serve it.
#[derive(Debug)]
pub(crate) struct SharedStream<'a> {
    pub stream: &'a Stream,
    pub files: Vec<OpenFile>,
    pub space: Space,
    /// The positions of the threads of a sequential stream.
    pub position: CacheLine,
    claimed: CacheLine,
    failures: AtomicU32,
}

impl<'a> SharedStream<'a> {
    /// Opens the distinct files and lays out the places of the I/Os.
    ///
    /// # Errors
    /// When a file cannot be opened or a setting does not fit it.
    pub fn open(stream: &'a Stream) -> Result<Self, DiskError> {
        let mut files: Vec<OpenFile> = Vec::new();
        let mut extents = Vec::new();
        for region in &stream.regions {
            let known = files.iter().position(|file| file.path == region.path);
            let number = known.unwrap_or(files.len());
            if known.is_none() {
                let (path, file) = (region.path.clone(), open_file(stream, &region.path)?);
                files.push(OpenFile { path, file, failure: OnceLock::new() });
            }
            check(stream, region, &files[number].file)?;
            extents.push(Extent { file: number, start: region.start, length: region.length });
        }
        Ok(Self {
            stream,
            files,
            space: Space::new(extents, stream.access, stream.block, stream.align),
            position: CacheLine::default(),
            claimed: CacheLine::default(),
            failures: AtomicU32::new(0),
        })
    }

    /// The descriptors of its files, in order.
    pub fn descriptors(&self) -> impl Iterator<Item = RawFd> {
        self.files.iter().map(|file| file.file.as_raw_fd())
    }

    /// Claims bytes of those that the stream is to move; false when there are none left.
    #[inline]
    pub fn claim(&self, bytes: u32) -> bool {
        match self.stream.bytes {
            None => true,
            Some(most) => self.claimed.0.fetch_add(u64::from(bytes), Ordering::Relaxed) < most,
        }
    }

    /// Number of files that have failed so far.
    #[inline]
    pub fn failures(&self) -> u32 {
        self.failures.load(Ordering::Relaxed)
    }

    /// Returns whether a file has failed.
    pub fn has_failed(&self, file: usize) -> bool {
        self.files[file].failure.get().is_some()
    }

    /// A file has failed.
    pub fn fail(&self, file: usize, failure: IoFailure) {
        if self.files[file].failure.set(failure).is_ok() {
            self.failures.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The first failure of each file that failed, in the order of time.
    pub fn failures_by_time(&self) -> Vec<IoFailure> {
        let mut failures: Vec<_> =
            self.files.iter().filter_map(|file| file.failure.get().cloned()).collect();
        failures.sort_by(|first, other| first.at_s.total_cmp(&other.at_s));
        failures
    }
}

fn open_file(stream: &Stream, path: &Path) -> Result<File, DiskError> {
    let (read, write) = (stream.read_percent > 0, stream.read_percent < 100);
    // Opening a pipe would wait for its other end.
    let kind = std::fs::metadata(path).map(|metadata| metadata.file_type());
    if kind.is_ok_and(|kind| !kind.is_file() && !kind.is_block_device()) {
        return Err(DiskError::Unfit { path: path.into(), misfit: Misfit::Kind });
    }
    let mut options = OpenOptions::new();
    options.read(read).write(write);
    // A link in its place was not there when the file was chosen.
    options.custom_flags(libc::O_NOFOLLOW | if stream.direct { libc::O_DIRECT } else { 0 });
    let file = options.open(path).map_err(|error| refused(path, stream.direct, write, error))?;
    if stream.direct && is_in_memory(path) {
        return Err(DiskError::Unfit { path: path.into(), misfit: Misfit::InMemory });
    }
    if !stream.direct && stream.access == Access::Random {
        // Reading ahead would read more than requested. It is a hint: a failure changes nothing.
        // SAFETY: the descriptor is open.
        unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_RANDOM) };
    }
    Ok(file)
}

/// Says what to do, where that is known.
pub fn refused(path: &Path, direct: bool, write: bool, error: io::Error) -> DiskError {
    let doing = match (direct, write) {
        (false, false) => "opening for reading",
        (false, true) => "opening for writing",
        (true, false) => "opening for direct reading (O_DIRECT)",
        (true, true) => "opening for direct writing (O_DIRECT)",
    };
    let advice = match error.raw_os_error() {
        Some(libc::EINVAL) if direct => {
            "the file system does not support direct I/O; use buffered I/O or another path"
        }
        Some(libc::EACCES | libc::EPERM) => "run as root or as a user with access",
        Some(libc::EMFILE | libc::ENFILE) => "raise the open files limit (ulimit -n)",
        _ => return DiskError::File { path: path.into(), doing, source: error },
    };
    let source = io::Error::new(error.kind(), format!("{error}; {advice}"));
    DiskError::File { path: path.into(), doing, source }
}

/// Checks that the stream's settings fit a region.
fn check(stream: &Stream, region: &Region, file: &File) -> Result<(), DiskError> {
    let unfit = |misfit| Err(DiskError::Unfit { path: region.path.clone(), misfit });
    // The size of a device is the position of its end.
    let size = (&*file).seek(SeekFrom::End(0)).map_err(|source| {
        let path = region.path.clone();
        DiskError::File { path, doing: "reading the size", source }
    })?;
    let (block, end) = (stream.block, region.start.saturating_add(region.length));
    if end > size {
        return unfit(Misfit::TooSmall { size, start: region.start, end });
    }
    if u64::from(block.max) > region.length {
        return unfit(Misfit::LargeBlock { block: block.max, region: region.length });
    }
    if !stream.direct {
        return Ok(());
    }
    let sector = direct_unit(&region.path, file);
    let align = stream.align.unwrap_or(u64::from(block.min));
    let parts = [
        ("the block size", u64::from(block.min)),
        ("the largest block", u64::from(block.max)),
        ("the alignment", align),
        ("the first byte", region.start),
    ];
    match parts.iter().find(|(_, bytes)| !bytes.is_multiple_of(sector)) {
        Some(&(what, bytes)) => unfit(Misfit::Unaligned { sector, what, bytes }),
        None => Ok(()),
    }
}

/// Offsets and lengths of direct I/O are multiples of this many bytes: from the file system
/// (`STATX_DIOALIGN`, Linux 6.1), else the logical sector of the device, else 512.
pub(crate) fn direct_unit(path: &Path, file: &File) -> u64 {
    let sector = logical_sector(path).unwrap_or(512);
    let (descriptor, path, mask) = (file.as_raw_fd(), c"".as_ptr(), libc::STATX_DIOALIGN);
    // SAFETY: the path is empty, so that the descriptor's file is meant; the result has its place,
    // of which zeroed is a valid value.
    let (failed, status) = unsafe {
        let mut status: libc::statx = std::mem::zeroed();
        (libc::statx(descriptor, path, libc::AT_EMPTY_PATH, mask, &raw mut status), status)
    };
    match status.stx_dio_offset_align {
        unit if failed == 0 && status.stx_mask & mask != 0 && unit > 0 => u64::from(unit),
        _ => sector,
    }
}

fn logical_sector(path: &Path) -> Option<u64> {
    observe::inspect::volume(path).ok()?.devices.first()?.logical_sector_bytes
}

/// Returns whether the file is on tmpfs. Device nodes also live on a kind of tmpfs and are
/// excluded.
fn is_in_memory(path: &Path) -> bool {
    let mount = observe::inspect::volume(path).ok().and_then(|facts| facts.mount);
    mount.is_some_and(|mount| mount.file_system.ends_with("tmpfs"))
}
