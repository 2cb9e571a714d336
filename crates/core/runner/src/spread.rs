//! A run over several machines: which machine runs which block, and the record of what they report.
//!
//! Each block runs whole on one machine. A machine that was lost continues its block when it is
//! there again; otherwise another machine repeats all of the block, whose earlier trials no longer
//! count ([`Recording::valid`](observations::Recording::valid)).

use crate::begin::{Session, environment_differences};
use crate::error::RunError;
use crate::machines::{BlockPart, Machine, MachineError, Machines, Report, ReportContent};
use crate::schedule::Schedule;
use crate::settled::{Announce, finished, give_up, run_time_limit};
use crate::trial::Interrupt;
use experiment::Experiment;
use experiment::file::{MACHINES, MACHINES_CHECK};
use observations::{Environment, Event, Recording, RunEnd, TrialRecord, TrialRef, TrialStatus};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Longest wait for a report before interruption and machines are looked at again.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// A machine whose part ends this often without a trial stops the run.
const FRUITLESS_MAX: u32 = 2;

/// A run over several machines.
pub struct Spread<'r, 'a> {
    experiment: &'a Experiment,
    schedule: &'r mut Schedule<'a>,
    session: &'r mut Session,
    interrupt: Interrupt,
    run_deadline: Option<Instant>,
    machines: Arc<dyn Machines>,
    /// Machines that the run begins with.
    initial: usize,
    /// Repeats of the check between machines.
    repeats: u32,
    /// The check is complete and was announced.
    is_checked: bool,
    working: BTreeMap<String, Assignment>,
    /// Parts in a row of a machine that ended without a trial.
    fruitless: BTreeMap<String, u32>,
}

/// Work of a machine.
struct Assignment {
    work: Work,
    /// Attempts of each configuration before this work.
    attempts: BTreeMap<usize, u32>,
    has_recorded: bool,
}

#[derive(Clone, Copy)]
enum Work {
    Check,
    Block(u32),
}

impl<'r, 'a> Spread<'r, 'a> {
    /// The machines run the rest of a schedule, until interruption or deadline.
    pub fn new(
        experiment: &'a Experiment,
        schedule: &'r mut Schedule<'a>,
        session: &'r mut Session,
        interrupt: Interrupt,
        run_deadline: Option<Instant>,
        machines: Arc<dyn Machines>,
    ) -> Self {
        Self {
            machines,
            initial: experiment.get(MACHINES).unwrap_or(1) as usize,
            repeats: experiment.get(MACHINES_CHECK).min(experiment.repeats.blocks.max()),
            is_checked: experiment.get(MACHINES_CHECK) == 0,
            working: BTreeMap::new(),
            fruitless: BTreeMap::new(),
            experiment,
            schedule,
            session,
            interrupt,
            run_deadline,
        }
    }

    /// Runs the plan. Blocks on several machines run in parallel.
    pub fn run(&mut self, announce: Announce) -> Result<RunEnd, RunError> {
        let result = self.conduct(announce);
        self.machines.stop();
        result
    }

