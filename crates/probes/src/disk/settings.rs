//! The settings of the disk probe.

use super::named::MIX_NAMES;
use super::pattern::Pattern;
use experiment::{Declaration, Kind};

const BLOCK: Kind = Kind::Size { min: 512, max: 64 << 20 };
const COUNT: Kind = Kind::Count { min: 1, max: 1_000_000_000 };

/// All settings; those of [`OF_STREAMS`] can stand in a stream text too.
pub const SETTINGS: &[Declaration] = &[
    Declaration::new(
        "workload.mix",
        Kind::Choice(MIX_NAMES),
        None,
        "A named mix of streams: what a database does to storage. Give this, workload.streams or neither.",
    ),
    Declaration::new(
        "workload.streams",
        Kind::TextList,
        None,
        "Streams that run together, each as `NAME key=value ...`: NAME may be a named pattern (oltp-data, log, checkpoint, scan, backup-read, backup-write), the keys are those settings of [workload] that belong to a stream. Without it there is one stream with the settings of [workload].",
    ),
    Declaration::new(
        "workload.pattern",
        Kind::Choice(Pattern::NAMES),
        Some("random-read"),
        "What is read or written, and where.",
    ),
    Declaration::new("workload.reads", Kind::Share, Some("70%"), "Share of reads in a mixed pattern."),
    Declaration::new("workload.block_size", BLOCK, Some("8 KiB"), "Size of an I/O."),
    Declaration::new(
        "workload.block_size_max",
        BLOCK,
        None,
        "Sizes are drawn between workload.block_size and this, in steps of the sector that workload.align gives (512 bytes if nothing is given).",
    ),
    Declaration::new(
        "workload.queue_depth",
        Kind::Count { min: 1, max: 65_536 },
        Some("1"),
        "I/Os that each thread keeps under way.",
    ),
    Declaration::new(
        "workload.batch",
        Kind::Count { min: 1, max: 65_536 },
        Some("1"),
        "I/Os that each thread begins in one call and waits for together, as programs do that read ahead in batches: costs less processor time; latency counts until the batch is seen. Not with rate or burst.",
    ),
    Declaration::new(
        "workload.threads",
        Kind::Count { min: 1, max: 1024 },
        Some("1"),
        "Threads of each stream.",
    ),
    Declaration::new("workload.direct", Kind::Bool, Some("true"), "Past the page cache (O_DIRECT)."),
    Declaration::new(
        "workload.sync",
        Kind::Choice(&["none", "fdatasync", "fsync", "dsync"]),
        Some("none"),
        "How writes are made durable: by a call after workload.sync_every of them, or each by itself (dsync).",
    ),
    Declaration::new(
        "workload.sync_every",
        COUNT,
        Some("1"),
        "Writes of a thread before it calls fdatasync or fsync.",
    ),
    Declaration::new(
        "workload.rate",
        Kind::Rate,
        None,
        "Open loop: I/Os a second of a stream, at random (Poisson) times; latency counts from the intended start. Without it the next I/O begins when one has ended (closed loop).",
    ),
    Declaration::new(
        "workload.burst",
        COUNT,
        None,
        "I/Os of a burst: then none until the next burst is due.",
    ),
    Declaration::new(
        "workload.burst_every",
        Kind::PositiveDuration,
        Some("1 s"),
        "From one burst to the next.",
    ),
    Declaration::new(
        "workload.align",
        Kind::Size { min: 512, max: 64 << 20 },
        None,
        "Offsets are multiples of this; the default is the block size.",
    ),
    Declaration::new(
        "workload.working_set",
        Kind::Size { min: 512, max: 1 << 50 },
        None,
        "Only so many bytes of each file, from its beginning; the default is all.",
    ),
    Declaration::new(
        "workload.on",
        Kind::Choice(engines::Role::NAMES),
        Some("data"),
        "Which files of the target a stream works on.",
    ),
    Declaration::new(
        "workload.file",
        Kind::Count { min: 1, max: 1024 },
        None,
        "Only this one of them, from 1; the default is all.",
    ),
    Declaration::new(
        "workload.share",
        Kind::Count { min: 1, max: 1_000_000 },
        None,
        "Streams with a share are served by the same threads and queues, in these proportions; the others have threads of their own.",
    ),
    Declaration::new(
        "workload.bytes",
        Kind::Size { min: 512, max: 1 << 60 },
        None,
        "A stream ends after so many bytes.",
    ),
    Declaration::new(
        "workload.duration",
        Kind::PositiveDuration,
        Some("10 s"),
        "Length of the measured part.",
    ),
    Declaration::new(
        "workload.warmup",
        Kind::Duration,
        Some("1 s"),
        "The load runs for this long before the measured part.",
    ),
    Declaration::new(
        "workload.io_engine",
        Kind::Choice(&["auto", "io_uring", "pread"]),
        Some("auto"),
        "How the system is asked: io_uring, or pread and pwrite with a thread for each I/O under way; auto takes io_uring where it is permitted.",
    ),
];

/// The settings that a stream can have of its own, without `workload.`.
pub const OF_STREAMS: &[&str] = &[
    "pattern",
    "reads",
    "block_size",
    "block_size_max",
    "queue_depth",
    "batch",
    "threads",
    "direct",
    "sync",
    "sync_every",
    "rate",
    "burst",
    "burst_every",
    "align",
    "working_set",
    "on",
    "file",
    "share",
    "bytes",
];

/// The setting with this key, if a stream can have it.
pub fn of_stream(key: &str) -> Option<&'static Declaration> {
    OF_STREAMS
        .contains(&key)
        .then(|| SETTINGS.iter().find(|setting| setting.path.strip_prefix("workload.") == Some(key)))?
}
