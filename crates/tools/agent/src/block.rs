//! Whole blocks of a plan on this machine, and the reports on them.

use crate::bundle::{Bundle, NO_CONFIGURATION, permit, plan_of, refuse};
use crate::error::AgentError;
use crate::message::{BlockOrder, Reply, decode_reply, encode_result, unpack};
use crate::part::{Control, Voice};
use engine::{Permits, lock};
use experiment::Experiment;
use experiment::common::PROBE;
use observations::{FailureKind, RunEnd, TrialRecord, TrialStatus, redacted_message};
use runner::{
    BlockPart, Interrupt, Manual, Options, PlanPart, Registry, ReportContent, RunChoices,
    WorkFolder,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Prefix of the names of our folders, and the text of their markers.
const PREFIX: &str = "steelbench-machine-";
const OWNER: &str = "agent of steelbench\n";
/// A report that was not accepted for this long is sent again.
const AGAIN_EVERY: Duration = Duration::from_secs(1);
/// Reports that wait to be accepted; the next trial waits while there are more.
const WAITING_MAX: usize = 64;

/// Removes folders of agents that were killed here.
pub fn remove_abandoned(registry: Registry, folder: &Path) {
    WorkFolder::remove_abandoned(registry, folder, PREFIX, OWNER);
}

/// Reports that the coordinator has not accepted, in order.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    waiting: Mutex<BTreeMap<u64, Waiting>>,
    changed: Condvar,
}

#[derive(Debug)]
struct Waiting {
    trial: u64,
    bytes: Vec<u8>,
    sent: Option<Instant>,
}

impl Outbox {
    /// Returns whether a report waits to be accepted.
    pub fn is_waiting(&self) -> bool {
        !lock(&self.waiting).is_empty()
    }

    /// Takes a report out.
    pub fn accept(&self, trial: u64, number: u64) {
        lock(&self.waiting).retain(|lock, waiting| *lock != number || waiting.trial != trial);
        self.changed.notify_all();
    }

    /// Forgets all reports.
    pub fn clear(&self) {
        lock(&self.waiting).clear();
        self.changed.notify_all();
    }

    /// Sends the reports that are due.
    pub fn send(&self, voice: &Voice) {
        for waiting in lock(&self.waiting).values_mut() {
            if waiting.sent.is_none_or(|sent| sent.elapsed() >= AGAIN_EVERY) {
                waiting.sent = Some(Instant::now());
                voice.publish(waiting.bytes.clone());
            }
        }
    }

    fn put(&self, trial: u64, number: u64, bytes: Vec<u8>, control: &Control) {
        let mut waiting = lock(&self.waiting);
        while waiting.len() >= WAITING_MAX && !control.is_ended() {
            let wait = self.changed.wait_timeout(waiting, AGAIN_EVERY);
            waiting = wait.unwrap_or_else(PoisonError::into_inner).0;
        }
        if !control.is_ended() {
            waiting.insert(number, Waiting { trial, bytes, sent: None });
        }
    }
}

/// An order with what the agent needs to follow it.
pub(crate) struct BlockTask {
    /// The order.
    pub order: BlockOrder,
    /// Ends it.
    pub control: Arc<Control>,
    /// How the agent speaks.
    pub voice: Voice,
    /// The reports.
    pub outbox: Arc<Outbox>,
    /// Engines and probes.
    pub registry: Registry,
    /// Probes that the owner permits.
    pub allowed: Vec<String>,
    /// The owner permits commands.
    pub commands: bool,
    /// Parent of the folder of the trials.
    pub folder: PathBuf,
    /// The number of the last report.
    pub number: Mutex<u64>,
}

impl BlockTask {
    /// Runs the part of the plan and reports on it.
    pub fn work(self) {
        let task = Arc::new(self);
        // It leaves this machine, and only here are its secrets known.
        let cause = task.run().map_err(|error| redacted_message(&error.to_string())).err();
        task.report(&ReportContent::Ended(cause));
    }

