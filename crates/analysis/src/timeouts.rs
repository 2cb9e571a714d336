//! Trials that `limits.trial_time` stopped. Each is an observation of at least the time until then (censored): to leave
//! it out, or to take a faster retry in its place, would turn the verdict round.
//!
//! What is known of such a trial enters means and comparisons in its place. A mean is then a bound, a comparison holds
//! in one direction only, and one of two sides that both have time-outs, or of a response of which nothing is known
//! (a latency), is not made.

use crate::grid::Matched;
use crate::{Comparison, Estimate, Interval, ResponseChoice, Scale, Summary, health};
use observations::Observations;
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
}

impl ResponseChoice {
    /// What a trial says of this response: its value, or for one that timed out what it exceeds, where that is known.
    pub(crate) fn value_or_bound(&self, seen: &Observations) -> Option<f64> {
        let is_elapsed = self.name == "elapsed" && self.unit == "s";
        let bound = seen.timeout_s.filter(|_| is_elapsed).map(|_| seen.elapsed_s);
        self.value(seen).or(bound.filter(|bound| *bound > 0.0))
    }

    /// Whether a trial has to be in estimates and comparisons on this response: it has a value, it timed out, or it was
    /// overloaded. What the others show are the times when the target kept up by luck.
    pub(crate) fn counts(&self, seen: &Observations) -> bool {
        seen.timed_out() || self.is_overloaded(seen) || self.value(seen).is_some()
    }

    /// Whether the figure only measures how long the trial was: a latency of an overloaded open loop.
    pub(crate) fn is_overloaded(&self, seen: &Observations) -> bool {
        self.name.starts_with("latency") && health::is_overloaded(seen)
    }
}

impl Estimate {
    /// Of values among which there are time-outs: bounds, or left out.
    pub(crate) fn with_timeouts(self, timeouts: usize, is_bound: bool) -> Self {
        match timeouts {
            0 => self,
            // How far above the bound the true mean lies nobody knows.
            _ if is_bound => Self { timeouts, bound: Some(Bound::AtLeast), interval: None, sd: None, ..self },
            _ => Self { timeouts, ..self },
        }
    }
}

/// A comparison of sides of which some trials may have timed out; `compare` makes it of what is known of each.
pub(crate) fn compare(
    matched: &Matched,
    response: &ResponseChoice,
    compare: impl FnOnce() -> Option<Comparison>,
) -> Option<Comparison> {
    let trials = || [&matched.from, &matched.to].map(|side| side.iter().flatten());
    let is_open = |seen: &Observations| seen.timed_out() || response.is_overloaded(seen);
    let is_known = |seen: &&Observations| !is_open(seen) || response.value_or_bound(seen).is_some();
    let all_known = trials().into_iter().flatten().all(is_known);
    let timed_out = trials().map(|mut side| side.any(|seen| seen.timed_out()));
    all_known.then(compare)?.and_then(|comparison| comparison.with_timeouts(timed_out))
}

impl Comparison {
    /// Of sides of which the first, the second, or both have time-outs.
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
    /// With each time-out at its bound the mean difference is a bound of the true one, so that a test which supports a
    /// difference beyond it supports the true one as well.
    fn bounded(self, bound: Bound) -> Self {
        let claims = self.is_better() == (bound == Bound::AtLeast);
        let lowest = if self.scale == Scale::Ratio { 0.0 } else { f64::NEG_INFINITY };
        let open = |interval: Interval| match bound {
            Bound::AtLeast => Interval { high: f64::INFINITY, ..interval },
            Bound::AtMost => Interval { low: lowest, ..interval },
        };
        Self {
            bound: Some(bound),
            interval: self.interval.map(open),
            p_value: self.p_value.map(|p| if claims { p } else { 1.0 }),
            equivalence_p: None,
            ..self
        }
    }

    /// What the data support of a bounded comparison: the end of its interval, else its value.
    pub fn limit(&self) -> f64 {
        let end = |interval: Interval| match self.bound {
            Some(Bound::AtLeast) => interval.low,
            _ => interval.high,
        };
        self.interval.map_or(self.value, end)
    }
}

impl Summary<'_> {
    /// Trials that timed out.
    pub fn timeouts(&self) -> usize {
        self.recording.trials.iter().filter(|trial| trial.timed_out()).count()
    }
}
