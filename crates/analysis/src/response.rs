//! The response on which configurations are compared.

use crate::estimate::{Known, Moments, mean};
use crate::grid::{Cells, Repeats};
use crate::{Estimate, Interval};
use observations::{Direction, Observations, Recording, Response};
use serde::Serialize;
use std::collections::BTreeMap;

/// The response on which configurations are compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ResponseChoice {
    /// Name: `elapsed`.
    pub name: String,
    /// Unit as printed.
    pub unit: String,
    /// Which way is better.
    pub direction: Direction,
    /// The name that the experiment asked for, when no trial has it.
    pub missing: Option<String>,
    /// A relative difference below this does not matter: 0.05 is 5 %. 0: not stated.
    pub equivalence_margin: f64,
}

impl ResponseChoice {
    /// The response that the run compares configurations on: the one asked for where a trial has
    /// it, else the first of the first trial done, else elapsed time; `None` when no trial was done. One that measures
    /// nothing in any trial, as latencies of an overloaded open loop, gives way to the next one.
    pub(crate) fn of(recording: &Recording) -> Option<Self> {
        let (_, first) = recording.done().next()?;
        let measured = |choice: &Self| recording.done().any(|(_, seen)| choice.value(seen).is_some());
        let asked = recording.run.response.as_deref();
        let found = asked.and_then(|name| {
            let recorded = recording.done().flat_map(|(_, o)| &o.responses).find(|r| r.name == name);
            recorded.map(Self::from_response).or_else(|| Self::derived(name, first))
        });
        let found = found.filter(measured);
        let missing = asked.filter(|_| found.is_none()).map(str::to_owned);
        let responses = || first.responses.iter().map(Self::from_response);
        let first_measured = || responses().find(measured).or_else(|| responses().next());
        let choice = found.or_else(first_measured).or_else(|| Self::derived("elapsed", first))?;
        Some(Self { missing, equivalence_margin: recording.run.equivalence_margin, ..choice })
    }

    /// A response that this trial has, recorded or derived.
    pub(crate) fn named(name: &str, observations: &Observations) -> Option<Self> {
        let recorded = observations.responses.iter().find(|response| response.name == name);
        recorded.map(Self::from_response).or_else(|| Self::derived(name, observations))
    }

    fn from_response(response: &Response) -> Self {
        Self {
            name: response.name.clone(),
            unit: response.unit.clone(),
            direction: response.direction,
            missing: None,
            equivalence_margin: 0.0,
        }
    }

    /// Responses that every trial has without recording them.
    fn derived(name: &str, observations: &Observations) -> Option<Self> {
        let (unit, direction) = match (name, observations.work.unit.as_str()) {
            ("elapsed", _) => ("s".to_owned(), Direction::LowerIsBetter),
            ("throughput", "") => ("/s".to_owned(), Direction::HigherIsBetter),
            ("throughput", unit) => (format!("{unit}s/s"), Direction::HigherIsBetter),
            _ => return None,
        };
        Some(Self { name: name.to_owned(), unit, direction, missing: None, equivalence_margin: 0.0 })
    }

    /// The mean over trials that have it; the interval is over the blocks or set-ups that repeat it.
    pub(crate) fn estimate(&self, repeats: &Repeats) -> Option<Estimate> {
        let trials = repeats.units.iter().flatten();
        let values: Vec<f64> = trials.filter_map(|own| self.value_or_bound(own)).collect();
        let estimate = Estimate::of(&values, &self.unit, self.direction)?;
        let Estimate { interval, timeouts, bound, .. } = self.estimate_means(repeats)?;
        let sd = estimate.sd.filter(|_| bound.is_none());
        Some(Estimate { timeouts, bound, interval, sd, ..estimate })
    }

