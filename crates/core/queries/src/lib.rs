//! The nouns of a server's statements, tables and indexes: plain data, with one vocabulary of
//! [`Counter`]s for all engines.
//!
//! - [`Snapshot`]: the counters of a server at one time: [`Statement`], [`Table`], [`Index`]
//! - [`Advice`]: a finding about them, with its evidence
//! - [`Captured`]: two snapshots in a file
//! - `text`: [`fingerprint`] and [`skeleton`] of a statement's text

mod advice;
mod captured;
mod counter;
mod model;
mod statement;
mod text;

pub use advice::{Advice, AdviceKind, Certainty, Hypothetical};
pub use captured::{Captured, Thought};
pub use counter::{Counter, Unit};
pub use model::{Column, ForeignKey, Index, Key, Missed, Snapshot, Span, Table};
pub use statement::{Origin, Spread, Statement, StatementPlan};
pub use text::{aliases, condition, fingerprint, has_names, skeleton, syntax};
