use crate::Stream;
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
    /// `pread` and `pwrite`: a thread for each I/O in flight.
    Blocking,
}
