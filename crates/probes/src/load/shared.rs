use super::recorder::LiveCount;
use engines::{Cancel, EngineError, Instance};
use observe::Clock;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};

/// What the threads of a load share; nothing of it is written while measuring, but for each
/// thread's own live count.
pub struct Shared<'a> {
    pub instance: &'a dyn Instance,
    pub cancel: &'a Cancel,
    pub clock: Clock,
    /// The engine runs in the load threads.
    pub embedded: bool,
    pub threads: u32,
    pub live: Vec<LiveCount>,
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
            live: (0..threads).map(|_| LiveCount::default()).collect(),
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
        self.live.iter().map(LiveCount::get).sum()
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
