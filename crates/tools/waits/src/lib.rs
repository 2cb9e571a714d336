//! `steelbench waits`: the waits of a server that is observed now, or was.
//!
//! - `tool`: arguments; `watch`: the whole screen; `recorded`: observations in results files
//! - `summary`: from an observation to its figures, and two of them compared
//! - `observation`, `document`: these as pages and JSON

mod document;
mod observation;
mod recorded;
mod screen;
pub mod summary;
mod tool;
mod watch;

pub use document::{ActivityView, activity, compared_activities};
pub use recorded::Observations;
pub use tool::Waits;
