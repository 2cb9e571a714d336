//! Control groups for I/O limits, in version 1 or 2, whichever the host has (see the kernel's
//! admin-guide/cgroup-v1/blkio-controller.rst and admin-guide/cgroup-v2.rst).

use super::ThrottleError;
use experiment::Throttle;
use observe::devices::Device;
use observe::mounts::{self, Mount};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Groups with this name and a process number behind it are ours.
const PREFIX: &str = "steelbench-";
/// A process that has just ended can be counted in its group for a moment.
const REMOVE_TIME_MAX: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

/// The groups of this host that can limit I/O.
#[derive(Debug)]
pub struct Hierarchy {
    version: Version,
    /// Where the groups are mounted.
    mount: PathBuf,
    /// The group that our process is in.
    pub own: PathBuf,
}

impl Hierarchy {
    /// Looks for the I/O controller. On a host with both versions it belongs to one of them.
    pub fn find() -> Result<Self, ThrottleError> {
        let mounts = mounts::all().unwrap_or_default();
        let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        Self::of(&mounts, &groups).ok_or(ThrottleError::NoController)
    }

    fn of(mounts: &[Mount], groups: &str) -> Option<Self> {
        let has = |list: &str, controller: &str| list.split([',', ' ', '\n']).any(|name| name == controller);
        let version = |mount: &Mount| match mount.file_system.as_str() {
            "cgroup" if has(&mount.options, "blkio") => Some(Version::One),
            "cgroup2" if has(&read(&mount.folder.join("cgroup.controllers")), "io") => Some(Version::Two),
            _ => None,
        };
        let (mount, version) = mounts.iter().find_map(|mount| Some((mount, version(mount)?)))?;
        // Lines are `number:controllers:path`, of version 2 without controllers (cgroups(7)).
        let path = groups.lines().find_map(|line| {
            let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
            let is_it = match version {
                Version::One => has(controllers, "blkio"),
                Version::Two => controllers.is_empty(),
            };
            is_it.then_some(Path::new(path))
        })?;
        // A group outside of what is mounted here cannot be named: then the topmost visible one.
        let below = path.strip_prefix(&mount.root).unwrap_or(Path::new(""));
        let own = mount.folder.join(if path.starts_with("/..") { Path::new("") } else { below });
        Some(Self { version, mount: mount.folder.clone(), own })
    }

    /// A new group of ours.
    pub fn make(&self) -> Result<GroupFolder, ThrottleError> {
        let parent = match self.version {
            Version::One => self.own.clone(),
            Version::Two => self.parent_with_io()?,
        };
        let pid = std::process::id();
        for number in 0_u32.. {
            let path = parent.join(format!("{PREFIX}{pid}-{number}"));
            match std::fs::create_dir(&path) {
                Ok(()) => return Ok(GroupFolder { path, version: self.version, limited: Vec::new() }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(source) => return Err(not_permitted(&path, "make a control group", source)),
            }
        }
        Err(not_permitted(&parent, "find a free name for a group", io::ErrorKind::AlreadyExists.into()))
    }

    /// The nearest group around our own whose children have the I/O controller. Version 2 gives it
    /// only to children of groups without processes, so that this is not our own. Where nobody has
    /// enabled it, the topmost group is made to; that changes nothing for groups without limits.
    fn parent_with_io(&self) -> Result<PathBuf, ThrottleError> {
        let control = |group: &Path| group.join("cgroup.subtree_control");
        let visible = self.own.ancestors().take_while(|group| group.starts_with(&self.mount));
        let enabled = |group: &Path| read(&control(group)).split_whitespace().any(|name| name == "io");
        if let Some(group) = visible.into_iter().find(|group| enabled(group)) {
            return Ok(group.to_path_buf());
        }
        let file = control(&self.mount);
        match std::fs::write(&file, "+io") {
            Ok(()) => Ok(self.mount.clone()),
            Err(source) => Err(not_permitted(&file, "enable the I/O controller", source)),
        }
    }
}

/// Removes groups that killed runs have left: with our name, of a process that is gone, and without
/// processes. Returns them.
pub fn remove_orphans() -> Vec<PathBuf> {
    let Ok(hierarchy) = Hierarchy::find() else { return Vec::new() };
    let (mut removed, mut groups) = (Vec::new(), vec![hierarchy.mount]);
    while let Some(group) = groups.pop() {
        for entry in std::fs::read_dir(group).into_iter().flatten().flatten() {
            let is_orphan = entry.file_name().to_str().is_some_and(is_of_gone_process);
            // The kernel refuses when there are processes in it.
            if is_orphan && std::fs::remove_dir(entry.path()).is_ok() {
                removed.push(entry.path());
            } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                groups.push(entry.path());
            }
        }
    }
    removed
}

fn is_of_gone_process(name: &str) -> bool {
    let rest = name.strip_prefix(PREFIX).and_then(|rest| rest.split_once('-'));
    let pid = rest.and_then(|(pid, number)| number.parse::<u32>().and(pid.parse::<u32>()).ok());
    pid.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists())
}

