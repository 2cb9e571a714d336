//! One trial: prepare a target, run the probe under watch, remove the target.

use crate::hosts::Kept;
use crate::watchdog::{Interrupt, Limit, watched};
use engines::{Cancel, CancelReason, Engine, EngineError};
use experiment::Configuration;
use observations::{Event, Observations};
use probes::{Probe, ProbeError, Target, TrialContext};
use std::sync::Mutex;

/// What a trial is and what it works with.
pub struct Trial<'a> {
    pub configuration: &'a Configuration,
    pub engine: &'static dyn Engine,
    pub probe: &'static dyn Probe,
    pub limit: Limit,
    pub seed: u64,
    pub interrupt: &'a Interrupt,
}

/// How a trial ended.
pub enum Outcome {
    /// Measured to the end.
    Done(Box<Observations>),
    /// Not measured to the end, for this cause.
    Failed(String),
    /// Not to be recorded: the run stops.
    Stopped(CancelReason),
}

impl Trial<'_> {
    /// Runs the trial on a target of this host.
    pub fn run(&self, kept: &mut Kept, announce: &mut (dyn FnMut(Event) + Send)) -> Outcome {
        let cancel = Cancel::new();
        announce(Event::Step { text: format!("preparing {}", self.engine.name()) });
        let connections = self.probe.connections(self.configuration);
        let prepare = || kept.host.prepare(self.configuration, connections, &cancel);
        let instance = match watched(&self.limit, &cancel, self.interrupt, None, prepare) {
            Ok(instance) => instance,
            Err(error) => return failed(&error, &cancel, None),
        };
        let announce = Mutex::new(announce);
        let result = watched(&self.limit, &cancel, self.interrupt, Some(instance.as_ref()), || {
            self.probe.run(&TrialContext {
                configuration: self.configuration,
                instance: instance.as_ref(),
                target: Target::of(self.engine, self.configuration),
                storage: &kept.storage,
                seed: self.seed,
                cancel: &cancel,
                progress: &|progress| {
                    if let Ok(mut announce) = announce.lock() {
                        announce(progress);
                    }
                },
            })
        });
        // Read while the target is still there.
        let log = if result.is_err() { instance.log_tail() } else { None };
        let removed = instance.remove();
        match (result, removed) {
            (Ok(_), _) if cancel.reason() == Some(CancelReason::DiskSpace) => {
                failed(&EngineError::Cancelled, &cancel, log)
            }
            (Ok(mut observations), Ok(())) => {
                observations.warnings.extend(analysis::health::warnings(&observations));
                Outcome::Done(Box::new(observations))
            }
            (Ok(_), Err(error)) => Outcome::Failed(format!("removing the target: {error}")),
            (Err(error), removed) => {
                let outcome = match error {
                    ProbeError::Engine(error) => failed(&error, &cancel, log),
                    error => Outcome::Failed(error.to_string()),
                };
                match (outcome, removed) {
                    (Outcome::Failed(cause), Err(error)) => {
                        Outcome::Failed(format!("{cause}\nand it could not be removed: {error}"))
                    }
                    (outcome, _) => outcome,
                }
            }
        }
    }
}

fn failed(error: &EngineError, cancel: &Cancel, log: Option<String>) -> Outcome {
    match (error, cancel.reason()) {
        (EngineError::Cancelled, Some(CancelReason::TrialTime)) => {
            Outcome::Failed("took longer than limits.trial_time".into())
        }
        (EngineError::Cancelled, Some(CancelReason::DiskSpace)) => Outcome::Failed(
            "used more space than limits.disk_space allows, or a volume is nearly full".into(),
        ),
        (EngineError::Cancelled, Some(reason)) => Outcome::Stopped(reason),
        _ => Outcome::Failed(match log {
            Some(log) => format!("{error}\nthe server's log ends with:\n{log}"),
            None => error.to_string(),
        }),
    }
}
