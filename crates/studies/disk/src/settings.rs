//! The settings of the disk probe, the named patterns and the mixes of them.

use disk_io::{Access, Backend};
use engine::Role;
use experiment::{Declaration, Kind, choice, settings};

const BLOCK: Kind = Kind::Size { min: 512, max: 64 << 20 };
const COUNT: Kind = Kind::Count { min: 1, max: 1_000_000_000 };

choice! {
    /// Direction and order of the I/Os.
    pub enum Pattern {
        /// Reads anywhere.
        RandomRead = "random-read",
        /// Writes anywhere.
        RandomWrite = "random-write",
        /// Both, anywhere.
        RandomMixed = "random-mixed",
        /// Reads in order.
        SequentialRead = "sequential-read",
        /// Writes in order.
        SequentialWrite = "sequential-write",
        /// Both, in order.
        SequentialMixed = "sequential-mixed",
    }
}

impl Pattern {
    /// Returns whether some of its I/Os are writes.
    pub fn writes(self) -> bool {
        self.read_percent(0.0) == 0
    }

    /// Returns whether it passes through its files from their start.
    pub fn is_sequential(self) -> bool {
        self.access() == Access::Sequential
    }

    pub(super) fn access(self) -> Access {
        match self {
            Self::RandomRead | Self::RandomWrite | Self::RandomMixed => Access::Random,
            Self::SequentialRead | Self::SequentialWrite | Self::SequentialMixed => {
                Access::Sequential
            }
        }
    }

    /// Reads in percent, where mixed ones have this share of them.
    pub(super) fn read_percent(self, reads: f64) -> u8 {
        match self {
            Self::RandomRead | Self::SequentialRead => 100,
            Self::RandomWrite | Self::SequentialWrite => 0,
            Self::RandomMixed | Self::SequentialMixed => {
                (reads * 100.0).round().clamp(0.0, 100.0) as u8
            }
        }
    }
}

choice! {
    /// The durability of writes.
    pub enum Sync {
        /// Not at all.
        None = "none",
        /// By `fdatasync` after some of them.
        Fdatasync = "fdatasync",
        /// By `fsync` after some of them.
        Fsync = "fsync",
        /// Each by itself.
        Dsync = "dsync",
    }
}

choice! {
    /// How the system is asked.
    pub enum IoEngine {
        /// By `io_uring` where it is permitted.
        Auto = "auto",
        /// By `io_uring`.
        IoUring = "io_uring",
        /// By `pread` and `pwrite`.
        Pread = "pread",
    }
}

impl IoEngine {
    pub(super) fn backend(self) -> Option<Backend> {
        match self {
            Self::Auto => None,
            Self::IoUring => Some(Backend::IoUring),
            Self::Pread => Some(Backend::Blocking),
        }
    }
}

choice! {
    /// Streams that run together.
    pub enum Mix {
        /// Reads and writes of data pages.
        OltpData = "oltp-data",
        /// A log writer.
        Log = "log",
        /// A checkpoint.
        Checkpoint = "checkpoint",
        /// A table scan.
        Scan = "scan",
        /// A backup.
        Backup = "backup",
        /// Data pages, log and checkpoint.
        Oltp = "oltp",
    }
}

impl Mix {
    /// The streams, each a named pattern.
    pub(super) fn streams(self) -> &'static [&'static str] {
        match self {
            Self::OltpData => &["oltp-data"],
            Self::Log => &["log"],
            Self::Checkpoint => &["checkpoint"],
            Self::Scan => &["scan"],
            Self::Backup => &["backup-read", "backup-write"],
            Self::Oltp => &["oltp-data", "log", "checkpoint"],
        }
    }
}

