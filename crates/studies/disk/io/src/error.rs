//! Why a run of I/O did not begin, or did not end as it should.

use observe::RingError;
use std::io;
use std::path::PathBuf;
use work::conductor::LoadError;

/// Why a run did not begin, or did not end as it should.
#[derive(Debug, thiserror::Error)]
pub enum DiskError {
    /// A file cannot be used.
    #[error("{path}: {doing}: {source}")]
    File {
        /// The file or device.
        path: PathBuf,
        /// The attempt: `open for direct I/O`.
        doing: &'static str,
        /// The cause.
        source: io::Error,
    },
    /// A setting does not fit a file.
    #[error("{path}: {misfit}")]
    Unfit {
        /// The file or device.
        path: PathBuf,
        /// The setting, and what would fit.
        #[source]
        misfit: Misfit,
    },
    /// The series would have intervals of no length.
    #[error("the interval of the time series must not be 0")]
    NoInterval,
    /// A group without threads, I/Os in flight or streams.
    #[error("threads, queue depth and streams must be at least 1")]
    EmptyGroup,
    /// More I/Os in flight than a ring has entries.
    #[error(
        "queue depth {depth}: io_uring allows at most {most} I/Os per thread; use more threads"
    )]
    TooDeep {
        /// I/Os in flight.
        depth: u32,
        /// Entries of a ring.
        most: u32,
    },
    /// A stream that makes no sense on any file.
    #[error("stream {name}: {objection}")]
    Stream {
        /// The stream.
        name: String,
        /// The setting that is wrong.
        objection: &'static str,
    },
    /// The I/O buffers do not fit into memory.
    #[error(
        "no memory for the I/O buffers of a thread, {} MiB: {source}; use a smaller block size \
         or queue depth",
        bytes >> 20
    )]
    NoMemory {
        /// Size of the buffers.
        bytes: u64,
        /// The cause.
        source: io::Error,
    },
    /// The system does not give a queue.
    #[error(transparent)]
    Queue(#[from] QueueError),
    /// A queue broke while it was in use.
    #[error("the I/O queue failed: {0}")]
    Broken(#[source] io::Error),
    /// An I/O failed, and no stream is left.
    #[error(transparent)]
    Io(#[from] IoFailure),
    /// The threads did not come to their end.
    #[error(transparent)]
    Load(#[from] LoadError),
}

/// An I/O that failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(
    "{}: {doing} of {length} bytes at {offset}, {at_s:.1} s after the start: {message}",
    path.display()
)]
pub struct IoFailure {
    /// The file or device.
    pub path: PathBuf,
    /// `read`, `write`, `sync`.
    pub doing: &'static str,
    /// The place.
    pub offset: u64,
    /// The length; 0 for a sync.
    pub length: u32,
    /// Error number of the system; `None`: fewer bytes were moved than were asked for.
    pub errno: Option<i32>,
    /// In words.
    pub message: String,
    /// Seconds since "go"; negative in warm-up.
    pub at_s: f64,
}

/// A setting that does not fit a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Misfit {
    /// A pipe, a directory or a socket.
    #[error("neither a file nor a block device")]
    Kind,
    /// Direct I/O on a file system in memory.
    #[error(
        "direct I/O is meaningless on tmpfs, which keeps files in memory; use a file on a disk, \
         or buffered I/O"
    )]
    InMemory,
    /// The file ends before the region.
    #[error(
        "its size is {size} bytes, but I/O needs bytes {start} to {end}; make it larger, or use \
         less of it"
    )]
    TooSmall {
        /// Bytes of the file.
        size: u64,
        /// First byte of the region.
        start: u64,
        /// End of the region.
        end: u64,
    },
    /// A block does not fit into the region.
    #[error(
        "the block size of {block} bytes exceeds the region of {region} bytes; use a smaller \
         block size or a larger file"
    )]
    LargeBlock {
        /// Bytes of the largest block.
        block: u32,
        /// Bytes of the region.
        region: u64,
    },
    /// Direct I/O between the bounds of sectors.
    #[error(
        "direct I/O needs multiples of {sector} bytes here, but {what} is {bytes}; use a \
         multiple, or buffered I/O"
    )]
    Unaligned {
        /// Bytes of the unit of direct I/O.
        sector: u64,
        /// The setting: `the block size`.
        what: &'static str,
        /// The value.
        bytes: u64,
    },
}

/// Why the system gives no queue, or one that costs more than it should.
#[derive(Debug, thiserror::Error)]
pub enum QueueError {
    /// The system gives no ring.
    #[error(transparent)]
    Ring(#[from] RingError),
    /// Too little lockable memory for the ring.
    #[error(
        "io_uring: no memory for a ring of {depth} I/Os; raise the locked-memory limit (ulimit \
         -l, now {}), or use a smaller queue depth or fewer threads",
        memory_limit()
    )]
    NoMemory {
        /// I/Os in flight.
        depth: u32,
        /// The cause.
        source: io::Error,
    },
    /// The kernel does not take the files.
    #[error("io_uring: cannot register {files} files: {source}")]
    Files {
        /// Number of files.
        files: usize,
        /// The cause.
        source: io::Error,
    },
    /// More buffers than a ring takes: a note, the queue works without.
    #[error("I/O buffers not registered: {buffers} exceed io_uring's maximum of {most}")]
    ManyBuffers {
        /// Number of buffers.
        buffers: usize,
        /// Buffers that a ring takes.
        most: usize,
    },
    /// Too little lockable memory for the buffers: a note, the queue works without.
    #[error(
        "I/O buffers not registered, which costs CPU time: the locked-memory limit (ulimit -l) \
         is {}, but each thread needs {} KiB",
        memory_limit(),
        bytes.div_ceil(1024)
    )]
    LockedMemory {
        /// Size of a thread's buffers.
        bytes: usize,
        /// The cause.
        source: io::Error,
    },
    /// The kernel does not take the buffers: a note, the queue works without.
    #[error("I/O buffers not registered, which costs CPU time: {0}")]
    Buffers(#[source] io::Error),
}

fn memory_limit() -> String {
    match observe::survey::soft_limit(libc::RLIMIT_MEMLOCK) {
        Some(libc::RLIM_INFINITY) => "unlimited".into(),
        bytes => format!("{} KiB", bytes.unwrap_or_default() / 1024),
    }
}
