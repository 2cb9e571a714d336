mod packed;

pub use packed::{HIGHEST_NS, HistogramError, SLOTS, slot};

use packed::{Packed, Slot, Slots, equivalent};
use serde::{Deserialize, Serialize};

/// A latency distribution in nanoseconds (an `HdrHistogram`: 1 ns to 1 h, three digits).
///
/// A histogram that was read from the store, or is a sum, takes some hundred bytes instead of 264
/// KiB, so that the thousands of a large recording fit in memory. It answers like the original.
///
/// Serde writes the recorded `(value, count)` pairs, so that exports need no special reader.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "Vec<(u64, u64)>", into = "Vec<(u64, u64)>")]
pub struct Histogram(Form);

#[derive(Debug, Clone)]
enum Form {
    /// Laid out for recording.
    Open(Counts),
    /// Laid out for keeping.
    Packed(Packed),
    /// Only these were read.
    Figures(Figures),
}

/// A counter for each slot, and their sum.
#[derive(Debug, Clone)]
struct Counts {
    by_slot: Vec<u64>,
    len: u64,
}

impl Counts {
    #[inline]
    fn add(&mut self, slot: usize, count: u64) {
        self.by_slot[slot] = self.by_slot[slot].saturating_add(count);
        self.len = self.len.saturating_add(count);
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Figures {
    len: u64,
    min_mean_max_ns: (u64, f64, u64),
}

impl Default for Histogram {
    fn default() -> Self {
        Self::from_counts(vec![0; SLOTS])
    }
}

impl PartialEq for Histogram {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Form::Packed(packed), Form::Packed(other)) if packed == other => true,
            (Form::Figures(figures), Form::Figures(other)) => figures == other,
            _ => self.len() == other.len() && self.slots().eq(other.slots()),
        }
    }
}

impl Histogram {
    /// A histogram of the counts of all [`SLOTS`], as a recorder keeps them.
    pub fn from_counts(by_slot: Vec<u64>) -> Self {
        let len = by_slot.iter().copied().fold(0, u64::saturating_add);
        Self(Form::Open(Counts { by_slot, len }))
    }

    /// Records one latency; allocates nothing.
    #[inline]
    pub fn record(&mut self, latency_ns: u64) {
        self.add(latency_ns, 1);
    }

    /// Records `count` values of one latency.
    #[inline]
    pub fn add(&mut self, latency_ns: u64, count: u64) {
        self.open().add(slot(latency_ns.clamp(1, HIGHEST_NS)), count);
    }

    /// Adds all of another histogram.
    pub fn merge(&mut self, other: &Self) {
        let counts = self.open();
        other.slots().for_each(|slot| counts.add(slot.at, slot.count));
    }

    /// The sum of all, packed.
    pub fn sum(all: &[&Self]) -> Self {
        let mut sums: Vec<Slot> = Vec::new();
        for histogram in all {
            // Both in ascending order.
            let mut before = std::mem::take(&mut sums).into_iter().peekable();
            for slot in histogram.slots() {
                while let Some(lower) = before.next_if(|sum| sum.at < slot.at) {
                    sums.push(lower);
                }
                let same = before.next_if(|sum| sum.at == slot.at).map_or(0, |sum| sum.count);
                sums.push(Slot { count: slot.count.saturating_add(same), ..slot });
            }
            sums.extend(before);
        }
        Self(Form::Packed(Packed::from_slots(sums)))
    }

    /// A histogram of which only these figures are known, as [`Histogram::len`] and
    /// [`Histogram::min_mean_max_ns`] give them: a text says no more of most latencies, and the
    /// thousands of a large recording take time to read. It has no percentiles and adds nothing
    /// to a sum.
    pub fn of_figures(len: u64, min_ns: u64, mean_ns: f64, max_ns: u64) -> Self {
        Self(Form::Figures(Figures { len, min_mean_max_ns: (min_ns, mean_ns, max_ns) }))
    }

    /// Number of recorded values.
    pub fn len(&self) -> u64 {
        match &self.0 {
            Form::Open(counts) => counts.len,
            Form::Packed(packed) => packed.len(),
            Form::Figures(figures) => figures.len,
        }
    }

    /// Returns whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Latency in ns at a percentile from 0 to 100: the largest value of its bucket; 0 for an empty
    /// histogram.
    pub fn percentile_ns(&self, percentile: f64) -> u64 {
        self.percentiles_ns([percentile])[0]
    }

