//! Two runs against each other: what changed around them, and what that did to each configuration.

mod changes;
mod gate;
mod history;
mod samples;

pub use changes::{Change, FactorChange, Match, MatchedBy, SettingChange};
pub use gate::{Decision, Gate, Judged, Limit, LimitError, LimitJudged, Way, judge};
pub use history::{History, HistoryChange, HistoryRun, HistorySeries, history};

use crate::compare::corrected;
use crate::grid::Grid;
use crate::{Comparison, Estimate, ResponseChoice, WarningsCompared, response};
use observations::{Observations, Recording, RunRecord};
use samples::{Samples, Side};
use serde::Serialize;

/// Which responses of two runs are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Responses<'a> {
    /// The one on which the first run compares its configurations.
    Primary,
    /// The one with this name.
    Named(&'a str),
    /// All that both runs have.
    All,
}

/// Why two runs cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RunsError {
    /// A run without a trial that was measured to the end.
    #[error("run {run} of {name} has no trial that was measured to the end")]
    NoTrials {
        /// Name of its experiment.
        name: String,
        /// Its number.
        run: i64,
    },
    /// No configuration is in both.
    #[error(
        "the runs have no configuration in common, neither by their settings nor by their levels; only in the first: {from}; only in the second: {to}"
    )]
    NothingMatches {
        /// Labels of the first run's configurations.
        from: String,
        /// Labels of the second run's.
        to: String,
    },
    /// No response by that name, in the same unit and direction, in both.
    #[error("no response {name} that can be compared; both runs have {known}")]
    NoResponse {
        /// The name asked for.
        name: String,
        /// Names of those that can be compared.
        known: String,
    },
    /// Nothing that is above 0 falls by 100 %.
    #[error("{limit} can never be reached: {name} would have to fall to 0 or below")]
    ImpossibleLimit {
        /// The limit.
        limit: String,
        /// The response.
        name: String,
    },
}

/// How the second run differs from the first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunsCompared {
    /// The first run.
    pub from: RunName,
    /// The second run.
    pub to: RunName,
    /// What differs in machine and software, by the name that it has in the recorded environment.
    pub environment: Vec<Change>,
    /// What differs in the settings of matched configurations.
    pub settings: Vec<SettingChange>,
    /// Factors that only one of them has, or with other levels.
    pub factors: Vec<FactorChange>,
    /// Labels of configurations that only the first has.
    pub only_from: Vec<String>,
    /// Labels of configurations that only the second has.
    pub only_to: Vec<String>,
    /// Warnings that the trials of matched configurations carry.
    pub warnings: WarningsCompared,
    /// Each response that was asked for.
    pub responses: Vec<ResponseCompared>,
}

/// What names a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunName {
    /// Name of the experiment.
    pub name: String,
    /// Number within its results file.
    pub run: i64,
    /// Start in milliseconds since 1970 UTC.
    pub started_ms: i64,
    /// Version of Steelbench that made it.
    pub steelbench: String,
    /// Further environments in which it was resumed.
    pub other_environments: usize,
    /// Whether any figure comes from a scripted engine.
    pub synthetic: bool,
}

/// A response in both runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ResponseCompared {
    /// The response.
    pub response: ResponseChoice,
    /// The matched configurations in the order of the first run.
    pub configurations: Vec<ConfigurationCompared>,
    /// The geometric mean of the factors of all configurations that both measured; `None` where a value is
    /// zero or negative, and with fewer than two such configurations.
    pub overall: Option<Comparison>,
}

/// A configuration in both runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConfigurationCompared {
    /// Label in the first run.
    pub from_label: String,
    /// Label in the second run.
    pub to_label: String,
    /// What they have in common.
    pub matched_by: MatchedBy,
    /// Estimate of the first.
    pub from: Option<Estimate>,
    /// Estimate of the second.
    pub to: Option<Estimate>,
    /// How much better the second is, corrected (Holm) over the configurations; above 1 is better.
    pub comparison: Option<Comparison>,
    /// What can be said of it.
    pub verdict: Verdict,
    /// The smallest relative difference that is detected with 80 % power: 0.04 is 4 %.
    pub detectable: Option<f64>,
}

/// What can be said of a difference between two runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The second is better, supported at a family level of 5 % (Holm).
    Better,
    /// The second is worse, supported at a family level of 5 %.
    Worse,
    /// No difference that can be seen.
    NotSeen,
    /// Cannot be told: no values, or a single block.
    Unknown,
}

/// Compares two runs, configuration by configuration. Their blocks have nothing in common, so that they are
/// compared apart (Welch's t, of logarithms).
///
/// # Errors
/// When a run has no trial done, nothing matches, or there is no such response.
pub fn compare_runs(from: &Recording, to: &Recording, which: Responses) -> Result<RunsCompared, RunsError> {
    let pair = Pair::new(from, to)?;
    let settings = changes::settings(from, to, &pair.matches);
    let labels = |recording: &Recording, own: fn(&Match) -> usize| {
        let unmatched = |(at, _): &(usize, _)| !pair.matches.iter().any(|it| own(it) == *at);
        let rest = recording.configurations.iter().enumerate().filter(unmatched);
        rest.map(|(_, configuration)| configuration.label.clone()).collect()
    };
    let choices = pair.choices(which)?;
    Ok(RunsCompared {
        environment: changes::environment(from.environments.first(), to.environments.first()),
        settings,
        factors: changes::factors(from, to),
        only_from: labels(from, |it| it.from),
        only_to: labels(to, |it| it.to),
        warnings: pair.warnings(),
        responses: choices.into_iter().map(|choice| pair.compare(choice)).collect(),
        from: RunName::of(from),
        to: RunName::of(to),
    })
}

