//! The response on which configurations are compared.

pub use crate::estimate::seconds;
use crate::estimate::{Precision, Repeats, mean};
use crate::percentiles::TooFew;
pub use crate::response_names::{all_names, distinct, names};
use crate::{Estimate, health};
use observations::{Direction, Observations, Recording, Response};
use serde::Serialize;

/// The response on which configurations are compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ResponseChoice {
    /// Name: `elapsed`.
    pub name: String,
    /// Unit as printed.
    pub unit: String,
    /// The direction that is better.
    pub direction: Direction,
    /// The name that the experiment asked for, when no trial has it.
    pub missing: Option<String>,
    /// A relative difference below this does not matter: 0.05 is 5 %. 0: not stated.
    pub equivalence_margin: f64,
}

/// A trial's value of a response.
#[derive(Debug, Clone, Copy)]
pub struct Figure {
    /// The value, or for a trial that timed out what it exceeds; `None`: nothing is known.
    pub known: Option<f64>,
    /// True if `limits.trial_time` stopped the trial.
    pub timed_out: bool,
    /// True if the value says nothing of the target: it only reflects the length of the trial, or
    /// is a percentile of too few values.
    pub withheld: bool,
    /// Step in which the value was counted or rounded, where it was recorded.
    pub(crate) step: Option<f64>,
}

impl Figure {
    /// The value of a trial that was measured to the end.
    pub fn value(&self) -> Option<f64> {
        self.known.filter(|_| !self.timed_out)
    }
}

/// The mean of the steps in which these figures were counted or rounded.
pub fn resolution<'f>(figures: impl IntoIterator<Item = &'f Figure>) -> f64 {
    let steps = figures.into_iter().filter_map(|figure| figure.step);
    Some(mean(steps)).filter(|mean| !mean.is_nan()).unwrap_or(0.0)
}

impl ResponseChoice {
    /// The response that the run compares configurations on: the one asked for where a trial has
    /// it, else the first of the first trial done, else elapsed time; `None` when no trial was
    /// done. One that measures nothing in any trial, as latencies of an overloaded open loop,
    /// gives way to the next one, and a percentile of too few values to the highest one that is
    /// available.
    pub fn for_recording(recording: &Recording) -> Option<Self> {
        let (_, first) = recording.done().next()?;
        let measured = |choice: &Self| {
            recording.done().any(|(_, observations)| choice.value(observations).is_some())
        };
        let response = recording.run.response.as_deref();
        let found = response.and_then(|name| {
            let recorded =
                recording.done().flat_map(|(_, o)| &o.responses).find(|r| r.name == name);
            recorded.map(Self::from_response).or_else(|| Self::derived(name, first))
        });
        let found = found.filter(measured);
        let missing = response.filter(|_| found.is_none()).map(str::to_owned);
        let responses = || first.responses.iter().map(Self::from_response);
        let preferred = response.or_else(|| Some(first.responses.first()?.name.as_str()));
        let choice = found
            .or_else(|| Self::available(preferred?, recording).filter(measured))
            .or_else(|| responses().find(measured).or_else(|| responses().next()))
            .or_else(|| Self::derived("elapsed", first))?;
        Some(Self { missing, equivalence_margin: recording.run.equivalence_margin, ..choice })
    }

    /// In place of a percentile that some trials have too few values for, the highest available.
    fn available(name: &str, recording: &Recording) -> Option<Self> {
        let trials: Vec<&Observations> =
            recording.done().map(|(_, observations)| observations).collect();
        let available = TooFew::find(name, &trials)?.available?;
        trials.iter().find_map(|trial| Self::named(&available, trial))
    }

    /// A response that this trial has, recorded or derived.
    pub fn named(name: &str, observations: &Observations) -> Option<Self> {
        let recorded = observations.responses.iter().find(|response| response.name == name);
        recorded.map(Self::from_response).or_else(|| Self::derived(name, observations))
    }

    /// The response by this name, if both sides have it in the same unit and direction.
    pub fn common(name: &str, from: &[&Observations], to: &[&Observations]) -> Option<Self> {
        let find = |side: &[&Observations]| side.iter().find_map(|trial| Self::named(name, trial));
        find(from).filter(|response| find(to).as_ref() == Some(response))
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
        Some(Self {
            name: name.to_owned(),
            unit,
            direction,
            missing: None,
            equivalence_margin: 0.0,
        })
    }

