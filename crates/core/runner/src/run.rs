//! A session of a run: from opening the results file until everything is done or something stops
//! it.

use crate::begin::{Session, begin};
use crate::catalog::{Registry, validate};
use crate::error::{HookError, RunError, VolumeError};
use crate::hooks::{Hook, HookLimit, variables_of_run, variables_of_trial};
use crate::hosts::{HostForTrial, Hosts};
use crate::machines::{Machines, ReportContent};
use crate::options::{Manual, Options};
use crate::preflight::preflight;
use crate::schedule::{NextTrial, Schedule};
use crate::settled::{Announce, finished, give_up, run_time_limit};
use crate::spread::Spread;
use crate::throttle;
use crate::trial::{Failed, Interrupt, Limit, Outcome, Trial};
use crate::volumes::Volumes;
use crate::workdir::Workdir;
use experiment::common::{ENGINE, PROBE};
use experiment::file::{
    AFTER_RUN, AFTER_TRIAL, BEFORE_RUN, BEFORE_TRIAL, DISK_SPACE_BYTES, HOOKS_TIMEOUT_S, MACHINES,
    RUN_TIME_S, TRIAL_TIME_S,
};
use experiment::{Configuration, Experiment, NamedFile, Plan, PlannedTrial, Setting};
use observations::{
    Event, HookOutput, RunEnd, TrialRecord, TrialRef, TrialStatus, redacted_message,
};
use observe::now_ms;
use probe::load::GENERATORS;
use probe::{SetUp, Target};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use work::{CancelReason, Stop};

/// Runs the trials of an experiment that are not recorded yet.
///
/// Trials that fail are recorded and do not stop the rest. A trial is committed before it is
/// announced as finished.
///
/// # Errors
/// When the run cannot begin, or when a trial cannot be recorded; what is committed stays.
pub fn run(
    experiment: &Experiment,
    mut options: Options,
    announce: &mut (dyn FnMut(Event) + Send),
) -> Result<RunEnd, RunError> {
    validate(options.registry, experiment)?;
    require_agents(experiment, &options)?;
    let session = begin(experiment, &options, announce)?;
    let runs = session.store.runs()?;
    let workdir =
        Workdir::for_results(options.registry, experiment, &options.choices.results, &runs)?;
    let volumes = Volumes::new(experiment, options.interrupt.clone());
    remove_orphans(experiment, &workdir, announce);
    for text in put_back(options.registry, &workdir.default, experiment)? {
        announce(Event::Warning { text: format!("an earlier run did not end properly: {text}") });
    }
    let plan = Plan::new(experiment);
    let (designs, retry) = (options.registry.designs, options.choices.retry_failed);
    let mut schedule = Schedule::new(experiment, &plan, &session.recorded, designs, retry);
    if let Some(part) = &mut options.part {
        schedule.restrict(&part.part);
        let environment = session.recorded.environments.last().cloned().unwrap_or_default();
        (part.take)(ReportContent::Environment(Box::new(environment)));
    }
    announce(Event::RunStarted {
        experiment: experiment.name.clone(),
        configurations: experiment.configurations.len(),
        trials: schedule.planned(),
        done: schedule.settled(),
    });
    let permits = options.choices.permits.clone().resolved();
    let previous = session.recorded.trials.last().map(|trial| (trial.configuration, trial.setup));
    let run_deadline =
        experiment.get(RUN_TIME_S).map(|s| Instant::now() + Duration::from_secs_f64(s));
    let mut runner = Runner {
        experiment,
        plan: &plan,
        schedule,
        session,
        workdir,
        volumes,
        hosts: Hosts::new(permits),
        set_up: None,
        run_deadline,
        previous,
        options: &mut options,
    };
    let result = match runner.options.choices.agents.machines.clone() {
        Some(machines) => runner.spread(machines).run(announce),
        None => runner.run_all(announce),
    };
    runner.end_set_up(announce);
    runner.hosts.release();
    let restored = put_back(runner.options.registry, &runner.workdir.default, experiment);
    if let (Err(_), Err(error)) = (&result, &restored) {
        announce(Event::Warning { text: error.to_string() });
    }
    let mut hooks = Vec::new();
    let problems = runner.volumes.clean_all(&mut hooks);
    announce_hooks(hooks, announce);
    let problems = problems.iter().map(ToString::to_string);
    for text in problems.chain(edited(experiment)) {
        announce(Event::Warning { text });
    }
    // Only when it is empty; what we could not remove stays to be seen.
    let _ = std::fs::remove_dir(&runner.workdir.default);
    let end = result?;
    restored?;
    announce(Event::RunFinished(end.clone()));
    Ok(end)
}

