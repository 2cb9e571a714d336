//! An experiment as the store records it.

use experiment::{Configuration, Experiment, Factor};
use observations::{ConfigurationRecord, FactorRecord, LevelRecord, RunRecord};
use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970 UTC.
pub fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as i64)
}

pub fn run_record(experiment: &Experiment) -> RunRecord {
    RunRecord {
        id: 0,
        name: experiment.name.clone(),
        question: experiment.question.clone(),
        source: experiment.source.clone(),
        seed: experiment.repeats.seed,
        response: experiment.response.clone(),
        baseline: experiment.baseline,
        started_ms: now_ms(),
        steelbench: env!("CARGO_PKG_VERSION").into(),
    }
}

pub fn factor_records(experiment: &Experiment) -> Vec<FactorRecord> {
    let record = |factor: &Factor| FactorRecord {
        name: factor.name.clone(),
        levels: factor.levels.iter().map(|level| level.label.clone()).collect(),
        numeric: factor.numeric(),
        hard_to_change: factor.hard_to_change,
    };
    experiment.factors.iter().map(record).collect()
}

pub fn configuration_records(experiment: &Experiment) -> Vec<ConfigurationRecord> {
    experiment.configurations.iter().map(configuration_record).collect()
}

fn configuration_record(configuration: &Configuration) -> ConfigurationRecord {
    let levels = configuration.levels.iter();
    ConfigurationRecord {
        key: configuration.key(),
        label: configuration.label(),
        levels: levels
            .map(|level| LevelRecord { factor: level.factor.clone(), level: level.label.clone() })
            .collect(),
        settings: configuration.settings.clone(),
    }
}
