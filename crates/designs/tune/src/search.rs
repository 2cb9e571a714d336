//! The search: rounds of proposed points, each beside the present settings. A round is a run in the
//! results file of the search, so that a search that was stopped continues where it was.

use crate::confirmation::Plan;
use crate::goal::{FixedTime, FixedWork, Goal, cost, rate_bound};
use crate::optimiser::{Candidate, Optimiser, Outcome, Point, RateWatch, Trial};
use crate::space::Knobs;
use crate::stage::{Contender, PRESENT, Purpose, Stage};
use command_line::{Failure, output};
use experiment::{Budget, Experiment};
use observations::number::{plural, rounded_time};
use observations::{RunEnd, TrialRecord, TrialStatus, order, redacted};
use runner::Futile;
use std::path::Path;

/// Points of a round, beside the present settings.
pub const ROUND: usize = 8;
/// Points that fill the space before a model proposes any. Each that a model proposes is better
/// spent: with 8 of 50, searches of recorded data lost half a percent of the best time.
pub const FIRST: usize = 5;
/// Rounds that end a search if they together improve the best point by less than `worth`.
const PATIENCE: usize = 3;

/// Suffix of the search's experiment and results file.
pub(crate) const SUFFIX: &str = "-search";

/// The outcomes so far.
#[derive(Debug, Default)]
pub struct History {
    /// Points with their costs, in the order of their trials.
    pub tried: Vec<Trial>,
    /// Values of the present settings, round by round.
    pub present: Vec<f64>,
    /// Trials before each round.
    pub rounds: Vec<usize>,
    /// Seconds of all trials.
    pub seconds: f64,
    /// True if no improvement worth a trial was left.
    pub is_exhausted: bool,
    /// Blocks of the confirmation.
    pub blocks: usize,
    /// Costs and times of the trials that were measured to the end.
    pub work: FixedWork,
    /// Their rates over time.
    pub time: FixedTime,
    /// Trials that were stopped because they could not beat the leader.
    pub stopped: Vec<StoppedTrial>,
}

/// A trial that was stopped early.
#[derive(Debug, Clone)]
pub(crate) struct StoppedTrial {
    /// The point.
    pub point: Point,
    /// Seconds for which it was measured.
    pub elapsed_s: f64,
    /// Seconds that were left of a measurement of a given time.
    pub left_s: Option<f64>,
}

impl History {
    /// Trials that failed or broke a limit.
    pub fn failed(&self) -> usize {
        self.tried.iter().filter(|attempt| attempt.outcome == Outcome::Failed).count()
    }

    /// Seconds that early stops saved: the model's estimate where these trials have no end.
    pub fn saved_s(&self, optimiser: &Optimiser<'_>) -> f64 {
        if let Some(left_s) = self.stopped.iter().map(|trial| trial.left_s).sum::<Option<f64>>() {
            return left_s;
        }
        let points: Vec<Point> = self.stopped.iter().map(|trial| trial.point.clone()).collect();
        let costs = optimiser.predict(&self.tried, &points).into_iter();
        let times = costs.filter_map(|cost| self.work.seconds(cost));
        times.zip(&self.stopped).map(|(all_s, trial)| (all_s - trial.elapsed_s).max(0.0)).sum()
    }

