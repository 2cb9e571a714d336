//! SQL Server: its wait types, the waits between two readings of its cumulative counters, what kind of page a session waits
//! for, and servers that run already. It cannot be the target of an experiment yet.
//!
//! - `wait_types`: names, classes, which are benign; `page`: pages and what they are for
//! - `snapshot`: the difference of two readings of counters
//! - [`SqlServers`]: servers by URL; `live`, with the feature `sqlserver`: how they are reached and what they are asked

#[cfg(feature = "sqlserver")]
pub mod live;
mod page;
mod rules;
mod servers;
mod snapshot;
mod wait_types;

pub use page::{NotAPage, PageId, PageKind};
pub use servers::SqlServers;
pub use snapshot::{Counters, Delta, Snapshot, SnapshotError};
pub use wait_types::{BENIGN_VERSION, WAIT_TYPES, class};
