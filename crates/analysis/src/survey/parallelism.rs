use observations::Survey;
use serde::Serialize;
use std::collections::BTreeMap;

/// How many servers have which setting of parallelism, against the machines that they run on: what P.
/// Randal's survey of max degree of parallelism against cores and NUMA nodes asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Parallelism {
    /// The setting: processes that one part of one query may have beside its own.
    pub setting: &'static str,
    /// By the machines' cores and NUMA nodes, the smallest machines first.
    pub groups: Vec<ParallelismGroup>,
    /// Servers in the groups.
    pub servers: usize,
    /// Those of them at which nobody set it.
    pub at_default: usize,
    /// Servers that are on no surveyed machine, or on one whose cores are not known: these are in no group.
    pub unplaced: usize,
}

/// Servers on machines of one kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ParallelismGroup {
    /// Physical cores.
    pub cores: u32,
    /// NUMA nodes.
    pub numa_nodes: u32,
    /// Value of the setting, and how many servers have it.
    pub values: Vec<(i64, usize)>,
}

const SETTING: &str = "max_parallel_workers_per_gather";

pub(super) fn of(surveys: &[Survey]) -> Parallelism {
    let mut groups: BTreeMap<(u32, u32), BTreeMap<i64, usize>> = BTreeMap::new();
    let mut found = Parallelism { setting: SETTING, ..Parallelism::default() };
    for survey in surveys {
        for server in &survey.servers {
            let Some(value) = server.number(SETTING) else { continue };
            let Some(cores) = survey.machine.processors.cores.filter(|_| server.is_local) else {
                found.unplaced += 1;
                continue;
            };
            // A kernel without NUMA has all memory in one place.
            let nodes = survey.machine.nodes.len().max(1) as u32;
            *groups.entry((cores, nodes)).or_default().entry(value).or_default() += 1;
            found.servers += 1;
            found.at_default += usize::from(server.setting(SETTING).is_some_and(|one| !one.is_changed));
        }
    }
    let group = |((cores, numa_nodes), values): ((u32, u32), BTreeMap<i64, usize>)| ParallelismGroup {
        cores,
        numa_nodes,
        values: values.into_iter().collect(),
    };
    found.groups = groups.into_iter().map(group).collect();
    found
}
