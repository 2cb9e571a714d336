use super::facts;
use crate::model::{Cell, Columns, Section};
use crate::number;
use crate::volume::yes;
use analysis::survey::known;
use observations::{
    Cache, DeviceFacts, Limits, Memory, Mitigation, NumaNode, Processors, Survey, SystemSetting, VolumeFacts,
};

/// What the machine is.
pub(super) fn about(survey: &Survey) -> Section {
    let machine = &survey.machine;
    let system = [machine.kernel.clone(), machine.architecture.clone(), machine.distribution.clone()];
    let system: Vec<String> = system.into_iter().flatten().collect();
    let steal =
        machine.steal_share.map(|share| format!("{} of all time since boot", number::percent(share, 2)));
    let mut section = Section::default();
    facts(
        &mut section,
        [
            ("System", (!system.is_empty()).then(|| system.join(", "))),
            ("Runs in", machine.virtualization.clone()),
            ("Processor", machine.processors.model.clone()),
            ("Topology", topology(&machine.processors)),
            ("Caches", caches(&machine.processors.caches)),
            ("NUMA nodes", (!machine.nodes.is_empty()).then(|| number::count(machine.nodes.len() as u64))),
            ("Memory", memory(&machine.memory)),
            ("Huge pages", huge_pages(&machine.memory)),
            ("Given to other guests", steal),
            ("Clock", machine.clock_synchronized.map(clock)),
            ("Limits of this process", Some(limits(&machine.limits))),
            ("Flaws of the processor", Some(mitigations(&machine.mitigations))),
        ],
    );
    section
}

fn clock(is_synchronized: bool) -> String {
    if is_synchronized { "synchronized" } else { "not known to be synchronized" }.into()
}

fn topology(cpus: &Processors) -> Option<String> {
    let logical = number::plural(cpus.logical? as usize, "logical processor");
    let cores = cpus.cores.map(|cores| format!(" on {}", number::plural(cores as usize, "core")));
    let sockets = cpus.sockets.map(|sockets| format!(" in {}", number::plural(sockets as usize, "socket")));
    let smt = cpus.smt.as_ref().map(|smt| format!("; SMT {smt}"));
    Some([Some(logical), cores, sockets, smt].into_iter().flatten().collect())
}

fn caches(caches: &[Cache]) -> Option<String> {
    let one = |cache: &Cache| {
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
    };
    (!caches.is_empty()).then(|| caches.iter().map(one).collect::<Vec<_>>().join(", "))
}

fn memory(memory: &Memory) -> Option<String> {
    let available = memory.available_bytes.map(|bytes| format!(", {} available", number::bytes(bytes)));
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
        0 => Some(format!("none set aside (of {size})")),
        pages => {
            let free = memory.huge_pages_free.map(|free| format!(", {} free", number::count(free)));
            Some(format!("{} of {size}{}", number::count(pages), free.unwrap_or_default()))
        }
    }
}

fn limits(limits: &Limits) -> String {
    let amount = |bytes: u64| if bytes == u64::MAX { "any amount".to_owned() } else { number::bytes(bytes) };
    let parts = [
        limits.allowed_cpus.map(|cpus| format!("runs on {}", number::plural(cpus as usize, "processor"))),
        limits.cpus.map(|cpus| format!("time of {} processors", number::figure(cpus))),
        limits.memory_bytes.map(|bytes| format!("{} of memory", number::bytes(bytes))),
        limits.open_files.map(|files| match files {
            u64::MAX => "any number of open files".to_owned(),
            files => format!("{} open files", number::count(files)),
        }),
        limits.locked_bytes.map(|bytes| format!("{} of locked memory", amount(bytes))),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "none known".into() } else { parts.join(", ") }
}

/// What is done about a flaw costs time; what is not done about it is a choice to know of.
fn mitigations(all: &[Mitigation]) -> String {
    let names = |is_open: bool| {
        let of_kind = all.iter().filter(|one| one.state.starts_with("Vulnerable") == is_open);
        of_kind.map(|one| one.flaw.as_str()).collect::<Vec<_>>().join(", ")
    };
    match (names(false), names(true)) {
        (mitigated, open) if mitigated.is_empty() && open.is_empty() => "none known".into(),
        (mitigated, open) if open.is_empty() => format!("mitigated: {mitigated}"),
        (mitigated, open) if mitigated.is_empty() => format!("open: {open}"),
        (mitigated, open) => format!("mitigated: {mitigated}; open: {open}"),
    }
}

