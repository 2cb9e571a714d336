//! A load, its rejection and its outcome.

use crate::error::{DiskError, IoFailure};
use crate::queue::DEPTH_MAX;
use observations::Histogram;
use observe::ThreadUse;
use std::path::PathBuf;
use std::time::Duration;

/// A load of I/O.
#[derive(Debug, Clone, PartialEq)]
pub struct Load {
    /// Threads and what they do.
    pub groups: Vec<Group>,
    /// Interface to the kernel; `None`: `io_uring` where it is permitted.
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
    /// I/Os of a closed loop that a thread begins in one call and waits for together: 1, unless a
    /// program is imitated that reads ahead in batches. Latency counts until the batch is
    /// seen.
    pub batch: u32,
    /// Each I/O is of one of these, drawn by weight; those with a rate or bursts take no part in
    /// that but come when they are due, before the others.
    pub streams: Vec<Stream>,
}

/// An interface to the kernel.
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
    /// The name in reports: `data`, `log`.
    pub name: String,
    /// The part of the I/Os, relative to the other streams of the group.
    pub weight: u32,
    /// The regions. Random I/O covers them uniformly by size; sequential I/O passes through them in
    /// order and restarts at the end.
    pub regions: Vec<Region>,
    /// The target of an I/O.
    pub access: Access,
    /// Share of reads, 0 to 100; each I/O is drawn.
    pub read_percent: u8,
    /// The size of an I/O.
    pub block: BlockSize,
    /// Offsets are multiples of this many bytes from the beginning of the region; `None`: of the
    /// smallest block.
    pub align: Option<u64>,
    /// Past the page cache (`O_DIRECT`).
    pub direct: bool,
    /// The durability of writes.
    pub durability: Durability,
    /// The start time of an I/O.
    pub arrivals: Arrivals,
    /// Share of written data, 0 to 100, that a compressor can remove.
    pub compress_percent: u8,
    /// The stream ends after this many bytes, all threads together; `None`: when the time is over.
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

/// The targets of I/Os.
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

/// The durability of writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// When the system sees fit.
    Never,
    /// By a sync after every `every` writes of a thread, which then waits for it alone: its other
    /// I/Os have ended before, as a commit's have.
    Sync {
        /// Number of writes.
        every: u32,
        /// `fdatasync` instead of `fsync`.
        data_only: bool,
    },
    /// Each write by itself (`RWF_DSYNC`, the same as `O_DSYNC`).
    EachWrite,
}

/// The start times of I/Os.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Arrivals {
    /// The next one as soon as the queue has room (closed loop).
    Closed,
    /// At random (Poisson) times, this many per second in all threads together; latency counts from
    /// the intended start.
    Rate(f64),
    /// So many, of all threads together, as fast as the queues take them, then none until the next
    /// burst is due; one that is late begins at once. With [`Durability::Sync`], a burst ends with
    /// a sync. Latency counts from the actual start.
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
    /// Finds settings that are invalid for any files.
    pub(crate) fn check(&self) -> Result<(), DiskError> {
        if self.interval.is_zero() {
            return Err(DiskError::NoInterval);
        }
        for group in &self.groups {
            if group.threads == 0 || group.queue_depth == 0 || group.streams.is_empty() {
                return Err(DiskError::EmptyGroup);
            }
            if group.queue_depth > DEPTH_MAX && self.backend != Some(Backend::Blocking) {
                return Err(DiskError::TooDeep { depth: group.queue_depth, most: DEPTH_MAX });
            }
            for stream in &group.streams {
                if let Some(objection) = stream.objection(self.duration) {
                    return Err(DiskError::Stream { name: stream.name.clone(), objection });
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
            Self { weight: 0, .. } => "its share must not be 0",
            Self { bytes: None, .. } if duration.is_none() => {
                "needs a duration or a number of bytes"
            }
            Self { block, .. } if block.min == 0 || block.max < block.min => {
                "the block size must be between 1 byte and the largest block size"
            }
            Self { block, .. } if block.max > BLOCK_MAX => "the block size exceeds 1 GiB",
            Self { read_percent: 101.., .. } => "the read share exceeds 100 %",
            Self { align: Some(0), .. } => "the alignment must not be 0",
            Self { arrivals: Arrivals::Rate(rate), .. } if !(rate.is_finite() && *rate > 0.0) => {
                "the rate must be above 0"
            }
            Self { arrivals: Arrivals::Burst { count: 0, .. }, .. } => {
                "a burst must have at least one I/O"
            }
            Self { durability: Durability::Sync { every: 0, .. }, .. } => {
                "the number of writes per sync must not be 0"
            }
            _ => return None,
        })
    }
}

