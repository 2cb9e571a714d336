//! Inventories: of one machine and of servers.

use crate::meanings::meaning;
use observations::{
    Advice, Cache, DeviceFacts, Limits, Memory, Mitigation, NumaNode, Processors, ServerSetting,
    Survey, SurveyedServer, SystemSetting, VolumeFacts,
};
use report::model::{Cell, Columns, Document, Section, Tone};
use report::text::{joined, listed};
use report::{advised, number, text, yes};

/// Names of the sections, in their order.
pub(crate) const SECTIONS: [&str; 7] =
    ["advice", "unreadable", "machine", "nodes", "settings", "volumes", "servers"];

/// Advice on a screen.
const FINDINGS: usize = 3;
/// Facts of the machine and of a server on a screen.
const FACTS: usize = 7;
/// Volumes on a screen.
const VOLUMES: usize = 5;

/// The inventory of a machine and of servers, and the advice on them.
pub fn page(survey: &Survey, advice: &[Advice]) -> Document {
    let host = survey.machine.host.as_deref().unwrap_or("this machine");
    // What should be looked at comes before what is there.
    let mut sections = vec![advised(advice, "No findings.").named("advice", FINDINGS)];
    sections.push(about(survey));
    sections.extend(nodes(&survey.machine.nodes));
    sections.extend(wanted_settings(&survey.settings));
    sections.extend(other_settings(&survey.settings));
    sections.extend(volumes(&survey.volumes));
    sections.extend(survey.servers.iter().flat_map(about_server));
    sections.extend(unread(survey));
    Document { title: format!("{host} on {}", text::utc(survey.taken_ms)).into(), sections }
}

fn unread(survey: &Survey) -> Option<Section> {
    let mut section = Section::new("Unreadable").named("unreadable", 2);
    // Missing files are listed by name only.
    let (absent, failed): (Vec<_>, Vec<_>) =
        survey.unread.iter().partition(|gap| gap.why == "not there");
    if let Some(names) = listed(absent.iter().map(|gap| &gap.what)) {
        section.note(format!("Missing: {names}."));
    }
    for gap in failed {
        section.warn(format!("{}: {}", gap.what, gap.why));
    }
    section.unless_empty()
}

/// Adds a line for each fact, and a note for each unknown one.
fn facts<const N: usize>(section: &mut Section, facts: [(&str, Option<String>); N]) {
    for (name, value) in facts {
        match value {
            Some(value) => section.line(format!("{name}: {value}")),
            None => section.note(format!("{name}: unknown")),
        }
    }
}

/// Describes the machine.
fn about(survey: &Survey) -> Section {
    let machine = &survey.machine;
    let system = [&machine.kernel, &machine.architecture, &machine.distribution];
    let steal = machine
        .steal_share
        .map(|share| format!("{} of all time since boot", number::percent(share, 2)));
    let mut section = Section::new("The machine").named("machine", FACTS);
    facts(
        &mut section,
        [
            ("System", listed(system.into_iter().flatten())),
            ("Runs in", machine.virtualization.clone()),
            ("CPU model", machine.processors.model.clone()),
            ("Topology", topology(&machine.processors)),
            ("Caches", caches(&machine.processors.caches)),
            (
                "NUMA nodes",
                (!machine.nodes.is_empty()).then(|| number::count(machine.nodes.len() as u64)),
            ),
            ("Memory", memory(&machine.memory)),
            ("Huge pages", huge_pages(&machine.memory)),
            ("CPU steal", steal),
            ("Clock", machine.clock_synchronized.map(clock)),
            ("Process limits", Some(limits(&machine.limits))),
            ("CPU vulnerabilities", Some(mitigations(&machine.mitigations))),
        ],
    );
    section
}

fn clock(is_synchronized: bool) -> String {
    if is_synchronized { "synchronized" } else { "not known to be synchronized" }.into()
}

fn topology(cpus: &Processors) -> Option<String> {
    let logical = number::plural(cpus.logical? as usize, "logical CPU");
    let cores = cpus.cores.map(|cores| format!(" on {}", number::plural(cores as usize, "core")));
    let sockets =
        cpus.sockets.map(|sockets| format!(" in {}", number::plural(sockets as usize, "socket")));
    // The kernel's word is `notsupported`.
    let smt = cpus
        .smt
        .as_ref()
        .map(|smt| format!("; SMT {}", smt.replace("notsupported", "not supported")));
    Some([Some(logical), cores, sockets, smt].into_iter().flatten().collect())
}

fn caches(caches: &[Cache]) -> Option<String> {
    listed(caches.iter().map(|cache| {
        let kind = match cache.kind.as_str() {
            "Data" => "d",
            "Instruction" => "i",
            _ => "",
        };
        format!(
            "L{}{kind} {} x {}",
            cache.level,
            number::count(cache.instances.into()),
            number::bytes(cache.bytes)
        )
    }))
}

