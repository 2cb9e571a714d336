//! Any command as the load, started again and again, with what it and all that
//! it starts uses.
//!
//! - `template`: commands with parameters in braces, shells and words
//! - `draws`: parameters drawn for each block; `covariates`: how the response depends on them
//! - `job`: what a configuration runs, read from its settings, with the objections to it
//! - `run`: one run of a command or a hook
//! - `set_up`: the setup and cleanup commands around consecutive trials
//! - `error`: why a command has no figures
//! - `lane`: the loop of one thread, which runs the command, its hooks and its warm-ups
//! - `answer`: responses of the user's own, found in what is printed
//! - `quick`: `steelbench time`; `brief`: what it prints; `hyperfine`: the files of its exports
//! - `outcome`: from the runs to the observations of the trial

mod answer;
mod arguments;
mod brief;
mod covariates;
mod draws;
mod error;
mod hyperfine;
mod job;
mod lane;
mod outcome;
mod probe;
mod quick;
mod run;
mod section;
mod set_up;
mod template;

pub use crate::probe::*;
pub use answer::Better;
pub use covariates::{Covariate, Dependence};
pub use draws::DRAWN;
pub use error::{AnswerError, CommandEnd, CommandError};
pub use job::{ExitCodes, Job};
pub use quick::TIME;
pub use set_up::CommandSetUp;
pub use template::escaped;

use self::covariates::covariates;

report::sections! {
    /// The sections of reports.
    pub const SECTIONS = |summary| {
        Factors covariates: &covariates(summary) => section::section;
    }
}
