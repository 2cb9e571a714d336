//! Effects of limits on loop devices in the kernel. Needs root.

use super::{ControlGroup, Device, Hierarchy, Mount, Version, devices_of, remove_orphans};
use experiment::Volume;
use observations::Throttle;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// File systems on loop devices; unmounted and detached when dropped.
struct Disk {
    folder: TempDir,
    devices: Vec<String>,
}

fn shell(command: &str) -> Result<String, String> {
    let Output { status, stdout, stderr } =
        Command::new("sh").args(["-ec", command]).output().unwrap();
    let text = |bytes| String::from_utf8_lossy(bytes).trim().to_owned();
    if status.success() { Ok(text(&stdout)) } else { Err(format!("{command}: {}", text(&stderr))) }
}

impl Disk {
    /// Runs `mkfs` with the names of `devices` new devices, and mounts the file system. Prints a
    /// note and returns `None` where that is not possible.
    fn make(mkfs: &str, devices: u32) -> Option<Self> {
        let mut disk = Self { folder: tempfile::tempdir().unwrap(), devices: Vec::new() };
        if let Err(error) = disk.prepare(mkfs, devices) {
            println!("SKIPPED: needs root, loop devices and {mkfs}: {error}");
            return None;
        }
        Some(disk)
    }

    fn prepare(&mut self, mkfs: &str, devices: u32) -> Result<(), String> {
        for number in 0..devices {
            let image = self.folder.path().join(format!("{number}.img"));
            shell(&format!("truncate -s 256M {}", image.display()))?;
            self.attach(&image)?;
        }
        let (devices, path) = (self.devices.join(" "), self.path());
        shell(&format!("{mkfs} {devices}"))?;
        let members: Vec<String> =
            self.devices.iter().map(|device| format!("-o device={device}")).collect();
        let members = if mkfs.contains("btrfs") { members.join(" ") } else { String::new() };
        shell(&format!("mkdir {0} && mount {members} {1} {0}", path.display(), self.devices[0]))?;
        Ok(())
    }

    /// A file system on a partition of a device.
    fn partitioned() -> Option<Self> {
        let mut disk = Self { folder: tempfile::tempdir().unwrap(), devices: Vec::new() };
        if let Err(error) = disk.partition() {
            println!("SKIPPED: needs root and loop devices: {error}");
            return None;
        }
        Some(disk)
    }

    fn partition(&mut self) -> Result<(), String> {
        let image = self.folder.path().join("disk.img");
        shell(&format!("truncate -s 64M {}", image.display()))?;
        self.attach(&image)?;
        let (device, path) = (&self.devices[0], self.path());
        // addpart: not every kernel reads partition tables of loop devices.
        shell(&format!("addpart {device} 1 2048 65536 && mkfs.ext4 -q {device}p1"))?;
        shell(&format!("mkdir {0} && mount {device}p1 {0}", path.display()))?;
        Ok(())
    }

    fn attach(&mut self, image: &Path) -> Result<(), String> {
        self.devices.push(shell(&format!("losetup --partscan --find --show {}", image.display()))?);
        Ok(())
    }

    /// `major:minor` of each device, as the kernel shows them.
    fn numbers(&self) -> Vec<String> {
        let mut numbers: Vec<String> = self
            .devices
            .iter()
            .map(|device| {
                let file = format!("/sys/block/{}/dev", device.trim_start_matches("/dev/"));
                std::fs::read_to_string(file).unwrap().trim().to_owned()
            })
            .collect();
        numbers.sort_unstable();
        numbers
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("mount")
    }

    fn volume(&self, name: &str, throttle: Option<Throttle>) -> Volume {
        Volume {
            name: name.into(),
            path: self.path().display().to_string(),
            prepare: None,
            cleanup: None,
            hook_timeout_s: 10.0,
            throttle,
        }
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = shell(&format!("umount {}", self.path().display()));
        for device in &self.devices {
            let _ = shell(&format!("losetup -d {device}"));
        }
    }
}

