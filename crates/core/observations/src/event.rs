use crate::number::plural;
use crate::{FailureKind, HookOutput, Response};
use serde::Serialize;
use std::fmt;

/// The trial that an event speaks of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TrialRef {
    /// Position in the planned order, from 1.
    pub sequence: u32,
    /// Block, from 1.
    pub block: u32,
    /// Try, from 1.
    pub attempt: u32,
    /// Label of the configuration.
    pub configuration: String,
}

/// The progress of a run: numbers of planned trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// All of them, less those that adaptive repeats have made needless so far.
    pub planned: usize,
    /// Trials that were measured to the end.
    pub done: usize,
    /// Trials that have failed as often as they may.
    pub failed: usize,
    /// Failed trials that `limits.trial_time` stopped; they are not run again.
    pub timeouts: usize,
    /// Failed trials that a search ended early; they are not run again.
    pub futile: usize,
}

impl Tally {
    /// Trials that have been neither done nor given up as failed.
    pub fn not_run(&self) -> usize {
        self.planned.saturating_sub(self.done + self.failed)
    }
}

impl fmt::Display for Tally {
    /// `3 of 8 trials done, 3 failed, 1 of them at limits.trial_time, 2 not run`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} done", self.done, plural(self.planned, "trial"))?;
        let others = [
            (self.failed, "failed"),
            (self.timeouts, "of them at limits.trial_time"),
            (self.futile, "of them ended early by the search"),
            (self.not_run(), "not run"),
        ];
        others
            .iter()
            .filter(|(trials, _)| *trials > 0)
            .try_for_each(|(trials, what)| write!(f, ", {trials} {what}"))
    }
}

/// Why a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "end")]
pub enum RunEnd {
    /// Every planned trial has been run, but for those of configurations that were left out after
    /// `limits.identical_failures`.
    Completed(Tally),
    /// Every remaining configuration fails; after fixing the cause, `run --retry-failed` resumes.
    Failing {
        /// Why the last trial failed.
        cause: String,
        /// The progress of the run.
        #[serde(flatten)]
        tally: Tally,
    },
    /// The user interrupted; `run` again resumes.
    Interrupted,
    /// A manual step is due and the session is not interactive; `run` again resumes.
    ManualStep {
        /// The action to take.
        text: String,
    },
    /// A cap on time or disk space was reached, or a program that hooks run was changed; after
    /// fixing that, `run` again resumes.
    Limit {
        /// The cap or program, and what was found.
        text: String,
    },
}

/// An announcement of a running experiment. The store does not listen: a trial is committed before
/// [`Event::TrialFinished`] is announced.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub enum Event {
    /// The plan is known.
    RunStarted {
        /// Experiment name.
        experiment: String,
        /// Number of configurations.
        configurations: usize,
        /// Trials in all (with adaptive repeats: at most).
        trials: usize,
        /// Trials recorded by earlier sessions.
        done: usize,
    },
    /// The runner is at something between measurements.
    Step {
        /// `preparing 4 data files`, `hook volume ssd: prepare`.
        text: String,
    },
    /// A hook ended.
    Hook(HookOutput),
    /// A trial begins.
    TrialStarted {
        /// The model.
        trial: TrialRef,
    },
    /// The measurement (or the warm-up before it) advances.
    Progress {
        /// Seconds since "go"; negative in warm-up.
        elapsed_s: f64,
        /// Share of the work done, 0 to 1.
        fraction: f64,
        /// Units of work a second, now.
        rate: f64,
        /// Unit of the rate.
        unit: String,
        /// 99th percentile of the latencies since "go", in milliseconds, where it is known.
        latency_p99_ms: Option<f64>,
    },
    /// A trial was measured and committed.
    TrialFinished {
        /// The model.
        trial: TrialRef,
        /// Seconds of the whole trial.
        wall_s: f64,
        /// The responses.
        responses: Vec<Response>,
        /// Short names of its warnings.
        warnings: Vec<String>,
    },
    /// A trial failed and that was committed.
    TrialFailed {
        /// The model.
        trial: TrialRef,
        /// Seconds of the whole trial.
        wall_s: f64,
        /// A line.
        cause: String,
        /// The kind of the cause. The JSON of events does not have it.
        #[serde(skip)]
        kind: FailureKind,
        /// True if it is retried.
        retry: bool,
    },
    /// A group of configurations has as many blocks as its intervals need, or candidates left a
    /// race: further blocks, which [`Event::RunStarted`] has counted, are not run.
    RepeatsEnough {
        /// Trials that are not run.
        trials: usize,
    },
    /// Another machine repeats all of a block, whose machine was lost.
    BlockRepeated {
        /// The block.
        block: u32,
        /// The machine that repeats it.
        machine: String,
        /// Trials that were over, and no longer count.
        trials: usize,
    },
    /// A candidate left a race: its further blocks are not run.
    CandidateLeft {
        /// After which block, and why.
        text: String,
    },
    /// A person has to do something before the run can go on.
    ManualStep {
        /// The message.
        text: String,
    },
    /// Something the user should know.
    Warning {
        /// A sentence.
        text: String,
    },
    /// The session is over.
    RunFinished(RunEnd),
}
