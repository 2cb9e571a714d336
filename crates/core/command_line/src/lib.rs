//! The seam of the command line: what a command is, and what every command needs.
//!
//! - [`Tool`]: a command, by the arguments that clap derives; [`Command`]: its line in the registry
//! - [`Context`]: the registry of the binary, which each command gets; [`run`]: its `main`
//! - [`Failure`]: why a command failed, with its exit code
//! - [`output`]: terminal and JSON; [`files`]: files that are written as a whole
//! - [`results`]: results files by name; [`select`]: configurations by their levels
//! - [`session`]: experiments that a command runs, with [`progress`]
//! - [`servers`]: servers by URL; [`arguments`]: options that several commands have
//! - [`signals`]: interruption; `passwords`: hides those of our
//!   own arguments

pub mod arguments;
mod comparison;
mod context;
mod failure;
pub mod files;
pub mod output;
mod passwords;
pub mod progress;
pub mod ready;
mod records;
pub mod results;
pub mod select;
pub mod servers;
pub mod session;
pub mod signals;
mod tool;

pub use comparison::{CompareRuns, Comparisons, HistoryPart, Responses, RunDocument};
pub use context::run;
pub use failure::{ExitCode, Failure};
pub use records::{History, Place, Records, Which};
pub use tool::{
    AddHistoryPart, Build, Chapter, Command, Context, RunAction, RunOptions, RunPlace, Tool,
};