/// Where there are several nodes, each of them.
pub(super) fn nodes(nodes: &[NumaNode]) -> Option<Section> {
    if nodes.len() < 2 {
        return None;
    }
    let mut section = Section::new("NUMA nodes");
    let filled = |text: String| Some(text).filter(|text| !text.is_empty());
    let mut table = Columns::of(nodes);
    table.right("node", |node| node.node);
    table.right("processors", |node| Cell::count(node.cpu_count.into()));
    table.name("which", move |node| filled(node.cpus.clone())).optional(1);
    table.right("memory", |node| node.memory_bytes.map(Cell::bytes));
    table
        .left("distances", move |node| {
            let distances: Vec<String> = node.distances.iter().map(u32::to_string).collect();
            filled(distances.join(" "))
        })
        .optional(2);
    section.table(table);
    Some(section)
}

/// The settings that databases have wishes about: what they are, what they decide, what is wanted.
pub(super) fn wanted_settings(settings: &[SystemSetting]) -> Option<Section> {
    let mut section = Section::new("Settings of the system that databases have wishes about");
    for setting in settings {
        let known = known(&setting.name).filter(|known| !known.wanted.is_empty());
        if let (Some(known), Some(value)) = (known, &setting.value) {
            section.line(format!("{} = {value}: {}", setting.name, known.is));
            section.detail(format!("wanted: {}", known.wanted));
        }
    }
    section.unless_empty()
}

/// The other settings, and the names of all that could not be read.
pub(super) fn other_settings(settings: &[SystemSetting]) -> Option<Section> {
    let mut section = Section::new("Other settings of the system");
    let is_wanted = |name: &str| known(name).is_some_and(|known| !known.wanted.is_empty());
    let is_other = |setting: &&SystemSetting| setting.value.is_some() && !is_wanted(&setting.name);
    let others: Vec<&SystemSetting> = settings.iter().filter(is_other).collect();
    if !others.is_empty() {
        let mut table = Columns::of(others);
        table.left("setting", |setting| &setting.name);
        table.left("is", |setting| setting.value.as_ref());
        table.name("decides", |setting| known(&setting.name).map_or("", |known| known.is));
        section.table(table);
    }
    let missing = settings.iter().filter(|setting| setting.value.is_none());
    let missing: Vec<&str> = missing.map(|setting| setting.name.as_str()).collect();
    if !missing.is_empty() {
        section.note(format!("Not to be read here: {}.", missing.join(", ")));
    }
    section.unless_empty()
}

/// The volumes in short; `disk --inspect` has all of one.
pub(super) fn volumes(volumes: &[VolumeFacts]) -> Option<Section> {
    if volumes.is_empty() {
        return None;
    }
    let mut section = Section::new("Volumes");
    let mut table = Columns::of(volumes);
    table.name("path", |volume| &volume.path);
    table.left("type", |volume| volume.mount.as_ref().map(|mount| &mount.file_system));
    table.right("size", |volume| {
        let mounted = volume.mount.as_ref().and_then(|mount| mount.size_bytes);
        mounted.or(device(volume).and_then(|device| device.size_bytes)).map(Cell::bytes)
    });
    table.right("free", |volume| volume.mount.as_ref().and_then(|mount| mount.free_bytes).map(Cell::bytes));
    table.left("device", |volume| device(volume).map(|device| &device.name));
    table.left("scheduler", |volume| device(volume).and_then(|device| device.scheduler.as_ref()));
    table.right("read ahead", |volume| device(volume).and_then(|own| own.read_ahead_bytes).map(Cell::bytes));
    table.left("write cache", |volume| device(volume).and_then(|own| own.write_cache.as_ref())).optional(2);
    table.left("moving head", |volume| device(volume).and_then(|own| own.rotational).map(yes)).optional(1);
    section.table(table);
    section.detail("`steelbench disk --inspect PATH` shows each layer.");
    Some(section)
}

/// The device on which its file system is.
fn device(volume: &VolumeFacts) -> Option<&DeviceFacts> {
    volume.devices.first()
}
