//! Attempts that failed, and trials that were stopped or carry warnings.

use crate::{Summary, WarningCount, health};
use observations::{TrialRecord, TrialStatus, WarningKind, order};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A cause of failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// The cause as recorded.
    pub cause: String,
    /// Attempts that failed so.
    pub attempts: usize,
    /// True if the trials exceeded their time limit.
    pub timed_out: bool,
    /// Labels of the configurations that it hit, in the order of the file.
    pub configurations: Vec<String>,
}

impl Summary<'_> {
    /// Causes of failure, the most frequent first.
    pub fn failures(&self) -> Vec<Failure> {
        let mut causes: BTreeMap<&str, (&str, Vec<&TrialRecord>)> = BTreeMap::new();
        for trial in self.recording.trials.iter().filter(|trial| !trial.is_futile()) {
            let TrialStatus::Failed { cause, .. } = &trial.status else { continue };
            causes.entry(reason(cause)).or_insert((cause, Vec::new())).1.push(trial);
        }
        let label = |index: usize| Some(self.recording.configurations.get(index)?.label.clone());
        let failure = |(cause, trials): (&str, Vec<&TrialRecord>)| {
            let hit: BTreeSet<usize> = trials.iter().map(|trial| trial.configuration).collect();
            Failure {
                cause: cause.to_owned(),
                attempts: trials.len(),
                timed_out: trials.iter().all(|trial| trial.timed_out()),
                configurations: hit.into_iter().filter_map(label).collect(),
            }
        };
        let mut failures: Vec<Failure> = causes.into_values().map(failure).collect();
        order::by_key(&mut failures, &|failure| std::cmp::Reverse(failure.attempts));
        failures
    }

    /// Warnings over all trials.
    pub fn warnings(&self) -> Vec<WarningCount> {
        health::count(&self.grid.observations())
    }

    /// The warnings that every trial of the run carries: they say something about the run and not
    /// about a configuration.
    pub fn run_warnings(&self) -> Vec<WarningKind> {
        let done = self.done();
        let of_run = self.warnings().into_iter().filter(|warning| warning.trials == done);
        of_run.filter(|_| self.configurations.len() > 1).map(|failure| failure.kind).collect()
    }

    /// Trials that timed out.
    pub fn timeouts(&self) -> usize {
        self.recording.trials.iter().filter(|trial| trial.timed_out()).count()
    }

    /// Failed trials that a search ended early, as they could not beat its best trial.
    pub fn futile(&self) -> impl Iterator<Item = &TrialRecord> {
        self.recording.trials.iter().filter(|trial| trial.is_futile())
    }
}

impl Failure {
    /// The first line of the cause. What may follow is of that trial alone: what a server's log
    /// says.
    pub fn reason(&self) -> &str {
        reason(&self.cause)
    }
}

fn reason(cause: &str) -> &str {
    cause.lines().next().unwrap_or_default()
}
