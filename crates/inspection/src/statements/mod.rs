//! The nouns of a server's statements, tables and indexes: plain data, with one vocabulary of
//! [`Counter`]s for all engines.
//!
//! - [`Snapshot`]: the counters of a server at one time: [`Statement`], [`Table`], [`Index`]
//! - [`TableStatistics`], [`DataFile`]: the optimizer's statistics and the files of a server
//! - [`Advice`]: a finding about them, with its evidence
//! - [`Captured`]: two snapshots in a file; [`StatementLogs`]: runs in logs
//! - `text`: [`fingerprint`] and [`skeleton`] of a statement's text; `script`: statements of
//!   scripts
//! - [`Rules`]: the differences between engines that texts and advice depend on

mod advice;
mod captured;
mod counter;
mod logs;
mod model;
mod rules;
mod script;
mod statement;
mod storage;
mod text;

pub use advice::{Advice, AdviceKind, Certainty, Hypothetical, TimeShare};
pub use captured::{Captured, CapturedTexts, HypotheticalIndex};
pub use counter::{Counter, Unit};
pub use logs::{LoggedRun, StatementLogs};
pub use model::{Column, ForeignKey, Index, Key, Missed, Overflow, Snapshot, Span, Table};
pub use rules::{
    IndexAbilities, InfixIndex, NewIndex, Rules, Upkeep, drop_by_name, drop_of_table, key_name,
};
pub use script::{ScriptStatement, script_statements};
pub use statement::{CountedRow, Origin, Percentiles, PlanText, Spread, Statement, StatementPlan};
pub use storage::{DataFile, FileIo, HistogramStep, TableStatistics};
pub use text::{aliases, condition, fingerprint, has_names, skeleton};
