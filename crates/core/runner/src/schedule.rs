//! The trial that is next: the plan, less what is recorded, with retries and adaptive repeats.

use crate::failures::Failures;
use crate::machines::BlockPart;
use experiment::file::{IDENTICAL_FAILURES, RESPONSE};
use experiment::{Blocks, DesignSchedule, Designs, Experiment, Plan, PlannedTrial};
use observations::{
    Observations, QueryPlan, Recording, Response, Tally, TrialRecord, TrialStatus, Warning,
    WarningKind,
};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

/// A trial that is to be run now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NextTrial {
    pub planned: PlannedTrial,
    /// 1 for the first try.
    pub attempt: u32,
}

/// Result of a configuration in a block.
#[derive(Debug, Clone, Copy, Default)]
struct Attempts {
    attempts: u32,
    /// Attempts that do not count: they failed before, and the user wants them repeated.
    forgiven: u32,
    /// Measured to the end.
    done: bool,
    /// That, or known to take longer than a trial may: trying again until it happens to be fast
    /// would bias the figures.
    settled: bool,
    /// Ended early by a search.
    futile: bool,
}

/// Walks through the plan.
#[derive(Debug)]
pub struct Schedule<'a> {
    plan: &'a Plan,
    blocks: Blocks,
    retries: u32,
    response: Option<String>,
    tried: HashMap<(usize, u32), Attempts>,
    /// Failures of this session.
    failures: Failures,
    /// Values of the primary response by configuration and block, for adaptive repeats.
    values: Vec<BTreeMap<u32, f64>>,
    /// The plans of each configuration's first trial.
    plans: HashMap<usize, Vec<QueryPlan>>,
    /// The rounds that are left: group and block.
    rounds: VecDeque<(usize, u32)>,
    /// Trials of the plan that adaptive repeats, or the design, have made needless so far.
    pub needless: usize,
    /// The decisions of a design about further blocks.
    design: Option<Box<dyn DesignSchedule>>,
    /// Why configurations left, since this was last taken.
    pub departures: Vec<String>,
    /// The machine of each block that several machines share.
    machines: BTreeMap<u32, String>,
    /// The configurations that are run; `None`: all.
    only: Option<Vec<usize>>,
    /// Names of the responses of all trials.
    responses: BTreeSet<String>,
    /// Configurations with a trial that was measured.
    measured: BTreeSet<usize>,
    /// The user was warned of a response that no configuration has.
    has_warned: bool,
}

impl<'a> Schedule<'a> {
    /// The rest of a plan of which some trials are recorded; with those that failed, where they are
    /// to be run again.
    pub fn new(
        experiment: &Experiment,
        plan: &'a Plan,
        recorded: &Recording,
        designs: Designs,
        retry_failed: bool,
    ) -> Self {
        let mut schedule = Self {
            plan,
            blocks: experiment.repeats.blocks,
            retries: experiment.repeats.retries,
            response: experiment.get(RESPONSE),
            tried: HashMap::new(),
            failures: Failures::new(experiment.get(IDENTICAL_FAILURES)),
            values: vec![BTreeMap::new(); experiment.configurations.len()],
            plans: HashMap::new(),
            rounds: plan.rounds().collect(),
            needless: 0,
            design: designs
                .for_experiment(experiment)
                .and_then(|design| design.schedule(experiment, recorded)),
            departures: Vec::new(),
            machines: BTreeMap::new(),
            only: None,
            responses: BTreeSet::new(),
            measured: BTreeSet::new(),
            has_warned: false,
        };
        for trial in &recorded.trials {
            schedule.record(trial);
        }
        for tried in schedule.tried.values_mut().filter(|_| retry_failed) {
            tried.forgiven = tried.attempts;
        }
        if schedule.design.is_some() {
            // The design decides by the complete rounds, and has reported it in an earlier session.
            schedule.next();
            schedule.departures.clear();
        }
        schedule
    }

