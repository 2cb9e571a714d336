//! `steelbench plan`: execution plans in files, explained without a server.
//!
//! - [`Plan`]: the command; `found`: plans in files and folders; `document`: the report
//!
//! And the plans that trials of a run had, in its report:
//!
//! - [`recorded`]: the different plans of each statement; `operators`: a plan in short
//! - `finding`: statements whose plan depends on a level; `section`

mod command;
mod document;
mod finding;
mod found;
mod operators;
pub mod recorded;
mod section;

pub use command::Plan;

use analysis::Study;

/// The part of this tool in the analysis of a run.
pub const STUDY: Study = Study { findings: Some(finding::find), ..Study::of_every_probe() };

report::sections! {
    /// The plans of a run's statements.
    pub const SECTIONS = |summary| {
        Plans plans: &recorded::plans(summary) => section::section;
    }
}
