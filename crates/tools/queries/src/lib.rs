//! `steelbench queries` and `capture`: a server's statements, tables and indexes, and what follows
//! from their counters.
//!
//! - [`QueriesTool`], [`Capture`]: the commands; `watch`: intervals in a results file;
//!   `try_change`: an index as an experiment
//! - [`StatementHistory`]: what changed from interval to interval; [`PlanWatch`]: what became
//!   slower with another plan
//! - [`between`]: the interval between two snapshots; [`record`] and [`joined`]: recorded intervals
//! - [`attach_logged`]: plans of a log, with their statements
//! - `sheets`, `server_sheets`, `plan_files`: the workbook and the plans beside it
//! - [`examine`]: the indexes that statements use, and advice

mod advice;
mod arguments;
mod capture;
mod command;
mod connection;
mod cross;
mod document;
mod examine;
mod history;
mod history_document;
mod interval;
mod logged;
mod machine;
mod plan_files;
mod plan_texts;
mod plan_watch;
mod query;
mod record;
mod recorded;
mod server_facts;
mod server_sheets;
mod sheets;
mod statement_log;
mod try_change;
mod watch;
mod words;

pub use arguments::QueriesTool;
pub use capture::Capture;
pub use cross::{IndexUse, index_uses};
pub use examine::{Queries, examine, keep};
pub use history::{SampledWait, StatementChange, StatementHistory};
pub use interval::between;
pub use logged::{attach_logged, with_values};
pub use plan_watch::PlanWatch;
pub use record::{joined, record};
pub use recorded::Intervals;
