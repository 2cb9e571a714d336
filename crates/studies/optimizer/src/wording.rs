//! Parts of sentences.

use analysis::Interval;

/// A choice that costs less is not worth a sentence.
pub const REGRET_MIN: f64 = 1.1;

/// An interval behind a figure: ` [3.3, 5.0]`; empty without one.
pub fn interval(own: Option<Interval>, show: impl Fn(f64) -> String) -> String {
    own.map_or_else(String::new, |own| format!(" [{}, {}]", show(own.low), show(own.high)))
}
