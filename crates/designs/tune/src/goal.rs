//! The outcome of a trial: the response that is to be improved, within its limits.

use crate::optimiser::{Courses, RateBound};
use crate::relation::{Relation, unit_factor};
use observations::{
    Direction, Interval, Observations, RATE_AT_MOST, Response, TrialRecord, TrialStatus,
};

/// A response to improve, and limits on others.
pub struct Goal<'e> {
    /// The name; `None`: the first response of the probe.
    pub response: Option<String>,
    /// Limits.
    pub limits: &'e [Relation],
}

/// An error of the goal.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GoalError {
    /// A limit names something that trials do not measure.
    #[error("tune.subject_to: {0}")]
    UnknownResponse(String),
    /// The response has values without a logarithm.
    #[error("{name} = {value}: a search needs a response above 0")]
    NotPositive {
        /// The response.
        name: String,
        /// The value.
        value: f64,
    },
}

impl Goal<'_> {
    /// The response of a trial; `None` of one that failed or broke a limit.
    pub fn measure<'t>(&self, trial: &'t TrialRecord) -> Result<Option<&'t Response>, GoalError> {
        let done = trial.observations.as_ref().filter(|_| trial.status == TrialStatus::Done);
        let Some(observations) = done.filter(|observations| !observations.timed_out()) else {
            return Ok(None);
        };
        for limit in self.limits {
            match limit.holds(&|name| quantity(observations, name)) {
                Some(true) => {}
                Some(false) => return Ok(None),
                None => return Err(unknown(limit, observations)),
            }
        }
        let mut responses = observations.responses.iter();
        let response = match &self.response {
            Some(name) => responses.find(|response| response.name == *name),
            None => responses.next(),
        };
        match response {
            Some(response) if response.value <= 0.0 => {
                Err(GoalError::NotPositive { name: response.name.clone(), value: response.value })
            }
            other => Ok(other),
        }
    }
}

/// The logarithm of a response, lower is better.
pub fn cost(response: &Response) -> f64 {
    match response.direction {
        Direction::LowerIsBetter => response.value.ln(),
        Direction::HigherIsBetter => -response.value.ln(),
    }
}

/// Trials of fixed work: all costs are the logarithm of the time plus the same constant. True of a
/// time, and of a rate of a given amount of work; not of a rate within a given time.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FixedWork {
    /// Costs less the logarithms of times: the lowest and the highest.
    offsets: Option<Interval>,
}

/// Offsets differ by no more than this of fixed work: responses are rounded.
const OFFSETS_MAX: f64 = 0.01;

impl FixedWork {
    /// Takes note of a trial that was measured to the end.
    pub fn note(&mut self, cost: f64, trial: &TrialRecord) {
        let Some(observations) = &trial.observations else { return };
        widen(&mut self.offsets, cost - observations.elapsed_s.ln());
    }

    /// The constant; `None` of other work, and before any trial.
    fn offset(&self) -> Option<f64> {
        let known = self.offsets?;
        (known.high - known.low <= OFFSETS_MAX).then_some(f64::midpoint(known.low, known.high))
    }

    /// The seconds of measurement of a cost.
    pub fn seconds(&self, cost: f64) -> Option<f64> {
        Some((cost - self.offset()?).exp())
    }

    /// The cost that a trial exceeds which a limit of its time has stopped.
    pub fn bound(&self, trial: &TrialRecord) -> Option<f64> {
        let observations =
            trial.observations.as_ref().filter(|observation| observation.timed_out())?;
        Some(self.offset()? + observations.elapsed_s.ln())
    }
}

/// Widens an interval so that it contains a value.
fn widen(interval: &mut Option<Interval>, value: f64) {
    let known = interval.get_or_insert(Interval { low: value, high: value });
    *known = Interval { low: known.low.min(value), high: known.high.max(value) };
}