    /// Returns several percentiles, given in ascending order, in one pass.
    pub fn percentiles_ns<const N: usize>(&self, percentiles: [f64; N]) -> [u64; N] {
        let is_read = !matches!(self.0, Form::Figures(_));
        debug_assert!(is_read, "percentiles of a histogram that was not read");
        let (mut slots, mut below, mut last) = (self.slots(), 0, None::<Slot>);
        percentiles.map(|percentile| {
            let rank = ((percentile / 100.0).min(1.0) * self.len() as f64).ceil().max(1.0) as u64;
            while below < rank {
                let Some(slot) = slots.next() else { break };
                below = below.saturating_add(slot.count);
                last = Some(slot);
            }
            let ends = last.map_or((0, 0), Slot::ends);
            if percentile == 0.0 { ends.0 } else { ends.1 }
        })
    }

    /// A percentile nearly without bias: at the rank `n q + 1/2` among the values (Hazen, 1914),
    /// between neighbours by their distance to it.
    ///
    /// The value at the rank `n q` is too low by half a rank: at ten slower values by 0.15 of its
    /// standard deviations, which an interval over 60 trials does not contain.
    pub fn quantile_ns(&self, percent: f64) -> f64 {
        let n = self.len() as f64;
        let rank = (n * percent / 100.0 + 0.5).clamp(1.0, n.max(1.0));
        // The middle of a rank, so that rounding does not lead to its neighbour.
        let at = |rank: f64| 100.0 * (rank - 0.5) / n.max(1.0);
        let [low, high] = self.percentiles_ns([at(rank.floor()), at(rank.ceil())]);
        low as f64 + (high - low) as f64 * rank.fract()
    }

    /// Width in ns of the slot that a latency is counted in: what its percentiles are rounded to.
    pub fn bucket_ns(latency_ns: u64) -> u64 {
        let (low, high) = equivalent(latency_ns);
        high - low + 1
    }

    /// Smallest, mean and largest latency in ns, where a bucket counts as its smallest, middle and
    /// largest value.
    pub fn min_mean_max_ns(&self) -> (u64, f64, u64) {
        if let Form::Figures(figures) = &self.0 {
            return figures.min_mean_max_ns;
        }
        let (mut min, mut sum, mut max) = (None, 0.0, 0);
        for slot in self.slots() {
            let (low, high) = slot.ends();
            min.get_or_insert(low);
            max = high;
            sum += (low + (high - low).div_ceil(2)) as f64 * slot.count as f64;
        }
        (min.unwrap_or(0), sum / self.len().max(1) as f64, max)
    }

    /// The compressed standard form (V2 deflate), for the store.
    pub fn to_bytes(&self) -> Vec<u8> {
        match &self.0 {
            Form::Packed(packed) => packed.to_bytes(),
            _ => Packed::from_slots(self.slots()).to_bytes(),
        }
    }

    /// Reads the form that [`Histogram::to_bytes`] writes.
    ///
    /// # Errors
    /// When the bytes are not such a histogram.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, HistogramError> {
        Packed::from_bytes(bytes).map(|packed| Self(Form::Packed(packed)))
    }

    /// The slots that are not empty, in ascending order.
    fn slots(&self) -> impl Iterator<Item = Slot> {
        let (counts, packed): (&[u64], Slots<'_>) = match &self.0 {
            Form::Open(counts) => (&counts.by_slot, Slots::default()),
            Form::Packed(packed) => (&[], packed.slots()),
            Form::Figures(_) => (&[], Slots::default()),
        };
        let counted = counts.iter().enumerate().filter(|(_, count)| **count > 0);
        counted.map(|(at, count)| Slot { at, count: *count }).chain(packed)
    }

    /// The counts for recording; a packed histogram stays unpacked from then on.
    #[inline]
    fn open(&mut self) -> &mut Counts {
        if !matches!(self.0, Form::Open(_)) {
            let mut open = Self::default();
            open.merge(self);
            *self = open;
        }
        match &mut self.0 {
            Form::Open(counts) => counts,
            _ => unreachable!("unpacked above"),
        }
    }
}

impl From<Vec<(u64, u64)>> for Histogram {
    fn from(pairs: Vec<(u64, u64)>) -> Self {
        let mut histogram = Self::default();
        for (value, count) in pairs {
            histogram.add(value, count);
        }
        histogram
    }
}

