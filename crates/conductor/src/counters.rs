use std::sync::atomic::{AtomicU64, Ordering};

/// Sums of one thread. Two lines of cache, because processors fetch lines in pairs: no other thread
/// writes near them.
#[repr(align(128))]
#[derive(Debug)]
pub struct Counters<const N: usize>([AtomicU64; N]);

impl<const N: usize> Default for Counters<N> {
    fn default() -> Self {
        Self([const { AtomicU64::new(0) }; N])
    }
}

impl<const N: usize> Counters<N> {
    /// Adds to one of them; only the owning thread calls this, so a plain load and store are enough.
    #[inline]
    pub fn add(&self, which: usize, amount: u64) {
        let sum = &self.0[which];
        sum.store(sum.load(Ordering::Relaxed).wrapping_add(amount), Ordering::Relaxed);
    }

    /// Sets all of them; only the owning thread calls this.
    #[inline]
    pub fn set(&self, sums: [u64; N]) {
        for (sum, now) in self.0.iter().zip(sums) {
            sum.store(now, Ordering::Relaxed);
        }
    }

    /// The sums so far, each by itself: not one moment for all.
    pub fn get(&self) -> [u64; N] {
        std::array::from_fn(|which| self.0[which].load(Ordering::Relaxed))
    }
}
