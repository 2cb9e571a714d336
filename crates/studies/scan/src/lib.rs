//! Studies S2c and S3b: the cost of reading all rows of a table; `compression`: what compression
//! costs and saves, from runs of this and other probes.

mod aggregates;
pub mod analysis;
pub mod compression;
pub mod demand;
mod demand_section;
mod named_queries;
mod probe;
mod section;
pub mod speed_up;
mod speed_up_section;
mod study;

pub use named_queries::named_query;
pub use probe::*;
pub use study::STUDY;

use self::analysis::costs;
use demand::demands;
use speed_up::speed_ups;

report::sections! {
    /// The sections of reports.
    pub const SECTIONS = |summary| {
        Cost costs: &costs(summary) => section::sections [screen];
        Cost speed_ups: &speed_ups(summary) => speed_up_section::sections [screen];
        Cost scan_demands: &demands(summary) => demand_section::sections;
    }
}
