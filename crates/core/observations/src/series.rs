use serde::{Deserialize, Serialize};

/// A figure over time, in intervals of equal length. Interval `i` covers
/// `start_s + i * interval_s` to one interval later; "go" is second 0 and warm-up is before it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// `throughput`, `wait:WAL_SYNC`, ...
    pub name: String,
    /// Unit as printed: `rows/s`.
    pub unit: String,
    /// Start of the first interval in seconds after "go"; negative for warm-up.
    pub start_s: f64,
    /// Length of an interval in seconds; 0: one value for each run of a command, in the order in
    /// which they began.
    pub interval_s: f64,
    /// A value an interval. The last interval of the warm-up and of the measurement may be cut
    /// short: they are scaled by the length that they have, and left out where that is under a
    /// tenth.
    pub values: Vec<f64>,
}

/// Adds amounts interval by interval; one may have more intervals than the other.
pub fn add_by_interval(sum: &mut Vec<u64>, more: &[u64]) {
    sum.resize(sum.len().max(more.len()), 0);
    sum.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
}

/// Amounts of work by interval, and the seconds that they cover.
#[derive(Debug, Clone, Copy)]
pub struct Amounts<'a> {
    /// The amount of each interval, the last one cut short.
    pub by_interval: &'a [u64],
    /// Length of all intervals together.
    pub covered_s: f64,
}

/// An interval shorter than this share of a whole one is left out: what it scales up is chance.
const SHORTEST: f64 = 0.1;

impl Amounts<'_> {
    /// Amounts a second.
    fn rates(self, interval_s: f64) -> Vec<f64> {
        let before_last = self.by_interval.len().saturating_sub(1);
        let last_s = (self.covered_s - interval_s * before_last as f64).clamp(0.0, interval_s);
        let whole =
            self.by_interval.iter().take(before_last).map(|amount| *amount as f64 / interval_s);
        let keep = last_s >= SHORTEST * interval_s || (before_last == 0 && last_s > 0.0);
        let last = self.by_interval.last().filter(|_| keep).map(|amount| *amount as f64 / last_s);
        whole.chain(last).collect()
    }
}

impl Series {
    /// Values of the runs of a command.
    pub fn of_runs(name: &str, unit: &str, values: Vec<f64>) -> Self {
        Self {
            name: format!("run:{name}"),
            unit: unit.into(),
            start_s: 0.0,
            interval_s: 0.0,
            values,
        }
    }

    /// Amounts a second, times `scale`: of the warm-up, then of the measurement.
    pub fn of_amounts(
        name: &str,
        unit: &str,
        scale: f64,
        interval_s: f64,
        warmup: Amounts<'_>,
        measured: Amounts<'_>,
    ) -> Self {
        let (before, after) = (warmup.rates(interval_s), measured.rates(interval_s));
        Self {
            name: name.into(),
            unit: unit.into(),
            start_s: -interval_s * before.len() as f64,
            interval_s,
            values: before.into_iter().chain(after).map(|rate| rate * scale).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Amounts, Series};

    fn rates(warmup: (&[u64], f64), measured: (&[u64], f64)) -> (f64, Vec<f64>) {
        let amounts = |(by_interval, covered_s)| Amounts { by_interval, covered_s };
        let series = Series::of_amounts("n", "1/s", 1.0, 2.0, amounts(warmup), amounts(measured));
        (series.start_s, series.values)
    }

    #[test]
    fn intervals_that_are_cut_short_count_for_what_they_are() {
        assert_eq!(rates((&[], 0.0), (&[10, 10, 5], 5.0)), (0.0, vec![5.0, 5.0, 5.0]));
        assert_eq!(rates((&[10, 5], 3.0), (&[10], 2.0)), (-4.0, vec![5.0, 5.0, 5.0]));
        // A few I/Os that end just after the deadline are no interval.
        assert_eq!(rates((&[10, 3], 2.001), (&[10, 32], 2.000_1)), (-2.0, vec![5.0, 5.0]));
        assert_eq!(rates((&[], 0.0), (&[1], 0.1)), (0.0, vec![10.0]));
        assert_eq!(rates((&[], 0.0), (&[], 0.0)), (0.0, Vec::new()));
    }
}
