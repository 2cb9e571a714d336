//! Recordings made by hand or by chance.

#[path = "coverage.rs"]
pub mod coverage;
#[path = "disk.rs"]
pub mod disk;
#[path = "split_plot.rs"]
pub mod split_plot;

pub use recording as plan;

use observations::{
    ConfigurationRecord, FactorRecord, FailureKind, LevelRecord, Observations, Recording, Response,
    Role, RunRecord, TimeUse, TrialRecord, TrialStatus, Wait, WaitClass, WaitSource, Work,
};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::collections::BTreeMap;

/// Seeded random values.
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Uniform in (0, 1].
    pub fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// Standard normal (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.0.next_u64() % n
    }
}

pub fn wait(wait_type: &str, class: WaitClass, resource_s: f64, signal_s: f64) -> Wait {
    let source = WaitSource::Counted;
    Wait { wait_type: wait_type.to_owned(), class, count: Some(10), resource_s, signal_s, source }
}

/// A trial of 4 connections that inserted 10,000 rows; half of the time is CPU.
pub fn observed(elapsed_s: f64) -> Observations {
    let session_s = 4.0 * elapsed_s;
    Observations {
        elapsed_s,
        connections: 4,
        work: Work { unit: "row".to_owned(), amount: 10_000, ..Work::default() },
        responses: vec![Response::lower("elapsed", "s", elapsed_s)],
        time: TimeUse { session_s, cpu_s: session_s / 2.0, cpu_user_s: None, ..TimeUse::default() },
        waits: vec![wait("WAL_SYNC", WaitClass::Log, session_s / 2.0, 0.0)],
        ..Observations::default()
    }
}

pub fn done(configuration: usize, block: u32, observations: Observations) -> TrialRecord {
    TrialRecord {
        configuration,
        block,
        setup: 1,
        sequence: 0,
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

/// A trial that `limits.trial_time` of 4 s stopped after `elapsed_s` of its measurement.
pub fn timed_out(configuration: usize, block: u32, elapsed_s: f64) -> TrialRecord {
    let observations = Observations { elapsed_s, timeout_s: Some(4.0), ..Observations::default() };
    let trial = failed(configuration, block, "took longer than limits.trial_time (4.00 s)");
    TrialRecord { observations: Some(observations), ..trial }
}

/// Roles of the settings that these recordings have.
pub const ROLES: [(&str, Role); 21] = [
    ("target.cache", Role::Cache),
    ("target.engine", Role::Engine),
    ("target.paths", Role::DataPlace),
    ("target.volume", Role::DataPlace),
    ("target.log_path", Role::LogPlace),
    ("target.log_volume", Role::LogPlace),
    ("target.backup_path", Role::BackupPlace),
    ("target.backup_volume", Role::BackupPlace),
    ("workload.aggregated_columns", Role::Operation),
    ("workload.aggregates", Role::Operation),
    ("workload.columns", Role::DataIdentity),
    ("workload.connections", Role::Concurrency),
    ("workload.data", Role::DataIdentity),
    ("workload.data_seed", Role::DataIdentity),
    ("workload.duration", Role::Measurement),
    ("workload.queue_depth", Role::QueueDepth),
    ("workload.rate", Role::ArrivalRate),
    ("workload.rows", Role::DataIdentity),
    ("workload.rows_per_page", Role::DataIdentity),
    ("workload.threads", Role::Concurrency),
    ("workload.warmup", Role::Measurement),
];

/// A factor of the design: its path and its levels.
pub type Factor<'a> = (&'a str, &'a [&'a str]);

/// A recording without trials: every combination of levels, the last factor fastest, the first the
/// baseline.
pub fn recording(factors: &[Factor]) -> Recording {
    let mut configurations = vec![Vec::new()];
    for (factor, levels) in factors {
        configurations = configurations
            .iter()
            .flat_map(|configuration| -> Vec<Vec<LevelRecord>> {
                let level = |level: &&str| LevelRecord {
                    factor: (*factor).to_owned(),
                    level: (*level).to_owned(),
                };
                levels
                    .iter()
                    .map(|l| configuration.iter().cloned().chain([level(l)]).collect())
                    .collect()
            })
            .collect();
    }
    let label = |levels: &[LevelRecord]| {
        levels
            .iter()
            .map(|l| format!("{}={}", l.factor.rsplit('.').next().unwrap(), l.level))
            .collect::<Vec<_>>()
            .join(" ")
    };
    Recording {
        run: RunRecord {
            id: 1,
            name: "test".to_owned(),
            baseline: Some(0),
            equivalence_margin: 0.05,
            ..RunRecord::default()
        },
        factors: factors
            .iter()
            .map(|(name, levels)| FactorRecord {
                name: (*name).to_owned(),
                levels: levels.iter().map(|level| (*level).to_owned()).collect(),
                numeric: levels.iter().map(|level| level.parse().ok()).collect(),
                hard_to_change: false,
            })
            .collect(),
        configurations: configurations
            .into_iter()
            .map(|levels| ConfigurationRecord {
                key: label(&levels),
                label: label(&levels),
                levels,
                settings: BTreeMap::new(),
            })
            .collect(),
        roles: ROLES.into_iter().collect(),
        ..Recording::default()
    }
}

/// A factor `target.data_files`, with the elapsed seconds of each level's blocks.
pub fn data_files(levels: &[&str], elapsed: &[&[f64]]) -> Recording {
    let mut recording = recording(&[("target.data_files", levels)]);
    for (configuration, blocks) in elapsed.iter().enumerate() {
        for (block, elapsed_s) in (1..).zip(blocks.iter()) {
            recording.trials.push(done(configuration, block, observed(*elapsed_s)));
        }
    }
    recording
}
