//! Levels of a factor as coded numbers: -1 is the low level, +1 the high one.

/// The scale on which a factor's levels are evenly spaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences.
    Linear,
    /// Equal ratios.
    Log,
}

/// The coding of a factor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coding {
    low: f64,
    high: f64,
    scale: Scale,
    /// Levels are multiples of it.
    step: Option<f64>,
}

impl Coding {
    /// The coding between two levels; `None` unless the low one is below the high one, and above 0
    /// on a log scale. Levels are rounded to multiples of `step`, if there is one.
    pub fn new(low: f64, high: f64, scale: Scale, step: Option<f64>) -> Option<Self> {
        let is_sound = low < high
            && low.is_finite()
            && high.is_finite()
            && (scale == Scale::Linear || low > 0.0)
            && step.is_none_or(|step| step > 0.0 && step <= high - low);
        is_sound.then_some(Self { low, high, scale, step })
    }

    /// The coded number of a level.
    pub fn code(&self, level: f64) -> f64 {
        let Ends { low, high, at } = self.on_scale(level);
        2.0 * (at - low) / (high - low) - 1.0
    }

    /// The level of a coded number, rounded to what can be set.
    pub fn level(&self, coded: f64) -> f64 {
        let level = self.exact(coded);
        self.step.map_or(level, |step| (level / step).round() * step)
    }

    /// The level of a coded number.
    pub fn exact(&self, coded: f64) -> f64 {
        let Ends { low, high, .. } = self.on_scale(self.low);
        let at = f64::midpoint(low, high) + coded * (high - low) / 2.0;
        if self.scale == Scale::Log { at.exp() } else { at }
    }

    /// The high level less the low one.
    pub fn range(&self) -> f64 {
        self.high - self.low
    }

    /// The scale of its levels.
    pub fn scale(&self) -> Scale {
        self.scale
    }

    fn on_scale(&self, level: f64) -> Ends {
        let on = |value: f64| if self.scale == Scale::Log { value.ln() } else { value };
        Ends { low: on(self.low), high: on(self.high), at: on(level) }
    }
}

/// Both ends of a range and a level, on the scale of the coding.
struct Ends {
    low: f64,
    high: f64,
    at: f64,
}
