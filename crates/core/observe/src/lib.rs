//! Reading what the operating system knows: thread CPU and run-queue time, what a command used,
//! machine load, network interfaces, the environment of a run, mounts, block devices, the page
//! cache.

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
mod network;
pub mod page_cache;
pub mod processes;
pub mod survey;
pub mod sysfs;
mod times;
pub mod topology;

pub use clock::Clock;
pub use devices::DeviceMonitor;
pub use git::git_state;
pub use machine::{MachineMonitor, kernel_setting, processors_online};
pub use marked::Mark;
pub use network::NetworkCounters;
pub use times::{
    CpuUse, KernelThreads, ProcessTimes, ThreadClock, ThreadTimes, ThreadUse, ended_children_cpu_s,
    process_cpu_s, process_title, storage_read_bytes, thread_id,
};