    fn run(self: &Arc<Self>) -> Result<(), AgentError> {
        let bundle = Bundle::fetch(&self.voice.sender, &self.order.bundle)?;
        let folder = WorkFolder::create(&self.folder, PREFIX, OWNER);
        let path = self.folder.clone();
        let folder = folder.map_err(|source| AgentError::File { path, source })?;
        let place = folder.path().join("experiment");
        let experiment =
            bundle.experiment(self.registry, &place, |experiment| self.permitted(experiment))?;
        if plan_of(&experiment) != self.order.plan {
            let message = "its configurations differ from those of the run: are other engines \
                           installed there?";
            return Err(AgentError::Order(message.into()));
        }
        let (blocks, configurations) =
            (self.order.blocks.clone(), self.order.configurations.clone());
        if configurations
            .iter()
            .any(|configuration| *configuration >= experiment.configurations.len())
        {
            return Err(AgentError::Order(NO_CONFIGURATION.into()));
        }
        let task = self.clone();
        let take = move |content: ReportContent| task.report(&content);

        let options = Options {
            registry: self.registry,
            choices: RunChoices {
                results: folder.path().join("results.steelbench"),
                permits: Permits { is_confined: !self.commands, ..Permits::default() },
                ..RunChoices::default()
            },
            interrupt: Interrupt::from(self.control.interrupt()),
            manual: Manual::Stop,
            part: Some(PlanPart {
                part: BlockPart { blocks, configurations },
                take: Box::new(take),
            }),
        };
        let end = runner::run(&experiment, options, &mut |_| {});
        match end.map_err(|error| AgentError::Order(error.to_string()))? {
            RunEnd::Completed(_) | RunEnd::Interrupted => Ok(()),
            RunEnd::Failing { cause, .. } => Err(AgentError::Order(cause)),
            RunEnd::Limit { text } | RunEnd::ManualStep { text } => Err(AgentError::Order(text)),
        }
    }

    /// Returns an error if the owner does not permit all that an experiment does.
    fn permitted(&self, experiment: &Experiment) -> Result<(), AgentError> {
        for configuration in &experiment.configurations {
            permit(&self.allowed, &configuration.get(PROBE))?;
        }
        if self.commands {
            return Ok(());
        }
        refuse(runner::reach_beyond(self.registry, experiment, Some(&self.folder)))
    }

    fn report(&self, content: &ReportContent) {
        let mut number = lock(&self.number);
        *number += 1;
        let bytes = self.packed(*number, content);
        self.outbox.put(self.order.trial, *number, bytes, &self.control);
        self.outbox.send(&self.voice);
    }

    /// A report as it is sent: of a trial that is too large, or that a reader would not
    /// understand, its failure.
    fn packed(&self, number: u64, content: &ReportContent) -> Vec<u8> {
        let readable = self.encoded(number, content).and_then(|message| {
            if let (Reply::Report { bytes, .. }, packed) = decode_reply(&message)? {
                unpack::<ReportContent>(packed, bytes)?;
            }
            Ok(message)
        });
        readable.unwrap_or_else(|error| {
            let cause = format!("its record cannot be sent: {error}");
            let content = match content {
                ReportContent::Trial(trial) => ReportContent::Trial(Box::new(TrialRecord {
                    status: TrialStatus::Failed { cause, kind: FailureKind::Error },
                    observations: None,
                    hooks: Vec::new(),
                    ..trial.as_ref().clone()
                })),
                ReportContent::Environment(_) | ReportContent::Ended(_) | ReportContent::Lost => {
                    ReportContent::Ended(Some(cause))
                }
            };
            self.encoded(number, &content).unwrap_or_default()
        })
    }

    fn encoded(&self, number: u64, content: &ReportContent) -> Result<Vec<u8>, AgentError> {
        let trial = self.order.trial;
        encode_result(content, |bytes| Reply::Report { trial, number, bytes })
    }
}
