//! Reading what the operating system knows: thread CPU and run-queue time, machine load,
//! the environment of a run, the page cache.

mod clock;
pub mod environment;
mod machine;
pub mod page_cache;
mod thread_clock;

pub use clock::Clock;
pub use machine::MachineMonitor;
pub use thread_clock::{ThreadClock, ThreadTimes, involuntary_switches};
