//! Volumes that are slower than their device: limits of the kernel on a control group of our own,
//! of version 1 or 2, whichever the host has (see its admin-guide/cgroup-v1/blkio-controller.rst
//! and admin-guide/cgroup-v2.rst).
//!
//! The limits belong to a group of processes and to whole devices: they apply to all I/O of the
//! group's processes on that device, and are read back. A server joins the group before it starts;
//! for an embedded engine our own process enters it.

use crate::error::ThrottleError;
use crate::workdir::{is_of_gone_process, new_folder};
use experiment::{Experiment, Volume};
use observations::Throttle;
use observe::devices::{Device, devices_of};
use observe::mounts::{self, Mount};
use observe::processes;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Groups with this name and a process number behind it are ours.
const PREFIX: &str = "steelbench-";
/// The error of a machine without control groups for I/O.
const NO_CONTROLLER: &str = "`throttle` needs a mounted control group file system with the I/O \
                             controller (`io` of version 2, `blkio` of version 1); mount one, for \
                             example with `mount -t cgroup2 cgroup2 /sys/fs/cgroup`, or remove \
                             `throttle`";
/// A process that has just ended can be counted in its group for a moment.
const REMOVE_TIME_MAX: Duration = Duration::from_secs(1);

/// A control group with the limits of throttled volumes. Dropping it lifts them and removes it.
#[derive(Debug)]
pub(crate) struct ControlGroup {
    path: PathBuf,
    version: Version,
    /// The limits that are set: file, device and key.
    limited: Vec<(PathBuf, Device, &'static str)>,
    /// Where our own process belongs.
    origin: PathBuf,
}

impl ControlGroup {
    /// A group with the limits of these volumes; `None` when none is throttled.
    pub fn for_volumes(volumes: &[&Volume]) -> Result<Option<Self>, ThrottleError> {
        let limits = limits(volumes)?;
        if limits.is_empty() {
            return Ok(None);
        }
        let mut group = Self::empty()?;
        for (device, throttle) in &limits {
            group.limit(*device, throttle)?;
        }
        Ok(Some(group))
    }

    fn empty() -> Result<Self, ThrottleError> {
        let Hierarchy { version, mount, group } =
            Hierarchy::find().ok_or_else(|| ThrottleError(NO_CONTROLLER.into()))?;
        let parent =
            if version == Version::First { group.clone() } else { parent_with_io(&mount, &group)? };
        let path = new_folder(&parent, PREFIX)
            .map_err(not_permitted(&parent, "create a control group"))?;
        Ok(Self { path, version, limited: Vec::new(), origin: group })
    }

    /// The file to which a process writes `0` to get the limits, best before it becomes another
    /// user and program; its children inherit them.
    pub fn processes(&self) -> PathBuf {
        processes(&self.path)
    }

    /// Gives the limits to our own process, all threads of it, until the answer is dropped.
    pub fn enter(&self) -> Result<Inside, ThrottleError> {
        let file = self.processes();
        std::fs::write(&file, "0").map_err(not_permitted(&file, "move this process"))?;
        Ok(Inside { back: processes(&self.origin) })
    }

    /// Sets limits on a device and verifies that the kernel has them.
    fn limit(&mut self, device: Device, throttle: &Throttle) -> Result<(), ThrottleError> {
        let limits = [
            ("blkio.throttle.read_iops_device", "riops", throttle.read_iops),
            ("blkio.throttle.write_iops_device", "wiops", throttle.write_iops),
            ("blkio.throttle.read_bps_device", "rbps", throttle.read_bytes),
            ("blkio.throttle.write_bps_device", "wbps", throttle.write_bytes),
        ];
        for (file_of_one, key_of_two, limit) in limits {
            let Some(limit) = limit else { continue };
            let (file, key) = match self.version {
                Version::First => (self.path.join(file_of_one), ""),
                Version::Second => (self.path.join("io.max"), key_of_two),
            };
            self.set(&file, device, key, &limit.to_string())?;
        }
        Ok(())
    }

