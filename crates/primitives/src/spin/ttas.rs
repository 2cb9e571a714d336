use super::{Seat, SpinLock};
use crate::atomics::{AtomicBool, Ordering, Patience};

/// Test-and-test-and-set with exponential backoff: who waits reads, which leaves the line where it is, and tries to write
/// only when it saw the lock free (T. E. Anderson, "The Performance of Spin Lock Alternatives for Shared-Memory
/// Multiprocessors", IEEE TPDS 1 (1), 1990).
#[derive(Debug, Default)]
pub struct TestAndTestAndSet {
    locked: AtomicBool,
}

impl SpinLock for TestAndTestAndSet {
    #[inline]
    fn acquire(&self, _: &[Seat], _: usize) {
        let mut patience = Patience::default();
        loop {
            if !self.locked.load(Ordering::Relaxed) && !self.locked.swap(true, Ordering::Acquire) {
                return;
            }
            patience.back_off();
        }
    }

    #[inline]
    fn release(&self, _: &[Seat], _: usize) {
        self.locked.store(false, Ordering::Release);
    }
}
