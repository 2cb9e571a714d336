//! Parts of sentences.

use crate::times::Regret;
use analysis::Interval;
use observations::number;

/// A choice that costs less is not worth a sentence.
const REGRET_MIN: f64 = 1.1;

/// An interval behind a figure: ` [3.3, 5.0]`; empty without one.
pub fn interval(interval: Option<Interval>, show: impl Fn(f64) -> String) -> String {
    interval.map_or_else(String::new, |interval| {
        format!(" [{}, {}]", show(interval.low), show(interval.high))
    })
}

/// A ratio with its interval: `2.29x [1.42, 3.69]`.
pub fn ratio(ratio: f64, ends: Option<Interval>) -> String {
    format!("{}x{}", number::fixed(ratio, 2), interval(ends, |end| number::fixed(end, 2)))
}

impl Regret {
    /// Returns whether the choice took longer than the best alternative by enough for a sentence,
    /// and beyond chance.
    pub fn is_costly(&self) -> bool {
        is_costly(self.ratio, self.interval)
    }

    /// The largest cost of a choice, at the end of a sentence:
    /// `; the choice costs up to 2.29x [1.42, 3.69], at 40 % (index is best)`.
    pub fn cost_at(&self, place: &str) -> String {
        let ratio = ratio(self.ratio, self.interval);
        format!("; the choice costs up to {ratio}, at {place} ({} is best)", self.best)
    }
}

/// Returns whether a choice took longer than the best alternative by enough for a sentence, and
/// beyond chance.
pub(crate) fn is_costly(ratio: f64, interval: Option<Interval>) -> bool {
    ratio >= REGRET_MIN && interval.is_some_and(|interval| interval.low > 1.0)
}