/// An experiment that needs other processes has some.
fn require_agents(experiment: &Experiment, options: &Options) -> Result<(), RunError> {
    let is_divided = experiment
        .configurations
        .iter()
        .any(|configuration| configuration.get(GENERATORS).is_some());
    let has_machines = options.choices.agents.machines.is_some() || options.part.is_some();
    let setting = if options.choices.agents.generators.is_none() && is_divided {
        GENERATORS.path()
    } else if !has_machines && experiment.get(MACHINES).is_some() {
        MACHINES.path()
    } else {
        return Ok(());
    };
    let remedy = "start them with `steelbench run --agents N`";
    Err(RunError::Refused(format!("{setting} needs agents: {remedy}")))
}

/// Removes what killed runs have left.
fn remove_orphans(
    experiment: &Experiment,
    workdir: &Workdir,
    announce: &mut (dyn FnMut(Event) + Send),
) {
    for parent in workdir.places.all().chain([workdir.default.as_path()]) {
        announce_removed(workdir.remove_orphans(parent), announce);
    }
    for volume in &experiment.volumes {
        announce_removed(workdir.remove_orphans(Path::new(&volume.path)), announce);
    }
    // Control groups are the machine's, and not marked with a results file: who makes none leaves
    // them alone.
    if experiment.volumes.iter().any(|volume| volume.throttle.is_some()) {
        announce_removed(throttle::remove_orphans(), announce);
    }
}

/// Restores settings that the experiment changed on the user's servers.
fn put_back(
    registry: Registry,
    folder: &Path,
    experiment: &Experiment,
) -> Result<Vec<String>, RunError> {
    let configurations: Vec<&Configuration> = experiment.configurations.iter().collect();
    let recoveries = registry.engines.iter().filter_map(|engine| engine.recovery);
    let restored = recoveries.map(|recovery| recovery.put_back(folder, &configurations));
    let restored: Result<Vec<Vec<String>>, _> = restored.collect();
    restored.map(|texts| texts.concat()).map_err(RunError::Restore)
}

fn announce_removed(orphans: Vec<PathBuf>, announce: &mut dyn FnMut(Event)) {
    for orphan in orphans {
        let text = format!("removed {}, left by a killed run", orphan.display());
        announce(Event::Warning { text });
    }
}

/// Warns of files that changed since the trials read them.
fn edited(experiment: &Experiment) -> impl Iterator<Item = String> {
    let read = experiment.files.iter().filter(|file| !file.is_program && !file.is_unchanged());
    read.map(|file| {
        let NamedFile { named_by, path, .. } = file.as_ref();
        format!(
            "{named_by}: {path} has changed; all trials of this session used its initial content"
        )
    })
}

struct Runner<'a> {
    experiment: &'a Experiment,
    plan: &'a Plan,
    schedule: Schedule<'a>,
    session: Session,
    workdir: Workdir,
    volumes: Volumes<'a>,
    hosts: Hosts,
    /// State that the previous trial set up and left for others.
    set_up: Option<Box<dyn SetUp>>,
    run_deadline: Option<Instant>,
    /// Configuration and set-up of the trial before, of an earlier session if need be.
    previous: Option<(usize, u32)>,
    options: &'a mut Options,
}

impl<'a> Runner<'a> {
    /// The rest of the plan, as other machines run it.
    fn spread(&mut self, machines: Arc<dyn Machines>) -> Spread<'_, 'a> {
        Spread::new(
            self.experiment,
            &mut self.schedule,
            &mut self.session,
            self.options.interrupt.clone(),
            self.run_deadline,
            machines,
        )
    }

    fn run_all(&mut self, announce: Announce) -> Result<RunEnd, RunError> {
        let Some(first) = self.next(announce) else {
            return Ok(RunEnd::Completed(self.schedule.tally()));
        };
        let begun = self.hook_around_run(BEFORE_RUN, &self.options.interrupt, announce);
        let end = match begun {
            Err(_) if self.options.interrupt.requested() => Ok(RunEnd::Interrupted),
            Err(error) => return Err(error),
            Ok(()) => match self.preflight(announce) {
                Ok(None) => self.trials(first, announce),
                Ok(Some(end)) => Ok(end),
                Err(error) => Err(error),
            },
        };
        // What before_run has started is stopped, whatever ended the trials.
        let ended = self.hook_around_run(AFTER_RUN, &Interrupt::default(), announce);
        end.and_then(|end| ended.map(|()| end))
    }

