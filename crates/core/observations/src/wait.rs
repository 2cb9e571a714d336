use crate::{named, wait_type};
use serde::{Deserialize, Serialize};
use std::fmt;

named! {
    /// Our classes of waits, common to all engines.
    #[serde(rename_all = "kebab-case")]
    pub enum WaitClass {
        /// Reading data pages.
        DataRead = "data-read",
        /// Writing data pages.
        DataWrite = "data-write",
        /// Writing, syncing or reading the log.
        Log = "log",
        /// A logical lock held by another session.
        Lock = "lock",
        /// A short internal lock (latch, mutex, shared-memory lock).
        Latch = "latch",
        /// Waiting for a checkpoint.
        Checkpoint = "checkpoint",
        /// Runnable, waiting for a processor.
        CpuQueue = "cpu-queue",
        /// The session waited for its client: arrival, think time, or no more work.
        Client = "client",
        /// Outside of these classes, or unknown to Steelbench.
        Other = "other",
        /// Background and benign waits: time in which nothing was asked of the session.
        Idle = "idle",
    }
}

impl WaitClass {
    /// The class with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.name() == name)
    }
}

impl fmt::Display for WaitClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How a wait's time became known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitSource {
    /// Every wait was counted and timed.
    Counted,
    /// Estimated from samples at this rate.
    Sampled {
        /// Samples a second.
        hz: f64,
        /// Samples of this wait; `None`: recorded before they were kept.
        samples: Option<u64>,
        /// Standard error of its seconds, at most: samples of a wait that outlasts their interval
        /// are not independent.
        error_s: Option<f64>,
    },
    /// Timed by a counter of the server.
    Server {
        /// Where it counts: `pg_stat_wal`.
        counter: String,
        /// Standard error of its seconds, where the counter has other sessions too and the share
        /// of these was sampled.
        error_s: Option<f64>,
    },
}

/// Time that sessions spent in one type of wait, summed over sessions, in the measurement.
///
/// From RUNNING through SUSPENDED (resource wait) and RUNNABLE (signal wait) back to RUNNING;
/// the total wait is `resource_s + signal_s`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Wait {
    /// The engine's own name: `PAGEIOLATCH_EX`, `WAL_SYNC`.
    pub wait_type: String,
    /// Our class.
    pub class: WaitClass,
    /// Number of waits, where the engine counts them.
    pub count: Option<u64>,
    /// Seconds suspended.
    pub resource_s: f64,
    /// Seconds runnable, waiting for a processor.
    pub signal_s: f64,
    /// Counted or sampled.
    pub source: WaitSource,
}

impl WaitSource {
    /// Number of samples behind a sampled wait, where it is known.
    pub fn samples(&self) -> Option<u64> {
        if let Self::Sampled { samples, .. } = self { *samples } else { None }
    }

    /// More is more exact.
    fn exactness(&self) -> u8 {
        match self {
            Self::Sampled { .. } => 0,
            Self::Server { .. } => 1,
            Self::Counted => 2,
        }
    }

    /// Standard error of a wait's seconds that comes from sampling.
    pub fn error_s(&self) -> Option<f64> {
        match self {
            Self::Counted => None,
            Self::Sampled { error_s, .. } | Self::Server { error_s, .. } => *error_s,
        }
    }
}

impl Wait {
    /// Samples a second of each session, where these waits were sampled.
    pub fn samples_hz(waits: &[Self]) -> Option<f64> {
        waits.iter().find_map(|wait| match wait.source {
            WaitSource::Sampled { hz, .. } => Some(hz).filter(|hz| *hz > 0.0),
            _ => None,
        })
    }

    /// A counted wait; `None` where no time was spent in it.
    pub fn counted(
        name: &str,
        class: WaitClass,
        count: u64,
        resource_s: f64,
        signal_s: f64,
    ) -> Option<Self> {
        (resource_s + signal_s > 0.0).then(|| Self {
            wait_type: name.into(),
            class,
            count: Some(count),
            resource_s,
            signal_s,
            source: WaitSource::Counted,
        })
    }

    /// Adds another wait of the same type. The sum is as exact as its least exact part; errors are
    /// independent.
    pub fn add(&mut self, other: &Self) {
        let error_s = match (&self.source, &other.source) {
            (a, b) if a.error_s().is_none() && b.error_s().is_none() => None,
            (a, b) => Some(a.error_s().unwrap_or(0.0).hypot(b.error_s().unwrap_or(0.0))),
        };
        let samples = self
            .source
            .samples()
            .into_iter()
            .chain(other.source.samples())
            .reduce(u64::saturating_add);
        if self.source.exactness() > other.source.exactness() {
            self.source = other.source.clone();
        }
        match &mut self.source {
            WaitSource::Counted => {}
            WaitSource::Server { error_s: sample_error_s, .. } => *sample_error_s = error_s,
            WaitSource::Sampled { samples: own_samples, error_s: sample_error_s, .. } => {
                (*own_samples, *sample_error_s) = (samples, error_s);
            }
        }
        self.resource_s += other.resource_s;
        self.signal_s += other.signal_s;
        self.count = self.count.zip(other.count).map(|(a, b)| a.saturating_add(b));
    }

    /// Seconds from RUNNING back to RUNNING.
    pub fn wait_s(&self) -> f64 {
        self.resource_s + self.signal_s
    }
}

/// Returns the printed name of a wait type: in words for waits of the load driver, which no manual
/// explains; the engine's own name otherwise.
pub fn shown(wait_type: &str) -> &str {
    match wait_type {
        wait_type::ARRIVAL => "idle: next start not due",
        wait_type::RETRY_PAUSE => "pause before another try",
        wait_type::CONNECTION_DONE => "idle: finished early",
        wait_type::BETWEEN_RUNS => "idle: between runs",
        other => other,
    }
}

/// Calls of one operation on one kind of file or lock, whether or not they waited.
///
/// A read that the page cache serves is an operation but not a wait.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Operation {
    /// `DATA_READ`, `WAL_WRITE`, `SHM_LOCK`, ...: the wait type that a slow call would be.
    pub name: String,
    /// Number of calls.
    pub count: u64,
    /// Bytes moved (0 for locks and syncs).
    pub bytes: u64,
    /// Wall seconds in all calls together.
    pub wall_s: f64,
}

/// Something that sessions waited for, and what the engine knows of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WaitedResource {
    /// The type of wait.
    pub wait_type: String,
    /// Our class of it.
    pub class: WaitClass,
    /// The resource in the engine's words: `5:1:1520544`.
    pub resource: String,
    /// Kind of the resource, where known: `PFS page`, `page of orders`.
    pub kind: Option<String>,
    /// Remedy that would reduce waits for this kind, where known: `more data files`.
    pub remedy: Option<String>,
    /// Samples of sessions that waited for it.
    pub samples: u64,
    /// Most sessions that waited for it at the same time.
    pub sessions_max: u64,
}
