use crate::sysfs::{flag, names, selected, text, value};
use observations::{ArrayFacts, DeviceFacts, LoopFacts, MappedFacts, PartitionFacts};
use std::path::Path;

/// The kernel counts sizes and places in these, whatever the sectors of the device are.
const SECTOR_BYTES: u64 = 512;

/// What the kernel says of a device in its folder, from which no link leads away.
pub(super) fn of(folder: &Path) -> DeviceFacts {
    let partition = partition(folder);
    // The queue belongs to the disk.
    let disk = folder.parent().filter(|_| partition.is_some()).unwrap_or(folder);
    let queue = disk.join("queue");
    DeviceFacts {
        name: name(folder),
        size_bytes: value(folder.join("size")).map(|sectors: u64| sectors * SECTOR_BYTES),
        partition,
        alignment_offset_bytes: value(folder.join("alignment_offset")),
        logical_sector_bytes: value(queue.join("logical_block_size")),
        physical_sector_bytes: value(queue.join("physical_block_size")),
        minimum_io_bytes: value(queue.join("minimum_io_size")),
        optimal_io_bytes: value(queue.join("optimal_io_size")),
        rotational: flag(queue.join("rotational")),
        scheduler: text(queue.join("scheduler")).and_then(|text| scheduler(&text)),
        write_cache: text(queue.join("write_cache")),
        fua: flag(queue.join("fua")),
        discard_granularity_bytes: value(queue.join("discard_granularity")),
        queue_requests: value(queue.join("nr_requests")),
        read_ahead_bytes: value(queue.join("read_ahead_kb")).map(|kib: u64| kib * 1024),
        array: array(&disk.join("md")),
        mapped: mapped(&disk.join("dm")),
        loop_file: loop_file(&disk.join("loop")),
        holders: names(&folder.join("holders")),
        slaves: names(&disk.join("slaves")),
    }
}

fn name(folder: &Path) -> String {
    // A slash in a device's name is an exclamation mark in the names of folders.
    folder.file_name().map(|name| name.to_string_lossy().replace('!', "/")).unwrap_or_default()
}

fn partition(folder: &Path) -> Option<PartitionFacts> {
    text(folder.join("partition"))?;
    let start: u64 = value(folder.join("start"))?;
    Some(PartitionFacts { disk: name(folder.parent()?), start_bytes: start * SECTOR_BYTES })
}

/// The scheduler in brackets; devices that have no choice name one without.
fn scheduler(text: &str) -> Option<String> {
    selected(text).or_else(|| (!text.contains(' ')).then(|| text.to_owned()))
}

/// Documentation/admin-guide/md.rst.
fn array(folder: &Path) -> Option<ArrayFacts> {
    let level = text(folder.join("level"))?;
    let disks = value(folder.join("raid_disks"));
    let layout = value(folder.join("layout")).unwrap_or_default();
    let chunk_bytes = value(folder.join("chunk_size")).filter(|bytes| *bytes > 0);
    Some(ArrayFacts {
        chunk_bytes,
        data_disks: disks.and_then(|disks| data_disks(&level, disks, layout)),
        disks,
        level,
    })
}

/// What copies and parity leave of a stripe's disks. The layout of RAID 10 has the number of near
/// copies in its lowest byte and of far copies in the next (md(4)).
fn data_disks(level: &str, disks: u64, layout: u64) -> Option<u64> {
    let parity = match level {
        "raid0" => 0,
        "raid4" | "raid5" => 1,
        "raid6" => 2,
        "raid10" => {
            let copies = (layout & 0xff).max(1) * (layout >> 8 & 0xff).max(1);
            return disks.is_multiple_of(copies).then_some(disks / copies);
        }
        _ => return None,
    };
    disks.checked_sub(parity).filter(|disks| *disks > 0)
}

fn mapped(folder: &Path) -> Option<MappedFacts> {
    let name = text(folder.join("name"))?;
    // Identifiers begin with the name of the program that made the device: `LVM-4x7c...`.
    let uuid = text(folder.join("uuid"));
    let kind = uuid.and_then(|uuid| uuid.split_once('-').map(|(kind, _)| kind.to_owned()));
    Some(MappedFacts { name, kind })
}

fn loop_file(folder: &Path) -> Option<LoopFacts> {
    Some(LoopFacts {
        backing_file: text(folder.join("backing_file"))?,
        offset_bytes: value(folder.join("offset")),
        direct_io: flag(folder.join("dio")),
    })
}

