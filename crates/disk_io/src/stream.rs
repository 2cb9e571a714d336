use std::path::PathBuf;
use std::time::Duration;

/// A kind of I/O on some files: what one session of a database, or one part of it, does.
#[derive(Debug, Clone, PartialEq)]
pub struct Stream {
    /// Its name in reports: `data`, `log`.
    pub name: String,
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