    /// Takes note of a trial that this session has recorded.
    pub fn record_own(&mut self, trial: &TrialRecord) {
        self.record(trial);
        if let Some(design) = &mut self.design {
            design.record(trial);
        }
        match &trial.status {
            // A trial that is too slow is a result, and one that is tried again may come to its
            // end.
            TrialStatus::Failed { cause, .. } if !trial.timed_out() => {
                if !self.will_retry(trial) {
                    self.failures.note(trial.configuration, Some(cause));
                }
            }
            _ => self.failures.note(trial.configuration, None),
        }
    }

    /// Restricts it to a part of the plan.
    pub fn restrict(&mut self, part: &BlockPart) {
        self.rounds.retain(|(_, block)| part.blocks.contains(block));
        self.only = Some(part.configurations.clone());
    }

    /// Blocks with trials that are to be run.
    pub fn open_blocks(&self) -> Vec<u32> {
        let mut blocks: Vec<u32> = self.rounds.iter().map(|(_, block)| *block).collect();
        blocks.sort_unstable();
        blocks.dedup();
        blocks.retain(|block| !self.open_in(*block).is_empty());
        blocks
    }

    /// The configurations of a block that are to be run.
    pub fn open_in(&self, block: u32) -> Vec<usize> {
        let rounds = self.rounds.iter().filter(|(_, other)| *other == block);
        let trials = rounds.flat_map(|(group, block)| self.plan.block(*group, *block));
        trials
            .filter(|trial| self.open(*trial).is_some())
            .map(|trial| trial.configuration)
            .collect()
    }

    /// The number of attempts of each configuration in a block so far.
    pub fn attempts(&self, block: u32) -> BTreeMap<usize, u32> {
        let attempts = self.tried.iter().filter(|((_, other), _)| *other == block);
        attempts.map(|((configuration, _), tried)| (*configuration, tried.attempts)).collect()
    }

    /// Number of blocks of the plan.
    pub fn blocks(&self) -> usize {
        self.rounds.iter().map(|(_, block)| *block).collect::<BTreeSet<_>>().len()
    }

    /// The machine that a block was left to.
    pub fn machine(&self, block: u32) -> Option<&str> {
        self.machines.get(&block).map(String::as_str)
    }

    /// Number of blocks that were left to a machine.
    pub fn blocks_of(&self, machine: &str) -> usize {
        self.machines.values().filter(|name| *name == machine).count()
    }

    /// Leaves a block to a machine. Trials of another one no longer count: it runs all of them.
    /// Returns the number of trials that were over.
    pub fn leave_to(&mut self, block: u32, machine: &str) -> usize {
        let before = self.machines.insert(block, machine.to_owned());
        if before.is_none_or(|before| before == machine) {
            return 0;
        }
        let open = self.open_in(block).len();
        for (_, tried) in self.tried.iter_mut().filter(|((_, other), _)| *other == block) {
            *tried = Attempts {
                attempts: tried.attempts,
                forgiven: tried.attempts,
                ..Attempts::default()
            };
        }
        self.open_in(block).len() - open
    }

    /// Takes note of a recorded trial.
    fn record(&mut self, trial: &TrialRecord) {
        if let Some(machine) = &trial.machine {
            self.leave_to(trial.block, machine);
        }
        let tried = self.tried.entry((trial.configuration, trial.block)).or_default();
        tried.attempts = tried.attempts.max(trial.attempt);
        tried.done |= trial.status == TrialStatus::Done;
        tried.settled |= tried.done || trial.timed_out();
        tried.futile |= trial.is_futile();
        if trial.status != TrialStatus::Done {
            return;
        }
        let Some(observations) = &trial.observations else { return };
        self.measured.insert(trial.configuration);
        for Response { name, .. } in &observations.responses {
            if !self.responses.contains(name) {
                self.responses.insert(name.clone());
            }
        }
        self.plans.entry(trial.configuration).or_insert_with(|| observations.plans.clone());
        // A modified results file may have trials of more configurations than its experiment.
        let extremes = self.value(observations).zip(self.values.get_mut(trial.configuration));
        if let Some((value, values)) = extremes {
            values.insert(trial.block, value);
        }
    }