/// Returns whether control groups can be made here; prints a note otherwise.
fn groups() -> bool {
    ControlGroup::empty().inspect_err(|error| println!("SKIPPED: {error}")).is_ok()
}

/// Time in which a process in the group runs `dd` with these arguments.
fn time_of(group: &ControlGroup, dd: &str) -> Duration {
    let start = Instant::now();
    let joins = group.processes().display().to_string();
    shell(&format!("echo 0 > {joins}; exec dd {dd}")).unwrap();
    start.elapsed()
}

const ZEROS: &str = "if=/dev/zero oflag=direct";

#[test]
fn the_kernel_keeps_processes_in_a_group_to_its_limits() {
    let Some(disk) = Disk::make("mkfs.ext4 -q", 1).filter(|_| groups()) else { return };
    let (file, groups) = (disk.path().join("x").display().to_string(), own_groups());
    let group = |throttle: Throttle| {
        ControlGroup::for_volumes(&[&disk.volume("slow", Some(throttle))]).unwrap().unwrap()
    };
    let writes = group(Throttle { write_iops: Some(50), ..Throttle::default() });
    let reads = group(Throttle { read_bytes: Some(4 << 20), ..Throttle::default() });
    // 100 writes at 50 a second take two seconds, less what the kernel lets pass at the start.
    let written = time_of(&writes, &format!("{ZEROS} of={file} bs=4k count=100"));
    assert!((1.5..60.0).contains(&written.as_secs_f64()), "{written:?}");
    // Without a limit on bytes the same group writes much at once.
    let much = time_of(&writes, &format!("{ZEROS} of={file} bs=1M count=8"));
    let read = time_of(&reads, &format!("if={file} iflag=direct of=/dev/null bs=1M count=8"));
    assert!((1.5..60.0).contains(&read.as_secs_f64()), "8 MiB at 4 MiB/s: {read:?}");
    assert!(much < written && much < read, "{much:?}");
    // Processes outside the group are not throttled, nor are we after leaving it.
    let inside = writes.enter().unwrap();
    assert_ne!(own_groups(), groups);
    drop(inside);
    assert_eq!(own_groups(), groups);
    let paths: Vec<PathBuf> = [&writes, &reads].iter().map(|group| group.processes()).collect();
    drop((writes, reads));
    assert!(paths.iter().all(|path| !path.parent().unwrap().exists()));
}

/// The devices of a directory, as they are written into limits.
fn names(path: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        devices_of(path).unwrap().iter().map(ToString::to_string).collect();
    names.sort_unstable();
    names
}

fn own_groups() -> String {
    std::fs::read_to_string("/proc/self/cgroup").unwrap()
}

#[test]
fn every_member_of_a_btrfs_has_the_limits() {
    let Some(disk) = Disk::make("mkfs.btrfs -q -d raid0 -m raid1", 2).filter(|_| groups()) else {
        return;
    };
    let path = disk.path();
    // A subvolume has a device number that no mount has.
    shell(&format!("btrfs -q subvolume create {}/sub", path.display())).unwrap();
    for folder in [path.clone(), path.join("sub")] {
        assert_eq!(names(&folder), disk.numbers());
    }
    let throttle = Throttle { write_bytes: Some(2 << 20), ..Throttle::default() };
    let group =
        ControlGroup::for_volumes(&[&disk.volume("array", Some(throttle))]).unwrap().unwrap();
    // Each device does 2 MiB/s: four of them take a second on two devices, two on one.
    let file = path.join("x").display().to_string();
    let written = time_of(&group, &format!("{ZEROS} of={file} bs=64k count=128"));
    assert!((1.0..60.0).contains(&written.as_secs_f64()), "8 MiB at 2 x 2 MiB/s: {written:?}");
}

#[test]
fn a_partition_stands_for_its_disk() {
    let Some(disk) = Disk::partitioned().filter(|_| groups()) else { return };
    assert_eq!(names(&disk.path()), disk.numbers());
    let throttle = Throttle { write_iops: Some(50), ..Throttle::default() };
    assert!(
        ControlGroup::for_volumes(&[&disk.volume("partition", Some(throttle))]).unwrap().is_some()
    );
}

