//! Study S3e: where the optimizer changes its plan, where it should by time, and how far its
//! estimates are off.
//!
//! - `template`: a query with one varied predicate; `settings`: settings and objections
//! - `dials`: a table whose columns depend on each other, with exact truth; `made`: the
//!   tables that a trial makes
//! - `optimizer`: what differs between engines; `postgres`, `mariadb`, ...: their adapters
//! - `ask`: questions to the engine before the measurement
//! - `by_plan`: changes of the plan, by bisection; `diagram`: plans over two selectivities
//! - `counts`: rows that were counted before; `parallel`: where parallel plans begin and pay over
//!   the selectivity; `size_by_plan`, `sizes`: the same over the size of the table
//! - `forcing`: how an alternative is forced
//! - `estimates`: q-errors of operators; `appended`: rows that statistics do not know yet
//! - `prepare`: these parts of a trial; `probe`: the trial
//! - `facts`: what a trial records
//! - `times`: times by block; `analysis`: the crossover by time; `diagram_analysis`: the same over
//!   two selectivities; `estimate_analysis`: errors over trials; `losses`: the choice for each
//!   query of a folder
//! - `study`, `size_finding`, `section`, `diagram_section`, `size_section`: findings, and sections
//!   of reports; `wording`: parts of sentences

pub mod analysis;
mod appended;
mod ask;
mod by_plan;
mod counts;
mod diagram;
pub mod diagram_analysis;
mod diagram_section;
mod dials;
mod duckdb;
mod engines;
pub mod estimate_analysis;
mod estimates;
pub mod facts;
mod forcing;
pub mod losses;
mod made;
mod mariadb;
mod optimizer;
pub mod parallel;
mod postgres;
mod prepare;
mod probe;
mod section;
mod settings;
mod size_by_plan;
mod size_finding;
mod size_section;
pub mod sizes;
mod sqlite;
mod sqlserver;
mod study;
mod template;
mod times;
mod wording;

pub use engines::for_engine;
pub use probe::OptimizerProbe;
pub use study::STUDY;

report::sections! {
    /// The sections of reports.
    pub const SECTIONS = |summary| {
        Statements crossovers: &crate::analysis::crossovers(summary)
            => section::crossovers [screen];
        Statements parallel_sizes: &crate::sizes::sizes(summary) => size_section::sections [screen];
        Statements plan_diagrams: &crate::diagram_analysis::diagrams(summary)
            => diagram_section::diagrams [screen];
        Statements query_choices: &crate::losses::losses(summary) => section::losses [screen];
        Statements estimates: &crate::estimate_analysis::figures(summary)
            => section::estimates [screen];
    }
}
