//! The study of order entry: the transactions of a wholesale supplier, after the public
//! specification of the industry's benchmark for them (its clauses are named where they count).
//! Results are not comparable with audited ones.
//!
//! - `size`, `tables`, `rows`: the database; `random`: its values and the non-uniform numbers
//! - `kind`: the five kinds of transactions and their decks; `input`: their values
//! - `statements`, `transaction`: their statements and steps in client logic
//! - `procedures`: the transactions as stored procedures
//! - `terminals`: the transactions of a connection; `counts`: their counts, `span`: their time
//! - `analytics`: queries on the same tables at the same time
//! - [`conditions`]: the consistency of the database
//! - `steady`: whether the throughput changed within a trial
//! - `probe`: settings and a trial; `analysis`, `section`: what reports have of it
//! - `slowdown`, `slowdown_section`: order entry and analytics together against each alone

mod analysis;
mod analytics;
pub mod conditions;
mod counts;
mod input;
mod kind;
mod other_names;
mod probe;
mod procedures;
mod random;
mod rows;
mod section;
mod size;
mod slowdown;
mod slowdown_section;
mod span;
mod statements;
mod steady;
mod tables;
mod terminals;
mod transaction;

pub use crate::analysis::{OrderEntryFigures, STUDY};
pub use crate::probe::*;
pub use analytics::{ANALYSES, Analysis, analyses};
pub use counts::{
    BY_NAME, DONE, LINES, REMOTE_LINES, REMOTE_PAYMENTS, REPEATED, ROLLED_BACK, SKIPPED,
};
pub use kind::{Kind, NEW_ORDERS_MAX};
pub use size::Size;
pub use slowdown::{QuerySlowdown, Sessions, Side, Slowdown};
pub use statements::operations;
pub use tables::tables;

report::sections! {
    /// The sections of reports.
    pub const SECTIONS = |summary| {
        Statements order_entry: &crate::analysis::figures(summary) => section::section [screen];
        Statements slowdown: &crate::slowdown::slowdowns(summary) => slowdown_section::section;
    }
}
