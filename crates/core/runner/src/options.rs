//! How a run continues.

use crate::catalog::Registry;
use crate::machines::{BlockPart, Machines, ReportContent};
use crate::trial::{Futile, Interrupt};
use engine::Permits;
use probe::generation::{Generation, Generators};
use std::path::PathBuf;
use std::sync::Arc;

/// The user's choices for a run.
#[derive(Clone, Default)]
pub struct RunChoices {
    /// The results file.
    pub results: PathBuf,
    /// Begin a new run even if there is one to resume.
    pub fresh: bool,
    /// Run trials again that have failed as often as they may.
    pub retry_failed: bool,
    /// The manual step at which the run stopped has been done.
    pub manual_done: bool,
    /// The user's label of the run.
    pub label: Option<String>,
    /// Files and devices that were there before us and may be written to.
    pub permits: Permits,
    /// Other processes that take part.
    pub agents: Agents,
    /// By configuration, the bound at which a trial is stopped, as it cannot be better than the
    /// best one of a search. Empty: none is.
    pub futile: Vec<Option<Futile>>,
}

/// How a run continues.
pub struct Options {
    /// The engines and probes that experiments can name.
    pub registry: Registry,
    /// The user's choices.
    pub choices: RunChoices,
    /// Asks the run to stop.
    pub interrupt: Interrupt,
    /// Handling of manual steps.
    pub manual: Manual,
    /// The part of the plan that is run for another process; `None`: all of it, for ourselves.
    pub part: Option<PlanPart>,
}

/// Processes that take part in a run.
#[derive(Clone, Default)]
pub struct Agents {
    /// Load generators, if there are any.
    pub generators: Option<Arc<dyn Generators>>,
    /// Machines that run the blocks of an experiment with `[machines]`.
    pub machines: Option<Arc<dyn Machines>>,
}

/// A part of a plan that is run for another process, which records it.
pub struct PlanPart {
    /// The part.
    pub part: BlockPart,
    /// Takes the environment at the beginning, and each trial once it is committed.
    pub take: Box<dyn FnMut(ReportContent) + Send>,
}

impl Options {
    /// Returns where the loads of trials are generated.
    pub fn generation(&self) -> Generation<'_> {
        self.choices.agents.generators.as_deref().map_or(Generation::Here, Generation::Elsewhere)
    }
}

/// Handling of manual steps.
pub enum Manual {
    /// Asks the user and waits; the answer says whether it was done.
    Ask(Box<dyn FnMut(&str) -> bool + Send>),
    /// Stops the run, to be resumed after the step.
    Stop,
}