fn memory(memory: &Memory) -> Option<String> {
    let available =
        memory.available_bytes.map(|bytes| format!(", {} available", number::bytes(bytes)));
    let swap = memory.swap_bytes.map(|bytes| match bytes {
        0 => ", no swap".to_owned(),
        bytes => format!(", {} of swap", number::bytes(bytes)),
    });
    Some(format!(
        "{}{}{}",
        number::bytes(memory.total_bytes?),
        available.unwrap_or_default(),
        swap.unwrap_or_default()
    ))
}

fn huge_pages(memory: &Memory) -> Option<String> {
    let size = number::bytes(memory.huge_page_bytes?);
    match memory.huge_pages? {
        0 => Some(format!("none reserved (of {size})")),
        pages => {
            let free = memory.huge_pages_free.map(|free| format!(", {} free", number::count(free)));
            Some(format!("{} of {size}{}", number::count(pages), free.unwrap_or_default()))
        }
    }
}

fn limits(limits: &Limits) -> String {
    let parts = [
        limits.allowed_cpus.map(|cpus| format!("runs on {}", number::plural(cpus as usize, "CPU"))),
        limits.cpus.map(|cpus| format!("time of {} CPUs", number::figure(cpus))),
        limits.memory_bytes.map(|bytes| format!("{} of memory", number::bytes(bytes))),
        limits.open_files.map(|files| match files {
            u64::MAX => "unlimited open files".to_owned(),
            files => format!("{} open files", number::count(files)),
        }),
        limits.locked_bytes.map(|bytes| {
            format!(
                "locked memory: {}",
                if bytes == u64::MAX { "unlimited".to_owned() } else { number::bytes(bytes) }
            )
        }),
    ];
    listed(parts.into_iter().flatten()).unwrap_or_else(|| "none known".to_owned())
}

/// Lists mitigations, which cost time, and vulnerabilities without one.
fn mitigations(all: &[Mitigation]) -> String {
    let names = |is_open: bool| {
        let of_kind = all
            .iter()
            .filter(|vulnerability| vulnerability.state.starts_with("Vulnerable") == is_open);
        let what = if is_open { "open" } else { "mitigated" };
        listed(of_kind.map(|kind| &kind.flaw)).map(|names| format!("{what}: {names}"))
    };
    let known = joined([names(false), names(true)].into_iter().flatten(), "; ");
    if known.is_empty() { "none known".to_owned() } else { known }
}

/// The nodes, if there are several.
fn nodes(nodes: &[NumaNode]) -> Option<Section> {
    if nodes.len() < 2 {
        return None;
    }
    let mut section = Section::new("NUMA nodes").named("nodes", 0);
    let mut table = Columns::for_rows(nodes);
    table.right("node", |node| node.node);
    table.right("CPUs", |node| Cell::count(node.cpu_count.into()));
    table.name("which", |node| Some(&node.cpus).filter(|cpus| !cpus.is_empty())).optional(1);
    table.right("memory", |node| node.memory_bytes.map(Cell::bytes));
    table.left("distances", |node| joined(&node.distances, " ")).optional(2);
    section.table(table);
    Some(section)
}

/// The settings that matter to databases: what they are, what they decide, what is recommended.
fn wanted_settings(settings: &[SystemSetting]) -> Option<Section> {
    let mut section = Section::new("System settings relevant to databases").named("settings", 0);
    for setting in settings {
        let known = meaning(&setting.name).filter(|known| !known.advice.is_empty());
        if let (Some(known), Some(value)) = (known, &setting.value) {
            section.line(format!("{} = {value} ({})", setting.name, known.is));
            section.detail(format!("recommended: {}", known.advice));
        }
    }
    section.unless_empty()
}

/// The other settings, and the names of all that could not be read.
fn other_settings(settings: &[SystemSetting]) -> Option<Section> {
    let mut section = Section::new("Other system settings").named("settings", 0);
    let others: Vec<&SystemSetting> = settings
        .iter()
        .filter(|setting| {
            setting.value.is_some()
                && meaning(&setting.name).is_none_or(|known| known.advice.is_empty())
        })
        .collect();
    if !others.is_empty() {
        let mut table = Columns::for_rows(others);
        table.left("setting", |setting| &setting.name);
        table.left("is", |setting| setting.value.as_ref());
        table.name("decides", |setting| meaning(&setting.name).map_or("", |known| known.is));
        section.table(table);
    }
    let missing = settings.iter().filter(|setting| setting.value.is_none());
    if let Some(names) = listed(missing.map(|setting| &setting.name)) {
        section.note(format!("Unreadable here: {names}."));
    }
    section.unless_empty()
}

