use super::{Seat, SpinLock};
use crate::atomics::{AtomicBool, Ordering, Patience};

/// Test-and-set: every try writes, so that the cache line wanders among all that wait.
#[derive(Debug, Default)]
pub struct TestAndSet {
    locked: AtomicBool,
}

impl SpinLock for TestAndSet {
    #[inline]
    fn acquire(&self, _: &[Seat], _: usize) {
        let mut patience = Patience::default();
        while self.locked.swap(true, Ordering::Acquire) {
            patience.pause();
        }
    }

    #[inline]
    fn release(&self, _: &[Seat], _: usize) {
        self.locked.store(false, Ordering::Release);
    }
}
