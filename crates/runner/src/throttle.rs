//! Volumes that are slower than their device: limits of the kernel on a control group of our own.
//!
//! The limits belong to a group of processes and to whole devices: whoever is in the group has them
//! on everything that it does on that device.

mod cgroup;

use cgroup::{GroupFolder, Hierarchy};
use experiment::{Experiment, Throttle, Volume};
use observe::devices::{Device, DeviceError, devices_of};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub use cgroup::remove_orphans;

/// Why volumes cannot be throttled.
#[derive(Debug, thiserror::Error)]
pub enum ThrottleError {
    /// The host has no way to do it.
    #[error(
        "`throttle` needs a control group file system with the I/O controller (`io` of version 2, `blkio` of \
         version 1), and none is mounted; mount one, as by `mount -t cgroup2 cgroup2 /sys/fs/cgroup`, or \
         leave `throttle` out"
    )]
    NoController,
    /// We may not.
    #[error(
        "{}: cannot {action}: {source}; `throttle` needs root and control groups that can be written to (a \
         container has to be privileged); run it so, or leave `throttle` out",
        path.display()
    )]
    NotPermitted {
        /// A folder or file of the control groups.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// The cause.
        source: std::io::Error,
    },
    /// The volume is on nothing that takes limits.
    #[error("volume {volume}: {} cannot be throttled: {cause}; put it on a block device, or leave `throttle` out", path.display())]
    NoDevice {
        /// Its name.
        volume: String,
        /// Its path.
        path: PathBuf,
        /// What is there.
        #[source]
        cause: DeviceError,
    },
    /// Limits belong to a device, not to a folder on it.
    #[error(
        "volumes {} and {} are both on device {device} and differ in `throttle`; a trial that uses both needs \
         them on devices of their own",
        volumes.0, volumes.1
    )]
    SameDevice {
        /// Their names.
        volumes: (String, String),
        /// `major:minor`.
        device: String,
    },
    /// The kernel has not taken over a limit.
    #[error("{}: the limit `{wanted}` did not take: the kernel has {got}", path.display())]
    Ignored {
        /// The file of the limit.
        path: PathBuf,
        /// What was written.
        wanted: String,
        /// What is read.
        got: String,
    },
}

/// A control group with the limits of throttled volumes. Dropping it lifts them and removes it.
#[derive(Debug)]
pub struct ControlGroup {
    folder: GroupFolder,
    /// Where our own process belongs.
    own: PathBuf,
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
            group.folder.limit(*device, throttle)?;
        }
        Ok(Some(group))
    }

    fn empty() -> Result<Self, ThrottleError> {
        let hierarchy = Hierarchy::find()?;
        Ok(Self { folder: hierarchy.make()?, own: hierarchy.own })
    }

    /// The files to which a process writes `0` to get the limits, best before it becomes another
    /// user and program; its children inherit them.
    pub fn joins(&self) -> Vec<PathBuf> {
        vec![self.folder.processes()]
    }

    /// Gives the limits to our own process, all threads of it, until the answer is dropped.
    pub fn enter(&self) -> Result<Inside, ThrottleError> {
        cgroup::join(&self.folder.processes())?;
        Ok(Inside { back: cgroup::processes(&self.own) })
    }
}

/// While this lives, our process has the limits of a group.
#[derive(Debug)]
pub struct Inside {
    back: PathBuf,
}

impl Drop for Inside {
    fn drop(&mut self) {
        // Should this fail, the group is left without limits when it is dropped.
        let _ = cgroup::join(&self.back);
    }
}

/// Before anything is recorded: limits can be set, also on every volume that is there already.
pub fn check(experiment: &Experiment) -> Result<(), ThrottleError> {
    let throttled: Vec<&Volume> =
        experiment.volumes.iter().filter(|volume| volume.throttle.is_some()).collect();
    if !throttled.is_empty() {
        ControlGroup::empty()?;
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
            // What cannot be throttled need not be, if nobody asks for it.
            Err(_) if volume.throttle.is_none() => continue,
            Err(cause) => {
                let (volume, path) = (volume.name.clone(), volume.path.clone().into());
                return Err(ThrottleError::NoDevice { volume, path, cause });
            }
        };
        for device in devices {
            let other = *users.entry(device).or_insert(volume);
            if other.throttle != volume.throttle {
                let volumes = (other.name.clone(), volume.name.clone());
                return Err(ThrottleError::SameDevice { volumes, device: device.to_string() });
            }
        }
    }
    Ok(users.into_iter().filter_map(|(device, volume)| Some((device, volume.throttle?))).collect())
}

#[cfg(test)]
mod tests;
