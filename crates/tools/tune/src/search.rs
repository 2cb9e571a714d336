//! The search: rounds of proposed points, each beside the present settings. A round is a run in the
//! results file of the search, so that a search that was stopped continues where it was.

use crate::goal::{Goal, cost};
use crate::stage::{Contender, PRESENT, Purpose, Stage};
use command_line::Failure;
use designs::{Optimiser, Point, Ranked, Tried};
use experiment::Budget;
use observations::{RunEnd, TrialRecord, redacted};
use std::path::Path;

/// Points of a round, beside the present settings.
pub const ROUND: usize = 8;
/// Points that fill the space before a model proposes any.
pub const FIRST: usize = 8;
/// Rounds before a search may end for want of improvements.
const ROUNDS_MIN: usize = 2;

/// Suffix of the search's experiment and results file.
pub const SUFFIX: &str = "-search";

/// The outcomes so far.
#[derive(Debug, Default)]
pub struct History {
    /// Points with their costs, in the order of their trials.
    pub tried: Vec<Tried>,
    /// Values of the present settings, round by round.
    pub present: Vec<f64>,
    /// Rounds.
    pub rounds: usize,
    /// Seconds of all trials.
    pub seconds: f64,
    /// True if no improvement worth a trial was left.
    pub is_exhausted: bool,
}

impl History {
    /// Trials that failed or broke a limit.
    pub fn failed(&self) -> usize {
        self.tried.iter().filter(|own| own.cost.is_none()).count()
    }

    /// Trials that the budget has left for the search, of which `reserved` belong to the
    /// confirmation.
    fn left(&self, budget: Budget, reserved: usize) -> usize {
        let spent = self.tried.len();
        match budget {
            Budget::Trials(all) => (all as usize).saturating_sub(spent + reserved),
            Budget::Time(_) if spent == 0 => ROUND + 1,
            Budget::Time(all_s) => {
                let each_s = self.seconds / spent as f64;
                let left = (all_s - self.seconds) / each_s - reserved as f64;
                left.max(0.0) as usize
            }
        }
    }
}

/// A search that ended, or the reason why it stopped.
pub enum Searched {
    /// All rounds.
    Done(History),
    /// A session that stopped before.
    Stopped(RunEnd),
}

/// A search on its stage.
pub struct Searching<'s> {
    /// The stage.
    pub stage: &'s Stage<'s>,
    /// Proposes points.
    pub optimiser: Optimiser<'s>,
    /// Judges trials.
    pub goal: &'s Goal<'s>,
    /// Its results file.
    pub results: &'s Path,
    /// Trials that the confirmation needs.
    pub reserved: usize,
}

impl Searching<'_> {
    /// Runs the rounds that are not recorded yet.
    pub fn run(&self) -> Result<Searched, Failure> {
        let recorded = self.stage.runs(self.results)?;
        let mut history = History::default();
        let present = self.stage.knobs.present();
        loop {
            let left = history.left(self.stage.knobs.search.budget, self.reserved);
            if left < 2 {
                break;
            }
            let proposal = self.optimiser.propose(&history.tried, ROUND.min(left - 1));
            let is_exhausted = proposal.is_exhausted && history.rounds >= ROUNDS_MIN;
            if is_exhausted || proposal.points.is_empty() {
                history.is_exhausted = true;
                break;
            }
            let first = history.tried.len();
            let mut contenders = vec![Contender::new(PRESENT, present.clone())];
            contenders.extend(
                proposal
                    .points
                    .into_iter()
                    .enumerate()
                    .map(|(at, point)| Contender::new(format!("{}", first + at + 1), point)),
            );
            if let Some(end) = self.round(&contenders, &recorded, &mut history)? {
                return Ok(Searched::Stopped(end));
            }
        }
        Ok(Searched::Done(history))
    }

    /// Runs or reads one round; says when the session ended before it was complete.
    fn round(
        &self,
        contenders: &[Contender],
        recorded: &[i64],
        history: &mut History,
    ) -> Result<Option<RunEnd>, Failure> {
        let purpose = Purpose {
            suffix: SUFFIX,
            question: "Which of these settings are worth a confirmation?",
            blocks: Some(1),
        };
        let experiment = self.stage.experiment(&purpose, contenders)?;
        let at = history.rounds;
        let run = if at + 1 < recorded.len() {
            recorded[at]
        } else {
            let end = self.stage.conduct(&experiment, self.results, at >= recorded.len())?;
            if !matches!(end, RunEnd::Completed(_) | RunEnd::Failing { .. }) {
                return Ok(Some(end));
            }
            let runs = self.stage.runs(self.results)?;
            runs.last().copied().unwrap_or_default()
        };
        let recording = self.stage.recording(self.results, Some(run))?;
        if recording.run.source != redacted(&experiment.source) {
            return Err(Failure::usage(format!(
                "{}: round {} was recorded with other knobs or settings; remove the file or give \
                 another one with --results",
                self.results.display(),
                at + 1
            )));
        }
        let mut trials: Vec<&TrialRecord> = recording.trials.iter().collect();
        trials.sort_by_key(|trial| (trial.configuration, trial.attempt));
        for (position, contender) in contenders.iter().enumerate() {
            let own = trials.iter().rfind(|trial| trial.configuration == position);
            // A session that gave up has not run all of them.
            let Some(trial) = own else { continue };
            let measured = self.goal.measure(trial).map_err(Failure::failed)?;
            if position == 0 {
                let Some(response) = measured else { return Err(present_failed(trial)) };
                history.present.push(response.value);
            }
            history.seconds += trial.wall_s;
            history.tried.push(Tried { point: contender.point.clone(), cost: measured.map(cost) });
        }
        history.rounds += 1;
        Ok(None)
    }

    /// The best points for a confirmation, other than the present settings.
    pub fn best(&self, history: &History, number: usize) -> Vec<Point> {
        let present = self.stage.knobs.present();
        let ranked = self.optimiser.ranked(&history.tried).into_iter();
        let others = ranked.map(|Ranked { point, .. }| point).filter(|point| *point != present);
        others.take(number).collect()
    }
}

/// The present settings have to succeed.
fn present_failed(trial: &TrialRecord) -> Failure {
    Failure::failed(match &trial.status {
        observations::TrialStatus::Failed { cause } => {
            format!("the present settings fail: {cause}")
        }
        observations::TrialStatus::Done => {
            "the present settings break a limit of tune.subject_to; a search needs a baseline that \
             keeps all of them"
                .to_owned()
        }
    })
}
