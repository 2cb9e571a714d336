//! Trials of other tools as a run.

use crate::formats::Trial;
use command_line::servers::now_ms;
use observations::{
    ConfigurationRecord, FactorRecord, LevelRecord, Recording, RunRecord, TrialRecord, TrialStatus,
    Value, Warning, WarningKind, range,
};
use std::collections::{BTreeMap, HashMap, HashSet};
use thiserror::Error;

/// The run that trials become.
#[derive(Debug, Clone, Copy)]
pub struct Run<'a> {
    /// Name of the experiment.
    pub name: &'a str,
    /// The response to compare by.
    pub response: Option<&'a str>,
    /// The sources as named.
    pub files: &'a [String],
}

/// A reason why trials are not a run.
#[derive(Debug, Error)]
pub enum NoRun {
    /// No trial was found.
    #[error("the files have no trials")]
    Empty,
    /// Trials of one run have the same factors.
    #[error("one trial has the factors {0}, another {1}: name the same factors in all files")]
    Factors(String, String),
    /// No trial has the response to compare by.
    #[error("no trial has the response {name}; expected one of {available}")]
    Response {
        /// The name that was asked for.
        name: String,
        /// Responses that trials have.
        available: String,
    },
}

/// The run of these trials: the first configuration is the baseline, equal labels are repeats.
pub fn recording(run: Run<'_>, trials: Vec<Trial>) -> Result<Recording, NoRun> {
    let first = trials.first().ok_or(NoRun::Empty)?;
    let names = |trial: &Trial| {
        trial.levels.iter().map(|level| level.factor.clone()).collect::<Vec<_>>().join(", ")
    };
    if let Some(other) = trials.iter().find(|trial| names(trial) != names(first)) {
        return Err(NoRun::Factors(names(first), names(other)));
    }
    check_response(run.response, &trials)?;
    let started_ms = now_ms();
    let factors = factors(&trials);
    let mut configurations: Vec<ConfigurationRecord> = Vec::new();
    let mut positions: HashMap<Vec<LevelRecord>, usize> = HashMap::new();
    let mut blocks: BTreeMap<usize, u32> = BTreeMap::new();
    let mut records = Vec::new();
    for (sequence, mut trial) in (1..).zip(trials) {
        let configuration = *positions.entry(trial.levels).or_insert_with_key(|levels| {
            configurations.push(configuration(levels));
            configurations.len() - 1
        });
        let last = blocks.entry(configuration).or_default();
        *last = trial.block.unwrap_or(*last + 1);
        trial.observations.warnings.push(Warning {
            kind: WarningKind::NotObserved,
            detail: format!(
                "measured elsewhere ({}): Steelbench observed neither the load nor the machine",
                trial.origin
            ),
        });
        records.push(TrialRecord {
            configuration,
            block: *last,
            setup: 1,
            sequence,
            attempt: 1,
            started_ms,
            wall_s: trial.observations.elapsed_s,
            status: TrialStatus::Done,
            observations: Some(trial.observations),
            hooks: Vec::new(),
            machine: None,
        });
    }
    Ok(Recording {
        run: RunRecord {
            name: run.name.to_owned(),
            source: format!("# Measured elsewhere, imported from {}\n", run.files.join(" ")),
            response: run.response.map(str::to_owned),
            baseline: Some(0),
            started_ms,
            steelbench: env!("CARGO_PKG_VERSION").to_owned(),
            label: Some("measured elsewhere".into()),
            ..RunRecord::default()
        },
        factors,
        configurations,
        trials: records,
        ..Recording::default()
    })
}

fn check_response(text: Option<&str>, trials: &[Trial]) -> Result<(), NoRun> {
    let mut known: Vec<&str> = trials
        .iter()
        .flat_map(|trial| &trial.observations.responses)
        .map(|response| response.name.as_str())
        .collect();
    known.sort_unstable();
    known.dedup();
    match text.filter(|text| !known.contains(text)) {
        Some(text) => Err(NoRun::Response { name: text.to_owned(), available: known.join(", ") }),
        None => Ok(()),
    }
}

/// The factors with the levels that occur, in their order. All trials have the same factors.
fn factors(trials: &[Trial]) -> Vec<FactorRecord> {
    let names = trials.first().into_iter().flat_map(|trial| &trial.levels);
    let factor = |(at, LevelRecord { factor, .. }): (usize, &LevelRecord)| {
        let mut known = HashSet::new();
        let levels = trials.iter().map(|trial| &trial.levels[at].level);
        let levels: Vec<String> = levels.filter(|level| known.insert(*level)).cloned().collect();
        let numbers = levels.iter().map(|level| level.parse::<f64>().ok());
        FactorRecord {
            name: factor.clone(),
            numeric: numbers
                .collect::<Option<Vec<_>>>()
                .filter(|all| all.iter().all(|value| range::has(*value))),
            levels,
            hard_to_change: false,
        }
    };
    let mut known = HashSet::new();
    names.enumerate().filter(|(_, level)| known.insert(&level.factor)).map(factor).collect()
}

fn configuration(levels: &[LevelRecord]) -> ConfigurationRecord {
    let label: Vec<String> =
        levels.iter().map(|level| format!("{}={}", level.factor, level.level)).collect();
    let label = label.join(" ");
    ConfigurationRecord {
        key: label.clone(),
        label,
        levels: levels.to_vec(),
        settings: levels
            .iter()
            .map(|level| (level.factor.clone(), Value::Text(level.level.clone())))
            .collect(),
    }
}
