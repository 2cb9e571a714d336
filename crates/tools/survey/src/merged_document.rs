use crate::merge::{Difference, MachineRow, Merged, OddOne, Parallelism};
use report::model::{Bar, BarGroup, Cell, Chart, ChartKind, Column, Columns, Document, Section};
use report::number;
use report::text::joined;

/// Names that are listed of those who have the same; the JSON has all.
const NAMES: usize = 5;
/// Values that are listed of what differs.
const VALUES: usize = 6;

/// Many inventories: a table, parallelism against cores and NUMA nodes, what stands apart, what
/// differs.
pub fn merged(merged: &Merged) -> Document {
    let servers: usize = merged.machines.iter().map(|machine| machine.servers.len()).sum();
    let (machines, servers) =
        (number::plural(merged.machines.len(), "machine"), number::plural(servers, "server"));
    let mut sections = vec![table(&merged.machines)];
    sections.extend(cores(&merged.machines));
    sections.extend(parallelism(&merged.parallelism));
    sections.push(odd(merged));
    sections.extend(differences(&merged.differences));
    Document { title: format!("{machines}, {servers}").into(), sections }
}

fn table(machines: &[MachineRow]) -> Section {
    let mut section = Section::default();
    // A row for each server, or one for a machine without.
    let rows = machines.iter().flat_map(|machine| {
        let servers = machine.servers.iter().map(Some);
        let alone = machine.servers.is_empty().then_some(None);
        servers.chain(alone).map(move |server| (machine, server))
    });
    let mut table = Columns::for_rows(rows);
    let count = |value: Option<u32>| value.map(|value| Cell::count(value.into()));
    table.name("machine", |(machine, _)| &machine.name);
    table.with(Column::right("cores"), move |(machine, _)| count(machine.cores));
    table.with(Column::right("logical"), move |(machine, _)| count(machine.logical)).optional(3);
    table.with(Column::right("sockets"), move |(machine, _)| count(machine.sockets));
    table.with(Column::right("NUMA"), move |(machine, _)| {
        count(Some(machine.numa_nodes as u32).filter(|nodes| *nodes > 0))
    });
    table.right("memory", |(machine, _)| machine.memory_bytes.map(Cell::bytes));
    table.name("kernel", |(machine, _)| machine.kernel.as_ref()).optional(2);
    table.name("server", |(_, server)| {
        server.map(|server| {
            if server.is_local {
                server.version.clone()
            } else {
                format!("{} (remote)", server.version)
            }
        })
    });
    table.right("per gather", |(_, server)| {
        server.and_then(|server| server.parallel_workers_per_gather)
    });
    table.right("workers", |(_, server)| server.and_then(|server| server.parallel_workers));
    table
        .right("connections", |(_, server)| server.and_then(|server| server.connections))
        .optional(1);
    table
        .right("buffers", |(_, server)| {
            server.and_then(|server| server.shared_buffers_bytes).map(Cell::bytes)
        })
        .optional(1);
    section.table(table);
    section.detail(
        "per gather: max_parallel_workers_per_gather; workers: max_parallel_workers; buffers: \
         shared_buffers or innodb_buffer_pool_size. (remote): the server is not on this machine.",
    );
    section
}

/// The number of machines with each number of cores.
fn cores(machines: &[MachineRow]) -> Option<Section> {
    let mut counts = std::collections::BTreeMap::new();
    for cores in machines.iter().filter_map(|machine| machine.cores) {
        *counts.entry(cores).or_insert(0_usize) += 1;
    }
    if machines.len() < 2 || counts.is_empty() {
        return None;
    }
    let mut section = Section::new("Cores");
    let bars = counts
        .into_iter()
        .map(|(cores, count)| bar(number::plural(cores as usize, "core"), count))
        .collect();
    section.chart(chart(
        "Machines by physical cores",
        "machines",
        vec![BarGroup { label: "".into(), bars }],
    ));
    Some(section)
}

/// The distribution of the setting on machines of each kind.
fn parallelism(found: &Parallelism) -> Option<Section> {
    if found.servers == 0 {
        return None;
    }
    let mut section = Section::new("Parallelism by cores and NUMA nodes");
    let at_default = number::percent(found.at_default as f64 / found.servers as f64, 0);
    section.line(format!(
        "{} has its default on {} of {} ({at_default}).",
        found.setting,
        number::count(found.at_default as u64),
        number::plural(found.servers, "server"),
    ));
    if found.unplaced > 0 {
        let servers = number::plural(found.unplaced, "server");
        section.note(format!("Omitted: {servers}, remote or with an unknown number of cores."));
    }
    let groups = found.groups.iter().map(|group| BarGroup {
        label: format!(
            "{}, {}",
            number::plural(group.cores as usize, "core"),
            number::plural(group.numa_nodes as usize, "NUMA node")
        )
        .into(),
        bars: group
            .values
            .iter()
            .map(|(value, servers)| bar(value_label(*value), *servers))
            .collect(),
    });
    let title = format!("Servers by {}", found.setting);
    section.chart(chart(&title, "servers", groups.collect()));
    Some(section)
}

fn value_label(value: i64) -> String {
    if value == 0 { "0 (not parallel)".into() } else { value.to_string() }
}

fn bar(label: String, count: usize) -> Bar {
    Bar { label: label.into(), value: count as f64, ..Bar::default() }
}

fn chart(title: &str, unit: &str, groups: Vec<BarGroup>) -> Chart {
    Chart { title: title.into(), unit: unit.into(), kind: ChartKind::Bars, groups }
}

fn odd(merged: &Merged) -> Section {
    let mut section = Section::new("Outliers");
    if merged.odd.is_empty() {
        section.note("None: no rare value of a setting that most machines share.");
    }
    for odd_entry in &merged.odd {
        let OddOne { what, held, of, usual, usual_count } = odd_entry;
        let (rare, all) = (number::count(held.holders.len() as u64), number::count(*of as u64));
        let verb = if held.holders.len() == 1 { "has" } else { "have" };
        let common = number::count(*usual_count as u64);
        section
            .line(format!("{rare} of {all} {verb} {what} {}; {common} have {usual}.", held.value));
        section.detail(first(held.holders.iter().cloned(), NAMES));
    }
    section
}

fn differences(differences: &[Difference]) -> Option<Section> {
    if differences.is_empty() {
        return None;
    }
    let mut section = Section::new("Differences");
    let mut table = Columns::for_rows(differences);
    table.left("what", |difference| &difference.what);
    table.right("of", |difference| Cell::count(difference.of as u64));
    table.name("values (machines)", |difference| {
        first(
            difference.values.iter().map(|held| {
                format!("{} ({})", held.value, number::count(held.holders.len() as u64))
            }),
            VALUES,
        )
    });
    section.table(table);
    Some(section)
}

/// The first of a list, and how many more there are.
fn first(all: impl ExactSizeIterator<Item = String>, most: usize) -> String {
    let rest = all.len().saturating_sub(most);
    let more = (rest > 0).then(|| format!("{} more", number::count(rest as u64)));
    joined(all.take(most).chain(more), ", ")
}