#[cfg(test)]
mod tests {
    use super::{data_disks, of, scheduler};
    use observations::{ArrayFacts, MappedFacts, PartitionFacts};
    use std::path::Path;

    fn write(folder: &Path, files: &[(&str, &str)]) {
        for (name, content) in files {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, format!("{content}\n")).unwrap();
        }
    }

    #[test]
    fn a_partition_has_the_queue_of_its_disk() {
        let folder = tempfile::tempdir().unwrap();
        let disk = folder.path().join("sda");
        let files = [
            ("size", "1953525168"),
            ("queue/logical_block_size", "512"),
            ("queue/physical_block_size", "4096"),
            ("queue/rotational", "1"),
            ("queue/scheduler", "none mq-deadline kyber [bfq]"),
            ("queue/write_cache", "write back"),
            ("queue/fua", "0"),
            ("queue/read_ahead_kb", "128"),
            ("sda1/partition", "1"),
            ("sda1/start", "63"),
            ("sda1/size", "2048"),
            ("sda1/alignment_offset", "512"),
            ("sda1/holders/md0/dev", "9:0"),
        ];
        write(&disk, &files);
        let part = of(&disk.join("sda1"));
        assert_eq!(part.name, "sda1");
        assert_eq!(part.partition, Some(PartitionFacts { disk: "sda".into(), start_bytes: 63 * 512 }));
        assert_eq!((part.size_bytes, part.alignment_offset_bytes), (Some(1 << 20), Some(512)));
        assert_eq!((part.logical_sector_bytes, part.physical_sector_bytes), (Some(512), Some(4096)));
        assert_eq!(
            (part.rotational, part.fua, part.read_ahead_bytes),
            (Some(true), Some(false), Some(131_072))
        );
        assert_eq!(
            (part.scheduler.as_deref(), part.write_cache.as_deref()),
            (Some("bfq"), Some("write back"))
        );
        assert_eq!((part.holders, part.optimal_io_bytes), (vec!["md0".to_owned()], None));
        let disk = of(&disk);
        assert_eq!((disk.partition, disk.size_bytes), (None, Some(1_953_525_168 * 512)));
    }

    #[test]
    fn arrays_and_mapped_devices_say_what_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let (md, dm) = (folder.path().join("md0"), folder.path().join("dm-1"));
        let files = [
            ("md/level", "raid10"),
            ("md/chunk_size", "65536"),
            ("md/raid_disks", "4"),
            ("md/layout", "258"),
            ("slaves/sda1/dev", "8:1"),
            ("slaves/sdb1/dev", "8:17"),
        ];
        write(&md, &files);
        let array = ArrayFacts {
            level: "raid10".into(),
            chunk_bytes: Some(65_536),
            disks: Some(4),
            data_disks: Some(2),
        };
        assert_eq!(of(&md).array, Some(array));
        assert_eq!(of(&md).slaves, ["sda1", "sdb1"]);
        write(&dm, &[("dm/name", "vg-data"), ("dm/uuid", "LVM-4x7c"), ("queue/scheduler", "none")]);
        let mapped = MappedFacts { name: "vg-data".into(), kind: Some("LVM".into()) };
        assert_eq!((of(&dm).mapped, of(&dm).scheduler.as_deref()), (Some(mapped), Some("none")));
    }

    #[test]
    fn copies_and_parity_are_not_data() {
        let table = [
            ("raid0", 3, 0, Some(3)),
            ("raid5", 4, 2, Some(3)),
            ("raid6", 4, 2, Some(2)),
            ("raid10", 4, 0x102, Some(2)),
            ("raid10", 4, 0x201, Some(2)),
            ("raid10", 3, 0x102, None),
            ("raid1", 2, 0, None),
            ("raid5", 1, 2, None),
        ];
        for (level, disks, layout, expected) in table {
            assert_eq!(data_disks(level, disks, layout), expected, "{level} of {disks}");
        }
    }

    #[test]
    fn a_scheduler_without_a_choice_is_named() {
        assert_eq!(scheduler("[none] mq-deadline").as_deref(), Some("none"));
        assert_eq!(scheduler("none").as_deref(), Some("none"));
        assert_eq!(scheduler("none mq-deadline"), None);
    }
}
