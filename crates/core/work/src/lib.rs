//! The work of a load as plain data, and the threads that do it: tables with their rows, operations
//! on them, and the requests that connections send. It knows no engine.
//!
//! - `table`: tables and columns; `rows`: batches of rows; `key`: clustering keys
//! - `operation`: operations on tables, and the [`Work`] that they are part of
//! - `request`: a request to a connection
//! - [`conductor`]: the threads of a load
//! - `cancel`: ending a trial early; `watch`: looking after work while it is done; `silence`: how
//!   long a server may be silent
//! - [`sql`]: the statements that users write, split and recognized

mod cancel;
pub mod conductor;
mod key;
mod operation;
mod request;
mod rows;
mod silence;
pub mod sql;
mod table;
mod watch;

pub use cancel::{Cancel, CancelReason, Stop};
pub use key::Key;
pub use operation::{Filter, Operation, Output, SharedTables, SqlPart, UserStatement, Work};
pub use request::{Parameter, Request, Statement};
pub use rows::{Fill, Rows, Texts, Values, day};
pub use silence::{SILENCE_VARIABLE, SilenceError, silence_from_environment, silence_max};
pub use table::{Column, DataType, DefaultValue, Reference, Storage, Table, TableFormat};
pub use watch::while_watched;
