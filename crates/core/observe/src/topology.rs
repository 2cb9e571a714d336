//! Processors and memory nodes, as the kernel describes them.

use crate::sysfs::{self, Tree};
use observations::{Cache, NumaNode, Processors};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The folder of the processors, and that of the memory nodes.
pub const CPUS: &str = "sys/devices/system/cpu";
/// See [`CPUS`].
pub const NODES: &str = "sys/devices/system/node";

/// Values of a field of `/proc/cpuinfo`.
pub(crate) fn fields<'a>(cpuinfo: &'a str, name: &'a str) -> impl Iterator<Item = &'a str> {
    let lines = cpuinfo.lines().filter_map(|line| line.split_once(':'));
    lines.filter(move |(key, _)| key.trim() == name).map(|(_, value)| value.trim())
}

/// Numbers of the processors that are online in the whole machine, whether this process may use
/// them or not.
pub fn all_online() -> Vec<u32> {
    let online = online(&Tree::new(Path::new("/")));
    // Where the system does not report them.
    if online.is_empty() { (0..crate::machine::processors_online()).collect() } else { online }
}

/// Numbers of the processors that are online, in their order
/// (Documentation/ABI/stable/sysfs-devices-system-cpu).
pub fn online(tree: &Tree) -> Vec<u32> {
    let online = tree.text(format!("{CPUS}/online")).and_then(|text| sysfs::numbers(&text));
    let mut known = tree.numbered(CPUS, "cpu");
    known.retain(|cpu| online.as_ref().is_none_or(|online| online.contains(cpu)));
    known
}

/// The list of processors on the same core.
pub fn siblings(tree: &Tree, cpu: u32) -> Option<String> {
    // Before Linux 5.3 the lists had other names.
    let names = ["core_cpus_list", "thread_siblings_list"];
    names.iter().find_map(|name| tree.if_there(format!("{CPUS}/cpu{cpu}/topology/{name}")))
}

/// The socket; where the firmware or the architecture knows none, the kernel has -1.
pub fn socket(tree: &Tree, cpu: u32) -> Option<u32> {
    tree.if_there(format!("{CPUS}/cpu{cpu}/topology/physical_package_id"))?.parse().ok()
}

/// Topology as the kernel has it (Documentation/admin-guide/cputopology.rst), without the caches.
pub(crate) fn processors(tree: &Tree, cpuinfo: &str, online: &[u32]) -> Processors {
    Processors {
        model: fields(cpuinfo, "model name").next().map(str::to_owned),
        logical: count(online.len()),
        cores: distinct(online, |cpu| siblings(tree, cpu)),
        sockets: distinct(online, |cpu| socket(tree, cpu)),
        smt: tree.if_there(format!("{CPUS}/smt/control")),
        caches: Vec::new(),
    }
}

/// Returns the number of different values that the processors have; `None` if one of them has none.
fn distinct<T: Ord>(online: &[u32], value: impl Fn(u32) -> Option<T>) -> Option<u32> {
    let values = online.iter().map(|cpu| value(*cpu)).collect::<Option<BTreeSet<_>>>()?;
    count(values.len())
}

fn count(number: usize) -> Option<u32> {
    (number > 0).then_some(number as u32)
}

/// Caches of the same level, kind and size are counted by the lists of processors that share one.
pub(crate) fn caches(tree: &Tree, online: &[u32]) -> Vec<Cache> {
    let mut found: BTreeMap<(u32, String, u64), BTreeSet<String>> = BTreeMap::new();
    for cpu in online {
        let folder = format!("{CPUS}/cpu{cpu}/cache");
        for index in tree.numbered(&folder, "index") {
            let value = |name: &str| tree.if_there(format!("{folder}/index{index}/{name}"));
            let key =
                || Some((value("level")?.parse().ok()?, value("type")?, size(&value("size")?)?));
            if let (Some(key), Some(shared)) = (key(), value("shared_cpu_list")) {
                found.entry(key).or_default().insert(shared);
            }
        }
    }
    found
        .into_iter()
        .map(|((level, kind, bytes), shared)| Cache {
            level,
            kind,
            bytes,
            instances: shared.len() as u32,
        })
        .collect()
}

/// `32K`, `1M`.
fn size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|sign: char| sign.is_ascii_alphabetic());
    let factor = match &text[digits.len()..] {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

/// The NUMA nodes that the kernel knows (Documentation/ABI/stable/sysfs-devices-node).
pub fn nodes(tree: &Tree) -> Vec<NumaNode> {
    node_numbers(tree)
        .into_iter()
        .map(|node| {
            let folder = format!("{NODES}/node{node}");
            // A node without processors has an empty list.
            let cpus = tree.if_there(format!("{folder}/cpulist")).unwrap_or_default();
            let distances = tree.if_there(format!("{folder}/distance")).unwrap_or_default();
            NumaNode {
                node,
                cpu_count: sysfs::numbers(&cpus).unwrap_or_default().len() as u32,
                cpus,
                memory_bytes: tree
                    .text(format!("{folder}/meminfo"))
                    .as_deref()
                    .and_then(node_memory),
                distances: distances
                    .split_ascii_whitespace()
                    .filter_map(|text| text.parse().ok())
                    .collect(),
            }
        })
        .collect()
}

/// Their numbers.
pub(crate) fn node_numbers(tree: &Tree) -> Vec<u32> {
    tree.numbered(NODES, "node")
}

/// `Node 0 MemTotal:       65842584 kB`.
fn node_memory(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.split_once(" MemTotal:"))?.1;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::all_online;

    #[test]
    fn every_processor_that_is_on_is_known() {
        let cpus = std::thread::available_parallelism().unwrap().get();
        assert!(all_online().len() >= cpus, "{:?}", all_online());
    }
}
