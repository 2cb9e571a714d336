//! The configurations of a run: their figures, and how they compare with the baseline and the best.

use crate::grid::{Grid, Matched};
use crate::{
    Accounting, Comparison, Detectable, Estimate, ResponseChoice, Standing, Summary, WaitTable, WarningCount,
    health, response,
};
use observations::{LevelRecord, Observations, Recording, TrialStatus};
use serde::Serialize;
use std::collections::BTreeSet;

/// One configuration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConfigurationRow {
    /// Position in the recording.
    pub index: usize,
    /// Short label.
    pub label: String,
    /// The level of each factor.
    pub levels: Vec<LevelRecord>,
    /// Whether it is the baseline.
    pub baseline: bool,
    /// Elapsed seconds of the measurement.
    pub elapsed: Option<Estimate>,
    /// Units of work a second.
    pub throughput: Option<Estimate>,
    /// The response on which configurations are compared.
    pub response: Option<Estimate>,
    /// Every response that was recorded, by name in the order of the first trial, and elapsed time and throughput.
    pub responses: Vec<(String, Estimate)>,
    /// Against the baseline (above 1 is better); `None` for the baseline itself and where nothing can be compared.
    pub factor: Option<Comparison>,
    /// Against the best configuration; `None` for the best itself and where nothing can be compared.
    pub against_best: Option<Comparison>,
    /// What that says.
    pub standing: Standing,
    /// Trials done.
    pub done: usize,
    /// Attempts that failed.
    pub failed: usize,
    /// Blocks in which every attempt failed.
    pub lost_blocks: usize,
    /// Warnings of its trials.
    pub warnings: Vec<WarningCount>,
    /// Where its sessions waited.
    pub waits: WaitTable,
    /// Where its sessions' time went; `None` without trials done.
    pub accounting: Option<Accounting>,
}

impl Summary<'_> {
    /// Which difference between two configurations could have been found, from the spread of all against the one with
    /// the most trials; `None` when it cannot be told.
    pub fn detectable(&self) -> Option<Detectable> {
        let response = self.response.as_ref()?;
        let rows = &self.configurations;
        let reference = rows.iter().rev().max_by_key(|row| row.done)?.index;
        let others = (0..rows.len()).filter(|other| *other != reference);
        let comparisons: Vec<Matched> =
            others.map(|other| matched(&self.grid, reference, other, response)).collect();
        Detectable::of_comparisons(&comparisons, response, comparisons.len())
    }
}

/// All configurations in the order of the file.
pub fn rows(recording: &Recording, grid: &Grid, response: Option<&ResponseChoice>) -> Vec<ConfigurationRow> {
    let attempts = Attempts::of(recording);
    let names = response_names(grid);
    let mut rows: Vec<ConfigurationRow> = recording
        .configurations
        .iter()
        .enumerate()
        .map(|(index, configuration)| {
            let trials = || grid.cells[index].values().copied();
            let baseline = recording.run.baseline == Some(index);
            let derived = |name: &str| ResponseChoice::named(name, trials().next()?)?.estimate(trials());
            ConfigurationRow {
                index,
                label: configuration.label.clone(),
                levels: configuration.levels.clone(),
                baseline,
                elapsed: derived("elapsed"),
                throughput: derived("throughput"),
                response: response.and_then(|response| response.estimate(trials())),
                responses: every_response(&names, &trials().collect::<Vec<_>>()),
                factor: None,
                against_best: None,
                standing: Standing::Unknown,
                done: grid.cells[index].len(),
                failed: attempts.failed[index],
                lost_blocks: attempts.blocks[index].len() - grid.cells[index].len(),
                warnings: health::count(trials()),
                waits: WaitTable::of_trials(trials()),
                accounting: Accounting::mean(trials()),
            }
        })
        .collect();
    if let Some(response) = response {
        compare_rows(&mut rows, recording.run.baseline, grid, response);
    }
    rows
}

/// All recorded responses, then those that every trial has.
fn response_names<'a>(grid: &Grid<'a>) -> Vec<&'a str> {
    let mut names = crate::response::names(grid.observations());
    for derived in ["elapsed", "throughput"] {
        if !names.contains(&derived) {
            names.push(derived);
        }
    }
    names
}

fn every_response(names: &[&str], trials: &[&Observations]) -> Vec<(String, Estimate)> {
    let estimate = |name: &&str| Some(((*name).to_owned(), response::estimate(name, trials)?));
    names.iter().filter_map(estimate).collect()
}

/// Fills in the factor against the baseline and the standing against the best.
fn compare_rows(
    rows: &mut [ConfigurationRow],
    baseline: Option<usize>,
    grid: &Grid,
    response: &ResponseChoice,
) {
    let against = |other: usize| -> Vec<Option<Comparison>> {
        let one = |to: usize| Comparison::of(&matched(grid, other, to, response), response);
        (0..grid.cells.len()).map(|to| if to == other { None } else { one(to) }).collect()
    };
    let estimates: Vec<_> = rows.iter().map(|row| row.response.as_ref()).collect();
    let best = crate::compare::best(&estimates);
    let mut factors = match baseline {
        Some(baseline) if baseline < rows.len() => against(baseline),
        _ => vec![None; rows.len()],
    };
    crate::compare::correct(&mut factors);
    let mut against_best = best.map_or_else(|| vec![None; rows.len()], against);
    crate::compare::correct(&mut against_best);
    let standings = crate::compare::standings(best, &against_best);
    let compared = factors.into_iter().zip(against_best).zip(standings);
    for (row, ((factor, against_best), standing)) in rows.iter_mut().zip(compared) {
        row.factor = factor;
        row.against_best = against_best;
        row.standing = standing;
    }
}

fn matched<'a>(grid: &Grid<'a>, from: usize, to: usize, response: &ResponseChoice) -> Matched<'a> {
    Matched::configurations(&grid.cells[from], &grid.cells[to], |o| response.value(o).is_some())
}

/// Failed attempts and blocks tried, for each configuration.
struct Attempts {
    failed: Vec<usize>,
    blocks: Vec<BTreeSet<u32>>,
}

impl Attempts {
    fn of(recording: &Recording) -> Self {
        let n = recording.configurations.len();
        let mut attempts = Self { failed: vec![0; n], blocks: vec![BTreeSet::new(); n] };
        for trial in recording.trials.iter().filter(|trial| trial.configuration < n) {
            let failed = matches!(trial.status, TrialStatus::Failed { .. });
            attempts.failed[trial.configuration] += usize::from(failed);
            if failed || trial.observations.is_some() {
                attempts.blocks[trial.configuration].insert(trial.block);
            }
        }
        attempts
    }
}
