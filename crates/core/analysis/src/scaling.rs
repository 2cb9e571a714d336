//! How throughput changes with what works at the same time.

use observations::named;

/// Throughput that changes by less than this share with more threads is flat: the difference is of
/// the size that the placement of threads and of code makes from run to run.
pub const FLAT_SHARE: f64 = 0.1;
/// An efficiency (speed-up relative to the number of threads) of at least this is linear: what is
/// missing is what shared caches and clocks that drop when more cores work take away.
pub const LINEAR_EFFICIENCY: f64 = 0.9;

named! {
    /// How throughput goes with threads.
    #[serde(rename_all = "snake_case")]
    pub enum ScalingClass {
        /// Less with more threads.
        Negative = "negative",
        /// Neither more nor less.
        Flat = "flat",
        /// More, but not in proportion.
        SubLinear = "sub-linear",
        /// In proportion.
        Linear = "linear",
    }
}

impl ScalingClass {
    /// The class of this ratio of throughputs at this ratio of numbers of threads (above 1).
    pub fn classify(ratio: f64, threads: f64) -> Self {
        match ratio {
            ratio if ratio >= LINEAR_EFFICIENCY * threads => Self::Linear,
            ratio if ratio > 1.0 + FLAT_SHARE => Self::SubLinear,
            ratio if ratio >= 1.0 - FLAT_SHARE => Self::Flat,
            _ => Self::Negative,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ScalingClass;
    use super::ScalingClass::{Flat, Linear, Negative, SubLinear};

    #[test]
    fn classes_by_their_thresholds() {
        let class = ScalingClass::classify;
        assert_eq!(
            (class(0.3, 2.0), class(0.89, 2.0), class(0.91, 2.0)),
            (Negative, Negative, Flat)
        );
        assert_eq!(
            (class(1.09, 2.0), class(1.2, 2.0), class(1.79, 2.0)),
            (Flat, SubLinear, SubLinear)
        );
        assert_eq!(
            (class(1.81, 2.0), class(2.3, 2.0), class(57.0, 64.0)),
            (Linear, Linear, SubLinear)
        );
        // From 10 to 11 threads there is no room between flat and linear.
        assert_eq!((class(1.05, 1.1), class(0.95, 1.1)), (Linear, Flat));
    }
}