/// Trials of a given time whose response is the mean of the rate that is recorded over it.
#[derive(Debug, Clone, Default)]
pub(crate) struct FixedTime {
    /// Seconds of the shortest trial and of the longest one.
    seconds: Option<Interval>,
    unit: String,
    /// The rates of each trial, by interval.
    courses: Vec<Vec<f64>>,
    /// True if the response of a trial was something else.
    is_other: bool,
}

/// Trials of a given time differ by no more than this factor: their last transactions end later.
const SECONDS_RATIO_MAX: f64 = 1.2;
/// The mean of the recorded rates differs by no more than this from the response.
const MEAN_MAX: f64 = 0.02;

impl FixedTime {
    /// Takes note of a trial that was measured to the end.
    pub fn note(&mut self, response: &Response, trial: &TrialRecord) {
        let observations = trial.observations.as_ref();
        let course = observations.and_then(|observations| course(response, observations));
        let Some((observations, course)) = observations.zip(course) else {
            self.is_other = true;
            return;
        };
        widen(&mut self.seconds, observations.elapsed_s);
        self.unit.clone_from(&response.unit);
        self.courses.push(course);
    }

    /// The seconds of the measurement; `None` of other trials, and before any.
    pub fn window_s(&self) -> Option<f64> {
        let known = self.seconds.filter(|_| !self.is_other)?;
        (known.high <= SECONDS_RATIO_MAX * known.low).then_some(known.low)
    }

    /// The rate of a cost, as the bound of trials.
    pub fn bound(&self, cost: f64) -> Option<RateBound> {
        let window_s = self.window_s()?;
        let courses: Vec<&[f64]> = self.courses.iter().map(Vec::as_slice).collect();
        let courses = Courses::from_trials(&courses)?;
        Some(RateBound { least: (-cost).exp(), unit: self.unit.clone(), window_s, courses })
    }
}

/// The cost that a trial exceeds which was stopped for its rate.
pub(crate) fn rate_bound(trial: &TrialRecord) -> Option<f64> {
    let rate = trial.observations.as_ref()?.fact(RATE_AT_MOST)?;
    (trial.is_futile() && rate > 0.0).then(|| -rate.ln())
}

/// The recorded rates of the measurement by whole intervals, if the response is their mean.
fn course(response: &Response, observations: &Observations) -> Option<Vec<f64>> {
    let is_rate = response.direction == Direction::HigherIsBetter;
    let mut rates = observations.series.iter().filter(|series| series.name == response.name);
    let series =
        rates.find(|rate| is_rate && rate.unit == response.unit && rate.interval_s > 0.0)?;
    // The warm-up has negative times.
    let warmup = (-series.start_s / series.interval_s).round().max(0.0) as usize;
    let rates = series.values.get(warmup..)?;
    let share =
        |at: usize| (observations.elapsed_s / series.interval_s - at as f64).clamp(0.0, 1.0);
    let all: f64 = (0..rates.len()).map(share).sum();
    let amount: f64 = rates.iter().enumerate().map(|(at, rate)| rate * share(at)).sum();
    let agrees = (amount / all / response.value - 1.0).abs() <= MEAN_MAX;
    let whole = rates.iter().enumerate().filter(|(at, _)| share(*at) > 0.5);
    agrees.then(|| whole.map(|(_, rate)| *rate).collect())
}

/// A response in seconds or its own unit, or a fact.
fn quantity(observations: &Observations, name: &str) -> Option<f64> {
    match observations.responses.iter().find(|response| response.name == name) {
        Some(response) => Some(response.value * unit_factor(&response.unit).unwrap_or(1.0)),
        None if name == "errors" => Some(observations.work.errors as f64),
        None => observations.fact(name),
    }
}

fn unknown(limit: &Relation, observations: &Observations) -> GoalError {
    let known: Vec<&str> =
        observations.responses.iter().map(|response| response.name.as_str()).collect();
    let name = limit.names().first().copied().unwrap_or_default().to_owned();
    GoalError::UnknownResponse(experiment::unknown_name("response", &name, &known))
}
