use super::list;
use super::tree::Tree;
use observations::{Cache, NumaNode, Processors};
use std::collections::{BTreeMap, BTreeSet};

const CPUS: &str = "sys/devices/system/cpu";
const NODES: &str = "sys/devices/system/node";

/// Values of a field of `/proc/cpuinfo`.
pub(crate) fn fields<'a>(cpuinfo: &'a str, name: &'a str) -> impl Iterator<Item = &'a str> {
    let lines = cpuinfo.lines().filter_map(|line| line.split_once(':'));
    lines.filter(move |(key, _)| key.trim() == name).map(|(_, value)| value.trim())
}

/// Numbers of the processors that are online.
pub(crate) fn online(tree: &Tree) -> Vec<u32> {
    tree.text(format!("{CPUS}/online")).as_deref().and_then(list::parse).unwrap_or_default()
}

/// Topology as the kernel has it (Documentation/admin-guide/cputopology.rst).
pub(crate) fn of(tree: &Tree, cpuinfo: &str, online: &[u32]) -> Processors {
    let topology = |cpu: &u32, name: &str| tree.if_there(format!("{CPUS}/cpu{cpu}/topology/{name}"));
    // Before Linux 5.3 the lists had other names.
    let siblings =
        |cpu: &u32| topology(cpu, "core_cpus_list").or_else(|| topology(cpu, "thread_siblings_list"));
    // Where the firmware does not tell, the package is -1.
    let socket = |cpu: &u32| topology(cpu, "physical_package_id").filter(|id| !id.starts_with('-'));
    Processors {
        model: fields(cpuinfo, "model name").next().map(str::to_owned),
        logical: count(online.len()),
        cores: distinct(online, siblings),
        sockets: distinct(online, socket),
        smt: tree.if_there(format!("{CPUS}/smt/control")),
        caches: caches(tree, online),
    }
}

/// How many different values the processors have; `None` if one of them has none.
fn distinct(online: &[u32], value: impl Fn(&u32) -> Option<String>) -> Option<u32> {
    let values = online.iter().map(value).collect::<Option<BTreeSet<_>>>()?;
    count(values.len())
}

fn count(number: usize) -> Option<u32> {
    (number > 0).then_some(number as u32)
}

/// Caches of the same level, kind and size are counted by the lists of processors that share one.
fn caches(tree: &Tree, online: &[u32]) -> Vec<Cache> {
    let mut found: BTreeMap<(u32, String, u64), BTreeSet<String>> = BTreeMap::new();
    for cpu in online {
        let folder = format!("{CPUS}/cpu{cpu}/cache");
        for index in tree.numbered(&folder, "index") {
            let value = |name: &str| tree.if_there(format!("{folder}/index{index}/{name}"));
            let key = || Some((value("level")?.parse().ok()?, value("type")?, size(&value("size")?)?));
            if let (Some(key), Some(shared)) = (key(), value("shared_cpu_list")) {
                found.entry(key).or_default().insert(shared);
            }
        }
    }
    let cache = |((level, kind, bytes), shared): (_, BTreeSet<String>)| Cache {
        level,
        kind,
        bytes,
        instances: shared.len() as u32,
    };
    found.into_iter().map(cache).collect()
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
pub(crate) fn nodes(tree: &Tree) -> Vec<NumaNode> {
    let node = |node: u32| {
        let folder = format!("{NODES}/node{node}");
        // A node without processors has an empty list.
        let cpus = tree.if_there(format!("{folder}/cpulist")).unwrap_or_default();
        let distances = tree.if_there(format!("{folder}/distance")).unwrap_or_default();
        NumaNode {
            node,
            cpu_count: list::count(&cpus).unwrap_or_default(),
            cpus,
            memory_bytes: tree.text(format!("{folder}/meminfo")).as_deref().and_then(node_memory),
            distances: distances.split_ascii_whitespace().filter_map(|text| text.parse().ok()).collect(),
        }
    };
    tree.numbered(NODES, "node").into_iter().map(node).collect()
}

/// `Node 0 MemTotal:       65842584 kB`.
fn node_memory(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.split_once(" MemTotal:"))?.1;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
}
