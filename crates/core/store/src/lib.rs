//! Runs on disk: one SQLite file holds everything that the runs of an experiment recorded.
//!
//! [`Store`] writes and reads the file, [`RunLock`] keeps two runs from writing to it at once. The
//! tables are documented for users in `schema/*.sql`; any SQLite tool can query them.
//!
//! *Rule*: a trial and all its observations are one transaction, so whatever happens to the
//! process, the file holds whole trials only.

mod activities;
mod claim;
mod error;
mod file;
mod folder;
mod queries;
mod read;
mod rows;
mod schema;
mod write;

#[cfg(test)]
mod tests;

// The sample in tests/ speaks to this crate as its users do.
#[cfg(test)]
extern crate self as store;

pub use claim::{RunLock, is_claimed};
pub use error::{Fault, StoreError};
pub use file::{DeclaredRoles, Store};
pub use folder::{EXTENSION, is_results_file, newest_results_file, results_files, runs_beside};

/// Result of everything in this crate.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;