    fn set(
        &mut self,
        file: &Path,
        device: Device,
        key: &'static str,
        limit: &str,
    ) -> Result<(), ThrottleError> {
        let value = value(key, limit);
        let text = format!("{device} {value}");
        std::fs::write(file, &text).map_err(not_permitted(file, "set a limit"))?;
        self.limited.push((file.to_path_buf(), device, key));
        let now = read(file);
        let line = now
            .lines()
            .find(|line| line.split(' ').next() == Some(&device.to_string()))
            .unwrap_or("none for this device");
        if line.split(' ').skip(1).any(|part| part == value) {
            return Ok(());
        }
        Err(ThrottleError(format!(
            "{}: the limit `{text}` was not applied: the kernel has {line}",
            file.display()
        )))
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        // What is left to do for a process that was killed is not held up any more, and a group
        // that cannot be removed does no harm.
        for (file, device, key) in self.limited.drain(..) {
            let none = if self.version == Version::First { "0" } else { "max" };
            let _ = std::fs::write(file, format!("{device} {}", value(key, none)));
        }
        let start = Instant::now();
        while std::fs::remove_dir(&self.path)
            .is_err_and(|error| error.kind() == io::ErrorKind::ResourceBusy)
            && start.elapsed() < REMOVE_TIME_MAX
        {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// While this lives, our process has the limits of a group.
#[derive(Debug)]
pub(crate) struct Inside {
    back: PathBuf,
}

impl Drop for Inside {
    fn drop(&mut self) {
        // Should this fail, the group is left without limits when it is dropped.
        let _ = std::fs::write(&self.back, "0");
    }
}

/// The file to which processes are written to get into a group.
fn processes(group: &Path) -> PathBuf {
    group.join("cgroup.procs")
}

/// `3000`, or `riops=3000` where limits have keys.
fn value(key: &str, limit: &str) -> String {
    if key.is_empty() { limit.into() } else { format!("{key}={limit}") }
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

fn not_permitted(path: &Path, action: &str) -> impl FnOnce(io::Error) -> ThrottleError {
    move |error| {
        ThrottleError(format!(
            "{}: cannot {action}: {error}; `throttle` needs root and writable control groups (in \
             a container: privileged); provide them or remove `throttle`",
            path.display()
        ))
    }
}

/// Tries whether this process may limit the I/O of programs that it starts.
///
/// # Errors
/// When there is no control group for it, or it may not create one.
pub fn limits_permitted() -> Result<(), ThrottleError> {
    ControlGroup::empty().map(drop)
}

/// Before anything is recorded: limits can be set, also on every volume that is there already.
pub fn check(experiment: &Experiment) -> Result<(), ThrottleError> {
    let throttled: Vec<&Volume> =
        experiment.volumes.iter().filter(|volume| volume.throttle.is_some()).collect();
    if !throttled.is_empty() {
        limits_permitted()?;
    }
    for volume in throttled.into_iter().filter(|volume| volume.prepare.is_none()) {
        ControlGroup::for_volumes(&[volume])?;
    }
    Ok(())
}

/// The limits of each device that throttled volumes are on.
fn limits(volumes: &[&Volume]) -> Result<BTreeMap<Device, Throttle>, ThrottleError> {
    if volumes.iter().all(|volume| volume.throttle.is_none()) {
        return Ok(BTreeMap::new());
    }
    let mut users: BTreeMap<Device, &Volume> = BTreeMap::new();
    for volume in volumes {
        let devices = match devices_of(Path::new(&volume.path)) {
            Ok(devices) => devices,
            // A volume without limits need not have a device that can be throttled.
            Err(_) if volume.throttle.is_none() => continue,
            Err(error) => {
                return Err(ThrottleError(format!(
                    "volume {}: {} cannot be throttled: {error}; put it on a block device or \
                     remove `throttle`",
                    volume.name, volume.path
                )));
            }
        };
        for device in devices {
            let other = *users.entry(device).or_insert(volume);
            if other.throttle != volume.throttle {
                return Err(ThrottleError(format!(
                    "volumes {} and {} are both on device {device} with different `throttle` \
                     limits; a trial that uses both needs separate devices",
                    other.name, volume.name
                )));
            }
        }
    }
    Ok(users.into_iter().filter_map(|(device, volume)| Some((device, volume.throttle?))).collect())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    First,
    Second,
}

/// The groups of this host that can limit I/O.
#[derive(Debug)]
struct Hierarchy {
    version: Version,
    /// Where the groups are mounted.
    mount: PathBuf,
    /// The group that our process is in.
    group: PathBuf,
}

impl Hierarchy {
    /// Looks for the I/O controller. On a host with both versions it belongs to one of them.
    fn find() -> Option<Self> {
        let mounts = mounts::all().unwrap_or_default();
        let us = std::process::id() as i32;
        let groups = processes::text(us, "cgroup").unwrap_or_default();
        Self::from_mounts(&mounts, &groups)
    }

    fn from_mounts(mounts: &[Mount], groups: &str) -> Option<Self> {
        let has = |list: &str, controller: &str| {
            list.split([',', ' ', '\n']).any(|name| name == controller)
        };
        let version = |mount: &Mount| match mount.file_system.as_str() {
            "cgroup" if has(&mount.options, "blkio") => Some(Version::First),
            "cgroup2" if has(&read(&mount.folder.join("cgroup.controllers")), "io") => {
                Some(Version::Second)
            }
            _ => None,
        };
        let (mount, version) = mounts.iter().find_map(|mount| Some((mount, version(mount)?)))?;
        // Lines are `number:controllers:path`, of version 2 without controllers (cgroups(7)).
        let path = groups.lines().find_map(|line| {
            let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
            let is_it = match version {
                Version::First => has(controllers, "blkio"),
                Version::Second => controllers.is_empty(),
            };
            is_it.then_some(Path::new(path))
        })?;
        // A group outside of what is mounted here cannot be named: then the topmost visible one.
        let below = path.strip_prefix(&mount.root).unwrap_or(Path::new(""));
        let text = mount.folder.join(if path.starts_with("/..") { Path::new("") } else { below });
        Some(Self { version, mount: mount.folder.clone(), group: text })
    }
}

/// The nearest ancestor of our own group whose children have the I/O controller. Version 2 gives it
/// only to children of groups without processes, so that this is not our own. If it is not enabled
/// anywhere, enables it in the topmost group; that changes nothing for groups without limits.
fn parent_with_io(mount: &Path, path: &Path) -> Result<PathBuf, ThrottleError> {
    let control = |group: &Path| group.join("cgroup.subtree_control");
    let visible = path.ancestors().take_while(|group| group.starts_with(mount));
    if let Some(group) = visible
        .into_iter()
        .find(|group| read(&control(group)).split_whitespace().any(|name| name == "io"))
    {
        return Ok(group.to_path_buf());
    }
    let file = control(mount);
    std::fs::write(&file, "+io").map_err(not_permitted(&file, "enable the I/O controller"))?;
    Ok(mount.to_path_buf())
}

/// Removes groups that killed runs have left: with our name, of a process that is gone, and without
/// processes. Returns them.
pub(crate) fn remove_orphans() -> Vec<PathBuf> {
    let Some(hierarchy) = Hierarchy::find() else { return Vec::new() };
    let (mut removed, mut groups) = (Vec::new(), vec![hierarchy.mount]);
    while let Some(group) = groups.pop() {
        for entry in std::fs::read_dir(group).into_iter().flatten().flatten() {
            // The kernel refuses when there are processes in it.
            if is_of_gone_process(&entry.path(), PREFIX)
                && std::fs::remove_dir(entry.path()).is_ok()
            {
                removed.push(entry.path());
            } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                groups.push(entry.path());
            }
        }
    }
    removed
}

#[cfg(test)]
mod tests;
