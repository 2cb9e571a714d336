//! Copies of the counters that are added to apart and summed by who reads.

use super::Table;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counters that fill two lines.
const BLOCK: usize = 16;

#[derive(Debug, Default)]
#[repr(align(128))]
struct Block([AtomicU64; BLOCK]);

/// Copies of an array, each on lines of its own.
#[derive(Debug)]
struct Copies {
    blocks: Vec<Block>,
    blocks_a_copy: usize,
}

impl Copies {
    fn new(copies: usize, members: usize) -> Self {
        let blocks_a_copy = members.div_ceil(BLOCK);
        let mut blocks = Vec::new();
        blocks.resize_with(copies * blocks_a_copy, Block::default);
        Self { blocks, blocks_a_copy }
    }

    #[inline]
    fn get(&self, copy: usize, member: usize) -> &AtomicU64 {
        &self.blocks[copy * self.blocks_a_copy + member / BLOCK].0[member % BLOCK]
    }

    fn read(&self, member: usize) -> u64 {
        let of_copy = |copy: &[Block]| copy[member / BLOCK].0[member % BLOCK].load(Ordering::Relaxed);
        self.blocks.chunks_exact(self.blocks_a_copy).map(of_copy).sum()
    }

    fn sum(&self) -> u64 {
        self.blocks.iter().flat_map(|block| &block.0).map(|count| count.load(Ordering::Relaxed)).sum()
    }
}

/// A copy for each processor. A thread may be moved between looking where it is and adding: so the addition is atomic, on
/// a line that nobody else wants.
#[derive(Debug)]
pub struct PerCore {
    copies: Copies,
    processors: usize,
}

impl PerCore {
    pub fn new(members: usize) -> Self {
        // SAFETY: a constant of the system.
        let processors = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) }.max(1) as usize;
        Self { copies: Copies::new(processors, members), processors }
    }

    /// The processor that this thread is on; glibc reads it from the thread's restartable-sequences area or the vDSO,
    /// without a system call.
    #[inline]
    fn processor(&self) -> usize {
        // SAFETY: no arguments.
        let cpu = unsafe { libc::sched_getcpu() }.max(0) as usize;
        if cpu < self.processors { cpu } else { cpu % self.processors }
    }
}

impl Table for PerCore {
    #[inline]
    fn add(&self, _: usize, member: usize, _: impl FnOnce()) {
        self.copies.get(self.processor(), member).fetch_add(1, Ordering::Relaxed);
    }

    #[inline]
    fn read(&self, _: usize, member: usize, _: impl FnOnce()) -> u64 {
        self.copies.read(member)
    }

    fn sum(&self) -> u64 {
        self.copies.sum()
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
        let count = self.0.get(thread, member);
        count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    #[inline]
    fn read(&self, _: usize, member: usize, _: impl FnOnce()) -> u64 {
        self.0.read(member)
    }

    fn sum(&self) -> u64 {
        self.0.sum()
    }

    fn shared_lines(&self) -> Option<u32> {
        Some(0)
    }
}
