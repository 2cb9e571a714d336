use serde::Serialize;

/// A 95 % confidence interval, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// Returns the interval around a value with this half width.
    pub fn around(value: f64, half: f64) -> Self {
        Self { low: value - half, high: value + half }
    }

    /// Both ends on another scale that rises with this one.
    #[must_use]
    pub fn map(self, to: impl Fn(f64) -> f64) -> Self {
        Self { low: to(self.low), high: to(self.high) }
    }

    /// The interval of a multiple of the value; a negative factor swaps its ends.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        let (a, b) = (factor * self.low, factor * self.high);
        Self { low: a.min(b), high: a.max(b) }
    }

    /// Returns whether a value lies inside.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}