/// Results of the measured part.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Seconds from "go" to the end of the last I/O; at least the length of the measurement, where
    /// its end and not the streams' ended the run.
    pub elapsed_s: f64,
    /// How the system was asked.
    pub backend: Backend,
    /// Deviations from the request with their reasons, one sentence each.
    pub notes: Vec<String>,
    /// The streams of all groups, in order.
    pub streams: Vec<StreamOutcome>,
    /// The threads of all groups, in order.
    pub threads: Vec<ThreadOutcome>,
}

/// Results of one stream.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StreamOutcome {
    /// The name.
    pub name: String,
    /// Seconds from "go" to the end of its last I/O where it ended before the run (its bytes were
    /// moved, or all its files failed), else those of the run: what its rates are to be
    /// reckoned with.
    pub elapsed_s: f64,
    /// Reads.
    pub reads: Direction,
    /// Writes; with [`Durability::EachWrite`] their latency includes durability.
    pub writes: Direction,
    /// Syncs; they move no bytes.
    pub syncs: Direction,
    /// I/Os in flight on average, syncs not counted: the integral of their number over the time of
    /// the measurement, divided by it.
    pub depth_mean: f64,
    /// I/Os (syncs not counted) that ended in each interval since "go", and the bytes that they
    /// moved.
    pub ios_by_interval: Vec<u64>,
    /// Bytes that they moved.
    pub bytes_by_interval: Vec<u64>,
    /// I/Os per interval of the warm-up, since its start.
    pub warmup_ios_by_interval: Vec<u64>,
    /// Bytes per interval of the warm-up.
    pub warmup_bytes_by_interval: Vec<u64>,
    /// The schedule of an open loop ([`Arrivals::Rate`]).
    pub sends: Option<Sends>,
    /// Failures, the first of each file.
    pub failures: Vec<IoFailure>,
}

/// The intended starts of an open loop, and how they were kept. Times are nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sends {
    /// I/Os intended until the end of the measurement, whether or not the queue ever had room for
    /// them.
    pub intended: u64,
    /// I/Os begun more than 1 ms late although the queue had room.
    pub missed: u64,
    /// The worst delay although the queue had room.
    pub delay_ns_max: u64,
    /// I/Os that the queue had no room for until more than 1 ms after the intended start, those
    /// that were never begun among them.
    pub late: u64,
    /// From "go" to the last intended start.
    pub schedule_ns: u64,
    /// From "go" to the last intended start for which the queue had room: those after it all had
    /// to wait.
    pub free_until_ns: u64,
}

impl Sends {
    /// Adds the schedule of other threads, or of other I/Os.
    #[inline]
    pub(crate) fn add(&mut self, other: &Self) {
        self.intended += other.intended;
        self.missed += other.missed;
        self.delay_ns_max = self.delay_ns_max.max(other.delay_ns_max);
        self.late += other.late;
        self.schedule_ns = self.schedule_ns.max(other.schedule_ns);
        self.free_until_ns = self.free_until_ns.max(other.free_until_ns);
    }
}

/// I/Os of one direction.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Direction {
    /// Bytes moved.
    pub bytes: u64,
    /// From the intended start to the end; its number of values is the number of I/Os.
    pub latency: Histogram,
    /// From the actual start, where there is an intended one (open loop).
    pub service: Option<Histogram>,
}

impl Direction {
    /// Adds I/Os of other threads or streams.
    pub fn add(&mut self, other: &Self) {
        self.bytes += other.bytes;
        self.latency.merge(&other.latency);
        if let Some(service) = &other.service {
            self.service.get_or_insert_default().merge(service);
        }
    }
}

/// A load thread.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ThreadOutcome {
    /// Seconds from "go" to the end of its last I/O, or of the measurement.
    pub elapsed_s: f64,
    /// CPU use during the measurement.
    pub used: ThreadUse,
    /// Seconds asleep with nothing in flight: until the next intended start.
    pub idle_s: f64,
    /// The number of times that it waited for I/Os to end.
    pub io_waits: u64,
}
