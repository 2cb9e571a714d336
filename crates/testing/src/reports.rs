//! Recordings made by hand, with what a report says of a run.

#[path = "disk.rs"]
pub mod disk;

use crate::recordings::{self, Factor};
use observations::{
    Environment, Observations, Recording, Response, Role, RunRecord, TimeUse, TrialRecord, Wait,
    WaitClass, Warning, WarningKind, Work,
};

pub fn wait(wait_type: &str, class: WaitClass, resource_s: f64, signal_s: f64, count: u64) -> Wait {
    Wait { count: Some(count), ..recordings::wait(wait_type, class, resource_s, signal_s) }
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
    TrialRecord { sequence: 1, ..recordings::done(configuration, block, observations) }
}

pub fn failed(configuration: usize, block: u32, cause: &str) -> TrialRecord {
    TrialRecord { sequence: 1, ..recordings::failed(configuration, block, cause) }
}

/// Every combination of the factors' levels, the last factor fastest; the first is the baseline. No
/// trials.
pub fn plan(factors: &[Factor]) -> Recording {
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
        roles: [
            ("workload.threads", Role::Concurrency),
            ("workload.queue_depth", Role::QueueDepth),
            ("target.volume", Role::DataPlace),
        ]
        .into_iter()
        .collect(),
        ..recordings::recording(factors)
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
