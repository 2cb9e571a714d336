//! Where sessions waited: the nine-column table, and what it takes to make one.

pub mod benign;
pub mod classes;
pub mod format;
pub mod page;
pub mod snapshot;
mod table;

pub use benign::BenignList;
pub use format::HEADINGS;
pub use page::{PageId, PageKind};
pub use snapshot::{Counters, Delta, Snapshot, SnapshotError};
pub use table::{Averages, LevelWaits, WaitOptions, WaitRow, WaitTable};
