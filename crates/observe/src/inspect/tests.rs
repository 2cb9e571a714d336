//! Against the tools that made the volumes. Needs root.

use super::volume;
use crate::devices::test_devices::{LoopDevices, shell};
use observations::{DeviceFacts, MountFacts};
use std::path::Path;

fn mount_of(path: &Path) -> MountFacts {
    volume(path).unwrap().mount.unwrap()
}

#[test]
fn a_path_that_is_not_there_is_an_error() {
    let message = volume(Path::new("/no/such/volume")).unwrap_err().to_string();
    assert!(message.starts_with("/no/such/volume: cannot look at it: No such file"), "{message}");
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
    assert_eq!((format!("/dev/{}", partition.disk), partition.start_bytes), (device.clone(), 63 * 512));
    assert_eq!(found.size_bytes, Some(65_536 * 512));

    shell(&format!("mkfs.ext4 -q -b 1024 -E stride=64,stripe-width=128 {part}")).unwrap();
    let Some(folder) = disk.mount(&part, "noatime,nobarrier") else { return };
    let mount = mount_of(&folder);
    assert_eq!((mount.file_system.as_str(), mount.source), ("ext4", part));
    assert_eq!((mount.block_bytes, mount.stripe_width_bytes), (Some(1024), Some(128 * 1024)));
    assert!(mount.options.contains("noatime") && mount.options.contains("nobarrier"), "{}", mount.options);
    let free_of_df = shell(&format!("df --output=avail -B1 {} | tail -1", folder.display())).unwrap();
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
    let mut names: Vec<String> = facts.devices.iter().map(|device| format!("/dev/{}", device.name)).collect();
    names.sort_by_key(|name| devices.iter().position(|device| device == name));
    assert_eq!(names, devices);
    let mount = facts.mount.unwrap();
    assert_eq!((mount.btrfs_data, mount.btrfs_metadata), (vec!["raid0".into()], vec!["raid1".to_owned()]));
}
