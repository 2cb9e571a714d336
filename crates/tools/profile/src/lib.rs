//! `steelbench profile`: the code in which processes or a command spend their CPU time.
//!
//! - `tool`: arguments; `compare`: two profiles; `document`: pages

mod compare;
mod document;
mod tool;

pub use compare::{ProfileComparison, compare_profiles};
pub use document::{folded, profile_comparison, profile_document};
pub use tool::ProfileTool;
