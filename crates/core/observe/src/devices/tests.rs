//! Against the kernel, on loop devices. Needs root.

use super::test_devices::{LoopDevices, shell};
use super::{Device, DeviceMonitor, devices_of, in_use, members_of};
use observations::DeviceUse;
use std::path::Path;
use std::time::Duration;

fn name(device: &str) -> String {
    device.trim_start_matches("/dev/").to_owned()
}

fn names(devices: Vec<Device>) -> Vec<String> {
    devices.into_iter().map(Device::name).collect()
}

/// Why a device must not be overwritten.
fn reason(path: impl AsRef<Path>) -> Option<String> {
    in_use(path.as_ref()).unwrap()
}

#[test]
fn a_file_system_in_memory_has_no_device() {
    let cause = devices_of(Path::new("/proc")).unwrap_err().to_string();
    assert_eq!(cause, "it is on proc, which has no block device");
    assert!(devices_of(Path::new("/no/such/directory")).is_err());
    let watched =
        DeviceMonitor::find(&[("none".into(), "/proc".into()), ("gone".into(), "/no/such".into())]);
    assert_eq!(watched.stop(), []);
}

#[test]
fn files_folders_and_devices_lead_to_devices() {
    let Some(mut disk) = LoopDevices::make(1, 32) else { return };
    let Some(()) = disk.format("mkfs.ext4 -q") else { return };
    let device = disk.devices[0].clone();
    assert_eq!(names(devices_of(disk.path(0)).unwrap()), [name(&device)]);
    let Some(folder) = disk.mount(&device, "rw") else { return };
    std::fs::write(folder.join("file"), "x").unwrap();
    for path in [folder.clone(), folder.join("file")] {
        assert_eq!(names(devices_of(&path).unwrap()), [name(&device)], "{}", path.display());
    }
}

#[test]
fn a_partition_leads_to_its_disk() {
    let Some(disk) = LoopDevices::make(1, 32) else { return };
    let device = &disk.devices[0];
    shell(&format!("addpart {device} 1 2048 16384")).unwrap();
    let part = format!("{device}p1");
    assert_eq!(names(members_of(Path::new(&part)).unwrap()), [name(&part)]);
    assert_eq!(names(devices_of(Path::new(&part)).unwrap()), [name(device)]);
}

#[test]
fn a_file_system_over_devices_leads_to_all_of_them() {
    let Some(mut disk) = LoopDevices::make(2, 128) else { return };
    let Some(()) = disk.format("mkfs.btrfs -q -d raid1 -m raid1") else { return };
    let devices = disk.devices.clone();
    let Some(folder) = disk.mount(&devices[0], &format!("device={}", devices[1])) else { return };
    let mut found = names(devices_of(&folder).unwrap());
    found.sort_by_key(|found| devices.iter().position(|device| name(device) == *found));
    assert_eq!(found, [name(&devices[0]), name(&devices[1])]);

    // Every byte of a mirror is written twice.
    let monitor = DeviceMonitor::find(&[("data".into(), folder.clone())]);
    shell(&format!("dd if=/dev/urandom of={}/file bs=1M count=8 conv=fsync", folder.display()))
        .unwrap();
    let uses = monitor.stop();
    assert_eq!(uses.len(), 2, "{uses:?}");
    for used in &uses {
        assert!(used.write_bytes >= 8 << 20 && used.write_bytes < 12 << 20, "{used:?}");
    }

    // Both are taken, though only one of them is named by the mount.
    for device in &devices {
        assert_eq!(reason(device).unwrap(), format!("it is mounted at {}", folder.display()));
    }
}

