//! The table of counters under each primitive.

use crate::primitives::padding::Cells;
use crate::primitives::spin::{QueueNode, SpinLock};
use dashmap::DashMap;
use std::collections::HashMap;
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};

/// Counters that several threads add to. Threads and members are numbered from 0.
///
/// `acquired` is called when a lock was got, where there is one.
pub trait Table: Sync {
    /// Adds one to a member.
    fn add(&self, thread: usize, member: usize, acquired: impl FnOnce());
    /// The count of a member.
    fn read(&self, thread: usize, member: usize, acquired: impl FnOnce()) -> u64;
    /// Number of cache lines that threads share and write to; `None` where it is not known (maps).
    fn shared_lines(&self) -> Option<u32> {
        None
    }
}

/// Keys are hashed as programs do that say nothing about it (`SipHash`).
pub type Map = HashMap<usize, u64>;

/// A map under one lock, which is taken so to write and so to read.
macro_rules! locked_map {
    ($lock:ident, $write:ident, $read:ident) => {
        impl Table for $lock<Map> {
            #[inline]
            fn add(&self, _: usize, member: usize, acquired: impl FnOnce()) {
                let mut map = self.$write().unwrap_or_else(PoisonError::into_inner);
                acquired();
                *map.entry(member).or_default() += 1;
            }

            #[inline]
            fn read(&self, _: usize, member: usize, acquired: impl FnOnce()) -> u64 {
                let map = self.$read().unwrap_or_else(PoisonError::into_inner);
                acquired();
                map.get(&member).copied().unwrap_or(0)
            }
        }
    };
}

locked_map!(Mutex, lock, lock);
locked_map!(RwLock, write, read);

/// A map with locks over parts of it, four a processor.
impl Table for DashMap<usize, u64> {
    #[inline]
    fn add(&self, _: usize, member: usize, acquired: impl FnOnce()) {
        let mut entry = self.entry(member).or_default();
        acquired();
        *entry += 1;
    }

    #[inline]
    fn read(&self, _: usize, member: usize, acquired: impl FnOnce()) -> u64 {
        let entry = self.get(&member);
        acquired();
        entry.map_or(0, |entry| *entry)
    }
}

/// A counter of an array, with what guards it. `seats` are the places in which threads wait for a
/// queue lock.
pub trait Counter: Default + Sync {
    fn add(&self, seats: &[QueueNode], thread: usize, acquired: impl FnOnce());
    fn read(&self, seats: &[QueueNode], thread: usize, acquired: impl FnOnce()) -> u64;
}

/// A counter a member, in cells that keep them apart.
pub struct Array<C> {
    cells: Cells<C>,
    seats: Vec<QueueNode>,
}

impl<C: Default + Deref<Target: Sized>> Array<C> {
    pub fn new(members: usize, threads: usize) -> Self {
        Self {
            cells: Cells::new(members),
            seats: (0..threads).map(|_| QueueNode::default()).collect(),
        }
    }
}

impl<C: Default + Sync + Deref<Target: Counter>> Table for Array<C> {
    #[inline]
    fn add(&self, thread: usize, member: usize, acquired: impl FnOnce()) {
        self.cells.get(member).add(&self.seats, thread, acquired);
    }

    #[inline]
    fn read(&self, thread: usize, member: usize, acquired: impl FnOnce()) -> u64 {
        self.cells.get(member).read(&self.seats, thread, acquired)
    }

    fn shared_lines(&self) -> Option<u32> {
        Some(self.cells.lines())
    }
}

impl Counter for Mutex<u64> {
    #[inline]
    fn add(&self, _: &[QueueNode], _: usize, acquired: impl FnOnce()) {
        let mut count = self.lock().unwrap_or_else(PoisonError::into_inner);
        acquired();
        *count += 1;
    }

    #[inline]
    fn read(&self, _: &[QueueNode], _: usize, acquired: impl FnOnce()) -> u64 {
        let count = self.lock().unwrap_or_else(PoisonError::into_inner);
        acquired();
        *count
    }
}

/// A counter behind a spin lock. The lock orders the accesses: nothing gets lost.
#[derive(Debug, Default)]
pub(crate) struct Spinning<L> {
    lock: L,
    count: AtomicU64,
}

impl<L: SpinLock> Counter for Spinning<L> {
    #[inline]
    fn add(&self, seats: &[QueueNode], thread: usize, acquired: impl FnOnce()) {
        self.lock.acquire(seats, thread);
        acquired();
        add_unguarded(&self.count);
        self.lock.release(seats, thread);
    }

