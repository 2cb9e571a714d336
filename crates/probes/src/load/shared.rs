use engines::{Cancel, EngineError, Instance};
use observe::Clock;
use recorder::{Counters, Reader};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Barrier, OnceLock};

/// What the threads of a load share; nothing of it is written while measuring, but for each
/// thread's own live count.
pub struct Shared<'a> {
    pub instance: &'a dyn Instance,
    pub cancel: &'a Cancel,
    pub clock: Clock,
    /// The engine runs in the load threads.
    pub embedded: bool,
    pub threads: u32,
    /// Units of work that each thread has done, for the live display.
    pub live: Vec<Counters<1>>,
    /// Latencies of each thread in the measured part, once that has begun, for the live display.
    pub latencies: Vec<OnceLock<Reader>>,
    /// A connection has failed: the others stop.
    failed: AtomicBool,
    /// The threads and the driver: everybody is connected and warmed up; then: go.
    pub together: Barrier,
    /// The threads alone: everybody's transactions are done.
    pub all_done: Barrier,
}

impl<'a> Shared<'a> {
    /// For so many threads.
    pub fn new(instance: &'a dyn Instance, cancel: &'a Cancel, embedded: bool, threads: u32) -> Self {
        Self {
            instance,
            cancel,
            clock: Clock::monotonic(),
            embedded,
            threads,
            live: (0..threads).map(|_| Counters::default()).collect(),
            latencies: (0..threads).map(|_| OnceLock::new()).collect(),
            failed: AtomicBool::new(false),
            together: Barrier::new(threads as usize + 1),
            all_done: Barrier::new(threads as usize),
        }
    }

    /// Makes the other threads stop.
    pub fn fail(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    /// Units of work that all threads have done so far.
    pub fn units(&self) -> u64 {
        self.live.iter().map(|count| count.get()[0]).sum()
    }

    /// The 99th percentile of all latencies so far, in nanoseconds; `None` before the first.
    pub fn latency_p99_ns(&self) -> Option<u64> {
        let latency = Reader::sum(self.latencies.iter().filter_map(OnceLock::get));
        (!latency.is_empty()).then(|| latency.percentile_ns(99.0))
    }

    /// Whether to go on.
    #[inline]
    pub fn check(&self) -> Result<(), EngineError> {
        if self.cancel.is_cancelled() || self.failed.load(Ordering::Relaxed) {
            return Err(EngineError::Cancelled);
        }
        Ok(())
    }
}
