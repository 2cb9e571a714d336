//! The response on which configurations are compared.

use crate::Estimate;
use observations::{Direction, Observations, Recording, Response};
use serde::Serialize;

/// The response on which configurations are compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ResponseChoice {
    /// Name: `elapsed`.
    pub name: String,
    /// Unit as printed.
    pub unit: String,
    /// Which way is better.
    pub direction: Direction,
    /// The name that the experiment asked for, when no trial has it.
    pub missing: Option<String>,
}

impl ResponseChoice {
    /// The response that the run compares configurations on: the one asked for where a trial has
    /// it, else the first of the first trial done, else elapsed time; `None` when no trial was done.
    pub(crate) fn of(recording: &Recording) -> Option<Self> {
        let (_, first) = recording.done().next()?;
        let asked = recording.run.response.as_deref();
        let found = asked.and_then(|name| {
            let recorded = recording.done().flat_map(|(_, o)| &o.responses).find(|r| r.name == name);
            recorded.map(Self::from_response).or_else(|| Self::derived(name, first))
        });
        if let Some(found) = found {
            return Some(found);
        }
        let first_response = first.responses.first().map(Self::from_response);
        let choice = first_response.or_else(|| Self::derived("elapsed", first))?;
        Some(Self { missing: asked.map(str::to_owned), ..choice })
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
        }
    }

    /// Responses that every trial has without recording them.
    fn derived(name: &str, observations: &Observations) -> Option<Self> {
        let (unit, direction) = match name {
            "elapsed" => ("s".to_owned(), Direction::LowerIsBetter),
            "throughput" => (throughput_unit(&observations.work.unit), Direction::HigherIsBetter),
            _ => return None,
        };
        Some(Self { name: name.to_owned(), unit, direction, missing: None })
    }

    /// The mean over the trials that have it.
    pub fn estimate<'o>(&self, trials: impl IntoIterator<Item = &'o Observations>) -> Option<Estimate> {
        let values: Vec<f64> = trials.into_iter().filter_map(|own| self.value(own)).collect();
        Estimate::of(&values, &self.unit, self.direction)
    }

    /// The value of a trial, if it has a finite one.
    pub fn value(&self, observations: &Observations) -> Option<f64> {
        let recorded = observations.responses.iter().find(|r| r.name == self.name).map(|r| r.value);
        let derived = || match self.name.as_str() {
            "elapsed" => Some(observations.elapsed_s),
            "throughput" => throughput(observations),
            _ => None,
        };
        recorded.or_else(derived).filter(|value| value.is_finite())
    }
}

/// The mean of a response, recorded or derived, over the trials that have it.
pub(crate) fn estimate(name: &str, trials: &[&Observations]) -> Option<Estimate> {
    let choice = trials.iter().find_map(|observations| ResponseChoice::named(name, observations))?;
    choice.estimate(trials.iter().copied())
}

/// Names of the responses that any of these trials recorded, in the order in which they first occur: a trial
/// in which something failed has fewer.
pub(crate) fn names<'a>(trials: impl IntoIterator<Item = &'a Observations>) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for response in trials.into_iter().flat_map(|observations| &observations.responses) {
        if !names.contains(&response.name.as_str()) {
            names.push(&response.name);
        }
    }
    names
}

/// The value of a response in seconds, where its unit is one of time.
pub(crate) fn value_s(response: &Response) -> Option<f64> {
    seconds(&response.unit).map(|unit_s| response.value * unit_s)
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

/// Units of work a second.
fn throughput(observations: &Observations) -> Option<f64> {
    (observations.elapsed_s > 0.0).then(|| observations.work.amount as f64 / observations.elapsed_s)
}

fn throughput_unit(unit: &str) -> String {
    if unit.is_empty() { "/s".to_owned() } else { format!("{unit}s/s") }
}
