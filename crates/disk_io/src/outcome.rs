use crate::Backend;
use observations::Histogram;
use observe::ThreadUse;
use std::path::PathBuf;

/// What a run saw in the measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Seconds from "go" to the end of the last I/O; at least the length of the measurement, where
    /// its end and not the streams' ended the run.
    pub elapsed_s: f64,
    /// How the system was asked.
    pub backend: Backend,
    /// What is not as it was asked for, and why: one sentence each.
    pub notes: Vec<String>,
    /// The streams of all groups, in order.
    pub streams: Vec<StreamOutcome>,
    /// The threads of all groups, in order.
    pub threads: Vec<ThreadOutcome>,
}

/// What one stream did.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StreamOutcome {
    /// Its name.
    pub name: String,
    /// Seconds from "go" to the end of its last I/O where it ended before the run (its bytes were moved, or
    /// all its files failed), else those of the run: what its rates are to be reckoned with.
    pub elapsed_s: f64,
    /// Reads.
    pub reads: Direction,
    /// Writes; with [`crate::Durability::EachWrite`] their latency includes durability.
    pub writes: Direction,
    /// Syncs; they move no bytes.
    pub syncs: Direction,
    /// I/Os in flight on average, syncs not counted: the integral of their number over the time of the
    /// measurement, divided by it.
    pub depth_mean: f64,
    /// I/Os (syncs not counted) that ended in each interval since "go", and the bytes that they moved.
    pub ios_by_interval: Vec<u64>,
    /// Bytes that they moved.
    pub bytes_by_interval: Vec<u64>,
    /// The same of the warm-up, since its beginning.
    pub warmup_ios_by_interval: Vec<u64>,
    /// The same of the warm-up.
    pub warmup_bytes_by_interval: Vec<u64>,
    /// Open loop ([`crate::Arrivals::Rate`]): I/Os intended until the end of the measurement, whether or
    /// not the queue ever had room for them.
    pub sends_intended: u64,
    /// Of these, begun more than 1 ms late although the queue had room.
    pub sends_missed: u64,
    /// The worst delay although the queue had room, in nanoseconds.
    pub send_delay_ns_max: u64,
    /// What failed, the first failure of each file.
    pub failures: Vec<IoFailure>,
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

/// An I/O that failed.
#[derive(Debug, Clone, PartialEq)]
pub struct IoFailure {
    /// The file or device.
    pub path: PathBuf,
    /// `read`, `write`, `sync`.
    pub doing: &'static str,
    /// Where.
    pub offset: u64,
    /// Its length; 0 for a sync.
    pub length: u32,
    /// Error number of the system; `None`: fewer bytes were moved than were asked for.
    pub errno: Option<i32>,
    /// In words.
    pub message: String,
    /// Seconds since "go"; negative in warm-up.
    pub at_s: f64,
}

/// One load thread.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ThreadOutcome {
    /// Seconds from "go" to the end of its last I/O, or of the measurement.
    pub elapsed_s: f64,
    /// What it used of processors in the measurement.
    pub used: ThreadUse,
    /// Seconds asleep with nothing in flight: until the next intended start.
    pub idle_s: f64,
    /// How often it waited for I/Os to end.
    pub io_waits: u64,
}