settings! {
    pub(super) const SETTINGS = [];
    /// A named mix of streams, like a database's storage load. Give this, workload.streams or
    /// neither.
    pub MIX: Option<Mix> = "workload.mix", Mix::KIND;
    /// Streams that run together, each as `NAME key=value ...`. NAME may be a named pattern
    /// (oltp-data, log, checkpoint, scan, backup-read, backup-write); the keys are the settings of
    /// [workload] that apply to a stream. Default: one stream with the settings of [workload].
    pub STREAMS: Vec<String> = "workload.streams", Kind::TextList => @Trial;
    /// Direction and order of the I/Os.
    pub PATTERN: Pattern = "workload.pattern", Pattern::KIND, "random-read";
    /// Share of reads in a mixed pattern.
    pub READS: f64 = "workload.reads", Kind::Share, "70%";
    /// Size of an I/O.
    pub BLOCK_SIZE: u32 = "workload.block_size", BLOCK, "8 KiB";
    /// Largest I/O size: sizes are random between workload.block_size and this, in steps of
    /// workload.align (default 512 bytes).
    pub BLOCK_SIZE_MAX: Option<u32> = "workload.block_size_max", BLOCK;
    /// I/Os that each thread keeps in flight.
    pub QUEUE_DEPTH: u32 =
        "workload.queue_depth", Kind::Count { min: 1, max: 65_536 }, "1" => QueueDepth;
    /// I/Os that each thread submits in one call and waits for together, like programs that read
    /// ahead in batches. Costs less CPU time; latency counts until the batch completes. Not with
    /// rate or burst.
    pub BATCH: u32 = "workload.batch", Kind::Count { min: 1, max: 65_536 }, "1";
    /// Threads of each stream.
    pub THREADS: u32 = "workload.threads", Kind::Count { min: 1, max: 1024 }, "1" => Concurrency;
    /// Bypass the page cache (O_DIRECT).
    pub DIRECT: bool = "workload.direct", Kind::Bool, "true";
    /// How writes are made durable: by a sync call after workload.sync_every writes, or each write
    /// by itself (dsync).
    pub SYNC: Sync = "workload.sync", Sync::KIND, "none" => Durability;
    /// Writes of a thread between calls of fdatasync or fsync.
    pub SYNC_EVERY: u32 = "workload.sync_every", COUNT, "1" => Durability;
    /// Open loop: I/Os per second of a stream, at random (Poisson) times; latency counts from the
    /// intended start. Default: the next I/O starts when one ends (closed loop).
    pub RATE: Option<f64> = "workload.rate", Kind::Rate => ArrivalRate;
    /// I/Os in a burst; no I/O until the next burst.
    pub BURST: Option<u64> = "workload.burst", COUNT;
    /// Time between the starts of two bursts.
    pub BURST_EVERY: f64 = "workload.burst_every", Kind::PositiveDuration, "1 s";
    /// Offsets are multiples of this; the default is the block size.
    pub ALIGN: Option<u64> = "workload.align", Kind::Size { min: 512, max: 64 << 20 };
    /// Bytes used of each file, from its beginning; default: all.
    pub WORKING_SET: Option<u64> = "workload.working_set", Kind::Size { min: 512, max: 1 << 50 };
    /// The target files that a stream uses.
    pub ON: Role = "workload.on", Role::KIND, "data";
    /// Number of the only file used, from 1; default: all files.
    pub FILE: Option<usize> = "workload.file", Kind::Count { min: 1, max: 1024 };
    /// Streams with a share use the same threads and queues, in these proportions; other streams
    /// have their own threads.
    pub SHARE: Option<u32> = "workload.share", Kind::Count { min: 1, max: 1_000_000 };
    /// A stream ends after this number of bytes.
    pub BYTES: Option<u64> = "workload.bytes", Kind::Size { min: 512, max: 1 << 60 } => Measurement;
    /// Length of the measurement.
    pub DURATION: f64 = "workload.duration", Kind::PositiveDuration, "10 s" => Measurement;
    /// The load runs for this long before the measurement.
    pub WARMUP: f64 = "workload.warmup", Kind::Duration, "1 s" => Measurement;
    /// I/O interface: io_uring, or pread and pwrite with a thread for each I/O in flight; auto uses
    /// io_uring where it is permitted.
    pub IO_ENGINE: IoEngine = "workload.io_engine", IoEngine::KIND, "auto";
}

/// The settings that hold for all streams together; a stream can have any other one of its own.
const OF_ALL: [&str; 5] =
    [MIX.path(), STREAMS.path(), DURATION.path(), WARMUP.path(), IO_ENGINE.path()];

/// The key in [workload] of a setting.
pub(super) fn key_of(setting: &Declaration) -> &'static str {
    setting.path.strip_prefix("workload.").unwrap_or(setting.path)
}

/// The settings that a stream can have of its own.
pub(super) fn of_streams() -> impl Iterator<Item = &'static Declaration> {
    SETTINGS.iter().filter(|setting| !OF_ALL.contains(&setting.path))
}

/// The named patterns: their settings as a stream gives them, with their sources. What they leave
/// out (threads, queue depth, rate) is the user's.
pub(super) const PATTERNS: [(&str, &str); 6] = [
    // Pages of 8 KiB are those of SQL Server (Microsoft Learn, "Pages and extents architecture
    // guide") and PostgreSQL (manual, 73.6 "Database Page Layout"); 70 % reads is the
    // convention by which storage for OLTP is sized, not a law: take your own share from the
    // devices of a database trial.
    ("oltp-data", "pattern=random-mixed reads=70% block_size=8KiB on=data"),
    // A log writer has one write of one sector to 60 KB in flight, the largest log block of SQL
    // Server (study S1a), and continues when it is durable.
    (
        "log",
        "pattern=sequential-write block_size=512 block_size_max=60KiB sync=dsync threads=1 \
         queue_depth=1 on=log",
    ),
    // A checkpoint writes changed pages all over the data and syncs them at its end (PostgreSQL
    // manual, 28.5 "WAL Configuration"); scaled down from minutes to seconds: 16 MiB every 2
    // s.
    (
        "checkpoint",
        "pattern=random-write block_size=8KiB burst=2048 burst_every=2s sync=fdatasync threads=1 \
         queue_depth=32 on=data",
    ),
    // Read-ahead reads up to 64 pages of 8 KiB at once (Microsoft Learn, "Reading pages").
    ("scan", "pattern=sequential-read block_size=512KiB on=data"),
    // A backup moves pieces of 1 MiB, the usual MAXTRANSFERSIZE of SQL Server (Microsoft Learn,
    // "BACKUP").
    ("backup-read", "pattern=sequential-read block_size=1MiB on=data"),
    ("backup-write", "pattern=sequential-write block_size=1MiB on=backup"),
];

/// The settings of a named pattern; `None` if the name is unknown.
pub(super) fn pattern_settings(name: &str) -> Option<&'static str> {
    PATTERNS.iter().find(|(known, _)| *known == name).map(|(_, settings)| *settings)
}

#[cfg(test)]
mod tests {
    use super::{Mix, PATTERNS, key_of, of_streams, pattern_settings};

    #[test]
    fn patterns_are_made_of_settings_and_mixes_of_patterns() {
        for (name, settings) in PATTERNS {
            for (key, value) in settings.split(' ').map(|word| word.split_once('=').unwrap()) {
                let setting = of_streams().find(|setting| key_of(setting) == key);
                let setting = setting.unwrap_or_else(|| panic!("{name}: {key}"));
                setting.read(value).unwrap_or_else(|error| panic!("{name}: {key}: {error}"));
            }
        }
        for mix in Mix::ALL {
            assert!(mix.streams().iter().all(|stream| pattern_settings(stream).is_some()));
        }
    }
}
