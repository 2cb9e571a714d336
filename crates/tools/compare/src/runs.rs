//! Two runs, or several a side, against each other: what changed around them, and what that did to
//! each configuration.

pub mod changes;
mod limits;
mod samples;

pub use changes::{Change, FactorChange, Match, MatchedBy, SettingChange};
pub use limits::judge_sides;

use analysis::compare::corrected;
use analysis::gate::{self, GateError};
use analysis::grid::{Figures, Grid};
use analysis::response::{self, distinct};
use analysis::{Comparison, Estimate, ResponseChoice, TooFew, Verdict, WarningsCompared};
use command_line::Responses;
use observations::{GitState, Observations, Recording, RunRecord};
use samples::{Samples, Side};
use serde::Serialize;
use std::collections::HashSet;

/// Why two runs cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RunsError {
    /// A run without a trial that was measured to the end.
    #[error("run {run} of {name} has no completed trial")]
    NoTrials {
        /// Name of its experiment.
        name: String,
        /// The number.
        run: i64,
    },
    /// A run against several.
    #[error(
        "one side has one run and the other {several}: give at least two runs per side to \
         estimate run-to-run variation"
    )]
    SingleRun {
        /// Runs of the other side.
        several: usize,
    },
    /// No configuration is in both.
    #[error(
        "the runs share no configuration, neither by settings nor by levels; only in the first: \
         {from}; only in the second: {to}"
    )]
    NothingMatches {
        /// Labels of the first run's configurations.
        from: String,
        /// Labels of the second run's.
        to: String,
    },
    /// No such response, or a limit that nothing exceeds.
    #[error(transparent)]
    Gate(#[from] GateError),
}

/// The differences of the second run from the first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunsCompared {
    /// The first run.
    pub from: RunName,
    /// The second run.
    pub to: RunName,
    /// Further runs of the first side. Where there are several a side, the repeats are runs, not
    /// blocks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub more_from: Vec<RunName>,
    /// Further runs of the second side.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub more_to: Vec<RunName>,
    /// Differences in environment and settings between the runs of one side, which count as
    /// repeats.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differ_within: Vec<String>,
    /// Differences in machine and software, by the name in the recorded environment.
    pub environment: Vec<Change>,
    /// Differences in the settings of matched configurations.
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

/// Identity of a run.
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
    /// The user's label.
    pub label: Option<String>,
    /// State of the repository that holds the experiment file.
    pub git: Option<GitState>,
    /// Further environments in which it was resumed.
    pub other_environments: usize,
    /// True if any figure comes from a scripted engine.
    pub synthetic: bool,
}

/// A response in both runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ResponseCompared {
    /// The response.
    pub response: ResponseChoice,
    /// The matched configurations in the order of the first run.
    pub configurations: Vec<ConfigurationCompared>,
    /// Why some configurations are not compared on this percentile: a trial has too few values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub too_few: Option<TooFew>,
    /// The geometric mean of the factors of all configurations that both measured; `None` where a
    /// value is zero or negative, and with fewer than two such configurations.
    pub overall: Option<Comparison>,
}

/// A configuration in both runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConfigurationCompared {
    /// Label in the first run.
    pub from_label: String,
    /// Label in the second run.
    pub to_label: String,
    /// The criterion of the match.
    pub matched_by: MatchedBy,
    /// Estimate of the first.
    pub from: Option<Estimate>,
    /// Estimate of the second.
    pub to: Option<Estimate>,
    /// The gain of the second, corrected (Holm) over the configurations; above 1 is better.
    pub comparison: Option<Comparison>,
    /// The verdict.
    pub verdict: Verdict,
    /// The smallest relative difference that is detected with 80 % power: 0.04 is 4 %.
    pub detectable: Option<f64>,
}

