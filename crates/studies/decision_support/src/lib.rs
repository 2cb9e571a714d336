//! Decision support: the 22 queries of TPC-H's specification on its tables, or the user's queries
//! on these or on those of TPC-DS; one after the other (power) or in several streams at the same
//! time (throughput).
//!
//! - `trial_queries`: the queries of a trial
//! - `queries`: the queries in SQL that all engines read but for some parts
//! - `parameters`: the values of their parameters, which can be drawn
//! - `refresh`: the refresh functions and their rows
//! - `stream`: the order of a stream, and its requests
//! - `answers`: the published answers at scale 1
//! - `settings`, `probe`: the settings, and a trial
//! - `query_parts`: the time of the session in each query, as a trial records it
//! - `query_times`, `query_section`: these times over blocks, and the queries whose waits differ
//! - `analysis`, `section`: the figures of reports

mod analysis;
mod answers;
mod other_names;
mod parameters;
mod probe;
mod queries;
mod query_parts;
mod query_section;
mod query_times;
mod refresh;
mod section;
mod settings;
mod stream;
mod trial_queries;

pub use crate::analysis::{Cancellation, DecisionSupportFigures, STUDY};
pub use answers::{Row, WrongAnswer, published, verify};
pub use probe::{CANCELLED, DecisionSupport};
pub use queries::{QUERIES, Query};
pub use query_parts::{EventTime, QueryPart, REST, read_parts};
pub use settings::Indexes;

report::sections! {
    /// The sections of reports.
    pub const SECTIONS = |summary| {
        Statements decision_support: &crate::analysis::figures(summary)
            => section::section [screen];
        Statements query_waits:
            crate::query_times::changes(summary).as_ref() => query_section::changes;
    }
}
