//! Block devices: which ones hold a path, what they have done, and whether they may be overwritten.

mod in_use;
mod monitor;

#[cfg(test)]
pub(crate) mod test_devices;
#[cfg(test)]
mod tests;

pub use in_use::{file_in_use, in_use};
pub use monitor::DeviceMonitor;

use crate::{mounts, sysfs};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::{fmt, io};

/// A block device or a partition of one, by the kernel's number for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
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

    /// The block device that a path is.
    fn at(path: &Path) -> Option<Self> {
        let metadata =
            path.metadata().ok().filter(|metadata| metadata.file_type().is_block_device())?;
        Some(Self::of_number(metadata.rdev()))
    }

    /// The device that the kernel describes in this folder.
    pub fn described(folder: &Path) -> Option<Self> {
        let text = sysfs::text(folder.join("dev"))?;
        let (major, minor) = text.split_once(':')?;
        Some(Self { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }

    /// The device itself, or the disk that this is a partition of.
    #[must_use]
    pub fn whole(self) -> Self {
        let folder = self.is_partition().then(|| self.folder().canonicalize().ok()).flatten();
        folder.and_then(|folder| Self::described(folder.parent()?)).unwrap_or(self)
    }

    /// Returns whether this is a partition of a disk.
    pub fn is_partition(self) -> bool {
        self.folder().join("partition").exists()
    }

    /// The name: `vda`, `loop3`; its number where the kernel does not describe it.
    pub fn name(self) -> String {
        self.folder().canonicalize().map_or_else(|_| self.to_string(), |folder| name_of(&folder))
    }

    /// The folder in which the kernel describes it.
    pub(crate) fn folder(self) -> PathBuf {
        PathBuf::from(format!("/sys/dev/block/{self}"))
    }
}

/// The name of the device that the kernel describes in this folder: a slash in it is an exclamation
/// mark there.
pub(crate) fn name_of(folder: &Path) -> String {
    folder.file_name().map(|name| name.to_string_lossy().replace('!', "/")).unwrap_or_default()
}

/// Why no block device is known for a path, or not what is on it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct DeviceError(String);

impl From<io::Error> for DeviceError {
    fn from(error: io::Error) -> Self {
        Self(error.to_string())
    }
}

/// The whole devices under a file, a directory or a block device; of btrfs, which spreads a file
/// system over devices, all of them. Of a partition it is the disk, which is what has counters of
/// its own and takes limits; of a loop device it is that device, not what backs it.
///
/// # Errors
/// When there is none, in the end of a sentence that names the path.
pub fn devices_of(path: &Path) -> Result<Vec<Device>, DeviceError> {
    let mut devices: Vec<Device> = members_of(path)?.into_iter().map(Device::whole).collect();
    devices.sort_unstable();
    devices.dedup();
    Ok(devices)
}

/// Returns the devices of the file system itself, partitions included.
pub(crate) fn members_of(path: &Path) -> Result<Vec<Device>, DeviceError> {
    let metadata = path.metadata()?;
    let device = Device::at(path).unwrap_or(Device::of_number(metadata.dev()));
    // File systems in memory, on a network or over several devices have numbers without one.
    if device.major != 0 {
        return Ok(vec![device]);
    }
    let real = path.canonicalize()?;
    let mounts =
        mounts::all().map_err(|error| DeviceError(format!("cannot read the mounts: {error}")))?;
    let mount = mounts::holding(&mounts, &real)
        .ok_or_else(|| DeviceError("it is not on a visible mount".into()))?;
    let member = Device::at(Path::new(&mount.source)).filter(|_| mount.file_system == "btrfs");
    let members = member.and_then(btrfs_folder).map(|(_, members)| members);
    // The file system is in memory, on a network or over several devices.
    members.ok_or_else(|| {
        DeviceError(format!("it is on {}, which has no block device", mount.file_system))
    })
}

/// Where the kernel describes the mounted btrfs file system that a device is one of, and its
/// devices.
pub(crate) fn btrfs_folder(member: Device) -> Option<(PathBuf, Vec<Device>)> {
    let file_systems = std::fs::read_dir("/sys/fs/btrfs").ok()?.flatten();
    file_systems.map(|entry| entry.path()).find_map(|folder| {
        let mut members = listed_in(&folder.join("devices"));
        members.sort_unstable();
        members.contains(&member).then_some((folder, members))
    })
}

/// The devices that a folder of the kernel lists.
pub(crate) fn listed_in(folder: &Path) -> Vec<Device> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| Device::described(&entry.path())).collect()
}