/// Compares the runs of two sides, configuration by configuration. Of several runs a side each
/// counts once, by its mean, so intervals include run-to-run variation. The blocks of two runs have
/// nothing in common, so that they are compared apart (Welch's t, of logarithms).
///
/// # Errors
/// When a run has no trial done, nothing matches, there is no such response, or one side alone has
/// several runs.
pub fn compare_sides(
    from: &[Recording],
    to: &[Recording],
    which: Responses,
) -> Result<RunsCompared, RunsError> {
    let pair = Pair::new(from, to)?;
    let (from, to) = (pair.from.first(), pair.to.first());
    let labels = |recording: &Recording, index_of: fn(&Match) -> usize| {
        let matched: HashSet<usize> = pair.matches.iter().map(index_of).collect();
        let rest =
            recording.configurations.iter().enumerate().filter(|(at, _)| !matched.contains(at));
        rest.map(|(_, configuration)| configuration.label.clone()).collect()
    };
    let choices = pair.choices(which)?;
    Ok(RunsCompared {
        environment: changes::environment(from.environments.first(), to.environments.first()),
        settings: changes::settings(from, to, &pair.matches),
        factors: changes::factors(from, to),
        only_from: labels(from, |pair| pair.from),
        only_to: labels(to, |pair| pair.to),
        warnings: pair.warnings(),
        responses: choices.into_iter().map(|choice| pair.compare(choice)).collect(),
        more_from: pair.from.runs[1..].iter().map(RunName::for_recording).collect(),
        more_to: pair.to.runs[1..].iter().map(RunName::for_recording).collect(),
        differ_within: pair.differ_within(),
        from: RunName::for_recording(from),
        to: RunName::for_recording(to),
    })
}

impl RunsError {
    pub(crate) fn no_trials(run: &RunRecord) -> Self {
        Self::NoTrials { name: run.name.clone(), run: run.id }
    }
}

impl RunName {
    pub(crate) fn for_recording(recording: &Recording) -> Self {
        let RunRecord { id, name, started_ms, steelbench, label, git, .. } = recording.run.clone();
        Self {
            name,
            run: id,
            started_ms,
            steelbench,
            label,
            git,
            other_environments: recording.environments.len().saturating_sub(1),
            synthetic: recording.done().any(|(_, observations)| observations.synthetic),
        }
    }
}

/// Two sides laid out beside each other.
struct Pair<'a> {
    from: Runs<'a>,
    to: Runs<'a>,
    /// Positions in the first run of each side.
    matches: Vec<Match>,
}

/// The runs of one side.
struct Runs<'a> {
    runs: &'a [Recording],
    grids: Vec<Grid<&'a Observations>>,
    /// For each run: the position of each configuration of the side's first run.
    positions: Vec<Vec<Option<usize>>>,
}

impl<'a> Runs<'a> {
    fn new(runs: &'a [Recording]) -> Result<Self, RunsError> {
        if let Some(empty) = runs.iter().find(|run| run.done().next().is_none()) {
            return Err(RunsError::no_trials(&empty.run));
        }
        Ok(Self {
            runs,
            grids: runs.iter().map(Grid::new).collect(),
            positions: runs.iter().map(|run| changes::positions(&runs[0], run)).collect(),
        })
    }

    fn first(&self) -> &'a Recording {
        &self.runs[0]
    }

    /// Each run with the position that a configuration of the first one has there.
    fn with(
        &self,
        configuration: usize,
    ) -> impl Iterator<Item = (&Grid<&'a Observations>, Option<usize>)> {
        self.grids.iter().zip(self.positions.iter().map(move |positions| positions[configuration]))
    }

    fn trials(&self, configuration: usize) -> Vec<&'a Observations> {
        self.with(configuration).filter_map(|(grid, at)| Some(grid.trials(at?))).flatten().collect()
    }

    fn observations(&self) -> Vec<&'a Observations> {
        self.grids.iter().flat_map(Grid::observations).collect()
    }

    /// The figures of a response in each run.
    fn figures(&self, response: &ResponseChoice) -> Vec<Figures> {
        self.grids.iter().map(|grid| grid.figures(response)).collect()
    }

    /// The values of a configuration: those of its repeats in a single run, else a mean for each
    /// run.
    fn side(&self, figures: &[Figures], configuration: usize) -> Side {
        let positions = self.positions.iter().map(|positions| positions[configuration]);
        match figures {
            [only] => Side::from_figures(only, configuration),
            _ => Side::of_runs(figures.iter().zip(positions)),
        }
    }

    fn estimate(&self, figures: &[Figures], configuration: usize) -> Option<Estimate> {
        match figures {
            [only] => only.estimate(configuration),
            [first, ..] => self.side(figures, configuration).estimate(&first.response),
            [] => None,
        }
    }

    /// Returns the differences from the first run.
    fn differing(&self) -> Vec<String> {
        let first = self.first();
        let names = self.runs[1..].iter().flat_map(|run| {
            let environment =
                changes::environment(first.environments.first(), run.environments.first());
            let settings = changes::settings(first, run, &changes::matching(first, run));
            environment
                .into_iter()
                .chain(settings.into_iter().map(|setting| setting.change))
                .map(|change| change.what)
        });
        names.collect()
    }
}