impl RunsError {
    fn no_trials(run: &RunRecord) -> Self {
        Self::NoTrials { name: run.name.clone(), run: run.id }
    }
}

impl RunName {
    fn of(recording: &Recording) -> Self {
        let RunRecord { id, name, started_ms, steelbench, .. } = recording.run.clone();
        Self {
            name,
            run: id,
            started_ms,
            steelbench,
            other_environments: recording.environments.len().saturating_sub(1),
            synthetic: recording.done().any(|(_, observations)| observations.synthetic),
        }
    }
}

/// Two runs laid out beside each other.
struct Pair<'a> {
    from: &'a Recording,
    to: &'a Recording,
    grids: (Grid<'a>, Grid<'a>),
    matches: Vec<Match>,
}

impl<'a> Pair<'a> {
    fn new(from: &'a Recording, to: &'a Recording) -> Result<Self, RunsError> {
        for recording in [from, to] {
            if recording.done().next().is_none() {
                return Err(RunsError::no_trials(&recording.run));
            }
        }
        let matches = changes::matching(from, to);
        if matches.is_empty() {
            let labels = |recording: &Recording| {
                let labels = recording.configurations.iter().map(|it| it.label.as_str());
                labels.collect::<Vec<_>>().join(", ")
            };
            return Err(RunsError::NothingMatches { from: labels(from), to: labels(to) });
        }
        Ok(Self { from, to, grids: (Grid::new(from), Grid::new(to)), matches })
    }

    /// Warnings that the trials of matched configurations carry.
    fn warnings(&self) -> WarningsCompared {
        let trials = |grid: &Grid<'a>, own: fn(&Match) -> usize| -> Vec<&'a Observations> {
            self.matches.iter().flat_map(|it| grid.trials(own(it))).collect()
        };
        WarningsCompared::of(&trials(&self.grids.0, |it| it.from), &trials(&self.grids.1, |it| it.to))
    }

    /// The responses asked for that both runs have in the same unit and direction.
    fn choices(&self, which: Responses) -> Result<Vec<ResponseChoice>, RunsError> {
        let primary = ResponseChoice::of(self.from).map(|choice| choice.name);
        match which {
            Responses::Primary => Ok(vec![self.common(&primary.unwrap_or_default())?]),
            Responses::Named(name) => Ok(vec![self.common(name)?]),
            Responses::All => Ok(self.names().iter().filter_map(|name| self.common(name).ok()).collect()),
        }
    }

    fn common(&self, name: &str) -> Result<ResponseChoice, RunsError> {
        let find = |grid: &Grid| grid.observations().into_iter().find_map(|o| ResponseChoice::named(name, o));
        let (from, to) = (find(&self.grids.0), find(&self.grids.1));
        from.filter(|from| to.as_ref() == Some(from)).ok_or_else(|| {
            let all = self.names().into_iter().filter(|other| *other != name);
            let known = all.filter(|other| self.common(other).is_ok()).collect::<Vec<_>>().join(", ");
            RunsError::NoResponse { name: name.to_owned(), known }
        })
    }

    fn names(&self) -> Vec<&'a str> {
        response::all_names(&self.grids.0.observations())
    }

    fn compare(&self, response: ResponseChoice) -> ResponseCompared {
        let samples = self.samples(&response);
        let comparisons = corrected(samples.iter().map(|own| own.compare(&response)).collect());
        let compared =
            |((own, samples), comparison): ((&Match, &Samples), Option<Comparison>)| ConfigurationCompared {
                from_label: self.from.configurations[own.from].label.clone(),
                to_label: self.to.configurations[own.to].label.clone(),
                matched_by: own.by,
                from: self.grids.0.estimate(own.from, &response),
                to: self.grids.1.estimate(own.to, &response),
                verdict: Verdict::of(comparison.as_ref()),
                detectable: samples.detectable(),
                comparison,
            };
        ResponseCompared {
            configurations: self.matches.iter().zip(&samples).zip(comparisons).map(compared).collect(),
            overall: samples::overall(&samples, &response),
            response,
        }
    }

    /// The values of each match.
    fn samples(&self, response: &ResponseChoice) -> Vec<Samples> {
        let of = |own: &Match| Samples {
            from: Side::of(&self.grids.0, own.from, response),
            to: Side::of(&self.grids.1, own.to, response),
        };
        self.matches.iter().map(of).collect()
    }
}

impl Verdict {
    fn of(comparison: Option<&Comparison>) -> Self {
        match comparison {
            Some(own) if own.supported() && own.is_better() => Self::Better,
            Some(own) if own.supported() => Self::Worse,
            Some(own) if own.p_value.is_some() && own.bound.is_none() => Self::NotSeen,
            _ => Self::Unknown,
        }
    }
}
