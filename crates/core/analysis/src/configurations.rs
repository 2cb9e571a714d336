//! The configurations of a run: their figures, and how they compare with the baseline and the best.

use crate::grid::{Figures, Grid};
use crate::hot::{self, HotResources};
use crate::response_names::all_names;
use crate::settings::WorkKind;
use crate::{
    Accounting, Comparison, Estimate, Standing, WaitTable, WarningCount, compare, health, response,
};
use observations::{LevelRecord, Observations, Recording, TrialRecord, TrialStatus, WarningKind};
use serde::Serialize;
use std::collections::BTreeSet;

/// A configuration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConfigurationRow {
    /// Position in the recording.
    pub index: usize,
    /// Short label.
    pub label: String,
    /// The level of each factor.
    pub levels: Vec<LevelRecord>,
    /// True for the baseline.
    pub baseline: bool,
    /// Elapsed seconds of the measurement.
    pub elapsed: Option<Estimate>,
    /// Units of work a second.
    pub throughput: Option<Estimate>,
    /// The response on which configurations are compared.
    pub response: Option<Estimate>,
    /// Every response that was recorded, by name in the order of the first trial, and elapsed time
    /// and throughput.
    pub responses: Vec<(String, Estimate)>,
    /// Against the baseline (above 1 is better); `None` for the baseline itself and where nothing
    /// can be compared.
    pub factor: Option<Comparison>,
    /// Against the best configuration; `None` for the best itself and where nothing can be
    /// compared.
    pub against_best: Option<Comparison>,
    /// The standing that follows from it.
    pub standing: Standing,
    /// Trials done.
    pub done: usize,
    /// Attempts that failed.
    pub failed: usize,
    /// Trials that were stopped while they were measured: at `limits.trial_time`, or by a search.
    pub timeouts: usize,
    /// Failed trials that a search ended early.
    #[serde(skip)]
    pub futile: usize,
    /// Blocks in which every attempt failed otherwise.
    pub lost_blocks: usize,
    /// Warnings of its trials.
    pub warnings: Vec<WarningCount>,
    /// The waits of its sessions.
    pub waits: WaitTable,
    /// Kinds of things that many waiting sessions were sampled to meet at, over all its trials.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hot: Vec<HotResources>,
    /// The use of its sessions' time; `None` without trials done.
    pub accounting: Option<Accounting>,
}

impl ConfigurationRow {
    /// The level of a factor.
    pub fn level(&self, factor: &str) -> Option<&str> {
        self.levels.iter().find(|level| level.factor == factor).map(|level| level.level.as_str())
    }

    /// Trials that `limits.trial_time` stopped.
    pub fn at_limit(&self) -> usize {
        self.timeouts.saturating_sub(self.futile)
    }

    /// The warnings but for these, which are those of the run.
    pub fn own_warnings(&self, of_run: &[WarningKind]) -> Vec<&WarningCount> {
        self.warnings.iter().filter(|warning| !of_run.contains(&warning.kind)).collect()
    }

    /// Removes comparisons, which hold for a number of blocks that no outcome decides.
    pub(crate) fn without_comparisons(&mut self) {
        (self.factor, self.against_best, self.standing) = (None, None, Standing::Unknown);
    }
}

/// All configurations in the order of the file.
pub fn rows(
    recording: &Recording,
    grid: &Grid<&Observations>,
    figures: Option<&Figures>,
) -> Vec<ConfigurationRow> {
    let responses = Responses::new(grid);
    let mut attempts = vec![Vec::new(); recording.configurations.len()];
    for trial in &recording.trials {
        if let Some(attempt) = attempts.get_mut(trial.configuration) {
            attempt.push(trial);
        }
    }
    let all = attempts.iter().enumerate();
    let mut rows: Vec<ConfigurationRow> = all
        .map(|(index, record)| row(recording, index, record, grid, &responses, figures))
        .collect();
    if let Some(figures) = figures {
        compare_rows(&mut rows, recording, figures);
    }
    rows
}