    #[inline]
    fn read(&self, seats: &[QueueNode], thread: usize, acquired: impl FnOnce()) -> u64 {
        self.lock.acquire(seats, thread);
        acquired();
        let count = self.count.load(Ordering::Relaxed);
        self.lock.release(seats, thread);
        count
    }
}

/// Counters without a lock, and how they are added to.
macro_rules! plain {
    ($($(#[$doc:meta])* $counter:ident = $add:expr;)*) => { $(
        $(#[$doc])*
        #[derive(Debug, Default)]
        pub struct $counter(AtomicU64);

        impl Counter for $counter {
            #[inline]
            fn add(&self, _: &[QueueNode], _: usize, _: impl FnOnce()) {
                $add(&self.0);
            }

            #[inline]
            fn read(&self, _: &[QueueNode], _: usize, _: impl FnOnce()) -> u64 {
                self.0.load(Ordering::Relaxed)
            }
        }
    )* };
}

plain! {
    /// Nothing keeps updates from getting lost.
    Racy = add_unguarded;
    /// Atomic addition.
    Atomic = |count: &AtomicU64| count.fetch_add(1, Ordering::Relaxed);
    /// A loop of compare-and-swap.
    Cas = add_by_exchange;
}

/// Load and store, each atomic, nothing between them: an update in the meantime gets lost. This is
/// what volatile access compiles to; volatile access itself would be a data race, which Rust does
/// not define.
#[inline]
fn add_unguarded(count: &AtomicU64) {
    count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

#[inline]
fn add_by_exchange(count: &AtomicU64) {
    let mut current = count.load(Ordering::Relaxed);
    while let Err(now) =
        count.compare_exchange_weak(current, current + 1, Ordering::Relaxed, Ordering::Relaxed)
    {
        current = now;
    }
}

/// Counters that fill two lines.
const BLOCK: usize = 16;

#[derive(Debug, Default)]
#[repr(align(128))]
struct Block([AtomicU64; BLOCK]);

/// Copies of an array, each on lines of its own, that are added to apart and summed by who reads.
#[derive(Debug)]
struct Copies {
    blocks: Vec<Block>,
    blocks_a_copy: usize,
}

impl Copies {
    fn new(copies: usize, members: usize) -> Self {
        let blocks_a_copy = members.div_ceil(BLOCK);
        Self {
            blocks: (0..copies * blocks_a_copy).map(|_| Block::default()).collect(),
            blocks_a_copy,
        }
    }

    #[inline]
    fn get(&self, copy: usize, member: usize) -> &AtomicU64 {
        &self.blocks[copy * self.blocks_a_copy + member / BLOCK].0[member % BLOCK]
    }

    fn read(&self, member: usize) -> u64 {
        self.blocks
            .chunks_exact(self.blocks_a_copy)
            .map(|copy| copy[member / BLOCK].0[member % BLOCK].load(Ordering::Relaxed))
            .sum()
    }
}

/// A copy for each CPU. The scheduler may move a thread between looking up its CPU and the
/// addition, so the addition is atomic, on a cache line that other CPUs rarely use.
#[derive(Debug)]
pub(crate) struct PerCore {
    copies: Copies,
    processors: usize,
}

impl PerCore {
    pub fn new(members: usize) -> Self {
        // SAFETY: a constant of the system.
        let processors = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) }.max(1) as usize;
        Self { copies: Copies::new(processors, members), processors }
    }
}

impl Table for PerCore {
    #[inline]
    fn add(&self, _: usize, member: usize, _: impl FnOnce()) {
        // glibc reads the processor of this thread from its restartable-sequences area or the vDSO,
        // without a system call. SAFETY: no arguments.
        let cpu = unsafe { libc::sched_getcpu() }.max(0) as usize;
        let copy = if cpu < self.processors { cpu } else { cpu % self.processors };
        self.copies.get(copy, member).fetch_add(1, Ordering::Relaxed);
    }

    #[inline]
    fn read(&self, _: usize, member: usize, _: impl FnOnce()) -> u64 {
        self.copies.read(member)
    }

    fn shared_lines(&self) -> Option<u32> {
        Some(0)
    }
}

/// A copy for each thread, which alone writes to it: a plain addition is enough.
#[derive(Debug)]
pub struct PerThread(Copies);

impl PerThread {
    pub fn new(members: usize, threads: usize) -> Self {
        Self(Copies::new(threads, members))
    }
}

impl Table for PerThread {
    #[inline]
    fn add(&self, thread: usize, member: usize, _: impl FnOnce()) {
        add_unguarded(self.0.get(thread, member));
    }

    #[inline]
    fn read(&self, _: usize, member: usize, _: impl FnOnce()) -> u64 {
        self.0.read(member)
    }

    fn shared_lines(&self) -> Option<u32> {
        Some(0)
    }
}