/// The file to which processes are written to get into a group.
pub fn processes(group: &Path) -> PathBuf {
    group.join("cgroup.procs")
}

/// Moves our process, all threads of it.
pub fn join(processes: &Path) -> Result<(), ThrottleError> {
    std::fs::write(processes, "0").map_err(|source| not_permitted(processes, "move this process", source))
}

/// A group of ours. Dropping it lifts its limits and removes it.
#[derive(Debug)]
pub struct GroupFolder {
    path: PathBuf,
    version: Version,
    /// The limits that are set: file, device and key.
    limited: Vec<(PathBuf, Device, &'static str)>,
}

impl GroupFolder {
    pub fn processes(&self) -> PathBuf {
        processes(&self.path)
    }

    /// Sets limits on a device and verifies that the kernel has them.
    pub fn limit(&mut self, device: Device, throttle: &Throttle) -> Result<(), ThrottleError> {
        let limits = [
            ("blkio.throttle.read_iops_device", "riops", throttle.read_iops),
            ("blkio.throttle.write_iops_device", "wiops", throttle.write_iops),
            ("blkio.throttle.read_bps_device", "rbps", throttle.read_bytes),
            ("blkio.throttle.write_bps_device", "wbps", throttle.write_bytes),
        ];
        for (file_of_one, key_of_two, limit) in limits {
            let Some(limit) = limit else { continue };
            let (file, key) = match self.version {
                Version::One => (self.path.join(file_of_one), ""),
                Version::Two => (self.path.join("io.max"), key_of_two),
            };
            self.set(file, device, key, &limit.to_string())?;
        }
        Ok(())
    }

    fn set(
        &mut self,
        file: PathBuf,
        device: Device,
        key: &'static str,
        limit: &str,
    ) -> Result<(), ThrottleError> {
        let value = value(key, limit);
        let wanted = format!("{device} {value}");
        std::fs::write(&file, &wanted).map_err(|source| not_permitted(&file, "set a limit", source))?;
        self.limited.push((file.clone(), device, key));
        let now = read(&file);
        let of_device = |line: &&str| line.split(' ').next() == Some(&device.to_string());
        let line = now.lines().find(of_device).unwrap_or("none for this device");
        if line.split(' ').skip(1).any(|part| part == value) {
            return Ok(());
        }
        Err(ThrottleError::Ignored { path: file, wanted, got: line.into() })
    }
}

impl Drop for GroupFolder {
    fn drop(&mut self) {
        // What is left to do for a process that was killed is not held up any more, and a group that
        // cannot be removed does no harm.
        for (file, device, key) in self.limited.drain(..) {
            let none = if self.version == Version::One { "0" } else { "max" };
            let _ = std::fs::write(file, format!("{device} {}", value(key, none)));
        }
        let start = Instant::now();
        while std::fs::remove_dir(&self.path).is_err_and(|error| error.kind() == io::ErrorKind::ResourceBusy)
            && start.elapsed() < REMOVE_TIME_MAX
        {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// `3000`, or `riops=3000` where limits have keys.
fn value(key: &str, limit: &str) -> String {
    if key.is_empty() { limit.into() } else { format!("{key}={limit}") }
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

fn not_permitted(path: &Path, action: &'static str, source: io::Error) -> ThrottleError {
    ThrottleError::NotPermitted { path: path.into(), action, source }
}

#[cfg(test)]
mod tests {
    use super::{Hierarchy, Version, mounts::Mount};
    use std::path::{Path, PathBuf};

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
        let found = Hierarchy::of(mounts, groups);
        let found = found.as_ref().map(|found| (found.version, found.own.as_path()));
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
        let one = mount("cgroup", "/", &blkio, "rw,blkio");
        let cpu = mount("cgroup", "/", Path::new("/sys/fs/cgroup/cpu"), "rw,cpu,cpuacct");
        let groups = "9:name=systemd:/\n7:blkio:/user.slice\n4:memory:/a\n0::/user.slice/a.scope\n";
        // Only version 2; both, with the controller in version 1; neither.
        let only_two = [mount("cgroup2", "/", &with, "rw")];
        check(&only_two, groups, Some((Version::Two, &with.join("user.slice/a.scope"))));
        let both = [cpu.clone(), mount("cgroup2", "/", &without, "rw"), one.clone()];
        check(&both, groups, Some((Version::One, &blkio.join("user.slice"))));
        check(&[cpu, mount("cgroup2", "/", &without, "rw")], groups, None);
        // In a container: a part of the hierarchy is mounted, or our group is outside of it.
        let container = [mount("cgroup", "/user.slice", &blkio, "rw,blkio")];
        check(&container, groups, Some((Version::One, &blkio)));
        check(&[one], "7:blkio:/../other\n", Some((Version::One, &blkio)));
    }
}
