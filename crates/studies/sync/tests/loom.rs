//! The hand-written locks under loom, which tries the interleavings of their atomic operations, and
//! for each read the values that the memory model allows. Their sources are compiled here with
//! loom's atomics in place of those of the library.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test")]

#[path = "../src/primitives/spin.rs"]
mod spin;

/// As `src/atomics.rs`.
mod atomics {
    pub use loom::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

    /// Turns a swap of an equal value into a failed exchange. In loom a write by swap and a plain
    /// store of another thread have no order, so a released lock could stay taken for ever. The
    /// memory model forbids that: a swap reads the value immediately before its own.
    #[derive(Debug, Default)]
    pub struct AtomicBool(loom::sync::atomic::AtomicBool);

    impl AtomicBool {
        pub fn swap(&self, value: bool, order: Ordering) -> bool {
            self.0
                .compare_exchange(!value, value, order, Ordering::Relaxed)
                .unwrap_or_else(|same| same)
        }

        pub fn load(&self, order: Ordering) -> bool {
            self.0.load(order)
        }

        pub fn store(&self, value: bool, order: Ordering) {
            self.0.store(value, order);
        }
    }

    #[derive(Debug, Default)]
    pub struct Patience {
        pauses: u32,
    }

    impl Patience {
        pub fn pause(&mut self) {
            self.pauses += 1;
            loom::thread::yield_now();
        }

        pub fn back_off(&mut self) {
            self.pause();
        }
    }
}

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering};
use spin::{Mcs, QueueNode, SpinLock, TestAndSet, TestAndTestAndSet, Ticket};

struct Guarded<L> {
    lock: L,
    seats: Vec<QueueNode>,
    count: AtomicU64,
}

impl<L: SpinLock> Guarded<L> {
    fn add(&self, thread: usize) {
        self.lock.acquire(&self.seats, thread);
        // Not atomic, and not ordered by itself: only the lock keeps an update from getting lost.
        let count = self.count.load(Ordering::Relaxed);
        self.count.store(count + 1, Ordering::Relaxed);
        self.lock.release(&self.seats, thread);
    }
}

/// Lets threads add to one counter, `times` times each; loom explores executions with at most
/// `preemptions` preemptions.
fn adds_up<L: SpinLock + 'static>(threads: usize, times: u64, preemptions: Option<usize>) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = preemptions;
    model.check(move || {
        let seats = (0..threads).map(|_| QueueNode::default()).collect();
        let table = Arc::new(Guarded { lock: L::default(), seats, count: AtomicU64::new(0) });
        let others: Vec<_> = (1..threads)
            .map(|thread| {
                let table = table.clone();
                loom::thread::spawn(move || (0..times).for_each(|_| table.add(thread)))
            })
            .collect();
        (0..times).for_each(|_| table.add(0));
        for other in others {
            other.join().unwrap();
        }
        assert_eq!(table.count.load(Ordering::Relaxed), threads as u64 * times);
    });
}

#[test]
fn test_and_set() {
    adds_up::<TestAndSet>(2, 2, None);
}

#[test]
fn test_and_test_and_set() {
    adds_up::<TestAndTestAndSet>(2, 2, None);
}

#[test]
fn ticket() {
    adds_up::<Ticket>(2, 2, None);
}

/// A queue of three has a middle. (Where three wait for one flag, the two that spin for it are more
/// than loom can follow.)
#[test]
fn mcs() {
    adds_up::<Mcs>(2, 2, None);
    adds_up::<Mcs>(3, 1, Some(2));
}

/// A lock that orders nothing: what the tests above would have to find wrong.
#[derive(Default)]
struct Unordered {
    locked: atomics::AtomicBool,
}

impl SpinLock for Unordered {
    fn acquire(&self, _: &[QueueNode], _: usize) {
        while self.locked.swap(true, Ordering::Relaxed) {
            loom::thread::yield_now();
        }
    }

    fn release(&self, _: &[QueueNode], _: usize) {
        self.locked.store(false, Ordering::Relaxed);
    }
}

#[test]
#[should_panic(expected = "left")]
fn a_lock_that_orders_nothing_is_found_out() {
    adds_up::<Unordered>(2, 1, None);
}