#[test]
fn counters_agree_with_known_io() {
    let Some(disk) = LoopDevices::make(1, 64) else { return };
    let path = disk.path(0);
    let volumes = [("data".to_owned(), path.to_path_buf()), ("log".to_owned(), path.to_path_buf())];
    let used = |work: &str| -> DeviceUse {
        let mut monitor = DeviceMonitor::find(&volumes);
        monitor.start();
        shell(work).unwrap();
        let mut uses = monitor.stop();
        assert_eq!(uses.len(), 1, "one device is counted once");
        uses.remove(0)
    };
    let write =
        used(&format!("dd if=/dev/zero of={0} bs=64K count=200 oflag=direct", path.display()));
    assert_eq!(
        (write.volume.to_string(), &write.device),
        ("data, log".to_owned(), &name(&disk.devices[0]))
    );
    assert_eq!((write.writes, write.write_bytes), (200, 200 * 65_536));
    assert!(write.busy_s <= write.elapsed_s + 0.01, "{write:?}");

    let read =
        used(&format!("dd if={0} of=/dev/null bs=8K count=500 iflag=direct", path.display()));
    assert_eq!((read.reads, read.read_bytes), (500, 500 * 8192));
    assert_eq!((read.writes, read.write_bytes), (0, 0));

    let flush = used(&format!(
        "dd if=/dev/zero of={0} bs=4K count=1 oflag=direct conv=fsync",
        path.display()
    ));
    assert!(flush.flushes >= 1, "{flush:?}");
}

#[test]
fn an_empty_device_is_free() {
    let Some(disk) = LoopDevices::make(1, 16) else { return };
    assert_eq!(reason(disk.path(0)), None);
    // Random data, as a benchmark leaves it, is not a signature.
    shell(&format!(
        "dd if=/dev/urandom of={} bs=1M oflag=direct 2>/dev/null || true",
        disk.path(0).display()
    ))
    .unwrap();
    assert_eq!(reason(disk.path(0)), None);
}

#[test]
fn signatures_are_found() {
    let commands = [
        ("mkfs.ext4 -q -L data", 16, "it has the signature of ext4, label data"),
        ("mkfs.xfs -q", 320, "it has the signature of xfs"),
        ("mkfs.btrfs -q", 128, "it has the signature of btrfs"),
        ("mkswap", 16, "it has the signature of swap"),
    ];
    for (command, mib, expected) in commands {
        let Some(disk) = LoopDevices::make(1, mib) else { return };
        if disk.format(command).is_some() {
            assert_eq!(reason(disk.path(0)).as_deref(), Some(expected), "{command}");
        }
    }
}

#[test]
fn signatures_that_contradict_each_other_are_found() {
    let Some(disk) = LoopDevices::make(1, 128) else { return };
    let Some(()) = disk.format("mkfs.btrfs -q") else { return };
    let device = &disk.devices[0];
    // The superblock of btrfs survives what ext4 writes before it.
    let kept = tempfile::NamedTempFile::new().unwrap();
    let kept = kept.path().display();
    let keep = format!("dd if={device} of={kept} bs=64K skip=1 count=1 status=none");
    let put_back = format!("dd if={kept} of={device} bs=64K seek=1 conv=notrunc,fsync status=none");
    shell(&format!("{keep}; mkfs.ext4 -q -F {device}; {put_back}")).unwrap();
    let expected = "it has contradictory signatures (see wipefs)";
    assert_eq!(reason(device).as_deref(), Some(expected));
}

#[test]
fn a_device_behind_a_loop_device_is_found() {
    let Some(mut disk) = LoopDevices::make(1, 16) else { return };
    let device = disk.devices[0].clone();
    let upper = shell(&format!("losetup --find --show {device}")).unwrap();
    // Detached first.
    disk.devices.insert(0, upper.clone());
    assert_eq!(reason(&device).unwrap(), format!("it is held by {}", name(&upper)));
    assert_eq!(reason(&upper), None);
}

#[test]
fn a_swap_area_in_use_is_found() {
    let Some(disk) = LoopDevices::make(1, 16) else { return };
    let Some(()) = disk.format("mkswap") else { return };
    let device = &disk.devices[0];
    if let Err(error) = shell(&format!("chmod 600 {device} && swapon {device}")) {
        println!("SKIPPED: cannot swap here: {error}");
        return;
    }
    let found = reason(device);
    shell(&format!("swapoff {device}")).unwrap();
    assert_eq!(found.as_deref(), Some("it is used as swap"));
}

