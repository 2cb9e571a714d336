//! Parts of sentences.

use analysis::Interval;
use observations::number;

/// A choice that costs less is not worth a sentence.
pub(crate) const REGRET_MIN: f64 = 1.1;

/// An interval behind a figure: ` [3.3, 5.0]`; empty without one.
pub fn interval(interval: Option<Interval>, show: impl Fn(f64) -> String) -> String {
    interval.map_or_else(String::new, |interval| {
        format!(" [{}, {}]", show(interval.low), show(interval.high))
    })
}

/// Returns whether a choice took longer than the best alternative by enough for a sentence, and
/// beyond chance.
pub(crate) fn is_costly(ratio: f64, interval: Option<Interval>) -> bool {
    ratio >= REGRET_MIN && interval.is_some_and(|interval| interval.low > 1.0)
}

/// The largest cost of a choice, at the end of a sentence:
/// `; the choice costs up to 2.29x [1.42, 3.69], at 40 % (index is best)`.
pub fn cost(ratio: f64, ends: Option<Interval>, at: &str, best: &str) -> String {
    let ends = interval(ends, |end| number::fixed(end, 2));
    format!("; the choice costs up to {}x{ends}, at {at} ({best} is best)", number::fixed(ratio, 2))
}