#[test]
fn limits_belong_to_devices() {
    let Some(disk) = Disk::make("mkfs.ext4 -q", 1).filter(|_| groups()) else { return };
    let throttle = Some(Throttle { read_iops: Some(100), ..Throttle::default() });
    let (slow, fast) = (disk.volume("slow", throttle), disk.volume("fast", None));
    let same = disk.volume("same", throttle);
    assert!(ControlGroup::for_volumes(&[&slow, &same]).unwrap().is_some());
    assert!(ControlGroup::for_volumes(&[&fast]).unwrap().is_none());
    let message = ControlGroup::for_volumes(&[&fast, &slow]).unwrap_err().to_string();
    assert!(message.starts_with("volumes fast and slow are both on device 7:"), "{message}");
    let memory = Volume { path: "/proc".into(), ..slow };
    let error = ControlGroup::for_volumes(&[&memory]).unwrap_err().to_string();
    assert!(error.contains("volume slow: /proc cannot be throttled: it is on proc"), "{error}");
}

#[test]
fn a_limit_that_the_kernel_refuses_is_an_error() {
    if !groups() {
        return;
    }
    let mut group = ControlGroup::empty().unwrap();
    let throttle = Throttle { read_iops: Some(100), ..Throttle::default() };
    // Not a block device.
    let null = Device::described(Path::new("/sys/class/mem/null")).unwrap();
    let message = group.limit(null, &throttle).unwrap_err().to_string();
    assert!(message.contains("cannot set a limit"), "{message}");
    // Not those of tests that wait for one, which hold this lock.
    let alone = std::fs::File::open("/sys/fs").unwrap();
    alone.lock().unwrap();
    assert!(remove_orphans().iter().all(|path| Some(path.as_path()) != group.processes().parent()));
}

fn mount(file_system: &str, root: &str, folder: &Path, options: &str) -> Mount {
    Mount {
        number: "0:1".into(),
        root: root.into(),
        folder: folder.into(),
        file_system: file_system.into(),
        source: "cgroup".into(),
        options: options.into(),
    }
}

/// The version and our own group, as hosts of different kinds show them.
#[track_caller]
fn check(mounts: &[Mount], groups: &str, expected: Option<(Version, &Path)>) {
    let found = Hierarchy::from_mounts(mounts, groups);
    let found = found.as_ref().map(|found| (found.version, found.group.as_path()));
    assert_eq!(found, expected);
}

#[test]
fn the_controller_is_found_where_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let (with, without) = (folder.path().join("with"), folder.path().join("without"));
    for (group, controllers) in [(&with, "cpuset cpu io memory\n"), (&without, "hugetlb\n")] {
        std::fs::create_dir(group).unwrap();
        std::fs::write(group.join("cgroup.controllers"), controllers).unwrap();
    }
    let blkio = PathBuf::from("/sys/fs/cgroup/blkio");
    let hierarchy = mount("cgroup", "/", &blkio, "rw,blkio");
    let cpu = mount("cgroup", "/", Path::new("/sys/fs/cgroup/cpu"), "rw,cpu,cpuacct");
    let groups = "9:name=systemd:/\n7:blkio:/user.slice\n4:memory:/a\n0::/user.slice/a.scope\n";
    // Only version 2; both, with the controller in version 1; neither.
    let only_two = [mount("cgroup2", "/", &with, "rw")];
    check(&only_two, groups, Some((Version::Second, &with.join("user.slice/a.scope"))));
    let both = [cpu.clone(), mount("cgroup2", "/", &without, "rw"), hierarchy.clone()];
    check(&both, groups, Some((Version::First, &blkio.join("user.slice"))));
    check(&[cpu, mount("cgroup2", "/", &without, "rw")], groups, None);
    // In a container: a part of the hierarchy is mounted, or our group is outside of it.
    let container = [mount("cgroup", "/user.slice", &blkio, "rw,blkio")];
    check(&container, groups, Some((Version::First, &blkio)));
    check(&[hierarchy], "7:blkio:/../other\n", Some((Version::First, &blkio)));
}