/// The figures of every response in all configurations.
struct Responses<'a> {
    names: Vec<&'a str>,
    /// By name, unit and direction: configurations with other probes may have a response by the
    /// same name in another unit.
    figures: Vec<Figures>,
}

impl<'a> Responses<'a> {
    fn new(grid: &Grid<&'a Observations>) -> Self {
        let names = all_names(&grid.observations());
        let mut figures: Vec<Figures> = Vec::new();
        for trials in (0..grid.cells.len()).map(|index| grid.with_timeouts(index)) {
            for choice in names.iter().filter_map(|name| response::find(name, &trials)) {
                if !figures.iter().any(|known| known.response == choice) {
                    figures.push(grid.figures(&choice));
                }
            }
        }
        Self { names, figures }
    }

    fn estimate(&self, name: &str, index: usize, trials: &[&Observations]) -> Option<Estimate> {
        let choice = response::find(name, trials)?;
        self.figures.iter().find(|figure| figure.response == choice)?.estimate(index)
    }
}

fn row(
    recording: &Recording,
    index: usize,
    attempts: &[&TrialRecord],
    grid: &Grid<&Observations>,
    responses: &Responses,
    figures: Option<&Figures>,
) -> ConfigurationRow {
    let (record, trials, all) =
        (&recording.configurations[index], &grid.trials(index), &grid.with_timeouts(index));
    let timeouts = all.len() - trials.len();
    let failed = |trial: &&&TrialRecord| trial.status != TrialStatus::Done;
    let tried = attempts.iter().filter(|trial| failed(trial) || trial.observations.is_some());
    let blocks: BTreeSet<u32> = tried.map(|trial| trial.block).collect();
    let named = |name: &str| responses.estimate(name, index, all);
    ConfigurationRow {
        index,
        label: record.label.clone(),
        levels: record.levels.clone(),
        baseline: recording.run.baseline == Some(index),
        elapsed: named("elapsed"),
        throughput: named("throughput"),
        response: figures.and_then(|figures| figures.estimate(index)),
        responses: responses
            .names
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), named(name)?)))
            .collect(),
        factor: None,
        against_best: None,
        standing: Standing::Unknown,
        done: trials.len(),
        failed: attempts.iter().filter(failed).count(),
        timeouts,
        futile: attempts.iter().filter(|trial| trial.is_futile()).count(),
        lost_blocks: blocks.len() - trials.len() - timeouts,
        warnings: health::count(trials),
        waits: WaitTable::of_trials(trials),
        hot: hot::resources(trials.iter().flat_map(|trial| &trial.resources)),
        accounting: Accounting::mean(trials),
    }
}

/// Fills in the factor against the baseline and the standing against the best. What does other work
/// is not compared, and where some do there is no best.
fn compare_rows(rows: &mut [ConfigurationRow], recording: &Recording, figures: &Figures) {
    let baseline = recording.run.baseline;
    let kind = |index: usize| WorkKind::of_configuration(recording, index);
    let one_kind = (1..rows.len()).all(|index| kind(index) == kind(0));
    let comparable = |from, to| figures.compare(from, to).filter(|_| kind(from) == kind(to));
    let estimates: Vec<_> = rows.iter().map(|row| row.response.clone()).collect();
    let reference = baseline.filter(|baseline| *baseline < rows.len()).unwrap_or(0);
    let ranked = compare::each_against(Some(reference), rows.len(), &comparable);
    let best = compare::best(&estimates, &ranked, reference);
    let best = best.filter(|_| one_kind && !figures.grid.set_up_once());
    let factors = compare::against(
        baseline.filter(|baseline| *baseline < rows.len()),
        rows.len(),
        &comparable,
    );
    let against_best = compare::against(best, rows.len(), &comparable);
    let standings = compare::standings(best, &against_best);
    let compared = factors.into_iter().zip(against_best).zip(standings);
    for (row, ((factor, against_best), standing)) in rows.iter_mut().zip(compared) {
        (row.factor, row.against_best, row.standing) = (factor, against_best, standing);
    }
}
