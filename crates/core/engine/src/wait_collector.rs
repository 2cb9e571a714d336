//! The waits of a measurement, and what else an engine used in it.

use crate::Result;
use observations::{Operation, TimeUse, Wait, WaitedResource};

/// Collects the waits of one measurement.
///
/// Sessions of embedded engines report them; servers are queried or sampled.
pub trait WaitCollector: Send {
    /// Starts collecting.
    ///
    /// # Errors
    /// When the engine's counters cannot be read.
    fn start(&mut self) -> Result<()>;
    /// Ends a part of the measurement here and begins the next. Engines that cannot divide their
    /// waits have no [`Collection::parts`].
    ///
    /// # Errors
    /// When the engine's counters cannot be read.
    fn divide(&mut self) -> Result<()> {
        Ok(())
    }
    /// Stops and returns what sessions waited for, after every [`crate::ConnectionSet::end`].
    ///
    /// # Errors
    /// When the engine's counters cannot be read or were reset.
    fn stop(&mut self) -> Result<Collection>;
}

/// Use of the engine and the machine by a load, where known.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct EngineUse {
    /// Processor seconds of what worked beside the sessions on their statements: processes or
    /// threads of parallel queries. `None` of a server: the kernel's figures of its processes
    /// are not known.
    pub worker_cpu_s: Option<f64>,
    /// Pages that sessions and workers used, as the engine counts them.
    pub pages: Option<PageUse>,
    /// Bytes that were read from storage for sessions and workers, as the kernel counts them: what
    /// its page cache had is not in it, what it read ahead is.
    pub disk_read_bytes: Option<u64>,
    /// Processor seconds of the kernel's own threads during the measurement, for any process: a
    /// file system compresses and decompresses in them. Counted by the conductor of the
    /// measurement.
    pub kernel_cpu_s: Option<f64>,
    /// Checkpoints of the server that began in the measurement.
    pub checkpoints: Option<u64>,
}

/// Pages that were used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PageUse {
    /// Found in the engine's own cache.
    pub hits: u64,
    /// Asked of the operating system, which may have them in memory.
    pub reads: u64,
}

/// Observations of a [`WaitCollector`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Collection {
    /// Waits, summed over sessions. Without instruments: empty.
    pub waits: Vec<Wait>,
    /// The parts of a measurement that was divided, in their order: as the engine sees each of them
    /// alone, so that their waits need not sum to those of the whole.
    pub parts: Vec<SessionPart>,
    /// Resources that sampled sessions waited for, where the server names them; most samples first.
    pub resources: Vec<WaitedResource>,
    /// Operations, summed over sessions.
    pub operations: Vec<Operation>,
    /// CPU of the sessions in a server; `None` for an embedded engine, whose sessions are the
    /// load threads, timed by the load driver.
    pub time: Option<TimeUse>,
    /// Processor seconds of all processes of a server on this machine, known or 0.
    pub server_cpu_s: f64,
    /// Other use by the work.
    pub used: EngineUse,
    /// Limits of observation on this target with their reasons, one sentence each.
    pub lost: Vec<String>,
}

/// The time of the sessions in a part of a measurement.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionPart {
    /// Sessions x length of the part, in seconds.
    pub session_s: f64,
    /// Of it, seconds on a processor.
    pub cpu_s: f64,
    /// Waits, summed over sessions.
    pub waits: Vec<Wait>,
}
