use super::SpinLock;
use crate::atomics::{AtomicBool, AtomicUsize, Ordering, Patience};

/// A queue in which each thread waits on a line of its own (Mellor-Crummey and Scott, as for the ticket lock).
///
/// Places in the queue are numbers of seats instead of addresses, which needs no unsafe code. One seat a thread is enough,
/// because a thread waits for, or holds, one lock at a time.
#[derive(Debug, Default)]
pub struct Mcs {
    /// The last one in the queue: its number plus one; 0 when the lock is free.
    tail: AtomicUsize,
}

/// Where a thread waits.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Seat {
    /// Who comes next: its number plus one; 0: nobody yet.
    next: AtomicUsize,
    waiting: AtomicBool,
}

impl SpinLock for Mcs {
    #[inline]
    fn acquire(&self, seats: &[Seat], thread: usize) {
        let seat = &seats[thread];
        seat.next.store(0, Ordering::Relaxed);
        seat.waiting.store(true, Ordering::Relaxed);
        let before = self.tail.swap(thread + 1, Ordering::AcqRel);
        if before != 0 {
            seats[before - 1].next.store(thread + 1, Ordering::Release);
            let mut patience = Patience::default();
            while seat.waiting.load(Ordering::Acquire) {
                patience.pause();
            }
        }
    }

    #[inline]
    fn release(&self, seats: &[Seat], thread: usize) {
        let seat = &seats[thread];
        let mut next = seat.next.load(Ordering::Acquire);
        if next == 0 {
            let free = self.tail.compare_exchange(thread + 1, 0, Ordering::Release, Ordering::Relaxed);
            if free.is_ok() {
                return;
            }
            // Somebody is in the queue who has not said so yet.
            let mut patience = Patience::default();
            while next == 0 {
                patience.pause();
                next = seat.next.load(Ordering::Acquire);
            }
        }
        seats[next - 1].waiting.store(false, Ordering::Release);
    }
}
