use super::text_or_dash;
use crate::model::{Bar, BarGroup, Cell, Chart, ChartKind, Column, Document, Section, Table, Tone};
use crate::number;
use analysis::survey::{Difference, Held, MachineRow, Merged, OddOne, Parallelism, ServerRow};

/// Names that are listed of those who have the same; the JSON has all.
const NAMES: usize = 5;
/// Values that are listed of what differs.
const VALUES: usize = 6;

/// Many inventories: a table, parallelism against cores and NUMA nodes, what stands apart, what differs.
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
    let columns = vec![
        Column::name("machine"),
        Column::right("cores"),
        Column::right("logical").optional(3),
        Column::right("sockets"),
        Column::right("NUMA"),
        Column::right("memory"),
        Column::name("kernel").optional(2),
        Column::name("server"),
        Column::right("per gather"),
        Column::right("workers"),
        Column::right("connections").optional(1),
        Column::right("shared buffers").optional(1),
    ];
    let rows = machines.iter().flat_map(rows).collect();
    section.table(Table { columns, rows, fixed: false });
    section.detail(
        "per gather: max_parallel_workers_per_gather; workers: max_parallel_workers. A server elsewhere \
         than on the machine is marked (remote).",
    );
    section
}

/// A row for each server, or one for a machine without.
fn rows(machine: &MachineRow) -> Vec<Vec<Cell>> {
    let servers = machine.servers.iter().map(Some);
    let alone = machine.servers.is_empty().then_some(None);
    servers.chain(alone).map(|server| row(machine, server)).collect()
}

fn row(machine: &MachineRow, server: Option<&ServerRow>) -> Vec<Cell> {
    let count = |value: Option<u32>| text_or_dash(value.map(|value| number::count(value.into())));
    let name = |server: &ServerRow| {
        if server.is_local { server.version.clone() } else { format!("{} (remote)", server.version) }
    };
    let of_server = |fact: fn(&ServerRow) -> Option<i64>| {
        text_or_dash(server.and_then(fact).map(|value| value.to_string()))
    };
    vec![
        Cell::plain(machine.name.as_str()),
        count(machine.cores),
        count(machine.logical),
        count(machine.sockets),
        text_or_dash((machine.numa_nodes > 0).then(|| number::count(machine.numa_nodes as u64))),
        text_or_dash(machine.memory_bytes.map(number::bytes)),
        text_or_dash(machine.kernel.as_deref()),
        text_or_dash(server.map(name)),
        of_server(|server| server.parallel_workers_per_gather),
        of_server(|server| server.parallel_workers),
        of_server(|server| server.connections),
        text_or_dash(server.and_then(|server| server.shared_buffers_bytes).map(number::bytes)),
    ]
}

/// How many machines have how many cores.
fn cores(machines: &[MachineRow]) -> Option<Section> {
    let mut counts = std::collections::BTreeMap::new();
    for cores in machines.iter().filter_map(|machine| machine.cores) {
        *counts.entry(cores).or_insert(0_usize) += 1;
    }
    if machines.len() < 2 || counts.is_empty() {
        return None;
    }
    let bar = |(cores, count): (u32, usize)| bar(number::plural(cores as usize, "core"), count);
    let mut section = Section::new("Cores");
    let bars = counts.into_iter().map(bar).collect();
    section.chart(chart("Machines by physical cores", "machines", vec![BarGroup { label: "".into(), bars }]));
    Some(section)
}

/// The distribution of the setting on machines of each kind.
fn parallelism(found: &Parallelism) -> Option<Section> {
    if found.servers == 0 {
        return None;
    }
    let mut section = Section::new("Parallelism against cores and NUMA nodes");
    let at_default = number::percent(found.at_default as f64 / found.servers as f64, 0);
    section.line(format!(
        "{} is at its default on {} of {} ({at_default}).",
        found.setting,
        number::count(found.at_default as u64),
        number::plural(found.servers, "server"),
    ));
    if found.unplaced > 0 {
        let servers = number::plural(found.unplaced, "server");
        section.toned(
            format!("{servers} left out: not on the surveyed machine, or its cores are not known."),
            Tone::Muted,
        );
    }
    let groups = found.groups.iter().map(|group| BarGroup {
        label: format!(
            "{}, {}",
            number::plural(group.cores as usize, "core"),
            number::plural(group.numa_nodes as usize, "NUMA node")
        )
        .into(),
        bars: group.values.iter().map(|(value, servers)| bar(value_label(*value), *servers)).collect(),
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
    let mut section = Section::new("What stands apart");
    if merged.odd.is_empty() {
        section.toned("Nothing: no value is rare where most machines share another.", Tone::Muted);
    }
    for one in &merged.odd {
        let OddOne { what, held, of, usual, usual_count } = one;
        let (rare, all) = (number::count(held.holders.len() as u64), number::count(*of as u64));
        let verb = if held.holders.len() == 1 { "has" } else { "have" };
        let common = number::count(*usual_count as u64);
        section.line(format!("{rare} of {all} {verb} {what} {}; {common} have {usual}.", held.value));
        section.detail(names(held));
    }
    section
}

fn names(held: &Held) -> String {
    let mut listed: Vec<String> = held.holders.iter().take(NAMES).cloned().collect();
    let rest = held.holders.len().saturating_sub(NAMES);
    if rest > 0 {
        listed.push(format!("{} more", number::count(rest as u64)));
    }
    listed.join(", ")
}

fn differences(differences: &[Difference]) -> Option<Section> {
    if differences.is_empty() {
        return None;
    }
    let mut section = Section::new("What differs");
    let row = |difference: &Difference| {
        let one = |held: &Held| format!("{} ({})", held.value, number::count(held.holders.len() as u64));
        let mut values: Vec<String> = difference.values.iter().take(VALUES).map(one).collect();
        let rest = difference.values.len().saturating_sub(VALUES);
        if rest > 0 {
            values.push(format!("{} more", number::count(rest as u64)));
        }
        vec![
            Cell::plain(difference.what.as_str()),
            Cell::plain(number::count(difference.of as u64)),
            Cell::plain(values.join(", ")),
        ]
    };
    let columns =
        vec![Column::left("what"), Column::right("of"), Column::name("values and how many have them")];
    section.table(Table { columns, rows: differences.iter().map(row).collect(), fixed: false });
    Some(section)
}
