//! Opens what a stream works on, and checks that its settings fit.

use crate::offsets::{Extent, Space};
use crate::{Access, DiskError, Region, Stream};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Largest buffer that `io_uring` takes.
const BLOCK_MAX: u32 = 1 << 30;

/// A file or device, open for what a stream does to it.
#[derive(Debug)]
pub struct OpenFile {
    pub path: PathBuf,
    pub file: File,
}

/// Opens the distinct files of a stream and lays out its places.
///
/// # Errors
/// When a file cannot be opened or a setting does not fit it.
pub fn open(stream: &Stream) -> Result<(Vec<OpenFile>, Space), DiskError> {
    check_shape(stream)?;
    let mut files: Vec<OpenFile> = Vec::new();
    let mut extents = Vec::new();
    for region in &stream.regions {
        let known = files.iter().position(|file| file.path == region.path);
        let file = known.unwrap_or(files.len());
        if known.is_none() {
            files.push(open_file(stream, &region.path)?);
        }
        check(stream, region, &files[file].file)?;
        extents.push(Extent { file, start: region.start, length: region.length });
    }
    Ok((files, Space::new(extents, stream.access, stream.block, stream.align)))
}

/// What does not depend on the files.
fn check_shape(stream: &Stream) -> Result<(), DiskError> {
    let wrong = |message: &str| Err(DiskError::System(format!("stream {}: {message}", stream.name)));
    match stream {
        Stream { regions, .. } if regions.is_empty() => wrong("it has no files"),
        Stream { block, .. } if block.min == 0 || block.max < block.min => {
            wrong("the block size is not between 1 byte and its largest")
        }
        Stream { block, .. } if block.max > BLOCK_MAX => wrong("a block is larger than 1 GiB"),
        Stream { read_percent: 101.., .. } => wrong("more than 100 % of the I/Os are reads"),
        Stream { align: Some(0), .. } => wrong("offsets cannot be multiples of 0"),
        Stream { arrivals: crate::Arrivals::Rate(rate), .. } if !(rate.is_finite() && *rate > 0.0) => {
            wrong("the rate is not above 0")
        }
        Stream { arrivals: crate::Arrivals::Burst { count: 0, .. }, .. } => wrong("a burst has no I/Os"),
        Stream { durability: crate::Durability::Sync { every: 0, .. }, .. } => {
            wrong("a sync after every 0 writes")
        }
        _ => Ok(()),
    }
}

fn open_file(stream: &Stream, path: &Path) -> Result<OpenFile, DiskError> {
    let (read, write) = (stream.read_percent > 0, stream.read_percent < 100);
    // Opening a pipe would wait for its other end.
    let kind = std::fs::metadata(path).map(|metadata| metadata.file_type());
    if kind.is_ok_and(|kind| !kind.is_file() && !kind.is_block_device()) {
        let message = "neither a file nor a block device".into();
        return Err(DiskError::Unfit { path: path.into(), message });
    }
    let mut options = OpenOptions::new();
    options.read(read).write(write);
    if stream.direct {
        options.custom_flags(libc::O_DIRECT);
    }
    let file = options.open(path).map_err(|error| refused(path, stream.direct, write, error))?;
    if stream.direct && is_in_memory(&file) {
        return Err(DiskError::Unfit {
            path: path.into(),
            message:
                "tmpfs keeps files in memory, so direct I/O means nothing there: use a file on a disk, or \
                      buffered I/O"
                    .into(),
        });
    }
    if !stream.direct && stream.access == Access::Random {
        // Reading ahead would read what nobody asked for. It is a hint: a failure changes nothing.
        // SAFETY: the descriptor is open.
        unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_RANDOM) };
    }
    Ok(OpenFile { path: path.into(), file })
}

/// Says what to do, where that is known.
pub fn refused(path: &Path, direct: bool, write: bool, error: io::Error) -> DiskError {
    let doing = match (direct, write) {
        (false, false) => "open for reading",
        (false, true) => "open for writing",
        (true, false) => "open for direct reading (O_DIRECT)",
        (true, true) => "open for direct writing (O_DIRECT)",
    };
    let advice = match error.raw_os_error() {
        Some(libc::EINVAL) if direct => "the file system has no direct I/O: use buffered I/O or another path",
        Some(libc::EACCES | libc::EPERM) => "run as root or as a user who may",
        Some(libc::EMFILE | libc::ENFILE) => "raise the limit of open files (ulimit -n)",
        _ => return DiskError::File { path: path.into(), doing, source: error },
    };
    let source = io::Error::new(error.kind(), format!("{error}: {advice}"));
    DiskError::File { path: path.into(), doing, source }
}

