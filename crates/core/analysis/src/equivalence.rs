//! Equivalence: is a difference too small to matter? "Not significant" does not prove that: there
//! may have been too few blocks.

use crate::compare::{Betterness, Test};
use crate::{Comparison, Scale};
use observations::number;

impl Betterness {
    /// The p-value of "the two differ by the margin or more": two one-sided tests, each against a
    /// difference of the margin (TOST), of which the larger p-value counts. `None` without a
    /// margin, and where values have no ratio. Source: D. Schuirmann, Journal of
    /// Pharmacokinetics and Biopharmaceutics 15 (1987).
    pub(crate) fn equivalence(&self, test: &Test, margin: f64) -> Option<f64> {
        let most = Some(margin.ln_1p()).filter(|most| *most > 0.0 && self.scale == Scale::Ratio)?;
        let one_sided = |difference: f64| {
            let p = test.p_value_of(difference)?;
            let is_within = (test.value > difference) == (difference < 0.0);
            Some(if is_within { p / 2.0 } else { 1.0 - p / 2.0 })
        };
        Some(one_sided(-most)?.max(one_sided(most)?))
    }
}

impl Comparison {
    /// Returns whether a difference of the margin or more is excluded at 95 % confidence.
    pub fn is_equivalent(&self) -> bool {
        self.equivalence_p.is_some_and(|p| p < 0.05)
    }

    /// Returns the largest difference that the interval leaves possible: a share on the ratio scale
    /// (0.12: 12 %), else in the unit of the response; `None` where it may be of any size.
    pub fn possible_difference(&self) -> Option<f64> {
        let interval = self.interval?;
        let largest = match self.scale {
            Scale::Ratio => interval.high.max(1.0 / interval.low) - 1.0,
            Scale::Difference => interval.high.abs().max(interval.low.abs()),
        };
        Some(largest).filter(|largest| largest.is_finite())
    }

    /// The possible difference in words: `12 %`, `4.50x`, `3.20 rows`; `None` where it is
    /// unbounded.
    pub fn possible(&self, unit: &str) -> Option<String> {
        let largest = self.possible_difference()?;
        Some(match self.scale {
            Scale::Ratio if largest > number::TENFOLD => return None,
            Scale::Ratio => number::relative(largest),
            Scale::Difference => format!("{} {unit}", number::figure(largest)),
        })
    }
}
