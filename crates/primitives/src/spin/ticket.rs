use super::{Seat, SpinLock};
use crate::atomics::{AtomicU32, Ordering, Patience};

/// Ticket lock: first come, first served; all wait on the same line (J. M. Mellor-Crummey and M. L. Scott, "Algorithms for
/// Scalable Synchronization on Shared-Memory Multiprocessors", ACM TOCS 9 (1), 1991).
#[derive(Debug, Default)]
pub struct Ticket {
    next: AtomicU32,
    served: AtomicU32,
}

impl SpinLock for Ticket {
    #[inline]
    fn acquire(&self, _: &[Seat], _: usize) {
        let own = self.next.fetch_add(1, Ordering::Relaxed);
        let mut patience = Patience::default();
        while self.served.load(Ordering::Acquire) != own {
            patience.pause();
        }
    }

    #[inline]
    fn release(&self, _: &[Seat], _: usize) {
        // Only who is served writes it.
        let own = self.served.load(Ordering::Relaxed);
        self.served.store(own.wrapping_add(1), Ordering::Release);
    }
}
