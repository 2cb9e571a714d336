//! A thread's counts that others can read while it runs: no locks and no read-modify-write.

use observations::Histogram;
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

/// Highest recordable value: one hour in nanoseconds. Longer is recorded as one hour.
const HIGHEST_NS: u64 = 3_600_000_000_000;

/// Each power of two is divided into this many steps, as by an `HdrHistogram` of three digits: the
/// next power of two above 2 x 10^3.
const STEPS_LOG2: u32 = 11;
const STEPS: usize = 1 << STEPS_LOG2;
const HALF_LOG2: u32 = STEPS_LOG2 - 1;

/// Counters in all.
const LENGTH: usize = index_of(HIGHEST_NS) + 1;

/// The counter of a value. The first `STEPS` values have one each, the values of each power of two
/// above have half as many.
#[inline]
const fn index_of(value: u64) -> usize {
    let power = (value | (STEPS as u64 - 1)).ilog2() - HALF_LOG2;
    ((power as usize) << HALF_LOG2) + (value >> power) as usize
}

/// The smallest value of a counter.
const fn value_of(index: usize) -> u64 {
    if index < STEPS {
        return index as u64;
    }
    let power = (index >> HALF_LOG2) - 1;
    ((index - (power << HALF_LOG2)) as u64) << power
}

/// Counters of a block, two lines of cache: readers pass over blocks without a count.
const BLOCK: usize = 16;
const BITS: usize = u64::BITS as usize;
const WORDS: usize = LENGTH.div_ceil(BLOCK).div_ceil(BITS);

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
        let counts = (0..LENGTH).map(|_| AtomicU64::new(0)).collect();
        Self(Arc::new(Shared { used: [const { AtomicU64::new(0) }; WORDS], counts }))
    }
}

impl Recorder {
    /// Records one latency; allocates nothing.
    #[inline]
    pub fn record(&mut self, latency_ns: u64) {
        let index = index_of(latency_ns.clamp(1, HIGHEST_NS));
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
        let mut sums = vec![0_u64; LENGTH];
        for Self(shared) in readers {
            for (word, used) in shared.used.iter().enumerate() {
                let mut used = used.load(Ordering::Relaxed);
                while used != 0 {
                    let start = (word * BITS + used.trailing_zeros() as usize) * BLOCK;
                    let counters = start..LENGTH.min(start + BLOCK);
                    for (sum, count) in
                        sums[counters.clone()].iter_mut().zip(&shared.counts[counters])
                    {
                        *sum += count.load(Ordering::Relaxed);
                    }
                    used &= used - 1;
                }
            }
        }
        let mut all = Histogram::default();
        for (index, sum) in sums.into_iter().enumerate().filter(|(_, sum)| *sum > 0) {
            all.add(value_of(index), sum);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::{HIGHEST_NS, Histogram, LENGTH, Reader, Recorder, index_of, value_of};
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn counters_cover_all_values_in_order() {
        assert!((1..LENGTH).all(|index| index_of(value_of(index)) == index));
        assert!((1..LENGTH).all(|index| index_of(value_of(index) - 1) == index - 1));
        assert_eq!(index_of(HIGHEST_NS), LENGTH - 1);
    }

    #[test]
    fn records_what_an_hdr_histogram_records() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let (mut recorder, mut expected) = (Recorder::default(), Histogram::default());
        for bits in 0..64 {
            for _ in 0..200 {
                let value = random.random::<u64>() >> bits;
                recorder.record(value);
                expected.record(value.min(HIGHEST_NS));
            }
        }
        let recorded = recorder.histogram();
        assert!(Vec::from(recorded.clone()) == Vec::from(expected.clone()), "a long list");
        assert_eq!(recorded.min_mean_max_ns(), expected.min_mean_max_ns());
        assert!(
            [0.0, 50.0, 99.9, 100.0]
                .iter()
                .all(|p| recorded.percentile_ns(*p) == expected.percentile_ns(*p))
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