    /// Looks whether a first trial can succeed; says when the session ends with that.
    fn preflight(&mut self, announce: Announce) -> Result<Option<RunEnd>, RunError> {
        announce(Event::Step { text: "checking prerequisites".into() });
        let (interrupt, deadline) = (self.options.interrupt.clone(), self.run_deadline);
        let is_late = move || deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let stop = interrupt.clone();
        let stop = Stop::when(move || stop.requested() || is_late());
        let found = preflight(
            self.options.registry,
            self.experiment,
            &self.options.choices.results,
            self.hosts.permits(),
            &stop,
        );
        if interrupt.requested() {
            return Ok(Some(RunEnd::Interrupted));
        }
        if is_late() {
            return Ok(Some(run_time_limit()));
        }
        let invalid = self.experiment.objections(&found.invalid);
        if !invalid.errors.is_empty() {
            return Err(invalid.into());
        }
        if !found.missing.is_empty() {
            return Err(RunError::Unready(found.missing.join("\n")));
        }
        for text in found.doubtful.into_iter().chain(found.notes) {
            announce(Event::Warning { text });
        }
        Ok(None)
    }

    fn trials(&mut self, first: NextTrial, announce: Announce) -> Result<RunEnd, RunError> {
        let mut next = first;
        loop {
            if let Some(end) = self.stop_before(next, announce) {
                return Ok(end);
            }
            if let Some(end) = self.trial(next, announce)? {
                return Ok(end);
            }
            match self.next(announce) {
                Some(trial) => next = trial,
                None => return Ok(RunEnd::Completed(self.schedule.tally())),
            }
        }
    }

    /// The next trial; tells of those that adaptive repeats, or the design, have made needless.
    fn next(&mut self, announce: Announce) -> Option<NextTrial> {
        let before = self.schedule.needless;
        let next = self.schedule.next();
        for text in std::mem::take(&mut self.schedule.departures) {
            announce(Event::CandidateLeft { text });
        }
        // A candidate that runs again after a failure makes fewer needless.
        let trials = self.schedule.needless.saturating_sub(before);
        if trials > 0 {
            announce(Event::RepeatsEnough { trials });
        }
        next
    }

