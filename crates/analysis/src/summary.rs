//! The entry point: all that a report shows of a run.

use crate::factors::Factors;
use crate::grid::{Grid, Layout, Matched};
use crate::profile::ConfigurationProfile;
use crate::{
    Accounting, Ceiling, Comparison, ConfigurationDevices, Detectable, DiskSummary, Drift, Estimate,
    Explanation, FactorEffect, Finding, GainTable, Interaction, Outlier, ResponseChoice, ScalingSummary,
    Standing, Timeline, WaitTable, WarningCount, explanation, findings, health, outliers, timeline,
};
use observations::{Environment, LevelRecord, Observations, Recording, RunRecord, TrialStatus};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// All that a report shows of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// The run.
    pub run: RunRecord,
    /// Environment at the start, if recorded.
    pub environment: Option<Environment>,
    /// How many further environments resumed sittings found.
    pub other_environments: usize,
    /// The response on which configurations are compared; `None` when no trial was done.
    pub response: Option<ResponseChoice>,
    /// Whether any figure comes from a scripted engine.
    pub synthetic: bool,
    /// Trials done.
    pub done: usize,
    /// Attempts that failed.
    pub failed: usize,
    /// Configurations in the order of the file.
    pub configurations: Vec<ConfigurationRow>,
    /// Factors in the order of the file.
    pub factors: Vec<FactorEffect>,
    /// What each pair of factors does beyond the sum of their effects; pairs that cannot be tested are left out.
    pub interactions: Vec<Interaction>,
    /// Main effects and interactions that are tested together (Holm).
    pub family: usize,
    /// What the levels of each other factor gain at each level of the main one.
    pub gains: Vec<GainTable>,
    /// Trials that stand apart.
    pub outliers: Vec<Outlier>,
    /// Position in `factors` of the one by which waits are shown: the first ordered one, else the first.
    pub main_factor: Option<usize>,
    /// Waits and accounting of each level of the main factor that has trials (one entry without a level when there is no factor).
    pub waits: Vec<LevelWaits>,
    /// Causes of failure, the most frequent first.
    pub failures: Vec<Failure>,
    /// Marks over all trials.
    pub warnings: Vec<WarningCount>,
    /// Block effect; `None` when it cannot be tested, or when blocks were not rounds of the whole run
    /// because a factor is hard to change.
    pub drift: Option<Drift>,
    /// Which difference could have been found; `None` when it cannot be told.
    pub detectable: Option<Detectable>,
    /// Why what the verdict names differs; empty when no difference is supported.
    pub explanations: Vec<Explanation>,
    /// One trial of the baseline and of the best configuration over time, where that was recorded.
    pub timelines: Vec<Timeline>,
    /// Sentences.
    pub findings: Vec<Finding>,
    /// What the disk probe measured; `None` when it was not used.
    pub disk: Option<DiskSummary>,
    /// How throughput goes with threads; `None` when the sync probe was not used.
    pub scaling: Option<ScalingSummary>,
    /// The code that each configuration's processor time went to, where trials were profiled.
    pub profiles: Vec<ConfigurationProfile>,
    /// Block devices under the configurations.
    pub devices: Vec<ConfigurationDevices>,
    /// How close the configurations came to what their storage was measured to do.
    pub ceilings: Vec<Ceiling>,
}

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
    /// Elapsed seconds of the measured part.
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
    /// Marks of its trials.
    pub warnings: Vec<WarningCount>,
    /// Where its sessions waited.
    pub waits: WaitTable,
    /// Where its sessions' time went; `None` without trials done.
    pub accounting: Option<Accounting>,
}

/// Waits and accounting of one level, over all configurations that have it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LevelWaits {
    /// Label of the level; `None` when the experiment has no factor.
    pub level: Option<String>,
    /// Where sessions waited.
    pub waits: WaitTable,
    /// Where their time went.
    pub accounting: Accounting,
}

/// A cause of failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// The cause as recorded.
    pub cause: String,
    /// Attempts that failed so.
    pub attempts: usize,
    /// Labels of the configurations that it hit, in the order of the file.
    pub configurations: Vec<String>,
}

/// All that a report shows of a run.
pub fn summarize(recording: &Recording) -> Summary {
    summarize_with(recording, &[])
}

