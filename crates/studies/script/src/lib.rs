//! The script probe: transactions that the user has written, or pgbench's own, as SQL with
//! variables, random values and conditions. The language is defined by pgbench's manual page
//! (PostgreSQL 15 to 18), and where that is silent by what pgbench does.
//!
//! A [`Mix`] is one or more scripts with weights, parsed once. Each connection has an
//! [`Interpreter`], which says what to ask of the server next. Nothing here does I/O.
//!
//! Deliberate differences from pgbench:
//! - A NULL (from `\set` or a column taken by `\gset`) is a NULL in a prepared statement's
//!   parameters and in expressions; pgbench gives the text `NULL` or an empty text there.
//! - A variable that nothing ever sets is an error before anything runs; with prepared statements
//!   pgbench sends NULL.
//! - With prepared statements a variable in quotes is an error, and comments are left alone;
//!   pgbench makes parameters of both, which the server refuses.
//! - A text of nothing but comments is not a statement; pgbench sends it.
//! - `\shell`, `\setshell` and pipelines are refused.

mod arguments;
mod checks;
mod compile;
mod error;
mod expression;
mod interpreter;
mod mix;
mod names;
mod plans;
mod probe;
mod quick;
mod random;
mod scope;
mod section;
mod shared;
mod sql;
mod statement_section;
mod sysbench;
mod value;

pub use crate::probe::*;
pub use ::probe::load::{CONNECTIONS, DURATION, LATENCY_LIMIT, RATE, Step, THREADS, WARMUP};
pub use error::{Fault, MixError, ScriptError};
pub use interpreter::Interpreter;
pub use mix::{BUILTINS, Mix, Presets, Source, parse_file_argument};
pub use quick::COMMAND;
pub use sql::Protocol;
pub use sysbench::{NAMES as BUILTINS_OF_SYSBENCH, Sysbench};

report::sections! {
    /// The sections of reports.
    pub const SECTIONS = |summary| {
        Statements scripts: &summary.scripts() => section::sections;
        Statements statement_gains: &summary.statement_gains() => statement_section::sections;
    }
}
