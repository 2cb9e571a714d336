//! Recordings made by hand.

#[path = "disk.rs"]
pub mod disk;

use observations::{
    ConfigurationRecord, Environment, FactorRecord, FailureKind, LevelRecord, Observations,
    Recording, Response, Role, RunRecord, TimeUse, TrialRecord, TrialStatus, Wait, WaitClass,
    WaitSource, Warning, WarningKind, Work,
};
use std::collections::BTreeMap;

pub fn wait(wait_type: &str, class: WaitClass, resource_s: f64, signal_s: f64, count: u64) -> Wait {
    let source = WaitSource::Counted;
    Wait {
        wait_type: wait_type.to_owned(),
        class,
        count: Some(count),
        resource_s,
        signal_s,
        source,
    }
}

/// 16 connections that inserted 320,000 rows: 30 % CPU, 60 % log, 8 % signal, 2 % unaccounted.
pub fn observed(elapsed_s: f64) -> Observations {
    let session_s = 16.0 * elapsed_s;
    let rows = 320_000;
    Observations {
        elapsed_s,
        connections: 16,
        work: Work { unit: "row".to_owned(), amount: rows, ..Work::default() },
        responses: vec![
            Response::lower("elapsed", "s", elapsed_s),
            Response::higher("throughput", "rows/s", rows as f64 / elapsed_s),
        ],
        time: TimeUse { session_s, cpu_s: 0.3 * session_s, cpu_user_s: None, ..TimeUse::default() },
        waits: vec![
            wait("WAL_SYNC", WaitClass::Log, 0.6 * session_s, 0.03 * session_s, 3200),
            wait("CPU_QUEUE", WaitClass::CpuQueue, 0.0, 0.05 * session_s, 100),
        ],
        ..Observations::default()
    }
}

pub fn done(configuration: usize, block: u32, observations: Observations) -> TrialRecord {
    TrialRecord {
        configuration,
        block,
        setup: 1,
        sequence: 1,
        attempt: 1,
        started_ms: 0,
        wall_s: observations.elapsed_s,
        status: TrialStatus::Done,
        observations: Some(observations),
        hooks: Vec::new(),
        machine: None,
    }
}

pub fn failed(configuration: usize, block: u32, cause: &str) -> TrialRecord {
    let status = TrialStatus::Failed { cause: cause.to_owned(), kind: FailureKind::Error };
    TrialRecord { status, observations: None, ..done(configuration, block, observed(1.0)) }
}

/// Every combination of the factors' levels, the last factor fastest; the first is the baseline. No
/// trials.
pub fn plan(factors: &[(&str, &[&str])]) -> Recording {
    let mut combinations: Vec<Vec<LevelRecord>> = vec![Vec::new()];
    for (factor, levels) in factors {
        combinations = combinations
            .iter()
            .flat_map(|combination| {
                levels.iter().map(|l| {
                    combination
                        .iter()
                        .cloned()
                        .chain([LevelRecord { factor: (*factor).into(), level: (*l).into() }])
                        .collect()
                })
            })
            .collect();
    }
    Recording {
        run: RunRecord {
            id: 1,
            name: "random-insert".into(),
            question: Some("How many data files does a random-key insert load want?".into()),
            baseline: Some(0),
            started_ms: 1_700_000_000_000,
            ..RunRecord::default()
        },
        environments: vec![Environment {
            host: Some("bench".into()),
            cpus: 8,
            cores: Some(4),
            memory_bytes: Some(32 << 30),
            steelbench: "0.1.0".into(),
            ..Environment::default()
        }],
        factors: factors
            .iter()
            .map(|(name, levels)| FactorRecord {
                name: (*name).into(),
                levels: levels.iter().map(|level| (*level).into()).collect(),
                numeric: levels.iter().map(|level| level.parse().ok()).collect(),
                hard_to_change: false,
            })
            .collect(),
        configurations: combinations
            .into_iter()
            .map(|levels| {
                let names = levels
                    .iter()
                    .map(|l| format!("{}={}", l.factor.rsplit('.').next().unwrap(), l.level));
                let label = names.collect::<Vec<_>>().join(" ");
                ConfigurationRecord { key: label.clone(), label, levels, settings: BTreeMap::new() }
            })
            .collect(),
        roles: [
            ("workload.threads", Role::Concurrency),
            ("workload.queue_depth", Role::QueueDepth),
            ("target.volume", Role::DataPlace),
        ]
        .into_iter()
        .collect(),
        files: Vec::new(),
        trials: Vec::new(),
        checks: Vec::new(),
    }
}

/// A factor `target.data_files` with the elapsed seconds of each level's blocks.
pub fn data_files(levels: &[&str], elapsed: &[&[f64]]) -> Recording {
    let mut recording = plan(&[("target.data_files", levels)]);
    for (configuration, blocks) in elapsed.iter().enumerate() {
        for (block, elapsed_s) in (1..).zip(*blocks) {
            recording.trials.push(done(configuration, block, observed(*elapsed_s)));
        }
    }
    recording
}

/// Two factors, everything that a report can say: failures, warnings, several blocks.
pub fn two_factors() -> Recording {
    let mut recording = plan(&[
        ("target.data_files", &["1", "4", "16"]),
        ("target.settings.synchronous", &["normal", "full"]),
    ]);
    for configuration in 0..6 {
        for block in 1..=3 {
            let elapsed_s = 60.0 - 7.0 * configuration as f64
                + 0.3 * f64::from(block * (1 + configuration as u32 % 2));
            let mut observations = observed(elapsed_s);
            if configuration == 1 {
                let detail = "the generator used 31 % of the sessions' time".into();
                observations.warnings.push(Warning { kind: WarningKind::LoadLimited, detail });
            }
            recording.trials.push(done(configuration, block, observations));
        }
    }
    recording.trials.push(failed(4, 4, "disk I/O error"));
    recording.trials.push(failed(5, 4, "disk I/O error"));
    recording
}