    fn conduct(&mut self, announce: Announce) -> Result<RunEnd, RunError> {
        let mut has_begun = false;
        loop {
            if self.interrupt.requested() {
                return Ok(RunEnd::Interrupted);
            }
            if self.run_deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Ok(run_time_limit());
            }
            let open = self.schedule.open_blocks();
            if open.is_empty() && self.working.is_empty() {
                return Ok(RunEnd::Completed(self.schedule.tally()));
            }
            let present = match self.machines.present(if has_begun { 1 } else { self.initial }) {
                Ok(present) => present,
                Err(error) => return Ok(stopped(&error)),
            };
            has_begun |= present.len() >= self.initial;
            if has_begun && let Some(end) = self.assign(&present, &open, announce) {
                return Ok(end);
            }
            if let Some(report) = self.machines.next(LOOK_EVERY) {
                let end = self.hear(&report, announce)?;
                self.machines.accept(&report);
                if let Some(end) = end {
                    return Ok(end);
                }
            }
        }
    }

    /// Gives work to the machines that have none.
    fn assign(&mut self, present: &[Machine], open: &[u32], announce: Announce) -> Option<RunEnd> {
        let is_complete = present.iter().all(|machine| self.unchecked(&machine.name).is_empty());
        let mut working = self.working.values();
        if !self.is_checked
            && is_complete
            && !working.any(|assignment| matches!(assignment.work, Work::Check))
        {
            self.is_checked = true;
            for event in self.machines.judge_check(&self.session.recorded) {
                announce(event);
            }
        }
        let free = present.iter().filter(|machine| machine.is_free);
        let free: Vec<&Machine> =
            free.filter(|machine| !self.working.contains_key(&machine.name)).collect();
        for machine in free {
            let name = &machine.name;
            let Some((work, part)) = self.work_for(name, present, open, announce) else {
                continue;
            };
            let text = match work {
                Work::Check => format!("checking machine {name}"),
                Work::Block(block) => format!("block {block} on machine {name}"),
            };
            announce(Event::Step { text });
            if let Err(error) = self.machines.start(name, &part) {
                return Some(stopped(&error));
            }
            let attempts = match work {
                Work::Check => BTreeMap::new(),
                Work::Block(block) => self.schedule.attempts(block),
            };
            let assigned = Assignment { work, attempts, has_recorded: false };
            self.working.insert(name.clone(), assigned);
        }
        None
    }

    /// Repeats of the check that a machine has not run.
    fn unchecked(&self, machine: &str) -> Vec<u32> {
        let checks = self.session.recorded.checks.iter();
        let sequence: Vec<u32> = checks
            .filter(|trial| trial.machine.as_deref() == Some(machine))
            .map(|trial| trial.sequence)
            .collect();
        (1..=self.repeats).filter(|repeat| !sequence.contains(repeat)).collect()
    }

    /// The work of a free machine, if there is any: its part of the check, the rest of its own
    /// block, a new block within its share, or a block of a machine that is gone.
    fn work_for(
        &mut self,
        machine: &str,
        present: &[Machine],
        open: &[u32],
        announce: Announce,
    ) -> Option<(Work, BlockPart)> {
        let blocks = self.unchecked(machine);
        if !blocks.is_empty() {
            let configurations = vec![self.experiment.baseline.unwrap_or(0)];
            return Some((Work::Check, BlockPart { blocks, configurations }));
        }
        if !self.is_checked {
            return None;
        }
        let assigned: Vec<u32> = self.working.values().filter_map(Assignment::block).collect();
        let free = || open.iter().copied().filter(|block| !assigned.contains(block));
        let schedule = &mut *self.schedule;
        let assigned = free().find(|block| schedule.machine(*block) == Some(machine));
        let share = schedule.blocks().div_ceil(present.len().max(1));
        let has_room = schedule.blocks_of(machine) < share;
        let new = free().find(|block| has_room && schedule.machine(*block).is_none());
        let left = free().find(|block| {
            schedule
                .machine(*block)
                .is_some_and(|name| present.iter().all(|machine| machine.name != name))
        });
        let block = assigned.or(new).or(left)?;
        let trials = schedule.leave_to(block, machine);
        if trials > 0 {
            announce(Event::BlockRepeated { block, machine: machine.to_owned(), trials });
        }
        let configurations = schedule.open_in(block);
        Some((Work::Block(block), BlockPart { blocks: vec![block], configurations }))
    }

    /// Takes a report; says when the session ends with it.
    fn hear(&mut self, report: &Report, announce: Announce) -> Result<Option<RunEnd>, RunError> {
        let machine = &report.machine;
        match &report.content {
            ReportContent::Environment(environment) => {
                self.record_environment(machine, environment, announce)?;
            }
            ReportContent::Trial(trial) => return self.record(machine, trial, announce),
            ReportContent::Ended(cause) => return Ok(self.ended(machine, cause.as_deref())),
            ReportContent::Lost => {
                if let Some(block) =
                    self.working.remove(machine).and_then(|assignment| assignment.block())
                {
                    let text = format!(
                        "machine {machine} was lost in block {block}: it continues the block when \
                         it is there again, or another machine repeats all of the block"
                    );
                    announce(Event::Warning { text });
                }
            }
        }
        Ok(None)
    }

    /// The end of a machine's part.
    fn ended(&mut self, machine: &str, cause: Option<&str>) -> Option<RunEnd> {
        let assigned = self.working.remove(machine)?;
        let times = self.fruitless.entry(machine.to_owned()).or_default();
        *times = if assigned.has_recorded { 0 } else { *times + 1 };
        let cause = cause.unwrap_or("it ran no trial of its block");
        let text = format!("machine {machine}: {cause}");
        (*times >= FRUITLESS_MAX).then_some(RunEnd::Limit { text })
    }

    /// Records the environment of a machine that is not known yet.
    fn record_environment(
        &mut self,
        machine: &str,
        environment: &Environment,
        announce: Announce,
    ) -> Result<(), RunError> {
        let recorded = &mut self.session.recorded.environments;
        let is_known =
            recorded.iter().any(|known| environment_differences(known, environment).is_empty());
        if is_known {
            return Ok(());
        }
        if let Some(first) = recorded.first() {
            let differences = environment_differences(first, environment).join("; ");
            let text = format!("machine {machine} differs from that of the run: {differences}");
            announce(Event::Warning { text });
        }
        recorded.push(environment.clone());
        let run = self.session.run;
        Ok(self.session.store.add_environment(run, environment)?)
    }

    /// Records a trial of a machine, once.
    fn record(
        &mut self,
        machine: &str,
        trial: &TrialRecord,
        announce: Announce,
    ) -> Result<Option<RunEnd>, RunError> {
        let Some(assigned) = self.working.get_mut(machine) else { return Ok(None) };
        let mut record = trial.clone();
        record.machine = Some(machine.to_owned());
        let Recording { trials, checks, .. } = &mut self.session.recorded;
        let known = match assigned.work {
            Work::Check => {
                (record.sequence, record.block) = (record.block, 0);
                checks
            }
            Work::Block(block) if record.block == block => {
                let before = assigned.attempts.get(&record.configuration).copied();
                record.attempt += before.unwrap_or(0);
                trials
            }
            Work::Block(_) => return Ok(None),
        };
        let place = |trial_record: &TrialRecord| {
            (
                trial_record.configuration,
                trial_record.block,
                trial_record.sequence,
                trial_record.attempt,
                trial_record.machine.clone(),
            )
        };
        if known.iter().any(|known_record| place(known_record) == place(&record)) {
            return Ok(None);
        }
        self.session.store.record_trial(self.session.run, &record)?;
        // Kept without what it saw, but of the check: its verdict is computed from it.
        let observations = record.observations.clone().filter(|_| record.block == 0);
        known.push(TrialRecord { observations, hooks: Vec::new(), ..record.clone() });
        assigned.has_recorded = true;
        if record.block == 0 {
            return Ok(None);
        }
        Ok(self.announce_trial(machine, record, announce))
    }

    fn announce_trial(
        &mut self,
        machine: &str,
        record: TrialRecord,
        announce: Announce,
    ) -> Option<RunEnd> {
        let label = self.experiment.configurations.get(record.configuration)?.label();
        let trial = TrialRef {
            sequence: record.sequence,
            block: record.block,
            attempt: record.attempt,
            configuration: format!("{label} on {machine}").trim_start().to_owned(),
        };
        announce(Event::TrialStarted { trial: trial.clone() });
        self.schedule.record_own(&record);
        let configuration = record.configuration;
        let failure = match &record.status {
            TrialStatus::Failed { cause, .. } => Some(cause.clone()),
            TrialStatus::Done => None,
        };
        finished(self.schedule, trial, record, announce);
        give_up(self.experiment, self.schedule, configuration, failure?, announce)
    }
}

/// The end of a session whose machines cannot work.
fn stopped(error: &MachineError) -> RunEnd {
    RunEnd::Limit { text: error.to_string() }
}

impl Assignment {
    fn block(&self) -> Option<u32> {
        match self.work {
            Work::Block(block) => Some(block),
            Work::Check => None,
        }
    }
}
