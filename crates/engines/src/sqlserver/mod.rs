//! What is known of SQL Server: its wait types, the waits between two readings of its cumulative counters, and what
//! kind of page a session waits for. It cannot be a target yet: an `Engine` here, and its line in [`crate::all`], make
//! it one.

mod page;
mod snapshot;
mod wait_types;

pub use page::{NotAPage, PageId, PageKind};
pub use snapshot::{Counters, Delta, Snapshot, SnapshotError};
pub use wait_types::{BENIGN_VERSION, WAIT_TYPES, class};