    /// The mean over the means of blocks or set-ups; with time-outs among them a bound, or that of the other trials;
    /// none where a trial was overloaded.
    pub(crate) fn estimate_means(&self, repeats: &Repeats) -> Option<Estimate> {
        if repeats.units.iter().flatten().any(|own| self.is_overloaded(own)) {
            return None;
        }
        let values = |unit: &Vec<&Observations>| -> Vec<f64> {
            unit.iter().filter_map(|own| self.value_or_bound(own)).collect()
        };
        let units = repeats.units.iter().map(values).filter(|values| !values.is_empty());
        let means: Vec<f64> = units.map(|values| mean(&values)).collect();
        let rounding = self.resolution(&repeats.units.concat()).powi(2) / 12.0;
        let estimate = Estimate::of(&means, &self.unit, self.direction)?;
        let moments = Moments::known(&means, Known { first: repeats.first, rounding });
        // Times, rates and counts are not below zero: what an interval has there is cut off, which costs no coverage.
        let is_amount = means.iter().all(|mean| *mean >= 0.0);
        let cut = |interval: Interval| Interval { low: interval.low.max(0.0), ..interval };
        let interval = moments.test().map(|(interval, _)| if is_amount { cut(interval) } else { interval });
        let estimate = Estimate { interval, ..estimate };
        let timed_out = || repeats.units.iter().flatten().filter(|own| own.timed_out());
        let is_bound = timed_out().all(|own| self.value_or_bound(own).is_some());
        Some(estimate.with_timeouts(timed_out().count(), is_bound))
    }

    /// In which steps its values were counted or rounded: the mean over these trials.
    pub(crate) fn resolution(&self, trials: &[&Observations]) -> f64 {
        let steps =
            trials.iter().flat_map(|own| &own.responses).filter(|response| response.name == self.name);
        let steps: Vec<f64> = steps.map(|response| response.resolution).collect();
        if steps.is_empty() { 0.0 } else { mean(&steps) }
    }

    /// The values of a configuration's trials by block, where they have one.
    pub(crate) fn values(&self, cells: &Cells) -> BTreeMap<u32, f64> {
        cells.iter().filter_map(|(block, own)| Some((*block, self.value(own)?))).collect()
    }

    /// The value of a trial that was measured to the end, if it has a finite one that says something of the target:
    /// latencies of an overloaded open loop only measure how long the trial was.
    pub fn value(&self, observations: &Observations) -> Option<f64> {
        if self.is_overloaded(observations) || observations.timed_out() {
            return None;
        }
        let elapsed_s = observations.elapsed_s;
        let derived = || match self.name.as_str() {
            "elapsed" => Some(elapsed_s),
            "throughput" => (elapsed_s > 0.0).then(|| observations.work.amount as f64 / elapsed_s),
            _ => None,
        };
        observations.response(&self.name).or_else(derived).filter(|value| value.is_finite())
    }
}

/// The mean of a response, recorded or derived, over the trials that have it.
pub(crate) fn estimate(name: &str, trials: &[&Observations]) -> Option<Estimate> {
    let choice = named(name, trials)?;
    let has_it = trials.iter().filter(|own| choice.counts(own));
    choice.estimate(&Repeats { units: has_it.map(|own| vec![*own]).collect(), first: usize::MAX })
}

/// The response of this name that any of these trials has; of one that timed out its unit may not be known.
pub(crate) fn named(name: &str, trials: &[&Observations]) -> Option<ResponseChoice> {
    let done = trials.iter().filter(|seen| !seen.timed_out());
    done.chain(trials).find_map(|seen| ResponseChoice::named(name, seen))
}

/// Names of the responses that any of these trials recorded, in the order in which they first occur: a trial
/// in which something failed has fewer.
pub(crate) fn names<'a>(trials: &[&'a Observations]) -> Vec<&'a str> {
    distinct(trials.iter().flat_map(|seen| &seen.responses).map(|response| response.name.as_str()))
}

/// The same, then those that every trial has without recording them.
pub(crate) fn all_names<'a>(trials: &[&'a Observations]) -> Vec<&'a str> {
    distinct(names(trials).into_iter().chain(["elapsed", "throughput"]))
}

/// Each once, in the order in which they first occur.
pub(crate) fn distinct<T: PartialEq>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut distinct = Vec::new();
    for one in all {
        if !distinct.contains(&one) {
            distinct.push(one);
        }
    }
    distinct
}

/// Length of a unit of time.
pub(crate) fn seconds(unit: &str) -> Option<f64> {
    match unit {
        "s" => Some(1.0),
        "ms" => Some(1e-3),
        "us" => Some(1e-6),
        "ns" => Some(1e-9),
        _ => None,
    }
}