#[test]
fn partitions_guard_their_disk() {
    let Some(mut disk) = LoopDevices::make(1, 64) else { return };
    let device = disk.devices[0].clone();
    // A master boot record with one partition from sector 2048: status, CHS, type, CHS, start,
    // length.
    let entry = r"\000\000\000\000\203\000\000\000\000\010\000\000\000\000\001\000";
    shell(&format!("printf '{entry}' | dd of={device} bs=1 seek=446 conv=notrunc")).unwrap();
    shell(&format!(r"printf '\125\252' | dd of={device} bs=1 seek=510 conv=notrunc,fsync"))
        .unwrap();
    assert_eq!(reason(&device).as_deref(), Some("it has a partition table (dos)"));

    shell(&format!("addpart {device} 1 2048 65536")).unwrap();
    let part = format!("{device}p1");
    assert_eq!(reason(&device).unwrap(), format!("it has partitions: {}", name(&part)));
    assert_eq!(reason(&part), None, "an empty partition may be overwritten");

    shell(&format!("mkfs.ext4 -q {part}")).unwrap();
    assert_eq!(reason(&part).as_deref(), Some("it has the signature of ext4"));
    let Some(folder) = disk.mount(&part, "rw") else { return };
    let at = format!("is mounted at {}", folder.display());
    assert_eq!(reason(&part).unwrap(), format!("it {at}"));
    assert_eq!(reason(&device).unwrap(), format!("its partition {} {at}", name(&part)));
}

#[test]
fn a_mounted_disk_guards_its_partitions() {
    let Some(mut disk) = LoopDevices::make(1, 64) else { return };
    let device = disk.devices[0].clone();
    let Some(()) = disk.format("mkfs.ext4 -q") else { return };
    shell(&format!("addpart {device} 1 2048 65536")).unwrap();
    let Some(folder) = disk.mount(&device, "ro") else { return };
    let expected = format!("its disk {} is mounted at {}", name(&device), folder.display());
    assert_eq!(reason(format!("{device}p1")).unwrap(), expected);
}

#[test]
fn a_held_device_is_found() {
    let Some(disk) = LoopDevices::make(1, 32) else { return };
    let device = &disk.devices[0];
    let mapped = format!("steelbench-test-{}", name(device));
    let table = format!("0 16384 linear {device} 0");
    if !std::fs::read_to_string("/proc/misc").unwrap_or_default().contains("device-mapper") {
        println!("SKIPPED, cannot be here: this kernel has no device mapper");
        return;
    }
    if let Err(error) = shell(&format!("dmsetup create {mapped} --table '{table}'")) {
        println!("SKIPPED: needs the device mapper: {error}");
        return;
    }
    let found = reason(device);
    shell(&format!("dmsetup remove {mapped}")).unwrap();
    let found = found.unwrap();
    assert!(found.starts_with("it is held by dm-"), "{found}");
}

#[test]
fn a_device_that_is_open_exclusively_is_found() {
    use std::os::unix::fs::OpenOptionsExt;
    let Some(disk) = LoopDevices::make(1, 16) else { return };
    let mut exclusive = std::fs::OpenOptions::new();
    let open = exclusive.read(true).custom_flags(libc::O_EXCL).open(disk.path(0)).unwrap();
    let expected = "it is open exclusively by a program or the kernel";
    assert_eq!(reason(disk.path(0)).as_deref(), Some(expected));
    drop(open);
    // A process that another test starts has it too, until it becomes its program.
    let looks = std::iter::repeat_with(|| {
        std::thread::sleep(Duration::from_millis(5));
        reason(disk.path(0))
    });
    assert!(looks.take(2000).any(|reason| reason.is_none()));
}
