//! Spin locks. Every one of them guards what is done between [`SpinLock::acquire`] and
//! [`SpinLock::release`].

use super::atomics::{AtomicBool, AtomicU32, AtomicUsize, Ordering, Patience};

/// A lock for which threads wait without sleeping.
pub trait SpinLock: Default + Send + Sync {
    /// Waits for the lock and takes it. `thread` numbers the calling thread, which waits for one
    /// lock at a time, in `seats`.
    fn acquire(&self, seats: &[QueueNode], thread: usize);
    /// Gives back the lock that this thread has taken.
    fn release(&self, seats: &[QueueNode], thread: usize);
}

/// Test-and-set: every try writes, so that the cache line wanders among all that wait.
#[derive(Debug, Default)]
pub struct TestAndSet {
    locked: AtomicBool,
}

impl SpinLock for TestAndSet {
    #[inline]
    fn acquire(&self, _: &[QueueNode], _: usize) {
        let mut patience = Patience::default();
        while self.locked.swap(true, Ordering::Acquire) {
            patience.pause();
        }
    }

    #[inline]
    fn release(&self, _: &[QueueNode], _: usize) {
        self.locked.store(false, Ordering::Release);
    }
}

/// Test-and-test-and-set with exponential backoff: who waits reads, which leaves the line where it
/// is, and tries to write only when it saw the lock free (T. E. Anderson, "The Performance of Spin
/// Lock Alternatives for Shared-Memory Multiprocessors", IEEE TPDS 1 (1), 1990).
#[derive(Debug, Default)]
pub struct TestAndTestAndSet {
    locked: AtomicBool,
}

impl SpinLock for TestAndTestAndSet {
    #[inline]
    fn acquire(&self, _: &[QueueNode], _: usize) {
        let mut patience = Patience::default();
        loop {
            if !self.locked.load(Ordering::Relaxed) && !self.locked.swap(true, Ordering::Acquire) {
                return;
            }
            patience.back_off();
        }
    }

    #[inline]
    fn release(&self, _: &[QueueNode], _: usize) {
        self.locked.store(false, Ordering::Release);
    }
}

/// Ticket lock: first come, first served; all wait on the same line (J. M. Mellor-Crummey and M. L.
/// Scott, "Algorithms for Scalable Synchronization on Shared-Memory Multiprocessors", ACM TOCS 9
/// (1), 1991).
#[derive(Debug, Default)]
pub struct Ticket {
    next: AtomicU32,
    served: AtomicU32,
}

impl SpinLock for Ticket {
    #[inline]
    fn acquire(&self, _: &[QueueNode], _: usize) {
        let ticket = self.next.fetch_add(1, Ordering::Relaxed);
        let mut patience = Patience::default();
        while self.served.load(Ordering::Acquire) != ticket {
            patience.pause();
        }
    }

    #[inline]
    fn release(&self, _: &[QueueNode], _: usize) {
        // Only who is served writes it.
        let serving = self.served.load(Ordering::Relaxed);
        self.served.store(serving.wrapping_add(1), Ordering::Release);
    }
}

/// A queue in which each thread waits on a line of its own (Mellor-Crummey and Scott, as for the
/// ticket lock).
///
/// Places in the queue are numbers of seats instead of addresses, which needs no unsafe code. One
/// seat a thread is enough, because a thread waits for, or holds, one lock at a time.
#[derive(Debug, Default)]
pub struct Mcs {
    /// The last one in the queue: its number plus one; 0 when the lock is free.
    tail: AtomicUsize,
}

/// Where a thread waits.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct QueueNode {
    /// Next in line: its number plus one; 0: empty.
    next: AtomicUsize,
    waiting: AtomicBool,
}

impl SpinLock for Mcs {
    #[inline]
    fn acquire(&self, seats: &[QueueNode], thread: usize) {
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
    fn release(&self, seats: &[QueueNode], thread: usize) {
        let seat = &seats[thread];
        let mut next = seat.next.load(Ordering::Acquire);
        if next == 0 {
            let free =
                self.tail.compare_exchange(thread + 1, 0, Ordering::Release, Ordering::Relaxed);
            if free.is_ok() {
                return;
            }
            // Another thread is in the queue, but has not linked itself yet.
            let mut patience = Patience::default();
            while next == 0 {
                patience.pause();
                next = seat.next.load(Ordering::Acquire);
            }
        }
        seats[next - 1].waiting.store(false, Ordering::Release);
    }
}
