//! The layers under a path and the advice on them: `steelbench disk --inspect`.

use observations::{Advice, DeviceFacts, MountFacts, VolumeFacts};
use report::json::object;
use report::model::{Column, Columns, Document, Section};
use report::text::listed;
use report::{advised, number, yes};
use serde_json::{Value, json};

/// The layers of a volume and the advice on it, for programs.
///
/// # Errors
/// When a figure cannot be written.
pub fn json(facts: &VolumeFacts, advice: &[Advice]) -> serde_json::Result<Value> {
    object("volume", facts, json!({ "advice": advice }))
}

/// The layers of a volume, and the advice on it.
pub fn volume(facts: &VolumeFacts, advice: &[Advice]) -> Document {
    let mut sections = Vec::new();
    sections.extend(facts.mount.as_ref().map(mount));
    sections.push(devices(facts));
    sections.push(advised(advice, "No misalignment or other problem found."));
    Document { title: format!("{}: storage layers", facts.path).into(), sections }
}

fn mount(mount: &MountFacts) -> Section {
    let mut section = Section::new("File system");
    section.line(format!("{} on {}, mounted at {}", mount.file_system, mount.source, mount.folder));
    section.detail(mount.options.as_str());
    let profiles = |names: &[String], what: &str| {
        (!names.is_empty()).then(|| format!("{what} {}", names.join(" and ")))
    };
    let space = mount
        .size_bytes
        .zip(mount.free_bytes)
        .map(|(size, free)| format!("{} of {} free", number::bytes(free), number::bytes(size)));
    let facts = [
        space,
        mount.block_bytes.map(|block| format!("blocks of {}", number::bytes(block))),
        mount.stripe_unit_bytes.map(|unit| format!("stripe unit {}", number::bytes(unit))),
        mount.stripe_width_bytes.map(|width| format!("stripe width {}", number::bytes(width))),
        profiles(&mount.btrfs_data, "data"),
        profiles(&mount.btrfs_metadata, "metadata"),
    ];
    if let Some(facts) = listed(facts.into_iter().flatten()) {
        section.detail(facts);
    }
    section
}

fn devices(facts: &VolumeFacts) -> Section {
    let mut section = Section::new("Devices");
    if facts.devices.is_empty() {
        section.note("No block device: in memory, on a network, or stacked on other file systems.");
        return section;
    }
    // Devices are few and facts are many: a row for each fact. Where there is no room, the devices
    // farthest below are left out.
    let mut table = Columns::for_rows(
        FACTS.iter().filter(|fact| facts.devices.iter().any(|device| (fact.1)(device).is_some())),
    );
    table.left("Device", |(name, _)| *name);
    for (depth, device) in facts.devices.iter().enumerate() {
        table
            .with(Column::name(&device.name), |(_, fact)| fact(device))
            .optional(depth.min(u8::MAX.into()) as u8);
    }
    section.table(table);
    section
}

type Fact = (&'static str, fn(&DeviceFacts) -> Option<String>);

/// Rows of the table of devices.
const FACTS: [Fact; 14] = [
    ("Size", |device| device.size_bytes.map(number::bytes)),
    ("Is", kind),
    ("Made of", |device| listed(&device.slaves)),
    ("Held by", |device| listed(&device.holders)),
    ("Begins at", |device| {
        device.partition.as_ref().map(|part| number::exact_bytes(part.start_bytes))
    }),
    ("Misaligned by", |device| {
        let offset = device.alignment_offset_bytes.filter(|offset| *offset != 0)?;
        Some(if offset < 0 { "always".into() } else { number::exact_bytes(offset as u64) })
    }),
    ("Sector", sectors),
    ("Min., best I/O", |device| {
        let best = device.optimal_io_bytes.filter(|bytes| *bytes > 0);
        let best = best.map_or("not reported".into(), number::exact_bytes);
        Some(format!("{}, {best}", number::exact_bytes(device.minimum_io_bytes?)))
    }),
    ("Rotational", |device| device.rotational.map(yes)),
    ("Scheduler", |device| device.scheduler.clone()),
    ("Write cache", |device| {
        let fua = device.fua.map_or("", |fua| if fua { ", FUA" } else { ", no FUA" });
        device.write_cache.as_ref().map(|cache| format!("{cache}{fua}"))
    }),
    ("Discard", |device| match device.discard_granularity_bytes? {
        0 => Some("no".into()),
        granularity => Some(format!("by {}", number::exact_bytes(granularity))),
    }),
    ("Queue", |device| device.queue_requests.map(number::count)),
    ("Read ahead", |device| device.read_ahead_bytes.map(number::exact_bytes)),
];

fn kind(device: &DeviceFacts) -> Option<String> {
    let partition =
        device.partition.as_ref().map(|partition| format!("partition of {}", partition.disk));
    let array = device.array.as_ref().map(|array| {
        let chunk = array.chunk_bytes.map(|chunk| format!(", chunks of {}", number::bytes(chunk)));
        let disks =
            array.disks.map(|disks| format!(" of {}", number::plural(disks as usize, "disk")));
        format!("{}{}{}", array.level, disks.unwrap_or_default(), chunk.unwrap_or_default())
    });
    let mapped = device.mapped.as_ref().map(|mapped| match &mapped.kind {
        Some(kind) => format!("{kind} {}", mapped.name),
        None => mapped.name.clone(),
    });
    let file = device.loop_file.as_ref().map(|file| {
        let cached = match file.direct_io {
            Some(true) => ", direct I/O",
            Some(false) => ", cached",
            None => "",
        };
        format!("file {}{cached}", file.backing_file)
    });
    listed([partition, array, mapped, file].into_iter().flatten())
}

fn sectors(device: &DeviceFacts) -> Option<String> {
    let (logical, physical) = (device.logical_sector_bytes?, device.physical_sector_bytes?);
    let physical_too =
        (physical != logical).then(|| format!(", physical {}", number::exact_bytes(physical)));
    Some(format!("{}{}", number::exact_bytes(logical), physical_too.unwrap_or_default()))
}

#[cfg(test)]
mod tests;