    /// The mean over trials that have it; the interval is over the blocks or set-ups that repeat
    /// it.
    pub fn estimate(&self, repeats: &Repeats<Figure>) -> Option<Estimate> {
        let values: Vec<f64> =
            repeats.units.iter().flatten().filter_map(|unit| unit.known).collect();
        let estimate = Estimate::without_interval(&values, &self.unit, self.direction)?;
        let Estimate { interval, timeouts, bound, .. } = self.estimate_means(repeats)?;
        let sd = estimate.sd.filter(|_| bound.is_none());
        Some(Estimate { timeouts, bound, interval, sd, ..estimate })
    }

    /// The mean over the means of blocks or set-ups; with time-outs among them a bound, or that of
    /// the other trials; none where the value of a trial is withheld.
    pub fn estimate_means(&self, repeats: &Repeats<Figure>) -> Option<Estimate> {
        let figures = || repeats.units.iter().flatten();
        if figures().any(|figure| figure.withheld) {
            return None;
        }
        let means: Vec<f64> = repeats
            .units
            .iter()
            .filter(|unit| unit.iter().any(|unit| unit.known.is_some()))
            .map(|unit| mean(unit.iter().filter_map(|unit| unit.known)))
            .collect();
        let rounding = resolution(figures()).powi(2) / 12.0;
        let precision = Precision { first: repeats.first, rounding };
        let estimate = Estimate::known(&means, &self.unit, self.direction, precision)?;
        let is_amount = means.iter().all(|mean| *mean >= 0.0);
        let estimate = if is_amount { estimate.of_amount() } else { estimate };
        let is_bound =
            figures().filter(|figure| figure.timed_out).all(|figure| figure.known.is_some());
        Some(estimate.with_timeouts(figures().filter(|figure| figure.timed_out).count(), is_bound))
    }

    /// Returns a trial's value; `None` where estimates and comparisons leave it out: no value, and
    /// neither timed out nor withheld.
    pub fn figure(&self, observations: &Observations) -> Option<Figure> {
        let recorded = observations.responses.iter().find(|response| response.name == self.name);
        let percentile = recorded.and_then(|recorded| recorded.percentile);
        // Latencies of an overloaded open loop only reflect the length of the trial.
        let withheld = self.name.starts_with("latency") && health::is_overloaded(observations)
            || percentile.is_some_and(|percentile| !percentile.is_available());
        let timed_out = observations.timed_out();
        let elapsed_s = observations.elapsed_s;
        let known = match (recorded, self.name.as_str()) {
            // Of a trial that timed out the elapsed time is known: it is a lower bound.
            (_, name) if timed_out => {
                Some(elapsed_s).filter(|s| name == "elapsed" && self.unit == "s" && *s > 0.0)
            }
            _ if withheld => None,
            (Some(recorded), _) => Some(recorded.value),
            (None, "elapsed") => Some(elapsed_s),
            (None, "throughput") => {
                (elapsed_s > 0.0).then(|| observations.work.amount as f64 / elapsed_s)
            }
            _ => None,
        };
        let known = known.filter(|value| timed_out || value.is_finite());
        let step = recorded.map(|recorded| recorded.resolution);
        (timed_out || withheld || known.is_some()).then_some(Figure {
            known,
            timed_out,
            withheld,
            step,
        })
    }

    /// The value of a trial that was measured to the end, if it is finite and describes the target.
    /// Latencies of an overloaded open loop only measure how long the trial was, and a percentile
    /// of few values is about their largest.
    pub fn value(&self, observations: &Observations) -> Option<f64> {
        self.figure(observations)?.value()
    }
}

/// The mean of a response, recorded or derived, over the trials that have it.
pub fn estimate(name: &str, trials: &[&Observations]) -> Option<Estimate> {
    let choice = find(name, trials)?;
    let units =
        trials.iter().filter_map(|trial| choice.figure(trial)).map(|figure| vec![figure]).collect();
    choice.estimate(&Repeats { units, first: usize::MAX })
}

/// The response of this name that any of these trials has; of one that timed out its unit may not
/// be known.
pub fn find(name: &str, trials: &[&Observations]) -> Option<ResponseChoice> {
    let done = trials.iter().filter(|trial| !trial.timed_out());
    done.chain(trials).find_map(|observations| ResponseChoice::named(name, observations))
}
