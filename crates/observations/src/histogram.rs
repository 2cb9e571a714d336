use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Highest recordable value: one hour in nanoseconds. Longer is recorded as one hour.
const HIGHEST_NS: u64 = 3_600_000_000_000;
/// Significant decimal digits kept: values are right within 0.1 %.
const DIGITS: u8 = 3;

/// A latency distribution in nanoseconds (an `HdrHistogram`: 1 ns to 1 h, three digits).
///
/// One that was read from the store stays packed, some hundred bytes instead of 264 KiB, so that
/// the thousands of a large recording fit in memory. Asking it anything unpacks it for that question.
///
/// Serde writes the recorded `(value, count)` pairs, so that exports need no special reader.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "Vec<(u64, u64)>", into = "Vec<(u64, u64)>")]
pub struct Histogram(Form);

type Counts = hdrhistogram::Histogram<u64>;

#[derive(Debug, Clone)]
enum Form {
    /// Laid out for recording.
    Open(Counts),
    /// The compressed standard form, known to be readable, and how many values it holds.
    Packed(Box<[u8]>, u64),
}

/// A stored histogram could not be read.
#[derive(Debug, thiserror::Error)]
#[error("not a histogram: {0}")]
pub struct HistogramError(String);

impl Default for Histogram {
    fn default() -> Self {
        // The bounds are constants that the library accepts, which the tests of this module show.
        #[expect(clippy::expect_used, reason = "constant bounds")]
        let counts = Counts::new_with_bounds(1, HIGHEST_NS, DIGITS).expect("constant bounds");
        Self(Form::Open(counts))
    }
}

impl PartialEq for Histogram {
    fn eq(&self, other: &Self) -> bool {
        self.counts() == other.counts()
    }
}

impl Histogram {
    /// Records one latency; allocates nothing.
    #[inline]
    pub fn record(&mut self, latency_ns: u64) {
        self.open().saturating_record(latency_ns.max(1));
    }

    /// Records so many of one latency.
    #[inline]
    pub fn add(&mut self, latency_ns: u64, count: u64) {
        self.open().saturating_record_n(latency_ns.max(1), count);
    }

    /// Adds all of another histogram.
    pub fn merge(&mut self, other: &Self) {
        let counts = self.open();
        for value in other.counts().iter_recorded() {
            counts.saturating_record_n(value.value_iterated_to().max(1), value.count_at_value());
        }
    }

    /// Number of recorded values.
    pub fn len(&self) -> u64 {
        match &self.0 {
            Form::Open(counts) => counts.len(),
            Form::Packed(_, len) => *len,
        }
    }

    /// Whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Latency in ns at a percentile from 0 to 100.
    pub fn percentile_ns(&self, percentile: f64) -> u64 {
        self.counts().value_at_percentile(percentile)
    }

    /// Width in ns of the bucket that a latency is counted in: what its percentiles are rounded to.
    pub fn bucket_ns(&self, latency_ns: u64) -> u64 {
        self.counts().equivalent_range(latency_ns)
    }

    /// Smallest, mean and largest latency in ns.
    pub fn min_mean_max_ns(&self) -> (u64, f64, u64) {
        let counts = self.counts();
        (counts.min(), counts.mean(), counts.max())
    }

    /// The compressed standard form (V2 deflate), for the store.
    pub fn to_bytes(&self) -> Vec<u8> {
        let counts = match &self.0 {
            Form::Open(counts) => counts,
            Form::Packed(bytes, _) => return bytes.to_vec(),
        };
        let mut bytes = Vec::new();
        // Writing to memory cannot fail: the counts fit, because they were recorded one by one.
        let _ = V2DeflateSerializer::new().serialize(counts, &mut bytes);
        bytes
    }

    /// Reads the form that [`Histogram::to_bytes`] writes.
    ///
    /// # Errors
    /// When the bytes are not such a histogram.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, HistogramError> {
        unpack(bytes).map(|counts| Self(Form::Packed(bytes.into(), counts.len())))
    }

    /// The counts, unpacked for as long as they are looked at.
    fn counts(&self) -> Cow<'_, Counts> {
        match &self.0 {
            Form::Open(counts) => Cow::Borrowed(counts),
            Form::Packed(bytes, _) => Cow::Owned(unpack_known(bytes)),
        }
    }

    /// The counts for recording; a packed histogram stays unpacked from then on.
    #[inline]
    fn open(&mut self) -> &mut Counts {
        if let Form::Packed(bytes, _) = &self.0 {
            self.0 = Form::Open(unpack_known(bytes));
        }
        match &mut self.0 {
            Form::Open(counts) => counts,
            Form::Packed(..) => unreachable!("unpacked above"),
        }
    }
}

fn unpack(bytes: &[u8]) -> Result<Counts, HistogramError> {
    Deserializer::new().deserialize(&mut &bytes[..]).map_err(|error| HistogramError(format!("{error:?}")))
}

#[cold]
#[expect(clippy::expect_used, reason = "`from_bytes` unpacked the same bytes before it kept them")]
fn unpack_known(bytes: &[u8]) -> Counts {
    unpack(bytes).expect("unpacked before")
}

impl From<Vec<(u64, u64)>> for Histogram {
    fn from(pairs: Vec<(u64, u64)>) -> Self {
        let mut histogram = Self::default();
        let counts = histogram.open();
        for (value, count) in pairs {
            counts.saturating_record_n(value.max(1), count);
        }
        histogram
    }
}

impl From<Histogram> for Vec<(u64, u64)> {
    fn from(histogram: Histogram) -> Self {
        histogram.counts().iter_recorded().map(|v| (v.value_iterated_to(), v.count_at_value())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Histogram;

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
        left.merge(&right);
        for p in [0.0, 50.0, 99.0, 99.9, 100.0] {
            assert_eq!(left.percentile_ns(p), whole.percentile_ns(p));
        }
    }
}