/// The same with the ceilings that runs of the disk probe, on whatever storage, have for it.
pub fn summarize_with(recording: &Recording, disk_runs: &[Recording]) -> Summary {
    let grid = Grid::new(recording);
    let response = ResponseChoice::of(recording);
    let layouts: Vec<Layout> = recording.factors.iter().map(|f| Layout::new(recording, f)).collect();
    let configurations = rows(recording, &grid, response.as_ref());
    let main_factor = recording
        .factors
        .iter()
        .position(|factor| factor.numeric.is_some())
        .or(if recording.factors.is_empty() { None } else { Some(0) });
    let factors =
        response.as_ref().map(|response| Factors::of(recording, &grid, &layouts, main_factor, response));
    let factors = factors.unwrap_or_default();
    // With a hard-to-change factor a block is a round within a group: block 1 of two groups may be days apart.
    let blocks_are_rounds = recording.factors.iter().all(|factor| !factor.hard_to_change);
    let mut summary = Summary {
        run: recording.run.clone(),
        environment: recording.environments.first().cloned(),
        other_environments: recording.environments.len().saturating_sub(1),
        synthetic: recording.done().any(|(_, o)| o.synthetic),
        done: recording.done().count(),
        failed: recording.trials.iter().filter(|t| matches!(t.status, TrialStatus::Failed { .. })).count(),
        factors: factors.effects,
        interactions: factors.interactions,
        family: factors.family,
        gains: factors.gains,
        outliers: response.as_ref().map(|r| outliers::outliers(recording, &grid, r)).unwrap_or_default(),
        main_factor,
        waits: level_waits(recording, &grid, main_factor.map(|f| (f, &layouts[f]))),
        failures: failures(recording),
        warnings: health::count(grid.observations()),
        drift: response
            .as_ref()
            .filter(|_| blocks_are_rounds)
            .and_then(|response| Drift::of_grid(&grid, response)),
        detectable: response.as_ref().and_then(|response| detectable(&grid, response, &configurations)),
        explanations: Vec::new(),
        timelines: Vec::new(),
        findings: Vec::new(),
        disk: DiskSummary::of(recording, &grid),
        scaling: ScalingSummary::of(recording, &grid),
        profiles: crate::profile::of_configurations(recording),
        devices: crate::devices::devices(recording, &grid),
        ceilings: crate::ceilings(recording, disk_runs),
        response,
        configurations,
    };
    summary.explanations = explanation::explanations(&summary, &grid, &layouts);
    summary.timelines = summary
        .response
        .as_ref()
        .map(|response| timeline::timelines(&summary.configurations, &grid, response))
        .unwrap_or_default();
    summary.findings = findings::find(&summary);
    summary
}

fn rows(recording: &Recording, grid: &Grid, response: Option<&ResponseChoice>) -> Vec<ConfigurationRow> {
    let attempts = Attempts::of(recording);
    let names = response_names(grid);
    let mut rows: Vec<ConfigurationRow> = recording
        .configurations
        .iter()
        .enumerate()
        .map(|(index, configuration)| {
            let trials = || grid.cells[index].values().copied();
            let baseline = recording.run.baseline == Some(index);
            let values = |of: &ResponseChoice| trials().filter_map(|o| of.value(o)).collect::<Vec<_>>();
            let estimate = |of: &ResponseChoice| Estimate::of(&values(of), &of.unit, of.direction);
            let derived = |name: &str| estimate(&ResponseChoice::named(name, trials().next()?)?);
            ConfigurationRow {
                index,
                label: configuration.label.clone(),
                levels: configuration.levels.clone(),
                baseline,
                elapsed: derived("elapsed"),
                throughput: derived("throughput"),
                response: response.and_then(estimate),
                responses: every_response(&names, &grid.cells[index]),
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

fn every_response(names: &[&str], cells: &BTreeMap<u32, &Observations>) -> Vec<(String, Estimate)> {
    let estimate = |name: &&str| {
        let choice = cells.values().find_map(|o| ResponseChoice::named(name, o))?;
        let values: Vec<f64> = cells.values().filter_map(|o| choice.value(o)).collect();
        Some(((*name).to_owned(), Estimate::of(&values, &choice.unit, choice.direction)?))
    };
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

fn level_waits(recording: &Recording, grid: &Grid, main: Option<(usize, &Layout)>) -> Vec<LevelWaits> {
    let of = |level: Option<&String>, trials: Vec<&Observations>| {
        Some(LevelWaits {
            level: level.cloned(),
            waits: WaitTable::of_trials(trials.iter().copied()),
            accounting: Accounting::mean(trials.iter().copied())?,
        })
    };
    let Some((factor, layout)) = main else {
        return of(None, grid.observations().collect()).into_iter().collect();
    };
    let levels = recording.factors[factor].levels.iter().enumerate();
    levels
        .filter_map(|(i, level)| {
            let trials = layout.balanced(i).flat_map(|c| grid.cells[c].values().copied());
            of(Some(level), trials.collect())
        })
        .collect()
}

impl Failure {
    /// The first line of the cause. What may follow is of that trial alone: what a server's log says.
    pub fn reason(&self) -> &str {
        reason(&self.cause)
    }
}

fn reason(cause: &str) -> &str {
    cause.lines().next().unwrap_or_default()
}

fn failures(recording: &Recording) -> Vec<Failure> {
    let mut causes: BTreeMap<&str, (&str, usize, BTreeSet<usize>)> = BTreeMap::new();
    for trial in &recording.trials {
        if let TrialStatus::Failed { cause } = &trial.status {
            let (_, attempts, hit) =
                causes.entry(reason(cause)).or_insert_with(|| (cause, 0, BTreeSet::new()));
            *attempts += 1;
            hit.insert(trial.configuration);
        }
    }
    let label = |index: usize| recording.configurations.get(index).map(|c| c.label.clone());
    let mut failures: Vec<Failure> = causes
        .into_values()
        .map(|(cause, attempts, hit)| Failure {
            cause: cause.to_owned(),
            attempts,
            configurations: hit.into_iter().filter_map(label).collect(),
        })
        .collect();
    failures.sort_by_key(|failure| std::cmp::Reverse(failure.attempts));
    failures
}

/// From the spread of all configurations against the one with the most trials.
fn detectable(grid: &Grid, response: &ResponseChoice, rows: &[ConfigurationRow]) -> Option<Detectable> {
    let reference = rows.iter().rev().max_by_key(|row| row.done)?.index;
    let others = (0..rows.len()).filter(|other| *other != reference);
    let comparisons: Vec<Matched> = others.map(|other| matched(grid, reference, other, response)).collect();
    Detectable::of_comparisons(&comparisons, response, comparisons.len())
}
