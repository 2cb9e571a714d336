//! `steelbench profile`: the code in which processes or a command spend their CPU time.
//!
//! - `tool`: arguments; `compare`: two profiles; `document`: pages
//! - `summary`: a profile summed up; `tables`: its parts on pages; `flame`: the tree of its stacks
//! - `section`: the profiles of a run's trials in its report

mod compare;
mod document;
mod flame;
mod section;
mod summary;
mod tables;
mod tool;

pub use compare::{ProfileComparison, compare_profiles};
pub use document::{folded, profile_comparison, profile_document};
pub use flame::{FlameNode, flame, svg};
pub use summary::{merged, profile, profiles};
pub use tool::ProfileTool;

report::sections! {
    /// The code that profiled trials spent their processor time in.
    pub const SECTIONS = |summary| {
        Code profiles: &profiles(summary) => section::sections;
    }
}
