//! Reading what the operating system knows: thread CPU and run-queue time, what a command used,
//! machine load, the environment of a run, mounts, block devices, the page
//! cache, and call stacks ([`profiler`]).

pub mod child;
mod clock;
pub mod devices;
pub mod environment;
pub mod file_system;
mod git;
pub mod inspect;
mod machine;
mod marked;
pub mod mounts;
pub mod page_cache;
pub mod processes;
pub mod profiler;
mod rings;
pub mod survey;
pub mod sysfs;
mod times;
pub mod topology;

pub use clock::{Clock, now_ms};
pub use devices::DeviceMonitor;
pub use git::git_state;
pub use machine::{MachineMonitor, kernel_setting};
pub use marked::{Mark, run_marked};
pub use rings::{RingError, rings_permitted};
pub use times::{
    CpuUse, KernelThreads, ProcessTimes, ThreadClock, ThreadTimes, ThreadUse, ended_children_cpu_s,
    process_cpu_s, process_title, storage_read_bytes, thread_id,
};
