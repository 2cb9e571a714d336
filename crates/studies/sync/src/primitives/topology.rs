//! The processors that threads can be placed on, and which of them share a core, a socket, a memory
//! node.

use observe::sysfs::{Tree, numbers};
use observe::topology::{all_online, nodes, siblings, socket};
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

/// The numbers of cores, sockets and memory nodes that some processors are on.
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
    /// This machine, as far as this process may use it. Where the system tells nothing about the
    /// order of things, each processor is a core of its own, all in one socket and one node.
    pub fn of_this_machine() -> Self {
        Self::from_tree(&Tree::new(Path::new("/")), allowed_processors())
    }

    fn from_tree(tree: &Tree, cpus: Vec<u32>) -> Self {
        let nodes: Vec<(u32, Vec<u32>)> = nodes(tree)
            .into_iter()
            .filter_map(|node| Some((node.node, numbers(&node.cpus)?)))
            .collect();
        Self {
            processors: cpus
                .into_iter()
                .map(|cpu| {
                    let core =
                        siblings(tree, cpu).and_then(|text| numbers(&text)?.into_iter().min());
                    let node = nodes.iter().find(|(_, cpus)| cpus.contains(&cpu));
                    Processor {
                        cpu,
                        core: core.unwrap_or(cpu),
                        socket: socket(tree, cpu).unwrap_or(0),
                        node: node.map_or(0, |(node, _)| *node),
                    }
                })
                .collect(),
        }
    }

    /// Returns the span of these CPUs; unknown ones are left out.
    pub fn span(&self, cpus: &[u32]) -> Span {
        let distinct = |part: fn(&Processor) -> u32| {
            self.processors
                .iter()
                .filter(|processor| cpus.contains(&processor.cpu))
                .map(part)
                .collect::<BTreeSet<u32>>()
                .len() as u32
        };
        Span {
            processors: distinct(|p| p.cpu),
            cores: distinct(|p| p.core),
            sockets: distinct(|p| p.socket),
            nodes: distinct(|p| p.node),
        }
    }

    /// Returns the span of all CPUs.
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
    let result =
        unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set) };
    if result == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// The processors that this thread, and with it its children, may run on.
fn allowed_processors() -> Vec<u32> {
    // SAFETY: a set of bits, of which zeroed is a valid value, valid for the size given; only
    // numbers that it has are looked up.
    unsafe {
        let mut set = std::mem::zeroed::<libc::cpu_set_t>();
        if libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut set) != 0 {
            return all_online();
        }
        (0..libc::CPU_SETSIZE as u32).filter(|cpu| libc::CPU_ISSET(*cpu as usize, &set)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Processor, Span, Topology, Tree, pin_this_thread};
    use observe::topology::{CPUS, NODES, online};
    use std::path::Path;

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

    fn read(folder: &Path) -> Topology {
        let tree = Tree::new(folder);
        Topology::from_tree(&tree, online(&tree))
    }

    fn write(path: &Path, content: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// Two sockets of four cores with two hardware threads each, numbered as Linux does it on x86:
    /// the second threads of all cores come after the first ones. Each socket has two nodes.
    fn two_sockets(folder: &Path) {
        for cpu in 0..16_u32 {
            let (core, text) = (cpu % 8, folder.join(format!("{CPUS}/cpu{cpu}/topology")));
            write(&text.join("core_cpus_list"), &format!("{core},{}\n", core + 8));
            // Cores are numbered within their socket: the number alone would mix them up.
            write(&text.join("core_id"), &format!("{}\n", core % 4));
            write(&text.join("physical_package_id"), &format!("{}\n", core / 4));
        }
        for node in 0..4_u32 {
            let (first, last) = (2 * node, 2 * node + 1);
            let list = format!("{first}-{last},{}-{}\n", first + 8, last + 8);
            write(&folder.join(format!("{NODES}/node{node}/cpulist")), &list);
        }
        write(&folder.join(CPUS).join("online"), "0-15\n");
        std::fs::create_dir_all(folder.join(CPUS).join("cpuidle")).unwrap();
    }

    #[test]
    fn a_machine_with_sockets_nodes_and_hardware_threads() {
        let folder = tempfile::tempdir().unwrap();
        two_sockets(folder.path());
        let machine = read(folder.path());
        assert_eq!(machine.processors.len(), 16);
        assert_eq!(machine.processors[10], Processor { cpu: 10, core: 2, socket: 0, node: 1 });
        assert_eq!(machine.processors[15], Processor { cpu: 15, core: 7, socket: 1, node: 3 });
        assert_eq!(machine.whole(), Span { processors: 16, cores: 8, sockets: 2, nodes: 4 });
        let span = |cpus: &[u32]| {
            let span = machine.span(cpus);
            (span.processors, span.cores, span.sockets, span.nodes)
        };
        assert_eq!(span(&[0, 8]), (2, 1, 1, 1));
        assert_eq!(span(&[0, 1]), (2, 2, 1, 1));
        assert_eq!(span(&[0, 2]), (2, 2, 1, 2));
        assert_eq!(span(&[3, 4, 99]), (2, 2, 2, 2));
    }

    #[test]
    fn processors_that_are_off_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        two_sockets(folder.path());
        write(&folder.path().join("sys/devices/system/cpu/online"), "0-6,12\n");
        let cpus: Vec<u32> = read(folder.path()).processors.iter().map(|p| p.cpu).collect();
        assert_eq!(cpus, [0, 1, 2, 3, 4, 5, 6, 12]);
    }

    #[test]
    fn what_an_older_or_smaller_system_does_not_tell() {
        let folder = tempfile::tempdir().unwrap();
        write(
            &folder.path().join("sys/devices/system/cpu/cpu0/topology/thread_siblings_list"),
            "0-1\n",
        );
        write(
            &folder.path().join("sys/devices/system/cpu/cpu1/topology/thread_siblings_list"),
            "0-1\n",
        );
        write(
            &folder.path().join("sys/devices/system/cpu/cpu2/topology/physical_package_id"),
            "-1\n",
        );
        let machine = read(folder.path());
        assert_eq!(machine.whole(), Span { processors: 3, cores: 2, sockets: 1, nodes: 1 });
        assert!(read(&folder.path().join("absent")).processors.is_empty());
    }
}
