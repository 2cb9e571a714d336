//! What is known of SQL Server: its wait types, its counters of waits, its pages. It cannot be a target yet: an
//! `Engine` here, and its line in [`crate::all`], make it one.
//!
//! - `wait_types`: name, class, meaning and benign group of each
//! - `snapshot`: the waits between two readings of its cumulative counters
//! - `page`: what kind of page a session waits for

mod page;
mod snapshot;
mod wait_types;

pub use page::{NotAPage, PageId, PageKind};
pub use snapshot::{Counters, Delta, Snapshot, SnapshotError};
pub use wait_types::{BENIGN_VERSION, WAIT_TYPES, class};