    /// Returns whether the session ends before this trial: interrupted, out of time, or at a manual
    /// step.
    fn stop_before(&mut self, next: NextTrial, announce: Announce) -> Option<RunEnd> {
        if self.options.interrupt.requested() {
            return Some(RunEnd::Interrupted);
        }
        if self.run_deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Some(run_time_limit());
        }
        // What a shell runs cannot be kept from changing under it.
        let mut programs = self.experiment.files.iter().filter(|file| file.is_program);
        if let Some(file) = programs.find(|file| !file.is_unchanged()) {
            let text = format!(
                "{}: {} has changed since the run started; restore the original file",
                file.named_by, file.path
            );
            return Some(RunEnd::Limit { text });
        }
        // It was the step at which the run stopped that was done, no later one.
        let done_before = std::mem::take(&mut self.options.choices.manual_done);
        // Several steps that are due together are one stop: resuming confirms all of them.
        let steps = self.manual_steps(next.planned);
        if steps.is_empty() {
            return None;
        }
        let text = steps.join(" ");
        announce(Event::ManualStep { text: text.clone() });
        let done = match &mut self.options.manual {
            _ if done_before => true,
            Manual::Ask(ask) => ask(&text),
            Manual::Stop => false,
        };
        (!done).then_some(RunEnd::ManualStep { text })
    }

    /// Returns the manual steps before this trial; in another set-up all of them, also where the
    /// level stays.
    fn manual_steps(&self, next: PlannedTrial) -> Vec<String> {
        let configurations = &self.experiment.configurations;
        let previous = self.previous.filter(|(_, setup)| *setup == next.setup);
        let previous = previous.map(|(previous, _)| &configurations[previous]);
        let changes = self.plan.changes(previous, &configurations[next.configuration]);
        changes
            .iter()
            .filter_map(|level| {
                let factor =
                    self.experiment.factors.iter().find(|factor| factor.name == level.factor)?;
                Some(factor.manual.as_ref()?.replace("{level}", &level.label))
            })
            .collect()
    }

    /// Runs and records one trial; says when the session ends with it.
    fn trial(&mut self, next: NextTrial, announce: Announce) -> Result<Option<RunEnd>, RunError> {
        let experiment = self.experiment;
        let configuration = &experiment.configurations[next.planned.configuration];
        let reference = TrialRef {
            sequence: next.planned.sequence,
            block: next.planned.block,
            attempt: next.attempt,
            configuration: configuration.label(),
        };
        announce(Event::TrialStarted { trial: reference.clone() });
        let (start, started_ms) = (Instant::now(), now_ms());
        let mut hooks = Vec::new();
        let outcome = self.attempt(configuration, next, &mut hooks, announce)?;
        announce_hooks(hooks.clone(), announce);
        let (status, observations) = match outcome {
            Outcome::Stopped(CancelReason::RunTime) => return Ok(Some(run_time_limit())),
            Outcome::Stopped(_) => return Ok(Some(RunEnd::Interrupted)),
            Outcome::Down(text) => return Ok(Some(RunEnd::Limit { text })),
            _ if self.options.interrupt.requested() && matches!(outcome, Outcome::Failed(_)) => {
                return Ok(Some(RunEnd::Interrupted));
            }
            Outcome::Failed(Failed { cause, kind, observations }) => {
                // Messages of servers and programs; those of an agent leave its machine.
                let cause = redacted_message(&cause);
                (TrialStatus::Failed { cause, kind }, observations.map(|observed| *observed))
            }
            Outcome::Done(mut observations) => {
                observations
                    .warnings
                    .extend(self.schedule.other_plan(next.planned.configuration, &observations));
                (TrialStatus::Done, Some(*observations))
            }
        };
        let record = TrialRecord {
            configuration: next.planned.configuration,
            block: next.planned.block,
            setup: next.planned.setup,
            sequence: next.planned.sequence,
            attempt: next.attempt,
            started_ms,
            wall_s: start.elapsed().as_secs_f64(),
            status,
            observations,
            hooks,
            machine: None,
        };
        self.session.store.record_trial(self.session.run, &record)?;
        if let Some(part) = &mut self.options.part {
            (part.take)(ReportContent::Trial(Box::new(record.clone())));
        }
        self.schedule.record_own(&record);
        self.previous = Some((record.configuration, record.setup));
        let failure = match &record.status {
            TrialStatus::Failed { cause, .. } => Some((record.configuration, cause.clone())),
            TrialStatus::Done => None,
        };
        finished(&mut self.schedule, reference, record, announce);
        Ok(failure.and_then(|(configuration, cause)| {
            give_up(experiment, &self.schedule, configuration, cause, announce)
        }))
    }

    /// The limits of a trial of a configuration that begins now, on these folders.
    fn limit(&self, configuration: usize, folders: Vec<PathBuf>) -> Limit {
        let trial_time_s = self.experiment.get(TRIAL_TIME_S);
        Limit {
            trial_time_s,
            // An Instant cannot be arbitrarily late: cap the limit at a century.
            trial_deadline: Instant::now() + Duration::from_secs_f64(trial_time_s.min(4e9)),
            run_deadline: self.run_deadline,
            futile: self.options.choices.futile.get(configuration).cloned().flatten(),
            disk_space_bytes: self.experiment.get(DISK_SPACE_BYTES),
            folders,
        }
    }

    /// Volumes, hooks and the trial itself.
    fn attempt(
        &mut self,
        configuration: &Configuration,
        next: NextTrial,
        hooks: &mut Vec<HookOutput>,
        announce: Announce,
    ) -> Result<Outcome, RunError> {
        let block = next.planned.block;
        let engine = self.options.registry.engine(&configuration.get(ENGINE));
        let probe = self.options.registry.probe(&configuration.get(PROBE));
        let (Some(engine), Some(probe)) = (engine, probe) else {
            return Ok(Outcome::failed("unknown engine or probe"));
        };
        let set_up = probe.set_up(configuration, &Target::for_engine(engine, configuration));
        let identity = set_up.as_ref().map(|set_up| set_up.identity());
        let is_kept = identity == self.set_up.as_ref().map(|set_up| set_up.identity())
            && !self.is_other_setup(next.planned.setup);
        if !is_kept {
            self.end_set_up(announce);
        }
        let problems = self.leave_setup(next.planned.setup, hooks);
        if !problems.is_empty() {
            let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
            return Ok(Outcome::failed(problems.join("; ")));
        }
        self.hosts.release_unless(engine.name, &self.volumes.used_by(configuration));
        match self.volumes.change_to(configuration, block, hooks) {
            Err(cause) => return Ok(Outcome::failed(cause.to_string())),
            // A killed run's folders can appear with the file system that a command has mounted.
            Ok(prepared) => prepared.iter().for_each(|volume| {
                announce_removed(self.workdir.remove_orphans(Path::new(&volume.path)), announce);
            }),
        }
        let variables = variables_of_trial(self.experiment, configuration, block);
        if let Err(cause) = self.hook(BEFORE_TRIAL, &self.options.interrupt, &variables, hooks) {
            return Ok(Outcome::failed(cause.to_string()));
        }
        let volumes = self.volumes.used_by(configuration);
        let folders = volumes.iter().map(|volume| PathBuf::from(&volume.path));
        let folders = folders.chain([self.workdir.parent(engine.name).to_path_buf()]);
        let limit = self.limit(next.planned.configuration, folders.collect());
        let (seed, interrupt) = (self.plan.data_seed(block), &self.options.interrupt);
        let HostForTrial { entry: kept, others } =
            match self.hosts.host(engine, &volumes, &self.workdir)? {
                Ok(hosts) => hosts,
                Err(cause) => return Ok(Outcome::failed(cause.to_string())),
            };
        if !is_kept {
            self.set_up = set_up;
        }
        let set_up = self.set_up.as_deref().filter(|_| !is_kept);
        let generation = self.options.generation();
        let disturbances = self.options.registry.disturbances;
        let trial = Trial {
            configuration,
            engine,
            probe,
            disturbances,
            limit,
            seed,
            interrupt,
            generation,
            set_up,
        };
        let outcome = trial.run(kept, others, announce);
        // After a failure the next trial begins with nothing that the failure can have left.
        if !matches!(outcome, Outcome::Done(_)) {
            self.end_set_up(announce);
            self.hosts.release();
        } else if !engine.abilities.contains(&engine::Ability::Keeps) {
            self.hosts.release_last();
        }
        // What cleans up after a trial runs to its end, also when the user interrupts.
        match self.hook(AFTER_TRIAL, &Interrupt::default(), &variables, hooks) {
            Err(cause) if matches!(outcome, Outcome::Done(_)) => {
                Ok(Outcome::failed(cause.to_string()))
            }
            _ => Ok(outcome),
        }
    }

    fn is_other_setup(&self, setup: u32) -> bool {
        self.previous.is_some_and(|(_, previous)| previous != setup)
    }

    /// Ends what trials have shared. What cannot be ended fails no trial: all have been recorded.
    fn end_set_up(&mut self, announce: Announce) {
        let Some(set_up) = self.set_up.take() else { return };
        let text = match set_up.end() {
            Err(error) => error.to_string(),
            Ok(killed) if killed.is_empty() => return,
            Ok(killed) => {
                format!("killed {}, left running by the setup command", killed.join(", "))
            }
        };
        announce(Event::Warning { text });
    }

    /// Ends what the set-up before has left, so that each set-up begins without it. Returns the
    /// problems.
    fn leave_setup(&mut self, setup: u32, hooks: &mut Vec<HookOutput>) -> Vec<VolumeError> {
        if !self.is_other_setup(setup) {
            return Vec::new();
        }
        self.hosts.release();
        self.volumes.clean_all(hooks)
    }

    /// Runs a hook, if there is one, until `interrupt` is requested.
    fn hook(
        &self,
        command_of: Setting<Option<String>>,
        interrupt: &Interrupt,
        variables: &[(String, String)],
        hooks: &mut Vec<HookOutput>,
    ) -> Result<(), HookError> {
        let Some(command) = self.experiment.get(command_of) else { return Ok(()) };
        let limit = HookLimit {
            setting: HOOKS_TIMEOUT_S.path(),
            timeout_s: self.experiment.get(HOOKS_TIMEOUT_S),
        };
        let name = command_of.path().trim_start_matches("hooks.").to_owned();
        let (variables, is_hidden) = (variables.to_vec(), self.experiment.hides_commands());
        Hook { name, command: &command, is_hidden, variables, limit }.run(interrupt, hooks)
    }

    fn hook_around_run(
        &self,
        command: Setting<Option<String>>,
        interrupt: &Interrupt,
        announce: Announce,
    ) -> Result<(), RunError> {
        let variables = variables_of_run(self.experiment);
        let mut hooks = Vec::new();
        let result = self.hook(command, interrupt, &variables, &mut hooks);
        announce_hooks(hooks, announce);
        Ok(result?)
    }
}

fn announce_hooks(hooks: Vec<HookOutput>, announce: &mut dyn FnMut(Event)) {
    for hook in hooks {
        announce(Event::Hook(hook));
    }
}