    /// The bound of trials that cannot have a lower cost, where it can be judged while they run.
    fn futile(&self, cost: f64) -> Option<Futile> {
        let time = self.work.seconds(cost).map(Futile::Time);
        time.or_else(|| {
            self.time.bound(cost).map(|rate| Futile::Rate(Box::new(RateWatch::new(rate))))
        })
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
pub(crate) enum SearchEnd {
    /// All rounds.
    Done(History),
    /// A session that stopped before.
    Stopped(RunEnd),
}

/// A search on its stage.
pub(crate) struct SearchRun<'s> {
    /// The stage.
    pub stage: &'s Stage<'s>,
    /// Proposes points.
    pub optimiser: Optimiser<'s>,
    /// Judges trials.
    pub goal: &'s Goal<'s>,
    /// The results file.
    pub results: &'s Path,
    /// The confirmation, for which trials are reserved.
    pub plan: &'s Plan,
    /// The confirmation has begun: what it compares follows from the recorded trials.
    pub is_confirmed: bool,
}

impl SearchRun<'_> {
    /// Runs the rounds that are not recorded yet.
    pub fn run(&self) -> Result<SearchEnd, Failure> {
        let recorded = self.stage.runs(self.results)?;
        let mut history = History { blocks: self.plan.blocks.max() as usize, ..History::default() };
        let present = self.stage.knobs.present();
        loop {
            history.blocks = self.blocks(&history, &present);
            let reserved = history.blocks * self.plan.contenders();
            let left = history.left(self.stage.knobs.search.budget, reserved);
            if left < 2 {
                break;
            }
            let points = self.optimiser.propose(&history.tried, ROUND.min(left - 1));
            if points.is_empty() || self.is_idle(&history) {
                history.is_exhausted = true;
                break;
            }
            let first = history.tried.len();
            let mut contenders = vec![Contender::new(PRESENT, present.clone())];
            contenders.extend(
                points
                    .into_iter()
                    .enumerate()
                    .map(|(at, point)| Contender::new(format!("{}", first + at + 1), point)),
            );
            if let Some(end) = self.round(&contenders, &recorded, &mut history)? {
                return Ok(SearchEnd::Stopped(end));
            }
        }
        Ok(SearchEnd::Done(history))
    }

    /// The round that begins, what the search has spent, and the point that leads.
    fn status_line(&self, history: &History, present: &Point) -> String {
        let Knobs { search, .. } = self.stage.knobs;
        let all = match search.budget {
            Budget::Trials(all) => plural(all as usize, "trial"),
            Budget::Time(all_s) => rounded_time(all_s),
        };
        let (spent, took) = (plural(history.tried.len(), "trial"), rounded_time(history.seconds));
        let round = history.rounds.len() + 1;
        let leader = match self.optimiser.ranked(&history.tried).first() {
            None => String::new(),
            Some(Candidate { point, .. }) if point == present => {
                "; the present settings lead".to_owned()
            }
            Some(Candidate { point, .. }) => {
                let knobs = search.knobs.iter().zip(point).zip(present);
                let changed = knobs.filter(|((_, value), present)| value != present);
                let settings = changed
                    .map(|((knob, value), _)| format!("{} = {}", knob.name(), knob.text(*value)));
                format!("; {} leads", settings.collect::<Vec<_>>().join(", "))
            }
        };
        format!("Round {round}, after {spent} and {took} of the budget of {all}{leader}.")
    }

    /// The blocks of the confirmation that the trials so far call for. They are more than before
    /// only where the budget has room for them.
    fn blocks(&self, history: &History, present: &Point) -> usize {
        let blocks_for = self.plan.blocks_for(self.optimiser.lead(&history.tried, present));
        let left = history.left(self.stage.knobs.search.budget, 0);
        blocks_for.min(history.blocks.max(left / self.plan.contenders()))
    }

