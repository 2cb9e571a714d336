use super::{facts, text_or_dash};
use crate::model::{Cell, Column, Section, Table, Tone};
use crate::number;
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
    let row = |node: &NumaNode| {
        let distances: Vec<String> = node.distances.iter().map(u32::to_string).collect();
        vec![
            Cell::plain(node.node.to_string()),
            Cell::plain(number::count(node.cpu_count.into())),
            text_or_dash(Some(node.cpus.as_str()).filter(|cpus| !cpus.is_empty())),
            text_or_dash(node.memory_bytes.map(number::bytes)),
            text_or_dash(Some(distances.join(" ")).filter(|text| !text.is_empty())),
        ]
    };
    let columns = vec![
        Column::right("node"),
        Column::right("processors"),
        Column::name("which").optional(1),
        Column::right("memory"),
        Column::left("distances").optional(2),
    ];
    section.table(Table { columns, rows: nodes.iter().map(row).collect(), fixed: false });
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
    (!section.blocks.is_empty()).then_some(section)
}

/// The other settings, and the names of all that could not be read.
pub(super) fn other_settings(settings: &[SystemSetting]) -> Option<Section> {
    let mut section = Section::new("Other settings of the system");
    let is_wanted = |name: &str| known(name).is_some_and(|known| !known.wanted.is_empty());
    let others = settings.iter().filter(|setting| !is_wanted(&setting.name));
    let row = |setting: &SystemSetting| {
        let value = Cell::plain(setting.value.as_deref()?);
        let decides = known(&setting.name).map_or("", |known| known.is);
        Some(vec![Cell::plain(setting.name.as_str()), value, Cell::plain(decides)])
    };
    let rows: Vec<Vec<Cell>> = others.filter_map(row).collect();
    if !rows.is_empty() {
        let columns = vec![Column::left("setting"), Column::left("is"), Column::name("decides")];
        section.table(Table { columns, rows, fixed: false });
    }
    let missing = settings.iter().filter(|setting| setting.value.is_none());
    let missing: Vec<&str> = missing.map(|setting| setting.name.as_str()).collect();
    if !missing.is_empty() {
        section.toned(format!("Not to be read here: {}.", missing.join(", ")), Tone::Muted);
    }
    (!section.blocks.is_empty()).then_some(section)
}

/// The volumes in short; `disk --inspect` has all of one.
pub(super) fn volumes(volumes: &[VolumeFacts]) -> Option<Section> {
    if volumes.is_empty() {
        return None;
    }
    let mut section = Section::new("Volumes");
    let row = |volume: &VolumeFacts| {
        let device = volume.devices.first();
        let mount = volume.mount.as_ref();
        let of_device = |fact: fn(&DeviceFacts) -> Option<String>| text_or_dash(device.and_then(fact));
        let size = mount.and_then(|mount| mount.size_bytes).or(device.and_then(|device| device.size_bytes));
        vec![
            Cell::plain(volume.path.as_str()),
            text_or_dash(mount.map(|mount| mount.file_system.as_str())),
            text_or_dash(size.map(number::bytes)),
            text_or_dash(mount.and_then(|mount| mount.free_bytes).map(number::bytes)),
            of_device(|device| Some(device.name.clone())),
            of_device(|device| device.scheduler.clone()),
            of_device(|device| device.read_ahead_bytes.map(number::bytes)),
            of_device(|device| device.write_cache.clone()),
            of_device(|device| device.rotational.map(|is_so| if is_so { "yes" } else { "no" }.into())),
        ]
    };
    let columns = vec![
        Column::name("path"),
        Column::left("type"),
        Column::right("size"),
        Column::right("free"),
        Column::left("device"),
        Column::left("scheduler"),
        Column::right("read ahead"),
        Column::left("write cache").optional(2),
        Column::left("moving head").optional(1),
    ];
    section.table(Table { columns, rows: volumes.iter().map(row).collect(), fixed: false });
    section.detail("`steelbench disk --inspect PATH` shows each layer.");
    Some(section)
}
