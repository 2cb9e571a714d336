use crate::{DiskError, Stream};
use std::time::Duration;

/// What is to run.
#[derive(Debug, Clone, PartialEq)]
pub struct Load {
    /// Threads and what they do.
    pub groups: Vec<Group>,
    /// How the system is asked; `None`: by `io_uring` where it is permitted.
    pub backend: Option<Backend>,
    /// Length of the measured part; `None`: until every stream has done its bytes.
    pub duration: Option<Duration>,
    /// The load runs for this long before; its I/Os have ended when the measured part begins.
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
    /// I/Os that a thread keeps under way.
    pub queue_depth: u32,
    /// I/Os of a closed loop that a thread begins in one call and waits for together: 1, unless a program is
    /// imitated that reads ahead in batches. Latency counts until the batch is seen.
    pub batch: u32,
    /// Each I/O is of one of these, drawn by weight; those with a rate or bursts take no part in that but
    /// come when they are due, before the others.
    pub streams: Vec<Weighted>,
}

/// A stream and how often it is drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Weighted {
    /// The stream.
    pub stream: Stream,
    /// Its part of the I/Os, relative to the other streams of the group.
    pub weight: u32,
}

/// How the system is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backend {
    /// `io_uring`: one ring a thread.
    IoUring,
    /// `pread` and `pwrite`: a thread for each I/O under way.
    Blocking,
}

/// Who is told what happens, and who can stop it.
#[expect(missing_debug_implementations, reason = "functions")]
pub struct Hooks<'a> {
    /// Called once, after the warm-up, when nothing is under way: the measured part begins when it
    /// returns.
    pub go: &'a mut (dyn FnMut() -> Result<(), DiskError> + Send),
    /// Called about ten times a second.
    pub progress: &'a (dyn Fn(Progress) + Sync),
    /// Whether to stop; the run then ends with [`DiskError::Stopped`].
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

/// How a run advances.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Seconds since "go"; negative in warm-up.
    pub elapsed_s: f64,
    /// I/Os that have ended.
    pub ios: u64,
    /// Bytes that they moved.
    pub bytes: u64,
    /// 99th percentile of the latencies since "go", in nanoseconds; `None` before the first.
    pub latency_p99_ns: Option<u64>,
}
