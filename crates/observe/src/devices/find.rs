//! From a path to the block devices that hold it.

use super::Device;
use crate::mounts;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Why no block device is known for a path. The texts are the ends of sentences that name the path.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// The path cannot be looked at.
    #[error("{0}")]
    Path(#[source] io::Error),
    /// The table of mounts cannot be read.
    #[error("cannot read the mounts: {0}")]
    Mounts(#[source] io::Error),
    /// The path lies outside of what this process sees mounted.
    #[error("it is on no mount that can be seen")]
    NoMount,
    /// Its file system is in memory, on a network, or made of others.
    #[error("it is on {file_system}, which has no block device of its own")]
    NoDevice {
        /// The type of the file system: `tmpfs`.
        file_system: String,
    },
}

/// The whole devices under a file, a directory or a block device; of btrfs, which spreads a file
/// system over devices, all of them. Of a partition it is the disk, which is what has counters of
/// its own and takes limits; of a loop device it is that device, not what backs it.
pub fn devices_of(path: &Path) -> Result<Vec<Device>, DeviceError> {
    let mut devices: Vec<Device> = members_of(path)?.into_iter().map(Device::whole).collect();
    devices.sort_unstable();
    devices.dedup();
    Ok(devices)
}

/// The same with partitions as such: the devices that the file system itself is on.
pub fn members_of(path: &Path) -> Result<Vec<Device>, DeviceError> {
    let metadata = path.metadata().map_err(DeviceError::Path)?;
    if metadata.file_type().is_block_device() {
        return Ok(vec![Device::of_number(metadata.rdev())]);
    }
    let device = Device::of_number(metadata.dev());
    if !device.is_none() {
        return Ok(vec![device]);
    }
    let real = path.canonicalize().map_err(DeviceError::Path)?;
    let mounts = mounts::all().map_err(DeviceError::Mounts)?;
    let mount = mounts::holding(&mounts, &real).ok_or(DeviceError::NoMount)?;
    let members = if mount.file_system == "btrfs" { btrfs_members(&mount.source) } else { Vec::new() };
    if members.is_empty() {
        return Err(DeviceError::NoDevice { file_system: mount.file_system.clone() });
    }
    Ok(members)
}

/// All devices of the btrfs file system that this device is one of.
fn btrfs_members(source: &str) -> Vec<Device> {
    let Ok(metadata) = Path::new(source).metadata() else { return Vec::new() };
    btrfs_folder(Device::of_number(metadata.rdev())).map(|(_, members)| members).unwrap_or_default()
}

/// Where the kernel describes the mounted btrfs file system that a device is one of, and its devices.
pub(crate) fn btrfs_folder(member: Device) -> Option<(PathBuf, Vec<Device>)> {
    let file_systems = std::fs::read_dir("/sys/fs/btrfs").ok()?.flatten();
    file_systems.map(|entry| entry.path()).find_map(|folder| {
        let mut members = described_in(&folder.join("devices"));
        members.sort_unstable();
        members.contains(&member).then_some((folder, members))
    })
}

/// The devices that a folder of the kernel lists.
pub(crate) fn described_in(folder: &Path) -> Vec<Device> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| Device::described(&entry.path())).collect()
}
