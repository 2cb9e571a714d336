//! Processors, and which of them share a core, a socket, a memory node.

mod read;

use std::collections::BTreeSet;
use std::path::Path;

/// The processors that this process may run on, in the order of their numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Topology {
    /// Each of them.
    pub processors: Vec<Processor>,
}

/// A processor as the scheduler sees it: a core, or one of its hardware threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Processor {
    /// The kernel's number of it.
    pub cpu: u32,
    /// Number of the first processor on the same core, which names the core.
    pub core: u32,
    /// Number of the socket.
    pub socket: u32,
    /// Number of the memory (NUMA) node.
    pub node: u32,
}

/// How many cores, sockets and memory nodes some processors are on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Span {
    /// Distinct processors.
    pub processors: u32,
    /// Distinct cores.
    pub cores: u32,
    /// Distinct sockets.
    pub sockets: u32,
    /// Distinct memory nodes.
    pub nodes: u32,
}

impl Topology {
    /// This machine, as far as this process may use it. Where the system tells nothing about the order of things,
    /// each processor is a core of its own, all in one socket and one node.
    pub fn of_this_machine() -> Self {
        let mut topology = Self::read(Path::new("/sys/devices/system"));
        let allowed = allowed_processors();
        if topology.processors.is_empty() {
            let alone = |cpu: &u32| Processor { cpu: *cpu, core: *cpu, socket: 0, node: 0 };
            topology.processors = allowed.iter().map(alone).collect();
        }
        topology.processors.retain(|processor| allowed.contains(&processor.cpu));
        topology
    }

    /// A machine as this folder describes it: `/sys/devices/system`, or a copy of one
    /// (Documentation/ABI/stable/sysfs-devices-system-cpu and -node).
    pub fn read(folder: &Path) -> Self {
        read::topology(folder)
    }

    /// What these processors span; those that are not known are left out.
    pub fn span(&self, cpus: &[u32]) -> Span {
        let used = || self.processors.iter().filter(|processor| cpus.contains(&processor.cpu));
        let distinct = |part: fn(&Processor) -> u32| used().map(part).collect::<BTreeSet<u32>>().len() as u32;
        Span {
            processors: distinct(|p| p.cpu),
            cores: distinct(|p| p.core),
            sockets: distinct(|p| p.socket),
            nodes: distinct(|p| p.node),
        }
    }

    /// What all processors span.
    pub fn whole(&self) -> Span {
        let all: Vec<u32> = self.processors.iter().map(|processor| processor.cpu).collect();
        self.span(&all)
    }
}

/// Lets the calling thread run on this processor only.
///
/// # Errors
/// When there is no such processor or this process may not use it.
pub fn pin_this_thread(cpu: u32) -> std::io::Result<()> {
    // SAFETY: a set of bits, of which zeroed is a valid value; `CPU_SET` ignores numbers beyond it.
    let set = unsafe {
        let mut set = std::mem::zeroed::<libc::cpu_set_t>();
        libc::CPU_SET(cpu as usize % libc::CPU_SETSIZE as usize, &mut set);
        set
    };
    // SAFETY: the set is valid for the size given; 0 means the calling thread.
    let result = unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set) };
    if result == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// The processors that this thread, and with it its children, may run on.
fn allowed_processors() -> Vec<u32> {
    // SAFETY: a set of bits, of which zeroed is a valid value, valid for the size given; only numbers that it has are
    // looked up.
    unsafe {
        let mut set = std::mem::zeroed::<libc::cpu_set_t>();
        if libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut set) != 0 {
            return (0..crate::machine::processors_online()).collect();
        }
        (0..libc::CPU_SETSIZE as u32).filter(|cpu| libc::CPU_ISSET(*cpu as usize, &set)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Topology, pin_this_thread};

    #[test]
    fn this_machine_agrees_with_the_standard_library() {
        let topology = Topology::of_this_machine();
        let cpus: Vec<u32> = topology.processors.iter().map(|processor| processor.cpu).collect();
        assert!(cpus.is_sorted() && !cpus.is_empty(), "{cpus:?}");
        let whole = topology.whole();
        assert!(whole.sockets <= whole.cores && whole.cores <= whole.processors, "{whole:?}");
        // No quota of a control group makes the affinity smaller than what the library reports.
        assert!(cpus.len() >= std::thread::available_parallelism().unwrap().get());
    }

    #[test]
    fn a_pinned_thread_runs_where_it_is_pinned() {
        let topology = Topology::of_this_machine();
        for processor in topology.processors {
            let ran_on = std::thread::spawn(move || {
                pin_this_thread(processor.cpu).unwrap();
                // SAFETY: no arguments.
                unsafe { libc::sched_getcpu() }
            });
            assert_eq!(ran_on.join().unwrap(), processor.cpu as i32);
        }
    }

    #[test]
    fn pinning_to_no_processor_of_ours_is_an_error() {
        let last = libc::CPU_SETSIZE as u32 - 1;
        if Topology::of_this_machine().processors.iter().all(|processor| processor.cpu != last) {
            assert!(std::thread::spawn(move || pin_this_thread(last)).join().unwrap().is_err());
        }
    }
}
