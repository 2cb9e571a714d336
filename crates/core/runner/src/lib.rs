//! The one orchestrator: from a plan to recorded trials.
//!
//! - `catalog`: what engines and probes there are, and what they object to
//! - `untrusted`: the limits of untrusted experiments
//! - `begin`: a new run, or the resumption of a stopped one
//! - `schedule`: which trial is next, and how far a recorded run has come
//! - `preflight`: problems that would prevent the first trial; `rehearsal`: those that only an
//!   engine that works can find
//! - `failures`: what fails again and again for the same cause
//! - `trial`: prepare a target, run the probe under limits, remove the target; `reading`: how far
//!   the preparation has come
//! - `hosts`: what consecutive trials share
//! - `workdir`: folders with a marker that says whose they are
//! - `volumes`, `hooks`: what happens around trials
//! - `throttle`: volumes that are slower than their device
//! - `options`: how a run continues; `run`: all of it in order; `settled`: consequences of a trial
//! - `machines`: other machines that run blocks; `spread`: which of them runs what
//! - `error`: why a run could not begin or continue

mod begin;
mod catalog;
mod error;
mod failures;
mod hooks;
mod hosts;
mod machines;
mod options;
mod preflight;
mod reading;
mod rehearsal;
mod run;
mod schedule;
mod settled;
mod spread;
mod throttle;
mod trial;
mod untrusted;
mod volumes;
mod workdir;

pub use catalog::{Adapter, Registry, load};
pub use error::{FolderError, HookEnd, HookError, RunError, ThrottleError};
pub use machines::{
    BlockPart, Machine, MachineError, Machines, Report as MachineReport, ReportContent,
};
pub use options::{Agents, Manual, Options, PlanPart, RunChoices};
pub use preflight::{Findings, preflight};
pub use rehearsal::{RefusedStatement, Rehearsal, rehearse};
pub use run::run;
pub use schedule::{Outlook, outlook};
pub use throttle::limits_permitted;
pub use trial::{FREE_BYTES_MIN, Futile, Interrupt, RateWatch};
pub use untrusted::{reach_beyond, reach_of_trials};
pub use workdir::WorkFolder;