impl<'a> Pair<'a> {
    fn new(from: &'a [Recording], to: &'a [Recording]) -> Result<Self, RunsError> {
        let (from, to) = (Runs::new(from)?, Runs::new(to)?);
        let several = from.runs.len().max(to.runs.len());
        if from.runs.len().min(to.runs.len()) == 1 && several > 1 {
            return Err(RunsError::SingleRun { several });
        }
        let matches = changes::matching(from.first(), to.first());
        if matches.is_empty() {
            let labels = |recording: &Recording| {
                let labels = recording
                    .configurations
                    .iter()
                    .map(|configuration| configuration.label.as_str());
                labels.collect::<Vec<_>>().join(", ")
            };
            return Err(RunsError::NothingMatches {
                from: labels(from.first()),
                to: labels(to.first()),
            });
        }
        Ok(Self { from, to, matches })
    }

    /// Warnings that the trials of matched configurations carry.
    fn warnings(&self) -> WarningsCompared {
        let trials = |side: &Runs<'a>, index_of: fn(&Match) -> usize| -> Vec<&'a Observations> {
            self.matches.iter().flat_map(|pair| side.trials(index_of(pair))).collect()
        };
        WarningsCompared::compare(
            &trials(&self.from, |pair| pair.from),
            &trials(&self.to, |pair| pair.to),
        )
    }

    fn differ_within(&self) -> Vec<String> {
        distinct(self.from.differing().into_iter().chain(self.to.differing()))
    }

    /// The responses asked for that both sides have in the same unit and direction.
    fn choices(&self, which: Responses) -> Result<Vec<ResponseChoice>, RunsError> {
        let primary = ResponseChoice::for_recording(self.from.first()).map(|choice| choice.name);
        match which {
            Responses::Primary => Ok(vec![self.common(&primary.unwrap_or_default())?]),
            Responses::Named(name) => Ok(vec![self.common(name)?]),
            Responses::All => {
                Ok(self.names().iter().filter_map(|name| self.common(name).ok()).collect())
            }
        }
    }

    fn common(&self, name: &str) -> Result<ResponseChoice, RunsError> {
        Ok(gate::common(name, &self.from.observations(), &self.to.observations())?)
    }

    fn names(&self) -> Vec<&'a str> {
        response::all_names(&self.from.observations())
    }

    /// Returns why a percentile has no value in some matched configurations.
    fn too_few(&self, response: &ResponseChoice) -> Option<TooFew> {
        let trials = self.matches.iter().flat_map(|row| {
            [self.from.trials(row.from), self.to.trials(row.to)].into_iter().flatten()
        });
        TooFew::find(&response.name, &trials.collect::<Vec<_>>())
    }

    fn compare(&self, response: ResponseChoice) -> ResponseCompared {
        let [from, to] = [&self.from, &self.to].map(|side| side.figures(&response));
        let samples = self.samples(&response);
        let comparisons =
            corrected(samples.iter().map(|sample| sample.compare(&response)).collect());
        ResponseCompared {
            configurations: self
                .matches
                .iter()
                .zip(&samples)
                .zip(comparisons)
                .map(|((row, samples), comparison)| ConfigurationCompared {
                    from_label: self.from.first().configurations[row.from].label.clone(),
                    to_label: self.to.first().configurations[row.to].label.clone(),
                    matched_by: row.by,
                    from: self.from.estimate(&from, row.from),
                    to: self.to.estimate(&to, row.to),
                    verdict: self.judge(comparison.as_ref()),
                    detectable: samples.detectable(),
                    comparison,
                })
                .collect(),
            overall: samples::overall(&samples, &response),
            too_few: self.too_few(&response),
            response,
        }
    }

    fn has_single_runs(&self) -> bool {
        self.from.runs.len() == 1 && self.to.runs.len() == 1
    }

    /// The verdict on a comparison.
    fn judge(&self, comparison: Option<&Comparison>) -> Verdict {
        let verdict = Verdict::judge(comparison);
        if self.has_single_runs() { verdict.in_two_runs() } else { verdict }
    }

    /// The values of each match.
    fn samples(&self, response: &ResponseChoice) -> Vec<Samples> {
        let [from, to] = [&self.from, &self.to].map(|side| side.figures(response));
        self.matches
            .iter()
            .map(|row| Samples {
                from: self.from.side(&from, row.from),
                to: self.to.side(&to, row.to),
            })
            .collect()
    }
}

impl RunsCompared {
    /// Returns whether each side has a single run: what differs may be the runs alone.
    pub fn has_single_runs(&self) -> bool {
        self.more_from.is_empty() && self.more_to.is_empty()
    }
}
