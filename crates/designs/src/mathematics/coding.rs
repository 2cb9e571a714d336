//! Levels of a factor as coded numbers: -1 is the low level, +1 the high one.

/// The coding of a factor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coding {
    /// The level coded -1.
    pub low: f64,
    /// The level coded +1.
    pub high: f64,
    /// True if equal ratios of levels are equal distances, and not equal differences.
    pub is_log: bool,
    /// True if levels are whole numbers.
    pub is_whole: bool,
}

impl Coding {
    /// Returns whether the low level is below the high one, above 0 on a log scale, and far enough
    /// from it to round levels.
    pub fn is_sound(&self) -> bool {
        let is_finite = self.low.is_finite() && self.high.is_finite();
        self.low < self.high
            && is_finite
            && (!self.is_log || self.low > 0.0)
            && (!self.is_whole || self.high - self.low >= 1.0)
    }

    /// The coded number of a level.
    pub fn code(&self, level: f64) -> f64 {
        let [low, high, at] = [self.low, self.high, level].map(|level| self.on_scale(level));
        2.0 * (at - low) / (high - low) - 1.0
    }

    /// The level of a coded number, rounded to what can be set.
    pub fn level(&self, coded: f64) -> f64 {
        let level = self.exact(coded);
        if self.is_whole { level.round() } else { level }
    }

    /// The level of a coded number.
    pub fn exact(&self, coded: f64) -> f64 {
        let [low, high] = [self.low, self.high].map(|level| self.on_scale(level));
        let at = f64::midpoint(low, high) + coded * (high - low) / 2.0;
        if self.is_log { at.exp() } else { at }
    }

    fn on_scale(&self, level: f64) -> f64 {
        if self.is_log { level.ln() } else { level }
    }
}
