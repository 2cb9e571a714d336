use crate::schedule::Schedule;
use experiment::{Experiment, Plan};
use observations::Recording;

/// How far a run has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outlook {
    /// Planned trials that are done, or that have failed as often as they may.
    pub settled: usize,
    /// Planned trials, less those that adaptive repeats have made needless so far.
    pub planned: usize,
    /// Whether nothing is left to be run.
    pub complete: bool,
}

/// How far a recording has come on the plan of its experiment: what `run` would find if it went on.
pub fn outlook(experiment: &Experiment, recorded: &Recording) -> Outlook {
    let plan = Plan::new(experiment);
    let mut schedule = Schedule::new(experiment, &plan, recorded);
    let complete = schedule.next().is_none();
    Outlook { settled: schedule.settled(), planned: plan.len() - schedule.needless(), complete }
}
