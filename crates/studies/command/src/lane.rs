//! The threads of the load: each runs the command again and again.

use crate::answer::PrintedValue;
use crate::run::{Runner, Turn};
use observations::Histogram;
use observe::child::ProcessUse;
use probe::ProbeError;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use work::conductor::{Director, Lanes, LoadError, Recorder, Stage, conduct};

/// A run of the command.
#[derive(Debug)]
pub struct Run {
    /// The number in the trial, from 0, in the order in which they began.
    pub number: u64,
    pub elapsed_s: f64,
    pub used: ProcessUse,
    /// Instructions in user mode, where they are counted.
    pub instructions: Option<u64>,
    /// As a shell tells it: 128 and the signal's number, where one ended it.
    pub exit_code: i32,
    /// The values of the user's responses.
    pub answers: Vec<PrintedValue>,
    /// Processes of its group were still there at its end.
    pub left_group: bool,
}

/// Result of one thread.
#[derive(Debug)]
pub(crate) struct LaneOutcome {
    pub runs: Vec<Run>,
    pub latencies: Histogram,
    /// Seconds from "go" until it was done.
    pub elapsed_s: f64,
}

/// Runs the warm-ups and the measured runs of a trial under a director.
pub(crate) fn conduct_all(
    runner: &Runner<'_>,
    director: &mut dyn Director,
) -> Result<Vec<LaneOutcome>, ProbeError> {
    let lanes =
        Lanes { number: runner.job.concurrency as usize, name: "command", warmup: Duration::ZERO };
    let next = AtomicU64::new(0);
    conduct(lanes, director, |stage| run(stage, runner, &next))
}

/// Runs a thread; all threads share the number of the next run.
fn run(
    stage: &Stage<'_>,
    runner: &Runner<'_>,
    next: &AtomicU64,
) -> Result<LaneOutcome, ProbeError> {
    let job = runner.job;
    let mut recorder = Recorder::default();
    let _ = stage.live().latencies.set(vec![recorder.reader()]);
    let mut turns = runner.turns();
    // A run that was killed because the load stops has not failed.
    let mut run = |iteration: &str| match turns.run(iteration, &|| stage.is_stopped()) {
        Err(ProbeError::Engine(engine::EngineError::Cancelled)) => Err(LoadError::Stopped.into()),
        result => result,
    };
    stage.together()?;
    for number in 0..job.warmup_runs {
        run(&format!("warmup-{number}"))?;
    }
    let go_ns = stage.together()?;
    let elapsed_s = || (stage.now_ns() - go_ns) as f64 / 1e9;
    let mut runs = Vec::new();
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if !job.continues(number, elapsed_s()) {
            break;
        }
        let Turn { ended, instructions } = run(&number.to_string())?;
        recorder.record(ended.elapsed.as_nanos() as u64);
        stage.live().done.add(1);
        let answers: Result<Vec<PrintedValue>, _> = job
            .answers
            .iter()
            .map(|answer| answer.find(&ended.stdout, &ended.stderr, &|| stage.is_stopped()))
            .collect();
        if stage.is_stopped() {
            return Err(LoadError::Stopped.into());
        }
        runs.push(Run {
            number,
            elapsed_s: ended.elapsed.as_secs_f64(),
            used: ended.used,
            instructions,
            exit_code: exit_code(ended.status),
            answers: answers?,
            left_group: ended.left_group,
        });
    }
    Ok(LaneOutcome { runs, latencies: recorder.histogram(), elapsed_s: elapsed_s() })
}

fn exit_code(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(-1)
}
