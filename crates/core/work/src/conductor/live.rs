//! A thread's counts that others can read while it runs: no locks and no read-modify-write.

use observations::{HIGHEST_NS, Histogram, SLOTS, slot};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A sum of one thread. Two lines of cache, because processors fetch lines in pairs: no other
/// thread writes near it.
#[repr(align(128))]
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds to it; only the owning thread calls this, so a plain load and store are enough.
    #[inline]
    pub fn add(&self, amount: u64) {
        self.set(self.get().wrapping_add(amount));
    }

    /// Sets it; only the owning thread calls this.
    #[inline]
    pub fn set(&self, sum: u64) {
        self.0.store(sum, Ordering::Relaxed);
    }

    /// The sum so far.
    #[inline]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Counters of a block, two lines of cache: readers pass over blocks without a count.
const BLOCK: usize = 16;
const BITS: usize = u64::BITS as usize;
const WORDS: usize = SLOTS.div_ceil(BLOCK).div_ceil(BITS);

/// The counters, after the blocks that have a count: a bit each. Nothing else is on their lines.
#[repr(align(128))]
#[derive(Debug)]
struct Shared {
    used: [AtomicU64; WORDS],
    counts: Box<[AtomicU64]>,
}

/// Records the latencies of one thread: as precise as [`Histogram`] (1 ns to 1 h, three digits).
///
/// Recording is a load and a store of one counter: no other thread writes to it.
#[derive(Debug)]
pub struct Recorder(Arc<Shared>);

impl Default for Recorder {
    fn default() -> Self {
        let counts = (0..SLOTS).map(|_| AtomicU64::new(0)).collect();
        Self(Arc::new(Shared { used: [const { AtomicU64::new(0) }; WORDS], counts }))
    }
}

impl Recorder {
    /// Records one latency; allocates nothing.
    #[inline]
    pub fn record(&mut self, latency_ns: u64) {
        let index = slot(latency_ns.clamp(1, HIGHEST_NS));
        let count = &self.0.counts[index];
        let before = count.load(Ordering::Relaxed);
        count.store(before + 1, Ordering::Relaxed);
        if before == 0 {
            self.use_block(index / BLOCK);
        }
    }

    #[cold]
    fn use_block(&mut self, block: usize) {
        let word = &self.0.used[block / BITS];
        word.store(word.load(Ordering::Relaxed) | 1 << (block % BITS), Ordering::Relaxed);
    }

    /// A view of it for another thread.
    pub fn reader(&self) -> Reader {
        Reader(self.0.clone())
    }

    /// Returns the recorded values.
    pub fn histogram(&self) -> Histogram {
        Reader::sum([&self.reader()])
    }
}

/// Another thread's view of a [`Recorder`] while it records.
#[derive(Debug, Clone)]
pub struct Reader(Arc<Shared>);

impl Reader {
    /// Returns the sum of these recorders so far. A latency recorded at this moment may be missing.
    pub fn sum<'a>(readers: impl IntoIterator<Item = &'a Self>) -> Histogram {
        let mut sums = vec![0_u64; SLOTS];
        for Self(shared) in readers {
            for (word, used) in shared.used.iter().enumerate() {
                let mut used = used.load(Ordering::Relaxed);
                while used != 0 {
                    let start = (word * BITS + used.trailing_zeros() as usize) * BLOCK;
                    let counters = start..SLOTS.min(start + BLOCK);
                    for (sum, count) in
                        sums[counters.clone()].iter_mut().zip(&shared.counts[counters])
                    {
                        *sum += count.load(Ordering::Relaxed);
                    }
                    used &= used - 1;
                }
            }
        }
        Histogram::from_counts(sums)
    }
}

#[cfg(test)]
mod tests {
    use super::{HIGHEST_NS, Reader, Recorder};
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn records_what_an_hdr_histogram_records() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut recorder = Recorder::default();
        let mut expected =
            hdrhistogram::Histogram::<u64>::new_with_bounds(1, HIGHEST_NS, 3).unwrap();
        for bits in 0..64 {
            for _ in 0..200 {
                let value = random.random::<u64>() >> bits;
                recorder.record(value);
                expected.record(value.clamp(1, HIGHEST_NS)).unwrap();
            }
        }
        let recorded = recorder.histogram();
        let pairs = expected.iter_recorded();
        let pairs = pairs.map(|at| (at.value_iterated_to(), at.count_at_value()));
        assert!(Vec::from(recorded.clone()) == pairs.collect::<Vec<_>>(), "a long list");
        let (min, mean, max) = recorded.min_mean_max_ns();
        assert_eq!((min, max), (expected.min(), expected.max()));
        assert!((mean / expected.mean() - 1.0).abs() < 1e-12, "{mean} {}", expected.mean());
        assert!(
            [0.0, 50.0, 99.9, 100.0]
                .iter()
                .all(|p| recorded.percentile_ns(*p) == expected.value_at_percentile(*p))
        );
        assert!(Recorder::default().histogram().is_empty());
    }

    #[test]
    fn readers_see_a_growing_count_and_in_the_end_all() {
        let (mut recorder, done) = (Recorder::default(), AtomicBool::new(false));
        let reader = recorder.reader();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                (0..2_000_000_u64).for_each(|value| recorder.record(value));
                done.store(true, Ordering::Release);
            });
            let (mut last, mut over) = (0, false);
            while !over {
                over = done.load(Ordering::Acquire);
                let sum = Reader::sum([&reader]);
                assert!(sum.len() >= last, "{} after {last}", sum.len());
                last = sum.len();
            }
            assert_eq!(last, 2_000_000);
        });
    }
}
