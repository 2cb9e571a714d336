//! Trials that `limits.trial_time` stopped. Each is an observation of at least the time until then
//! (censored): to leave it out, or to take a faster retry in its place, would turn the verdict
//! round.
//!
//! What is known of such a trial enters means and comparisons in its place. A mean is then a bound,
//! a comparison holds in one direction only, and one of two sides that both have time-outs, or of a
//! response of which nothing is known (a latency), is not made.

use crate::grid::Matched;
use crate::response::Figure;
use crate::{Comparison, Estimate, Interval, ResponseChoice, Scale, Summary, health};
use observations::{Observations, TrialRecord};
use serde::Serialize;

/// On which side of a figure the true one lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// It is as large or larger.
    AtLeast,
    /// It is as small or smaller.
    AtMost,
}

impl Bound {
    /// `at least`, `at most`.
    pub fn words(self) -> &'static str {
        match self {
            Self::AtLeast => "at least",
            Self::AtMost => "at most",
        }
    }

    /// Returns the bound of the reciprocal.
    #[must_use]
    pub fn opposite(self) -> Self {
        match self {
            Self::AtLeast => Self::AtMost,
            Self::AtMost => Self::AtLeast,
        }
    }
}

impl ResponseChoice {
    /// Returns whether the value only reflects the length of the trial: a latency of an overloaded
    /// open loop.
    pub(crate) fn is_overloaded(&self, seen: &Observations) -> bool {
        self.name.starts_with("latency") && health::is_overloaded(seen)
    }
}

impl Estimate {
    /// Adjusts the estimate of values with time-outs, which are bounds or left out.
    pub(crate) fn with_timeouts(self, timeouts: usize, is_bound: bool) -> Self {
        match timeouts {
            0 => self,
            // The true mean lies an unknown distance above the bound.
            _ if is_bound => {
                Self { timeouts, bound: Some(Bound::AtLeast), interval: None, sd: None, ..self }
            }
            _ => Self { timeouts, ..self },
        }
    }
}

/// A comparison of sides of which some trials may have timed out; `compare` makes it of what is
/// known of each.
pub(crate) fn compare(
    matched: &Matched<Figure>,
    compare: impl FnOnce() -> Option<Comparison>,
) -> Option<Comparison> {
    let sides = [&matched.from, &matched.to];
    let all_known = sides.into_iter().flatten().flatten().all(|own| own.known.is_some());
    let timed_out = sides.map(|side| side.iter().flatten().any(|own| own.timed_out));
    all_known.then(compare)?.and_then(|comparison| comparison.with_timeouts(timed_out))
}

impl Comparison {
    /// Adjusts the comparison of sides with time-outs on the first, the second, or both.
    pub(crate) fn with_timeouts(self, timed_out: [bool; 2]) -> Option<Self> {
        match timed_out {
            [false, false] => Some(self),
            [true, false] => Some(self.bounded(Bound::AtLeast)),
            [false, true] => Some(self.bounded(Bound::AtMost)),
            [true, true] => None,
        }
    }

    /// With only one end of its interval, and a claim in that direction only.
    ///
    /// With each time-out at its bound the mean difference is a bound of the true one, so that a
    /// test which supports a difference beyond it supports the true one as well.
    fn bounded(self, bound: Bound) -> Self {
        let claims = self.is_better() == (bound == Bound::AtLeast);
        let lowest = if self.scale == Scale::Ratio { 0.0 } else { f64::NEG_INFINITY };
        Self {
            bound: Some(bound),
            interval: self.interval.map(|interval| match bound {
                Bound::AtLeast => Interval { high: f64::INFINITY, ..interval },
                Bound::AtMost => Interval { low: lowest, ..interval },
            }),
            p_value: self.p_value.map(|p| if claims { p } else { 1.0 }),
            equivalence_p: None,
            ..self
        }
    }

    /// Returns the supported end of a bounded comparison: the end of its interval, else its value.
    pub fn limit(&self) -> f64 {
        self.interval.map_or(self.value, |interval| match self.bound {
            Some(Bound::AtLeast) => interval.low,
            _ => interval.high,
        })
    }
}

impl Summary<'_> {
    /// Trials that timed out.
    pub fn timeouts(&self) -> usize {
        self.recording.trials.iter().filter(|trial| trial.timed_out()).count()
    }

    /// Those of them that a search ended early, as they could not beat its best trial.
    pub fn futile(&self) -> impl Iterator<Item = &TrialRecord> {
        self.recording.trials.iter().filter(|trial| trial.is_futile())
    }
}
