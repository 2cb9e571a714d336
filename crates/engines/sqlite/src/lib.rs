//! SQLite, embedded: nothing to install, nothing to start.
//!
//! `data_files = N` spreads the table over N database files, each with its own writer lock, page
//! cache and log. The sessions are the load threads themselves: each has a connection to every
//! file. A row's file follows from its key, and a transaction goes to one file, so every number of
//! files makes the same number of transactions of the same size. The measurement ends with a
//! checkpoint of every file (`target.final_checkpoint`): otherwise more files would win by leaving
//! more work in more logs.

mod backups;
mod cell;
mod confinement;
mod connection;
mod dialect;
mod engine;
mod explain;
mod failures;
mod instance;
mod pragma;
mod prerequisites;
mod recorder;
mod sample;
mod session;
mod settings;
mod setup;
mod vfs;
mod wait_type;

pub use self::engine::SQLITE;
pub use dialect::SqliteDialect;
