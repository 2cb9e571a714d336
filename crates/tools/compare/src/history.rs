//! Many runs of one experiment over time.

use crate::runs::changes::{self, matching};
use crate::runs::{Change, RunName, RunsError, SettingChange};
use analysis::estimate::mean;
use analysis::gate::GateError;
use analysis::grid::{Figures, Grid};
use analysis::response::{distinct, names};
use analysis::{Comparison, Estimate, ResponseChoice, TooFew, Verdict, change_points};
use command_line::{HistoryPart, Responses};
use observations::{Observations, Recording};
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};

/// An experiment's results, run after run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct History {
    /// The response shown.
    pub response: ResponseChoice,
    /// The runs, oldest first.
    pub runs: Vec<HistoryRun>,
    /// Each configuration of the latest run.
    pub configurations: Vec<HistorySeries>,
    /// Labels of configurations that earlier runs have and the latest does not.
    pub gone: Vec<String>,
    /// Why some points of this percentile are missing: a trial has too few values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub too_few: Option<TooFew>,
}

/// A run, and what changed since the one before.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HistoryRun {
    /// The name.
    pub run: RunName,
    /// Differences in machine and software.
    pub environment: Vec<Change>,
    /// Differences in settings.
    pub settings: Vec<SettingChange>,
    /// Data of other tools, by name.
    #[serde(flatten)]
    pub parts: BTreeMap<&'static str, Value>,
}

/// A configuration over time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HistorySeries {
    /// The label in the latest run.
    pub label: String,
    /// The estimate in each run; `None` where a run did not measure it.
    pub points: Vec<Option<Estimate>>,
    /// The changes, in the order of the runs.
    pub changes: Vec<HistoryChange>,
}

/// A change of level.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HistoryChange {
    /// Position of the first run of the new level.
    pub run: usize,
    /// P-value of the permutation test.
    pub p_value: f64,
    /// Mean of the runs since the change before.
    pub before: f64,
    /// Mean of the runs until the next change.
    pub after: f64,
    /// The gain of the new level; above 1 is better. Its interval takes the place of the change as
    /// known.
    pub comparison: Comparison,
    /// Better or worse.
    pub verdict: Verdict,
}

/// The history of an experiment from its runs, oldest first. Runs without trials done are points
/// that are missing.
///
/// A value a run, its mean over blocks, goes into the search for changes: the blocks of a run
/// share what was special about it, and would make every run look like a change.
///
/// # Errors
/// When no run has a trial done, or none has such a response.
pub fn history(runs: &[Recording], which: Responses) -> Result<History, RunsError> {
    let latest = runs.iter().rfind(|run| run.done().next().is_some());
    let Some(latest) = latest else {
        return Err(RunsError::no_trials(
            &runs.last().map(|entry| entry.run.clone()).unwrap_or_default(),
        ));
    };
    let response = choose(latest, runs, which)?;
    let grids: Vec<Grid<&Observations>> = runs.iter().map(Grid::new).collect();
    let figures: Vec<Figures> = grids.iter().map(|grid| grid.figures(&response)).collect();
    let positions: Vec<_> = runs.iter().map(|run| changes::positions(latest, run)).collect();
    let series = (0..latest.configurations.len()).map(|configuration| {
        let points = figures.iter().zip(&positions);
        let points = points.map(|(entry, positions)| entry.estimate(positions[configuration]?));
        HistorySeries::from_points(
            latest.configurations[configuration].label.clone(),
            points.collect(),
        )
    });
    let gone = runs.iter().zip(&positions).flat_map(|(run, positions)| {
        let matched: HashSet<usize> = positions.iter().copied().flatten().collect();
        let all = run.configurations.iter().enumerate();
        all.filter(move |(at, _)| !matched.contains(at))
            .map(|(_, configuration)| configuration.label.clone())
    });
    Ok(History {
        configurations: series.collect(),
        runs: (0..runs.len()).map(|at| HistoryRun::summarize(runs, at)).collect(),
        gone: distinct(gone),
        too_few: TooFew::find(
            &response.name,
            &grids.iter().flat_map(Grid::observations).collect::<Vec<_>>(),
        ),
        response,
    })
}

/// The response asked for, as the latest run that has it has it.
fn choose(
    latest: &Recording,
    runs: &[Recording],
    which: Responses,
) -> Result<ResponseChoice, RunsError> {
    let primary = ResponseChoice::for_recording(latest);
    let Responses::Named(name) = which else {
        return primary.ok_or_else(|| RunsError::no_trials(&latest.run));
    };
    runs.iter()
        .rev()
        .find_map(|run| run.done().find_map(|(_, o)| ResponseChoice::named(name, o)))
        .ok_or_else(|| {
            let observations: Vec<&Observations> =
                latest.done().map(|(_, observations)| observations).collect();
            let known = names(&observations).join(", ");
            GateError::NoResponse { name: name.to_owned(), known }.into()
        })
}

impl History {
    /// Adds the data of other tools.
    pub fn add(&mut self, parts: &[HistoryPart]) {
        for part in parts {
            for (run, data) in self.runs.iter_mut().zip(&part.runs) {
                run.parts.insert(part.name, data.clone());
            }
        }
    }
}

impl HistoryRun {
    /// Against the run before; the first one against itself.
    fn summarize(runs: &[Recording], at: usize) -> Self {
        let (before, latest) = (&runs[at.saturating_sub(1)], &runs[at]);
        Self {
            run: RunName::for_recording(latest),
            environment: changes::environment(
                before.environments.first(),
                latest.environments.first(),
            ),
            settings: changes::settings(before, latest, &matching(before, latest)),
            parts: BTreeMap::new(),
        }
    }
}

impl HistorySeries {
    fn from_points(label: String, points: Vec<Option<Estimate>>) -> Self {
        let known =
            points.iter().enumerate().filter_map(|(run, point)| Some((run, point.as_ref()?)));
        let (at, known): (Vec<usize>, Vec<&Estimate>) = known.unzip();
        let means: Vec<f64> = known.iter().map(|point| point.mean).collect();
        let found = change_points::change_points(&means);
        let ends = found.iter().skip(1).map(|change| change.at).chain([means.len()]);
        let starts = [0].into_iter().chain(found.iter().map(|change| change.at));
        let changes = found.iter().zip(starts).zip(ends).filter_map(|((change, start), end)| {
            let (before, after) = (&means[start..change.at], &means[change.at..end]);
            let comparison = Comparison::unpaired(before, after, known.first()?.direction)?;
            Some(HistoryChange {
                run: at[change.at],
                p_value: change.p_value,
                before: mean(before),
                after: mean(after),
                verdict: if comparison.is_better() { Verdict::Better } else { Verdict::Worse },
                // The place was chosen for its difference, so that this test's own p-value would be
                // too small.
                comparison: Comparison { p_value: None, ..comparison },
            })
        });
        Self { changes: changes.collect(), label, points }
    }
}