/// Whether the stream's settings fit one of its regions.
fn check(stream: &Stream, region: &Region, file: &File) -> Result<(), DiskError> {
    let unfit = |message: String| Err(DiskError::Unfit { path: region.path.clone(), message });
    let size = size(file, &region.path)?;
    let (block, end) = (stream.block, region.start.saturating_add(region.length));
    if end > size {
        return unfit(format!(
            "it has {size} bytes, I/O should go from byte {} to {end}: make it larger, or use less of it",
            region.start
        ));
    }
    if u64::from(block.max) > region.length {
        return unfit(format!(
            "a block of {} bytes is larger than the {} bytes to work on: use a smaller block or a larger file",
            block.max, region.length
        ));
    }
    if !stream.direct {
        return Ok(());
    }
    let sector = direct_unit(file);
    let align = stream.align.unwrap_or(u64::from(block.min));
    let parts = [
        ("the block size", u64::from(block.min)),
        ("the largest block", u64::from(block.max)),
        ("the alignment", align),
        ("the first byte", region.start),
    ];
    match parts.iter().find(|(_, bytes)| !bytes.is_multiple_of(sector)) {
        Some((what, bytes)) => unfit(format!(
            "direct I/O needs multiples of {sector} bytes here, but {what} is {bytes}: use a multiple, or buffered I/O"
        )),
        None => Ok(()),
    }
}

/// Bytes of a file or device.
fn size(file: &File, path: &Path) -> Result<u64, DiskError> {
    let failed = |source| DiskError::File { path: path.into(), doing: "find its size", source };
    let metadata = file.metadata().map_err(failed)?;
    if metadata.file_type().is_block_device() {
        return io::Seek::seek(&mut &*file, io::SeekFrom::End(0)).map_err(failed);
    }
    Ok(metadata.len())
}

/// Offsets and lengths of direct I/O are multiples of this many bytes: what the file system says
/// (`STATX_DIOALIGN`, Linux 6.1), else the logical sector of the device, else 512.
pub fn direct_unit(file: &File) -> u64 {
    let sector = logical_sector(file).unwrap_or(512);
    let mut status = std::mem::MaybeUninit::<libc::statx>::zeroed();
    let descriptor = file.as_raw_fd();
    // SAFETY: the path is empty, so that the descriptor's file is meant; the result has its place, of
    // which zeroed is a valid value.
    let (failed, status) = unsafe {
        let failed = libc::statx(
            descriptor,
            c"".as_ptr(),
            libc::AT_EMPTY_PATH,
            libc::STATX_DIOALIGN,
            status.as_mut_ptr(),
        );
        (failed, status.assume_init())
    };
    match status.stx_dio_offset_align {
        unit if failed == 0 && status.stx_mask & libc::STATX_DIOALIGN != 0 && unit > 0 => u64::from(unit),
        _ => sector,
    }
}

/// `BLKSSZGET` of a block device; of a file, what sysfs says of the device under it.
fn logical_sector(file: &File) -> Option<u64> {
    let metadata = file.metadata().ok()?;
    if metadata.file_type().is_block_device() {
        let mut bytes: libc::c_int = 0;
        // SAFETY: the request writes one int, for which there is a place.
        let done = unsafe { libc::ioctl(file.as_raw_fd(), libc::BLKSSZGET, &raw mut bytes) };
        return (done == 0).then_some(bytes as u64);
    }
    let (major, minor) = (libc::major(metadata.dev()), libc::minor(metadata.dev()));
    // Of a partition, the queue is its disk's.
    let device = format!("/sys/dev/block/{major}:{minor}");
    let read = |queue: &str| std::fs::read_to_string(format!("{device}/{queue}/logical_block_size")).ok();
    read("queue").or_else(|| read("../queue"))?.trim().parse().ok()
}

/// Whether it is a file on tmpfs. Devices are nodes on a kind of tmpfs, too, which means nothing.
fn is_in_memory(file: &File) -> bool {
    if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return false;
    }
    let mut status = std::mem::MaybeUninit::<libc::statfs>::zeroed();
    // SAFETY: the descriptor is open and the result has its place, of which zeroed is a valid value.
    let (failed, status) = unsafe {
        let failed = libc::fstatfs(file.as_raw_fd(), status.as_mut_ptr());
        (failed, status.assume_init())
    };
    failed == 0 && status.f_type == libc::TMPFS_MAGIC
}
