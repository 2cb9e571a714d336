//! Reading what the operating system knows: thread CPU and run-queue time, machine load,
//! the environment of a run, mounts, the page cache.

mod clock;
pub mod environment;
mod machine;
pub mod mounts;
pub mod page_cache;
mod process_times;
mod thread_clock;

pub use clock::Clock;
pub use machine::MachineMonitor;
pub use process_times::{ProcessTimes, process_title};
pub use thread_clock::{ThreadClock, ThreadTimes, involuntary_switches};