/// The volumes in short; `disk --inspect` has all of one.
fn volumes(volumes: &[VolumeFacts]) -> Option<Section> {
    if volumes.is_empty() {
        return None;
    }
    let mut section = Section::new("Volumes").named("volumes", VOLUMES);
    let mut table = Columns::for_rows(volumes);
    table.name("path", |volume| &volume.path);
    table.left("type", |volume| volume.mount.as_ref().map(|mount| &mount.file_system));
    table.right("size", |volume| {
        let mounted = volume.mount.as_ref().and_then(|mount| mount.size_bytes);
        mounted.or(device(volume).and_then(|device| device.size_bytes)).map(Cell::bytes)
    });
    table.right("free", |volume| {
        volume.mount.as_ref().and_then(|mount| mount.free_bytes).map(Cell::bytes)
    });
    table.left("device", |volume| device(volume).map(|device| &device.name));
    table.left("scheduler", |volume| device(volume).and_then(|device| device.scheduler.as_ref()));
    table.right("read ahead", |volume| {
        device(volume).and_then(|device| device.read_ahead_bytes).map(Cell::bytes)
    });
    table
        .left("write cache", |volume| device(volume).and_then(|device| device.write_cache.as_ref()))
        .optional(2);
    table
        .left("rotational", |volume| device(volume).and_then(|device| device.rotational).map(yes))
        .optional(1);
    section.table(table);
    section.detail("`steelbench disk --inspect PATH` shows each layer.");
    Some(section)
}

/// The device on which its file system is.
fn device(volume: &VolumeFacts) -> Option<&DeviceFacts> {
    volume.devices.first()
}

/// Databases that are listed.
const DATABASES: usize = 20;

/// Describes a server and its settings.
fn about_server(server: &SurveyedServer) -> Vec<Section> {
    let mut about =
        Section::new(format!("{} at {}", server.version, server.address)).named("servers", FACTS);
    facts(
        &mut about,
        [
            (
                "On this machine",
                Some(if server.is_local { "yes" } else { "not known to be" }.into()),
            ),
            ("Replica", server.is_replica.map(yes)),
            ("Uses huge pages", server.huge_pages_used.map(yes)),
            (
                "Extensions",
                listed(
                    server
                        .extensions
                        .iter()
                        .map(|extension| format!("{} {}", extension.name, extension.version)),
                ),
            ),
            ("Databases", databases(server)),
        ],
    );
    let changed =
        server.settings.iter().filter(|setting| setting.is_changed || setting.pending_restart);
    let others =
        server.settings.iter().filter(|setting| !setting.is_changed && !setting.pending_restart);
    let mut sections = vec![about];
    sections.extend(server_settings("Changed settings", &changed.collect::<Vec<_>>()));
    sections.extend(server_settings("Default settings", &others.collect::<Vec<_>>()));
    sections
}

fn databases(server: &SurveyedServer) -> Option<String> {
    let rest = server.databases.len().saturating_sub(DATABASES);
    let more = (rest > 0).then(|| format!("and {} more", number::count(rest as u64)));
    listed(
        server
            .databases
            .iter()
            .take(DATABASES)
            .map(|database| {
                format!(
                    "{} {}",
                    database.name,
                    database.bytes.map_or("size not permitted".to_owned(), number::bytes)
                )
            })
            .chain(more),
    )
}

fn server_settings(heading: &str, settings: &[&ServerSetting]) -> Option<Section> {
    if settings.is_empty() {
        return None;
    }
    let mut section = Section::new(heading).named("servers", 0);
    let mut table = Columns::for_rows(settings);
    table.left("setting", |setting| &setting.name);
    table.left("is", |setting| match &setting.value {
        Some(value) => shown(setting, value).into(),
        None => Cell::new("text, not recorded", Tone::Muted),
    });
    table.left("default", |setting| setting.default.as_deref().map(|value| shown(setting, value)));
    table
        .name("from", |setting| {
            let file = setting.file.as_ref().map_or_else(String::new, |file| format!(" {file}"));
            let source = format!("{}{file}", setting.source);
            if setting.pending_restart {
                return Cell::new(format!("{source}; needs a restart"), Tone::Warning);
            }
            source.into()
        })
        .optional(1);
    section.table(table);
    Some(section)
}

/// A value with its unit: memory in units that fit, the rest as it is.
fn shown(setting: &ServerSetting, value: &str) -> String {
    let as_value = ServerSetting { value: Some(value.to_owned()), ..setting.clone() };
    match (as_value.bytes(), &setting.unit) {
        (Some(bytes), _) => number::bytes(bytes),
        _ if value.is_empty() => "(none)".to_owned(),
        (None, Some(unit)) if !value.starts_with('-') => format!("{value} {unit}"),
        _ => value.to_owned(),
    }
}
