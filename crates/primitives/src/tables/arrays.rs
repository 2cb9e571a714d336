//! Arrays of counters: with a lock a member, or of numbers that are added to in one of several ways.

use super::Table;
use crate::padding::{Cells, Spacing, TwoLines};
use crate::spin::{Seat, SpinLock};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// A mutex a member.
pub struct MutexArray<P: Spacing>(Cells<P, Mutex<u64>>);

impl<P: Spacing> MutexArray<P> {
    pub fn new(members: usize) -> Self {
        Self(Cells::new(members))
    }
}

impl<P: Spacing> Table for MutexArray<P> {
    #[inline]
    fn add(&self, _: usize, member: usize, acquired: impl FnOnce()) {
        let mut count = self.0.get(member).lock().unwrap_or_else(PoisonError::into_inner);
        acquired();
        *count += 1;
    }

    #[inline]
    fn read(&self, _: usize, member: usize, acquired: impl FnOnce()) -> u64 {
        let count = self.0.get(member).lock().unwrap_or_else(PoisonError::into_inner);
        acquired();
        *count
    }

    fn sum(&self) -> u64 {
        self.0.iter().map(|count| *count.lock().unwrap_or_else(PoisonError::into_inner)).sum()
    }

    fn shared_lines(&self) -> Option<u32> {
        Some(self.0.lines())
    }
}

/// Load and store, each atomic, nothing between them: an update in the meantime gets lost. This is what volatile
/// access compiles to; volatile access itself would be a data race, which Rust does not define.
#[inline]
fn add_unguarded(count: &AtomicU64) {
    count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

/// A counter behind a spin lock. The lock orders the accesses: nothing gets lost.
#[derive(Debug, Default)]
struct Spinning<L> {
    lock: L,
    count: AtomicU64,
}

/// A spin lock a member.
pub struct SpinArray<L: SpinLock, P: Spacing> {
    cells: Cells<P, Spinning<L>>,
    seats: Vec<Seat>,
}

impl<L: SpinLock, P: Spacing> SpinArray<L, P> {
    pub fn new(members: usize, threads: usize) -> Self {
        let mut seats = Vec::new();
        seats.resize_with(threads, Seat::default);
        Self { cells: Cells::new(members), seats }
    }
}

impl<L: SpinLock, P: Spacing> Table for SpinArray<L, P> {
    #[inline]
    fn add(&self, thread: usize, member: usize, acquired: impl FnOnce()) {
        let cell = self.cells.get(member);
        cell.lock.acquire(&self.seats, thread);
        acquired();
        add_unguarded(&cell.count);
        cell.lock.release(&self.seats, thread);
    }

    #[inline]
    fn read(&self, thread: usize, member: usize, acquired: impl FnOnce()) -> u64 {
        let cell = self.cells.get(member);
        cell.lock.acquire(&self.seats, thread);
        acquired();
        let count = cell.count.load(Ordering::Relaxed);
        cell.lock.release(&self.seats, thread);
        count
    }

    fn sum(&self) -> u64 {
        self.cells.iter().map(|cell| cell.count.load(Ordering::Relaxed)).sum()
    }

    fn shared_lines(&self) -> Option<u32> {
        Some(self.cells.lines())
    }
}

/// A table of plain counters: how one is added to, and which one a member is.
macro_rules! counters {
    ($(#[$doc:meta])* $table:ident, $add:expr) => {
        $(#[$doc])*
        pub struct $table<P: Spacing>(Cells<P, AtomicU64>);

        impl<P: Spacing> $table<P> {
            pub fn new(members: usize) -> Self {
                Self(Cells::new(members))
            }
        }

        impl<P: Spacing> Table for $table<P> {
            #[inline]
            fn add(&self, _: usize, member: usize, _: impl FnOnce()) {
                $add(self.0.get(member));
            }

            #[inline]
            fn read(&self, _: usize, member: usize, _: impl FnOnce()) -> u64 {
                self.0.get(member).load(Ordering::Relaxed)
            }

            fn sum(&self) -> u64 {
                self.0.iter().map(|count| count.load(Ordering::Relaxed)).sum()
            }

            fn shared_lines(&self) -> Option<u32> {
                Some(self.0.lines())
            }
        }
    };
}

counters!(
    /// Nothing keeps updates from getting lost.
    RacyArray,
    add_unguarded
);
counters!(
    /// Atomic addition.
    AtomicArray,
    |count: &AtomicU64| count.fetch_add(1, Ordering::Relaxed)
);
counters!(
    /// A loop of compare-and-swap.
    CasArray,
    add_by_exchange
);

#[inline]
fn add_by_exchange(count: &AtomicU64) {
    let mut seen = count.load(Ordering::Relaxed);
    while let Err(now) = count.compare_exchange_weak(seen, seen + 1, Ordering::Relaxed, Ordering::Relaxed) {
        seen = now;
    }
}

/// One counter for all members.
pub struct SharedCounter(AtomicArray<TwoLines>);

impl SharedCounter {
    pub fn new() -> Self {
        Self(AtomicArray::new(1))
    }
}

impl Table for SharedCounter {
    #[inline]
    fn add(&self, thread: usize, _: usize, acquired: impl FnOnce()) {
        self.0.add(thread, 0, acquired);
    }

    #[inline]
    fn read(&self, thread: usize, _: usize, acquired: impl FnOnce()) -> u64 {
        self.0.read(thread, 0, acquired)
    }

    fn sum(&self) -> u64 {
        self.0.sum()
    }

    fn shared_lines(&self) -> Option<u32> {
        self.0.shared_lines()
    }
}