    /// Returns whether the last rounds have improved the best point by less than `worth`.
    fn is_idle(&self, history: &History) -> bool {
        let before = history.rounds.len().checked_sub(PATIENCE).filter(|before| *before > 0);
        before.is_some_and(|before| {
            let improvement = self.optimiser.improvement(&history.tried, history.rounds[before]);
            improvement < self.stage.knobs.search.worth
        })
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
        let at = history.rounds.len();
        // The present settings are what gains are measured against: they run to their end.
        let bound = self.optimiser.stop_beyond(&history.tried);
        let futile = bound.and_then(|cost| history.futile(cost));
        let run = if at + 1 < recorded.len() {
            recorded[at]
        } else {
            output::complain(&self.status_line(history, &contenders[0].point));
            let end = self.conduct(&experiment, at >= recorded.len(), futile)?;
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
        self.note(contenders, recording.trials.iter().collect(), history)?;
        Ok(None)
    }

    /// Adds the trials of a round to the history.
    fn note(
        &self,
        contenders: &[Contender],
        mut trials: Vec<&TrialRecord>,
        history: &mut History,
    ) -> Result<(), Failure> {
        history.rounds.push(history.tried.len());
        order::by_key(&mut trials, &|trial| (trial.configuration, trial.attempt));
        let last = |at: usize| trials.iter().rfind(|trial| trial.configuration == at);
        for trial in (0..contenders.len()).filter_map(last) {
            if let Some(response) = self.goal.measure(trial).map_err(Failure::failed)? {
                history.work.note(cost(response), trial);
                history.time.note(response, trial);
            }
        }
        for (position, contender) in contenders.iter().enumerate() {
            // A session that gave up has not run all of them.
            let Some(trial) = last(position) else { continue };
            let measured = self.goal.measure(trial).map_err(Failure::failed)?;
            if position == 0 {
                let Some(response) = measured else { return Err(self.present_failed(trial)) };
                history.present.push(response.value);
            }
            history.seconds += trial.wall_s;
            let bound = rate_bound(trial).or_else(|| history.work.bound(trial));
            let outcome = match (measured, bound) {
                (Some(response), _) => Outcome::Cost(cost(response)),
                (None, Some(bound)) => Outcome::AtLeast(bound),
                (None, None) => Outcome::Failed,
            };
            let point = contender.point.clone();
            if let Some(observations) = trial.observations.as_ref()
                && trial.is_futile()
            {
                let left_s = rate_bound(trial).and(history.time.window_s());
                let left_s = left_s.map(|all_s| (all_s - observations.elapsed_s).max(0.0));
                let (point, elapsed_s) = (point.clone(), observations.elapsed_s);
                history.stopped.push(StoppedTrial { point, elapsed_s, left_s });
            }
            history.tried.push(Trial { point, outcome });
        }
        Ok(())
    }

    /// Runs or resumes a round. The bound ends trials of proposed points.
    fn conduct(
        &self,
        experiment: &Experiment,
        fresh: bool,
        futile: Option<Futile>,
    ) -> Result<RunEnd, Failure> {
        let mut session = self.stage.session(self.results, fresh);
        session.choices.futile = vec![futile; experiment.configurations.len()];
        if let Some(present) = session.choices.futile.first_mut() {
            *present = None;
        }
        self.stage.conduct(experiment, session, !self.is_confirmed)
    }

    /// Says why there is no search: the present settings have to succeed.
    fn present_failed(&self, trial: &TrialRecord) -> Failure {
        let file = self.stage.file.display();
        Failure::failed(match &trial.status {
            TrialStatus::Failed { cause, .. } if trial.failed_by_machine() => format!(
                "the present settings fail: {cause}\nThe machine lacks something: after fixing \
                 that, `steelbench tune {file}` runs the failed trials again."
            ),
            TrialStatus::Failed { cause, .. } => format!(
                "the present settings fail: {cause}\nAfter fixing the cause, `steelbench tune \
                 {file} --retry-failed` runs the failed trials again."
            ),
            TrialStatus::Done => "the present settings break a limit of tune.subject_to; a search \
                                  needs a baseline that keeps all of them"
                .to_owned(),
        })
    }

    /// The best points for a confirmation, other than the present settings.
    pub fn best(&self, history: &History, number: usize) -> Vec<Point> {
        let present = self.stage.knobs.present();
        let ranked = self.optimiser.ranked(&history.tried).into_iter();
        let others = ranked.map(|Candidate { point, .. }| point).filter(|point| *point != present);
        others.take(number).collect()
    }
}