impl From<Histogram> for Vec<(u64, u64)> {
    fn from(histogram: Histogram) -> Self {
        histogram.slots().map(|slot| (slot.ends().1, slot.count)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Histogram;
    use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};

    #[test]
    fn survives_both_stored_forms() {
        let mut histogram = Histogram::default();
        for latency in [1, 999, 1_000_000, 3_600_000_000_000, u64::MAX] {
            histogram.record(latency);
        }
        let bytes = Histogram::from_bytes(&histogram.to_bytes()).unwrap();
        let pairs = Histogram::from(Vec::from(histogram.clone()));
        for copy in [bytes, pairs] {
            assert_eq!(copy.len(), 5);
            assert_eq!(copy.percentile_ns(50.0), histogram.percentile_ns(50.0));
        }
        assert!(Histogram::from_bytes(b"junk").is_err());
    }

    #[test]
    fn a_packed_histogram_answers_and_records_like_the_original() {
        let mut original = Histogram::default();
        (1..5_000_u64).for_each(|i| original.record(i * i));
        let mut packed = Histogram::from_bytes(&original.to_bytes()).unwrap();
        assert_eq!(packed, original);
        assert_eq!(packed.to_bytes(), original.to_bytes());
        assert_eq!(packed.min_mean_max_ns(), original.min_mean_max_ns());
        let mut whole = Histogram::default();
        whole.merge(&packed);
        assert_eq!(whole, original);
        for histogram in [&mut packed, &mut original] {
            histogram.record(77_777_777);
        }
        assert_eq!(packed, original);
        assert_eq!(packed.len(), 5_000);
    }

    #[test]
    fn merging_equals_recording_into_one() {
        let (mut left, mut right, mut whole) =
            (Histogram::default(), Histogram::default(), Histogram::default());
        for i in 1..10_000_u64 {
            if i % 3 == 0 {
                left.record(i * 777);
            } else {
                right.record(i * 777);
            }
            whole.record(i * 777);
        }
        assert_eq!(Histogram::sum(&[&left, &right]), whole);
        let parts = [0, 1, 2].map(|part| {
            let mut histogram = Histogram::default();
            (1..10_000_u64).filter(|i| i % 3 == part).for_each(|i| histogram.record(i * 777));
            histogram
        });
        assert_eq!(Histogram::sum(&parts.each_ref()), whole);
        assert!(Histogram::sum(&[]).is_empty());
        left.merge(&right);
        for p in [0.0, 50.0, 99.0, 99.9, 100.0] {
            assert_eq!(left.percentile_ns(p), whole.percentile_ns(p));
        }
    }

    /// Hazen's definition on values that lie in buckets of their own: numpy's `method="hazen"`.
    #[test]
    fn quantiles_lie_between_ranks() {
        let mut histogram = Histogram::default();
        (1..=1_000).for_each(|value| histogram.record(value));
        let packed = Histogram::from_bytes(&histogram.to_bytes()).unwrap();
        for of in [&histogram, &packed] {
            let found = [0.0, 1.0, 50.0, 95.0, 99.0, 99.9, 100.0].map(|p| of.quantile_ns(p));
            let expected = [1.0, 10.5, 500.5, 950.5, 990.5, 999.5, 1_000.0];
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{found:?}");
        }
        let mut few = Histogram::default();
        for value in [10, 20, 30] {
            few.record(value);
        }
        assert!((few.quantile_ns(50.0) - 20.0).abs() < 1e-9);
        assert!((few.quantile_ns(99.0) - 30.0).abs() < 1e-9);
        assert!(Histogram::default().quantile_ns(99.0).abs() < 1e-9);
    }

    /// The stored form is readable and writable by other programs.
    #[test]
    fn the_stored_form_is_the_standard_one() {
        let mut ours = Histogram::default();
        let mut theirs = hdrhistogram::Histogram::<u64>::new_with_bounds(
            1,
            super::HIGHEST_NS,
            super::packed::DIGITS,
        )
        .unwrap();
        for i in 0..100_000_u64 {
            let latency = (i * i) % 7_777_777_777 + 1;
            ours.record(latency);
            theirs.record(latency).unwrap();
        }
        let read: hdrhistogram::Histogram<u64> =
            Deserializer::new().deserialize(&mut ours.to_bytes().as_slice()).unwrap();
        assert_eq!(read, theirs);
        let mut bytes = Vec::new();
        V2DeflateSerializer::new().serialize(&theirs, &mut bytes).unwrap();
        let read = Histogram::from_bytes(&bytes).unwrap();
        assert_eq!(read, ours);
        let percentiles = [0.0, 0.001, 10.0, 50.0, 99.0, 99.999, 100.0];
        assert_eq!(
            read.percentiles_ns(percentiles),
            percentiles.map(|percentile| theirs.value_at_percentile(percentile))
        );
        for percentile in percentiles {
            assert_eq!(
                read.percentile_ns(percentile),
                theirs.value_at_percentile(percentile),
                "{percentile}"
            );
        }
        let (min, mean, max) = read.min_mean_max_ns();
        assert_eq!((min, max), (theirs.min(), theirs.max()));
        assert!((mean / theirs.mean() - 1.0).abs() < 1e-12, "{mean} {}", theirs.mean());
        let empty = Histogram::from_bytes(&Histogram::default().to_bytes()).unwrap();
        assert_eq!((empty.percentile_ns(99.0), empty.min_mean_max_ns()), (0, (0, 0.0, 0)));
    }
}