    /// A warning when the engine ran a statement in another way than in the first trial of this
    /// configuration.
    pub fn other_plan(&self, configuration: usize, observations: &Observations) -> Option<Warning> {
        let first = self.plans.get(&configuration)?;
        let plan = observations.plans.iter().find(|plan| {
            plan.reason.is_none()
                && first.iter().any(|known| {
                    known.statement == plan.statement
                        && (known.reason.is_none() && known.hash != plan.hash)
                })
        })?;
        let detail = format!(
            "the plan of {} is {}, which differs from the configuration's first trial",
            plan.statement, plan.hash
        );
        Some(Warning { kind: WarningKind::OtherPlan, detail })
    }

    fn value(&self, observations: &Observations) -> Option<f64> {
        let response = self
            .response
            .as_ref()
            .and_then(|name| observations.responses.iter().find(|response| response.name == *name))
            .or_else(|| observations.responses.first());
        response.map(|response| response.value)
    }

    /// The next trial; `None` when everything is done. Removes the rounds in which nothing is left
    /// to run, and decides by them.
    pub fn next(&mut self) -> Option<NextTrial> {
        while let Some((group, block)) = self.rounds.front().copied() {
            let open =
                self.plan.block(group, block).into_iter().find_map(|planned| self.open(planned));
            if open.is_some() {
                return open;
            }
            self.rounds.pop_front();
            if let Some(design) = &mut self.design {
                self.departures.extend(design.look(block));
                self.needless = self.departed();
            }
            if self.enough(group, block) {
                self.skip_rest(group);
            }
        }
        None
    }

    fn open(&self, planned: PlannedTrial) -> Option<NextTrial> {
        let attempt = self.next_attempt(planned.configuration, planned.block)?;
        Some(NextTrial { planned, attempt })
    }

    /// The next try of a configuration in a block; `None` when it is settled, has failed as often
    /// as it may, or is given up.
    fn next_attempt(&self, configuration: usize, block: u32) -> Option<u32> {
        self.attempt_left(configuration, block).filter(|_| !self.failures.gives_up(configuration))
    }

    /// Returns the next attempt, also of a configuration that was given up.
    fn attempt_left(&self, configuration: usize, block: u32) -> Option<u32> {
        let tried = self.tried.get(&(configuration, block)).copied().unwrap_or_default();
        let runs = self.design.as_ref().is_none_or(|design| design.runs(configuration, block))
            && self.only.as_ref().is_none_or(|only| only.contains(&configuration));
        let is_open = runs && !tried.settled && tried.attempts - tried.forgiven <= self.retries;
        is_open.then_some(tried.attempts + 1)
    }

    /// Returns whether the blocks of a group up to this one suffice: adaptive repeats set their
    /// number after the first stage.
    fn enough(&self, group: usize, block: u32) -> bool {
        let Blocks::Adaptive { min, until, .. } = self.blocks else { return false };
        let values: Vec<Vec<f64>> = self
            .plan
            .group(group)
            .iter()
            .filter(|configuration| !self.failures.gives_up(**configuration))
            .map(|configuration| -> Vec<f64> {
                self.values[*configuration].range(..=min).map(|(_, value)| *value).collect()
            })
            .collect();
        block >= min
            && analysis::blocks_needed(&values, until)
                .is_some_and(|needed| f64::from(block) >= needed)
    }

    /// Counts what the blocks of this group that are left would have run, less what is recorded of
    /// them (a wider limit can have been narrowed since).
    fn skip_rest(&mut self, group: usize) {
        while let Some((_, block)) =
            self.rounds.front().copied().filter(|(other, _)| *other == group)
        {
            self.rounds.pop_front();
            let planned = self.plan.block(group, block).into_iter();
            self.needless += planned.filter_map(|planned| self.open(planned)).count();
        }
    }

    /// Trials of the plan that the design has made needless.
    fn departed(&self) -> usize {
        let Some(design) = &self.design else { return 0 };
        let out = self.plan.trials().filter(|trial| {
            !design.runs(trial.configuration, trial.block)
                && !self.tried.contains_key(&(trial.configuration, trial.block))
        });
        out.count()
    }

    /// Returns whether a trial recorded as failed will be retried.
    pub fn will_retry(&self, failed: &TrialRecord) -> bool {
        self.next_attempt(failed.configuration, failed.block).is_some()
    }

