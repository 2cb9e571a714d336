//! Study S3e: where the optimizer changes its plan, where it should by time, and how far its
//! estimates are off.
//!
//! - `template`: a query with one varied predicate; `settings`: settings and objections
//! - `dials`: a table whose columns depend on each other, with exact truth
//! - `ask`: questions to the engine before the measurement
//! - `by_plan`: changes of the plan, by bisection; `estimates`: q-errors of operators
//! - `prepare`: these parts of a trial; `probe`: the trial
//! - `facts`: what a trial records
//! - `analysis`: the crossover by time; `estimate_analysis`: errors over trials
//! - `study`, `section`: findings, and sections of reports

pub mod analysis;
mod ask;
mod by_plan;
mod dials;
pub mod estimate_analysis;
mod estimates;
pub mod facts;
mod prepare;
mod probe;
mod section;
mod settings;
mod study;
mod template;

pub use probe::OptimizerProbe;
pub use study::STUDY;

report::sections! {
    /// Its sections of reports.
    pub const SECTIONS = |summary| {
        Statements crossovers: &crate::analysis::crossovers(summary) => section::crossovers;
        Statements estimates: &crate::estimate_analysis::figures(summary) => section::estimates;
    }
}
