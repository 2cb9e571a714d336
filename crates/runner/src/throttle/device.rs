//! From a directory to the block devices that hold it.

use observe::mounts;
use std::fmt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A whole block device, as limits name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Device {
    major: u32,
    minor: u32,
}

impl fmt::Display for Device {
    /// `8:0`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

impl Device {
    fn of_number(number: u64) -> Self {
        Self { major: libc::major(number), minor: libc::minor(number) }
    }

    /// The device itself, or the disk that this is a partition of: the kernel limits whole devices.
    fn whole(self) -> Self {
        let folder = self.folder();
        if !folder.join("partition").exists() {
            return self;
        }
        let disk = folder.canonicalize().ok().and_then(|folder| Self::described(folder.parent()?));
        disk.unwrap_or(self)
    }

    /// The folder in which the kernel describes it.
    fn folder(self) -> PathBuf {
        PathBuf::from(format!("/sys/dev/block/{self}"))
    }

    /// The device that the kernel describes in this folder.
    pub fn described(folder: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(folder.join("dev")).ok()?;
        let (major, minor) = text.trim().split_once(':')?;
        Some(Self { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }
}

/// The devices that take the limits of this directory; of btrfs, which spreads a file system over
/// devices, all of them. The error says what is there instead.
pub fn devices_of(path: &Path) -> Result<Vec<Device>, String> {
    let metadata = path.metadata().map_err(|error| error.to_string())?;
    let device = Device::of_number(metadata.dev());
    if device.major != 0 {
        return Ok(vec![device.whole()]);
    }
    // Major 0 stands for no device: the file system may have several, or none.
    let real = path.canonicalize().map_err(|error| error.to_string())?;
    let mounts = mounts::all().map_err(|error| format!("cannot read the mounts: {error}"))?;
    let mount = mounts::holding(&mounts, &real).ok_or("it is on no mount that can be seen")?;
    let members = if mount.file_system == "btrfs" { btrfs_members(&mount.source) } else { Vec::new() };
    if members.is_empty() {
        return Err(format!("it is on {}, which has no block device of its own", mount.file_system));
    }
    Ok(members)
}

/// All devices of the btrfs file system that this device is one of.
fn btrfs_members(source: &str) -> Vec<Device> {
    let Ok(metadata) = Path::new(source).metadata() else { return Vec::new() };
    let own = Device::of_number(metadata.rdev());
    let Ok(file_systems) = std::fs::read_dir("/sys/fs/btrfs") else { return Vec::new() };
    let members = |folder: PathBuf| -> Vec<Device> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.filter_map(|entry| Device::described(&entry.path())).collect()
    };
    let mut all = file_systems.flatten().map(|entry| members(entry.path().join("devices")));
    let mut devices = all.find(|members| members.contains(&own)).unwrap_or_default();
    devices = devices.into_iter().map(Device::whole).collect();
    devices.sort_unstable();
    devices.dedup();
    devices
}

#[cfg(test)]
mod tests {
    use super::{Path, devices_of};

    #[test]
    fn a_file_system_in_memory_has_no_device() {
        let cause = devices_of(Path::new("/proc")).unwrap_err();
        assert_eq!(cause, "it is on proc, which has no block device of its own");
        assert!(devices_of(Path::new("/no/such/directory")).is_err());
    }
}
