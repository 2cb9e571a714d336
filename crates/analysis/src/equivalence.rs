//! Is a difference too small to matter? That two configurations cannot be told apart does not say so: it may as well be
//! that there were too few blocks.

use crate::compare::Values;
use crate::{Comparison, ResponseChoice, Scale};
use observations::{Direction, number};

impl Comparison {
    /// The p-value of "the two differ by the margin or more": two one-sided t-tests, each against a difference of the
    /// margin (TOST), of which the larger p-value counts. `None` without a margin, and where values have no ratio.
    /// Source: D. Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15 (1987).
    pub(crate) fn equivalence(
        is_paired: bool,
        from: &Values,
        to: &Values,
        response: &ResponseChoice,
    ) -> Option<f64> {
        let margin = response.equivalence_margin;
        let higher_is_better = response.direction == Direction::HigherIsBetter;
        // Times the margin, or divided by it, `to` has to be seen above and below `from`.
        let one_sided = |factor: f64| {
            let test = Self::of_values(is_paired, from, &to.times(factor), response.direction)?;
            let is_beyond = test.is_better() == (higher_is_better == (factor > 1.0));
            let p = test.p_value.filter(|_| test.scale == Scale::Ratio)?;
            Some(if is_beyond { p / 2.0 } else { 1.0 - p / 2.0 })
        };
        let p = one_sided(1.0 + margin)?.max(one_sided(1.0 / (1.0 + margin))?);
        (margin > 0.0).then_some(p)
    }

    /// Whether a difference of the margin or more is excluded at 95 % confidence.
    pub fn is_equivalent(&self) -> bool {
        self.equivalence_p.is_some_and(|p| p < 0.05)
    }

    /// How large the difference may be as far as the interval tells: a share on the ratio scale (0.12: 12 %), else in the
    /// unit of the response; `None` where it may be of any size.
    pub fn possible_difference(&self) -> Option<f64> {
        let interval = self.interval?;
        let largest = match self.scale {
            Scale::Ratio => interval.high.max(1.0 / interval.low) - 1.0,
            Scale::Difference => interval.high.abs().max(interval.low.abs()),
        };
        Some(largest).filter(|largest| largest.is_finite())
    }

    /// The same in words: `12 %`, `3.20 rows`.
    pub fn possible(&self, unit: &str) -> Option<String> {
        let largest = self.possible_difference()?;
        Some(match self.scale {
            Scale::Ratio => number::short_percent(largest),
            Scale::Difference => format!("{} {unit}", number::figure(largest)),
        })
    }
}
