//! Atomics of the hand-written locks. `tests/loom.rs` compiles the locks with loom's in their
//! place.

pub use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

/// Pauses before a waiting thread offers its processor to others: some microseconds. Without that a
/// thread that spins for one which has lost its processor would keep it from coming back until the
/// scheduler steps in, some milliseconds later.
const PAUSES: u32 = 128;
/// Longest pause of a backoff, in pauses.
const BACKOFF_MAX: u32 = 64;

/// How a thread waits for a lock without sleeping.
#[derive(Debug, Default)]
pub struct Patience {
    pauses: u32,
    length: u32,
}

impl Patience {
    /// A short pause; after many of them the processor is offered to others (`sched_yield`).
    #[inline]
    pub fn pause(&mut self) {
        if self.pauses < PAUSES {
            self.pauses += 1;
            std::hint::spin_loop();
        } else {
            std::thread::yield_now();
        }
    }

    /// Pauses twice as long each time, up to a limit.
    #[inline]
    pub fn back_off(&mut self) {
        self.length = (self.length * 2).clamp(1, BACKOFF_MAX);
        for _ in 0..self.length {
            self.pause();
        }
    }
}
