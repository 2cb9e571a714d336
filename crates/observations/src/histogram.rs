use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use serde::{Deserialize, Serialize};

/// Highest recordable value: one hour in nanoseconds. Longer is recorded as one hour.
const HIGHEST_NS: u64 = 3_600_000_000_000;
/// Significant decimal digits kept: values are right within 0.1 %.
const DIGITS: u8 = 3;

/// A latency distribution in nanoseconds (an `HdrHistogram`: 1 ns to 1 h, three digits).
///
/// Serde writes the recorded `(value, count)` pairs, so that exports need no special reader.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<(u64, u64)>", into = "Vec<(u64, u64)>")]
pub struct Histogram(hdrhistogram::Histogram<u64>);

/// A stored histogram could not be read.
#[derive(Debug, thiserror::Error)]
#[error("not a histogram: {0}")]
pub struct HistogramError(String);

impl Default for Histogram {
    fn default() -> Self {
        // The bounds are constants that the library accepts, which the tests of this module show.
        #[expect(clippy::expect_used, reason = "constant bounds")]
        let inner = hdrhistogram::Histogram::new_with_bounds(1, HIGHEST_NS, DIGITS).expect("constant bounds");
        Self(inner)
    }
}

impl Histogram {
    /// Records one latency; allocates nothing.
    #[inline]
    pub fn record(&mut self, latency_ns: u64) {
        self.0.saturating_record(latency_ns.max(1));
    }

    /// Adds all of another histogram.
    pub fn merge(&mut self, other: &Self) {
        for value in other.0.iter_recorded() {
            self.0.saturating_record_n(value.value_iterated_to().max(1), value.count_at_value());
        }
    }

    /// Number of recorded values.
    pub fn len(&self) -> u64 {
        self.0.len()
    }

    /// Whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Latency in ns at a percentile from 0 to 100.
    pub fn percentile_ns(&self, percentile: f64) -> u64 {
        self.0.value_at_percentile(percentile)
    }

    /// Smallest, mean and largest latency in ns.
    pub fn min_mean_max_ns(&self) -> (u64, f64, u64) {
        (self.0.min(), self.0.mean(), self.0.max())
    }

    /// The compressed standard form (V2 deflate), for the store.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        // Writing to memory cannot fail: the counts fit, because they were recorded one by one.
        let _ = V2DeflateSerializer::new().serialize(&self.0, &mut bytes);
        bytes
    }

    /// Reads the form that [`Histogram::to_bytes`] writes.
    ///
    /// # Errors
    /// When the bytes are not such a histogram.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, HistogramError> {
        Deserializer::new()
            .deserialize(&mut &bytes[..])
            .map(Self)
            .map_err(|error| HistogramError(format!("{error:?}")))
    }
}

impl From<Vec<(u64, u64)>> for Histogram {
    fn from(pairs: Vec<(u64, u64)>) -> Self {
        let mut histogram = Self::default();
        for (value, count) in pairs {
            histogram.0.saturating_record_n(value.max(1), count);
        }
        histogram
    }
}

impl From<Histogram> for Vec<(u64, u64)> {
    fn from(histogram: Histogram) -> Self {
        histogram.0.iter_recorded().map(|v| (v.value_iterated_to(), v.count_at_value())).collect()
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
    fn merging_equals_recording_into_one() {
        let (mut left, mut right, mut whole) =
            (Histogram::default(), Histogram::default(), Histogram::default());
        for i in 1..10_000_u64 {
            if i % 3 == 0 {
                left.record(i * 777)
            } else {
                right.record(i * 777)
            }
            whole.record(i * 777);
        }
        left.merge(&right);
        for p in [0.0, 50.0, 99.0, 99.9, 100.0] {
            assert_eq!(left.percentile_ns(p), whole.percentile_ns(p));
        }
    }
}
