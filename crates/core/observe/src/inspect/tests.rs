//! Against the tools that made the volumes, which needs root, and on files made by hand.

use super::{data_disks, device_of, scheduler, stripe, volume};
use crate::devices::test_devices::{LoopDevices, shell};
use observations::{ArrayFacts, DeviceFacts, MappedFacts, MountFacts, PartitionFacts};
use std::path::Path;

fn mount_of(path: &Path) -> MountFacts {
    volume(path).unwrap().mount.unwrap()
}

#[test]
fn a_path_that_is_not_there_is_an_error() {
    let message = volume(Path::new("/no/such/volume")).unwrap_err().to_string();
    assert!(message.starts_with("/no/such/volume: cannot inspect it: No such file"), "{message}");
}

#[test]
fn a_file_system_in_memory_has_no_devices() {
    let facts = volume(Path::new("/proc")).unwrap();
    assert_eq!((facts.mount.unwrap().file_system.as_str(), facts.devices.len()), ("proc", 0));
}

#[test]
fn a_loop_device_is_described_as_its_tools_describe_it() {
    let Some(disk) = LoopDevices::make(1, 16) else { return };
    let path = disk.path(0);
    let facts = volume(path).unwrap();
    assert_eq!(facts.mount, None, "a device is looked at by itself");
    let [device] = facts.devices.as_slice() else { panic!("{facts:?}") };
    let number = |option: &str| -> u64 {
        shell(&format!("blockdev {option} {}", path.display())).unwrap().parse().unwrap()
    };
    assert_eq!(device.size_bytes, Some(number("--getsize64")));
    assert_eq!(device.logical_sector_bytes, Some(number("--getss")));
    assert_eq!(device.physical_sector_bytes, Some(number("--getpbsz")));
    assert_eq!(device.minimum_io_bytes, Some(number("--getiomin")));
    assert_eq!(device.optimal_io_bytes, Some(number("--getioopt")));
    assert_eq!(device.read_ahead_bytes, Some(number("--getra") * 512));
    let file = device.loop_file.as_ref().unwrap();
    assert!(Path::new(&file.backing_file).ends_with("image0"), "{file:?}");
    assert_eq!((file.offset_bytes, file.direct_io), (Some(0), Some(false)));

    if let Err(error) = shell(&format!("losetup --direct-io=on {}", path.display())) {
        println!("SKIPPED: no direct I/O under a loop device here: {error}");
        return;
    }
    let direct = volume(path).unwrap().devices.remove(0).loop_file.unwrap();
    assert_eq!(direct.direct_io, Some(true));
}

#[test]
fn a_partition_says_where_it_begins() {
    let Some(mut disk) = LoopDevices::make(1, 64) else { return };
    let device = disk.devices[0].clone();
    shell(&format!("addpart {device} 1 63 65536")).unwrap();
    let part = format!("{device}p1");
    let found: DeviceFacts = volume(Path::new(&part)).unwrap().devices.remove(0);
    let partition = found.partition.unwrap();
    assert_eq!(
        (format!("/dev/{}", partition.disk), partition.start_bytes),
        (device.clone(), 63 * 512)
    );
    assert_eq!(found.size_bytes, Some(65_536 * 512));

    shell(&format!("mkfs.ext4 -q -b 1024 -E stride=64,stripe-width=128 {part}")).unwrap();
    let Some(folder) = disk.mount(&part, "noatime,nobarrier") else { return };
    let mount = mount_of(&folder);
    assert_eq!((mount.file_system.as_str(), mount.source), ("ext4", part));
    assert_eq!((mount.block_bytes, mount.stripe_width_bytes), (Some(1024), Some(128 * 1024)));
    assert!(
        mount.options.contains("noatime") && mount.options.contains("nobarrier"),
        "{}",
        mount.options
    );
    let free_of_df =
        shell(&format!("df --output=avail -B1 {} | tail -1", folder.display())).unwrap();
    assert_eq!(mount.free_bytes, Some(free_of_df.parse().unwrap()));
}

#[test]
fn xfs_shows_its_stripes() {
    let Some(mut disk) = LoopDevices::make(1, 512) else { return };
    let device = disk.devices[0].clone();
    let Some(()) = disk.format("mkfs.xfs -q -d su=64k,sw=2,agcount=2") else { return };
    let Some(folder) = disk.mount(&device, "rw") else { return };
    let mount = mount_of(&folder);
    assert_eq!((mount.stripe_unit_bytes, mount.stripe_width_bytes), (Some(65_536), Some(131_072)));
    assert_eq!(mount.block_bytes, Some(4096));
}

#[test]
fn btrfs_shows_its_profiles_and_devices() {
    let Some(mut disk) = LoopDevices::make(2, 128) else { return };
    let Some(()) = disk.format("mkfs.btrfs -q -d raid0 -m raid1") else { return };
    let devices = disk.devices.clone();
    let Some(folder) = disk.mount(&devices[0], &format!("device={}", devices[1])) else { return };
    let facts = volume(&folder).unwrap();
    let mut names: Vec<String> =
        facts.devices.iter().map(|device| format!("/dev/{}", device.name)).collect();
    names.sort_by_key(|name| devices.iter().position(|device| device == name));
    assert_eq!(names, devices);
    let mount = facts.mount.unwrap();
    assert_eq!(
        (mount.btrfs_data, mount.btrfs_metadata),
        (vec!["raid0".into()], vec!["raid1".to_owned()])
    );
}

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
    let part = device_of(&disk.join("sda1"));
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
    let disk = device_of(&disk);
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
    assert_eq!(device_of(&md).array, Some(array));
    assert_eq!(device_of(&md).slaves, ["sda1", "sdb1"]);
    write(&dm, &[("dm/name", "vg-data"), ("dm/uuid", "LVM-4x7c"), ("queue/scheduler", "none")]);
    let mapped = MappedFacts { name: "vg-data".into(), kind: Some("LVM".into()) };
    assert_eq!(
        (device_of(&dm).mapped, device_of(&dm).scheduler.as_deref()),
        (Some(mapped), Some("none"))
    );
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

#[test]
fn reads_the_stripe_that_a_file_system_shows() {
    let xfs = "rw,relatime,attr2,inode64,sunit=128,swidth=256,noquota";
    assert_eq!(stripe(xfs, Some(4096)), (Some(65_536), Some(131_072)));
    assert_eq!(stripe("rw,relatime,stripe=32", Some(4096)), (None, Some(131_072)));
    assert_eq!(stripe("rw,relatime,noquota", Some(4096)), (None, None));
}
