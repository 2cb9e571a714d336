//! From the kernel's folders to a topology.

use super::{Processor, Topology};
use crate::survey::list;
use crate::sysfs;
use std::path::Path;

pub fn topology(folder: &Path) -> Topology {
    let cpus = folder.join("cpu");
    let numbered = |name: &String| name.strip_prefix("cpu")?.parse::<u32>().ok();
    let online = sysfs::text(cpus.join("online")).and_then(|text| list::parse(&text));
    let mut known: Vec<u32> = sysfs::names(&cpus).iter().filter_map(numbered).collect();
    known.retain(|cpu| online.as_ref().is_none_or(|online| online.contains(cpu)));
    known.sort_unstable();
    let nodes = nodes(&folder.join("node"));
    let processors = known.into_iter().map(|cpu| {
        let own = cpus.join(format!("cpu{cpu}/topology"));
        // The second name is the older one of the same list (since Linux 5.2 and before).
        let siblings = ["core_cpus_list", "thread_siblings_list"];
        let siblings = siblings.iter().find_map(|name| sysfs::text(own.join(name)));
        let core = siblings.and_then(|text| list::parse(&text)?.into_iter().min()).unwrap_or(cpu);
        // -1 where the architecture knows no sockets.
        let socket = sysfs::value::<i64>(own.join("physical_package_id")).unwrap_or(0).max(0) as u32;
        let node = nodes.iter().find(|(_, cpus)| cpus.contains(&cpu)).map_or(0, |(node, _)| *node);
        Processor { cpu, core, socket, node }
    });
    Topology { processors: processors.collect() }
}

/// Number of each memory node and its processors.
fn nodes(folder: &Path) -> Vec<(u32, Vec<u32>)> {
    let number = |name: &String| name.strip_prefix("node")?.parse().ok();
    let of_node = |node: u32| {
        let cpus = sysfs::text(folder.join(format!("node{node}/cpulist")));
        (node, cpus.and_then(|text| list::parse(&text)).unwrap_or_default())
    };
    sysfs::names(folder).iter().filter_map(number).map(of_node).collect()
}

#[cfg(test)]
mod tests {
    use super::topology;
    use crate::topology::{Processor, Span};
    use std::path::Path;

    fn write(path: &Path, content: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// Two sockets of four cores with two hardware threads each, numbered as Linux does it on x86: the second threads
    /// of all cores come after the first ones. Each socket has two nodes.
    fn two_sockets(folder: &Path) {
        for cpu in 0..16_u32 {
            let (core, own) = (cpu % 8, folder.join(format!("cpu/cpu{cpu}/topology")));
            write(&own.join("core_cpus_list"), &format!("{core},{}\n", core + 8));
            // Cores are numbered within their socket: the number alone would mix them up.
            write(&own.join("core_id"), &format!("{}\n", core % 4));
            write(&own.join("physical_package_id"), &format!("{}\n", core / 4));
        }
        for node in 0..4_u32 {
            let (first, last) = (2 * node, 2 * node + 1);
            let list = format!("{first}-{last},{}-{}\n", first + 8, last + 8);
            write(&folder.join(format!("node/node{node}/cpulist")), &list);
        }
        write(&folder.join("cpu/online"), "0-15\n");
        std::fs::create_dir_all(folder.join("cpu/cpuidle")).unwrap();
    }

    #[test]
    fn a_machine_with_sockets_nodes_and_hardware_threads() {
        let folder = tempfile::tempdir().unwrap();
        two_sockets(folder.path());
        let machine = topology(folder.path());
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
        write(&folder.path().join("cpu/online"), "0-6,12\n");
        let cpus: Vec<u32> = topology(folder.path()).processors.iter().map(|p| p.cpu).collect();
        assert_eq!(cpus, [0, 1, 2, 3, 4, 5, 6, 12]);
    }

    #[test]
    fn what_an_older_or_smaller_system_does_not_tell() {
        let folder = tempfile::tempdir().unwrap();
        write(&folder.path().join("cpu/cpu0/topology/thread_siblings_list"), "0-1\n");
        write(&folder.path().join("cpu/cpu1/topology/thread_siblings_list"), "0-1\n");
        write(&folder.path().join("cpu/cpu2/topology/physical_package_id"), "-1\n");
        let machine = topology(folder.path());
        assert_eq!(machine.whole(), Span { processors: 3, cores: 2, sockets: 1, nodes: 1 });
        assert!(topology(&folder.path().join("absent")).processors.is_empty());
    }
}
