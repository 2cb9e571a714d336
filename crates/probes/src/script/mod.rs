//! pgbench's script language: transactions written as SQL with variables, random values and
//! conditions. Defined by pgbench's manual page (PostgreSQL 15 to 18), and where that is silent by what
//! pgbench does.
//!
//! A [`Mix`] is one or more scripts with weights, parsed once. Each connection has an
//! [`Interpreter`], which says what to ask of the server next. Nothing here does I/O.
//!
//! Deliberate differences from pgbench:
//! - A NULL (from `\set` or a column taken by `\gset`) is a NULL in a prepared statement's
//!   parameters and in expressions; pgbench gives the text `NULL` or an empty text there.
//! - A variable that nothing ever sets is an error before anything runs; with prepared
//!   statements pgbench sends NULL.
//! - With prepared statements a variable in quotes is an error, and comments are left alone; pgbench
//!   makes parameters of both, which the server refuses.
//! - A text of nothing but comments is no statement; pgbench sends it.
//! - `\shell`, `\setshell` and pipelines are refused.

mod compile;
mod error;
mod evaluate;
mod expression;
mod interpreter;
mod mix;
mod names;
mod probe;
mod random;
mod split;
mod statement;
mod value;

pub use error::{Fault, MixError, ParseError, ScriptError};
pub use interpreter::{Interpreter, Next};
pub use mix::{BUILTINS, Mix, Presets, Protocol, Source, parse_file_argument};
pub use probe::ScriptProbe;
pub use value::Value;