    /// Returns whether trials of this configuration are left out.
    pub fn leaves_out(&self, configuration: usize) -> bool {
        self.failures.gives_up(configuration)
            && self.left().any(|planned| planned.configuration == configuration)
    }

    /// Returns whether no remaining trial can be expected to succeed after this configuration
    /// failed: all are left out, or the last trial of each configuration failed for the same cause.
    pub fn is_hopeless(&self, configuration: usize) -> bool {
        let repeats = self.failures.repeat();
        if !repeats && !self.failures.gives_up(configuration) {
            return false;
        }
        let all =
            |fails: &dyn Fn(usize) -> bool| self.left().all(|planned| fails(planned.configuration));
        self.left().next().is_some()
            && (all(&|planned| self.failures.gives_up(planned))
                || repeats && all(&|planned| self.failures.failed_like_the_last(planned)))
    }

    /// The trials that are not settled, those of configurations that are given up included.
    fn left(&self) -> impl Iterator<Item = PlannedTrial> {
        let trials = self.rounds.iter().flat_map(|(group, block)| self.plan.block(*group, *block));
        trials.filter(|trial| self.attempt_left(trial.configuration, trial.block).is_some())
    }

    /// Returns whether the file names this response as the one that is compared.
    pub fn compares(&self, response: &str) -> bool {
        self.response.as_deref() == Some(response)
    }

    /// Returns a sentence, once, when no configuration has the response that the file names: as
    /// soon as each was measured, or has no trials left.
    pub fn unknown_response(&mut self) -> Option<String> {
        let name = self.response.as_ref().filter(|name| !self.responses.contains(*name))?;
        let is_early = self.left().any(|trial| !self.measured.contains(&trial.configuration));
        if is_early || self.has_warned {
            return None;
        }
        let known: Vec<&str> = self.responses.iter().map(String::as_str).collect();
        let unknown = experiment::unknown_name("response", name, &known);
        self.has_warned = true;
        Some(format!("{}: {unknown}", RESPONSE.path()))
    }

    /// Returns the progress of the run.
    pub fn tally(&self) -> Tally {
        let tried = |planned: PlannedTrial| {
            self.tried.get(&(planned.configuration, planned.block)).copied()
        };
        let all = || self.plan.trials().filter_map(tried);
        Tally {
            planned: self.plan.len() - self.needless,
            done: all().filter(|tried| tried.done).count(),
            failed: self.failed(),
            timeouts: all()
                .filter(|attempt| attempt.settled && !attempt.done && !attempt.futile)
                .count(),
            futile: all().filter(|attempt| attempt.futile && !attempt.done).count(),
        }
    }

    /// Number of planned trials that have failed, and are not tried again unless the user asks for
    /// it.
    fn failed(&self) -> usize {
        self.plan
            .trials()
            .filter(|planned| {
                let tried = self.tried.get(&(planned.configuration, planned.block));
                tried.is_some_and(|tried| !tried.done) && self.open(*planned).is_none()
            })
            .count()
    }

    /// Number of planned trials that earlier sessions have settled. Blocks that the file no longer
    /// asks for are not in the plan, and those that the design has made needless are not counted.
    pub fn settled(&self) -> usize {
        let settled = self.plan.trials().filter(|planned| self.open(*planned).is_none()).count();
        settled - self.departed()
    }

    /// Trials of the plan, less those that the design has made needless.
    pub fn planned(&self) -> usize {
        self.plan.len() - self.departed()
    }
}

/// The progress of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outlook {
    /// The trials.
    pub tally: Tally,
    /// True if nothing is left to run.
    pub complete: bool,
}

/// Returns the progress of a recording on the plan of its experiment: what `run` would find if it
/// went on.
pub fn outlook(experiment: &Experiment, recorded: &Recording, designs: Designs) -> Outlook {
    let plan = Plan::new(experiment);
    let mut schedule = Schedule::new(experiment, &plan, recorded, designs, false);
    let complete = schedule.next().is_none();
    Outlook { tally: schedule.tally(), complete }
}
