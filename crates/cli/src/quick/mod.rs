//! Quick commands: an experiment by options of the command line.

mod disk;
mod disk_arguments;
mod pg;
mod pg_arguments;
mod sort_order;
mod sync;
mod time;
mod time_arguments;

pub use disk_arguments::Disk;
pub use pg_arguments::Pg;
pub use sort_order::SortOrder;
pub use sync::Sync;
pub use time_arguments::Time;
