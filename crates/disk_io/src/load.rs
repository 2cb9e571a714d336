//! What is to run, and why it may not.

use crate::ring::DEPTH_MAX;
use conductor::LoadError;
use std::path::PathBuf;
use std::time::Duration;

/// What is to run.
#[derive(Debug, Clone, PartialEq)]
pub struct Load {
    /// Threads and what they do.
    pub groups: Vec<Group>,
    /// How the system is asked; `None`: by `io_uring` where it is permitted.
    pub backend: Option<Backend>,
    /// Length of the measurement; `None`: until every stream has done its bytes.
    pub duration: Option<Duration>,
    /// The load runs for this long before; its I/Os have ended when the measurement begins.
    pub warmup: Duration,
    /// Length of an interval of the series.
    pub interval: Duration,
    /// Seed of offsets, sizes and directions.
    pub seed: u64,
}

/// Threads that serve the same streams.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Number of threads.
    pub threads: u32,
    /// I/Os that a thread keeps in flight.
    pub queue_depth: u32,
    /// I/Os of a closed loop that a thread begins in one call and waits for together: 1, unless a program is
    /// imitated that reads ahead in batches. Latency counts until the batch is seen.
    pub batch: u32,
    /// Each I/O is of one of these, drawn by weight; those with a rate or bursts take no part in that but
    /// come when they are due, before the others.
    pub streams: Vec<Stream>,
}

/// How the system is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backend {
    /// `io_uring`: one ring a thread.
    IoUring,
    /// `pread` and `pwrite`: a thread for each I/O in flight.
    Blocking,
}

/// A kind of I/O on some files: what one session of a database, or one part of it, does.
#[derive(Debug, Clone, PartialEq)]
pub struct Stream {
    /// Its name in reports: `data`, `log`.
    pub name: String,
    /// Its part of the I/Os, relative to the other streams of the group.
    pub weight: u32,
    /// What it works on. Random I/O hits all of it alike, by size; sequential I/O goes through one
    /// after the other and begins anew at the end.
    pub regions: Vec<Region>,
    /// Where an I/O goes.
    pub access: Access,
    /// Share of reads, 0 to 100; each I/O is drawn.
    pub read_percent: u8,
    /// How large an I/O is.
    pub block: BlockSize,
    /// Offsets are multiples of this many bytes from the beginning of the region; `None`: of the
    /// smallest block.
    pub align: Option<u64>,
    /// Past the page cache (`O_DIRECT`).
    pub direct: bool,
    /// When writes are made durable.
    pub durability: Durability,
    /// When an I/O is begun.
    pub arrivals: Arrivals,
    /// Share of written data, 0 to 100, that a compressor can remove.
    pub compress_percent: u8,
    /// The stream ends after so many bytes, all threads together; `None`: when the time is over.
    pub bytes: Option<u64>,
}

/// A part of a file or device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// The file or device; it exists.
    pub path: PathBuf,
    /// First byte: the offset of the partition.
    pub start: u64,
    /// Number of bytes.
    pub length: u64,
}

/// Where I/Os go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Uniformly anywhere.
    Random,
    /// Each one after the one before; threads of a stream share the position.
    Sequential,
}

/// Sizes of I/Os in bytes: uniformly drawn from the multiples of `min` (of the alignment, where
/// that is smaller) up to `max`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockSize {
    /// Smallest.
    pub min: u32,
    /// Largest; the same as `min` when all are alike.
    pub max: u32,
}

/// When writes are made durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// When the system sees fit.
    Never,
    /// By a sync after so many writes of a thread, which then waits for it alone: its other I/Os have
    /// ended before, as a commit's have.
    Sync {
        /// Number of writes.
        every: u32,
        /// `fdatasync` instead of `fsync`.
        data_only: bool,
    },
    /// Each write by itself (`RWF_DSYNC`, the same as `O_DSYNC`).
    EachWrite,
}

/// When I/Os are begun.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Arrivals {
    /// The next one as soon as the queue has room (closed loop).
    Closed,
    /// At random (Poisson) times, so many a second of all threads together; latency counts from the
    /// intended start.
    Rate(f64),
    /// So many, of all threads together, as fast as the queues take them, then none until the next
    /// burst is due; one that is late begins at once. With [`Durability::Sync`], a burst ends with a sync.
    /// Latency counts from the actual start.
    Burst {
        /// I/Os of a burst.
        count: u64,
        /// From the beginning of one to the beginning of the next.
        every: Duration,
    },
}

/// Largest buffer that `io_uring` takes.
const BLOCK_MAX: u32 = 1 << 30;

impl Load {
    /// Finds what makes no sense whatever the files are.
    pub(crate) fn check(&self) -> Result<(), DiskError> {
        let wrong = |message: String| Err(DiskError::System(message));
        if self.interval.is_zero() {
            return wrong("the interval of the series is 0".into());
        }
        for group in &self.groups {
            if group.threads == 0 || group.queue_depth == 0 || group.streams.is_empty() {
                return wrong("threads, queue depth and streams are at least 1".into());
            }
            if group.queue_depth > DEPTH_MAX && self.backend != Some(Backend::Blocking) {
                let depth = group.queue_depth;
                return wrong(format!(
                    "queue depth {depth}: io_uring takes at most {DEPTH_MAX} I/Os a thread: use more threads"
                ));
            }
            for stream in &group.streams {
                if let Some(objection) = stream.objection(self.duration) {
                    return wrong(format!("stream {}: {objection}", stream.name));
                }
            }
        }
        Ok(())
    }
}

impl Stream {
    fn objection(&self, duration: Option<Duration>) -> Option<&'static str> {
        Some(match self {
            Self { regions, .. } if regions.is_empty() => "it has no files",
            Self { weight: 0, .. } => "its share is 0",
            Self { bytes: None, .. } if duration.is_none() => "it has neither a time nor bytes to end after",
            Self { block, .. } if block.min == 0 || block.max < block.min => {
                "the block size is not between 1 byte and its largest"
            }
            Self { block, .. } if block.max > BLOCK_MAX => "a block is larger than 1 GiB",
            Self { read_percent: 101.., .. } => "more than 100 % of the I/Os are reads",
            Self { align: Some(0), .. } => "offsets cannot be multiples of 0",
            Self { arrivals: Arrivals::Rate(rate), .. } if !(rate.is_finite() && *rate > 0.0) => {
                "the rate is not above 0"
            }
            Self { arrivals: Arrivals::Burst { count: 0, .. }, .. } => "a burst has no I/Os",
            Self { durability: Durability::Sync { every: 0, .. }, .. } => "a sync after every 0 writes",
            _ => return None,
        })
    }
}

/// Why a run did not begin, or did not end as it should.
#[derive(Debug, thiserror::Error)]
pub enum DiskError {
    /// A file cannot be used.
    #[error("{path}: {doing}: {source}")]
    File {
        /// The file or device.
        path: PathBuf,
        /// What was being done: `open for direct I/O`.
        doing: &'static str,
        /// The cause.
        source: std::io::Error,
    },
    /// A setting does not fit a file.
    #[error("{path}: {message}")]
    Unfit {
        /// The file or device.
        path: PathBuf,
        /// What does not fit and what would.
        message: String,
    },
    /// The system has not enough of something, or does not permit it.
    #[error("{0}")]
    System(String),
    /// The threads did not come to their end.
    #[error(transparent)]
    Load(#[from] LoadError),
}
