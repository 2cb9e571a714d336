//! The time that some of the operations take.

use crate::plan::STEPS;
use observations::Histogram;
use quanta::Clock;

/// One in so many operations is timed: at two or three looks at the clock, each of some 20 ns, this costs an operation
/// 0.02 ns on average, 2 % of the fastest that there is and nothing of one that waits.
pub const SAMPLED_EVERY: usize = STEPS;

/// Times of the operations of one thread.
#[derive(Debug)]
pub struct Samples {
    clock: Clock,
    /// What two looks at the clock in a row are apart.
    look_ns: u64,
    /// From begin to end.
    pub operation: Histogram,
    /// From begin until the lock was got, where there is one.
    pub acquire: Histogram,
}

impl Samples {
    pub fn new() -> Self {
        let clock = Clock::new();
        let look = || {
            let before = clock.raw();
            clock.delta_as_nanos(before, clock.raw())
        };
        let look_ns = (0..1000).map(|_| look()).min().unwrap_or(0);
        Self { clock, look_ns, operation: Histogram::default(), acquire: Histogram::default() }
    }

    /// Times an operation, which says when it has got its lock.
    #[inline]
    pub fn take<R>(&mut self, operation: impl FnOnce(&mut dyn FnMut()) -> R) -> R {
        let mut acquired = None;
        let start = self.clock.raw();
        let result = operation(&mut || acquired = Some(self.clock.raw()));
        let end = self.clock.raw();
        let since_start = |then| self.clock.delta_as_nanos(start, then).saturating_sub(self.look_ns);
        if let Some(acquired) = acquired {
            self.acquire.record(since_start(acquired));
            // One look more lies within.
            self.operation.record(since_start(end).saturating_sub(self.look_ns));
        } else {
            self.operation.record(since_start(end));
        }
        result
    }
}
