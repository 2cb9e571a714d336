//! Storage layers under a path: file system, stripes, partitions, sectors, queues. Nothing is
//! written.

use crate::devices::{Device, btrfs_folder, listed_in, members_of, name_of};
use crate::file_system::{space, statistics};
use crate::mounts;
use crate::sysfs::{flag, names, selected, text, value};
use observations::{ArrayFacts, DeviceFacts, LoopFacts, MappedFacts, MountFacts, PartitionFacts};
use observations::{Unread, VolumeFacts};
use std::collections::BTreeSet;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// The kernel counts sizes and places in these, and xfs its stripes, regardless of the device's
/// sectors.
const SECTOR_BYTES: u64 = 512;

/// A path cannot be looked at.
#[derive(Debug, thiserror::Error)]
#[error(
    "{}: cannot inspect it: {source}; name an existing directory, file or block device",
    path.display()
)]
pub struct InspectError {
    path: PathBuf,
    source: io::Error,
}

/// Looks at the volume that holds a directory or file, or at a block device.
pub fn volume(path: &Path) -> Result<VolumeFacts, InspectError> {
    let unreadable = |source| InspectError { path: path.to_owned(), source };
    let real = path.canonicalize().map_err(unreadable)?;
    let is_device = real.metadata().map_err(unreadable)?.file_type().is_block_device();
    // No devices are known of file systems in memory or on a network; that is an answer.
    let members = members_of(&real).unwrap_or_default();
    Ok(VolumeFacts {
        path: path.display().to_string(),
        mount: if is_device { None } else { mount_of(&real, &members) },
        devices: layers(members),
    })
}

/// These devices, and after them those that they are made of.
fn layers(mut devices: Vec<Device>) -> Vec<DeviceFacts> {
    let (mut layers, mut next) = (Vec::new(), 0);
    while let Some(device) = devices.get(next).copied() {
        next += 1;
        let Ok(folder) = device.folder().canonicalize() else { continue };
        layers.push(device_of(&folder));
        // A partition is made of nothing but its disk, whose facts it has.
        let parts = listed_in(&device.whole().folder().join("slaves")).into_iter();
        devices.extend(parts.filter(|part| !devices.contains(part)).collect::<Vec<_>>());
    }
    layers
}

/// File systems of packages and media, which do not hold databases.
const READ_ONLY: [&str; 4] = ["squashfs", "erofs", "iso9660", "udf"];

/// Returns the storage layers of each mounted file system on block devices, and the unreadable
/// ones. Of several mounts of one file system the first counts.
pub fn volumes() -> (Vec<VolumeFacts>, Vec<Unread>) {
    let unread = |what: String, why: String| Unread { what, why };
    let mounts = match mounts::all() {
        Ok(mounts) => mounts,
        Err(error) => {
            return (Vec::new(), vec![unread("/proc/self/mountinfo".into(), error.to_string())]);
        }
    };
    let (mut found, mut failed, mut devices) = (Vec::new(), Vec::new(), BTreeSet::new());
    for mount in mounts {
        let is_mine =
            mount.source.starts_with('/') && !READ_ONLY.contains(&mount.file_system.as_str());
        if !is_mine || !mount.folder.is_dir() || !devices.insert(mount.number) {
            continue;
        }
        match volume(&mount.folder) {
            Ok(facts) if facts.devices.is_empty() => {}
            Ok(facts) => found.push(facts),
            Err(error) => {
                failed.push(unread(mount.folder.display().to_string(), error.to_string()));
            }
        }
    }
    (found, failed)
}

/// The file system that holds a path and is on these devices.
fn mount_of(path: &Path, members: &[Device]) -> Option<MountFacts> {
    let mounts = mounts::all().ok()?;
    let mount = mounts::holding(&mounts, path)?;
    let block_bytes = statistics(path).map(|stat| stat.f_frsize).filter(|bytes| *bytes > 0);
    let (stripe_unit_bytes, stripe_width_bytes) = stripe(&mount.options, block_bytes);
    let (size_bytes, free_bytes) = space(path).unzip();
    let btrfs = members
        .first()
        .filter(|_| mount.file_system == "btrfs")
        .and_then(|member| btrfs_folder(*member));
    // How btrfs spreads its blocks: profiles are folders among files.
    let profiles = |kind: &str| {
        let Some((folder, _)) = &btrfs else { return Vec::new() };
        let folder = folder.join("allocation").join(kind);
        names(&folder).into_iter().filter(|name| folder.join(name).is_dir()).collect()
    };
    Some(MountFacts {
        folder: mount.folder.display().to_string(),
        file_system: mount.file_system.clone(),
        source: mount.source.clone(),
        options: mount.options.clone(),
        block_bytes,
        stripe_unit_bytes,
        stripe_width_bytes,
        btrfs_data: profiles("data"),
        btrfs_metadata: profiles("metadata"),
        size_bytes,
        free_bytes,
    })
}

/// Stripe unit and width among the options: xfs shows `sunit` and `swidth` in sectors (xfs(5)),
/// ext4 `stripe`, which is the width, in its blocks (Documentation/admin-guide/ext4.rst).
fn stripe(options: &str, block_bytes: Option<u64>) -> (Option<u64>, Option<u64>) {
    let option = |name: &str| -> Option<u64> {
        let pairs = options.split(',').filter_map(|option| option.split_once('='));
        pairs.into_iter().find(|(found, _)| *found == name)?.1.parse().ok()
    };
    let sectors = |name| option(name).map(|sectors| sectors * SECTOR_BYTES);
    (sectors("sunit"), sectors("swidth").or_else(|| Some(option("stripe")? * block_bytes?)))
}

/// Reads the kernel's facts about a device from its folder, which no link leaves.
fn device_of(folder: &Path) -> DeviceFacts {
    let partition = partition(folder);
    // The queue belongs to the disk.
    let disk = folder.parent().filter(|_| partition.is_some()).unwrap_or(folder);
    let queue = disk.join("queue");
    DeviceFacts {
        name: name_of(folder),
        size_bytes: value(folder.join("size")).map(|sectors: u64| sectors * SECTOR_BYTES),
        partition,
        alignment_offset_bytes: value(folder.join("alignment_offset")),
        logical_sector_bytes: value(queue.join("logical_block_size")),
        physical_sector_bytes: value(queue.join("physical_block_size")),
        minimum_io_bytes: value(queue.join("minimum_io_size")),
        optimal_io_bytes: value(queue.join("optimal_io_size")),
        rotational: flag(queue.join("rotational")),
        scheduler: text(queue.join("scheduler")).and_then(|text| scheduler(&text)),
        write_cache: text(queue.join("write_cache")),
        fua: flag(queue.join("fua")),
        discard_granularity_bytes: value(queue.join("discard_granularity")),
        queue_requests: value(queue.join("nr_requests")),
        read_ahead_bytes: value(queue.join("read_ahead_kb")).map(|kib: u64| kib * 1024),
        array: array(&disk.join("md")),
        mapped: mapped(&disk.join("dm")),
        loop_file: loop_file(&disk.join("loop")),
        holders: names(&folder.join("holders")),
        slaves: names(&disk.join("slaves")),
    }
}

fn partition(folder: &Path) -> Option<PartitionFacts> {
    text(folder.join("partition"))?;
    let start: u64 = value(folder.join("start"))?;
    Some(PartitionFacts { disk: name_of(folder.parent()?), start_bytes: start * SECTOR_BYTES })
}

/// The scheduler in brackets; devices that have no choice name one without.
fn scheduler(text: &str) -> Option<String> {
    selected(text).or_else(|| (!text.contains(' ')).then(|| text.to_owned()))
}

/// Documentation/admin-guide/md.rst.
fn array(folder: &Path) -> Option<ArrayFacts> {
    let level = text(folder.join("level"))?;
    let disks = value(folder.join("raid_disks"));
    let layout = value(folder.join("layout")).unwrap_or_default();
    let chunk_bytes = value(folder.join("chunk_size")).filter(|bytes| *bytes > 0);
    Some(ArrayFacts {
        chunk_bytes,
        data_disks: disks.and_then(|disks| data_disks(&level, disks, layout)),
        disks,
        level,
    })
}

/// Returns the data disks of a stripe without copies and parity. The layout of RAID 10 has the
/// number of near copies in its lowest byte and of far copies in the next (md(4)).
fn data_disks(level: &str, disks: u64, layout: u64) -> Option<u64> {
    let parity = match level {
        "raid0" => 0,
        "raid4" | "raid5" => 1,
        "raid6" => 2,
        "raid10" => {
            let copies = (layout & 0xff).max(1) * (layout >> 8 & 0xff).max(1);
            return disks.is_multiple_of(copies).then_some(disks / copies);
        }
        _ => return None,
    };
    disks.checked_sub(parity).filter(|disks| *disks > 0)
}

fn mapped(folder: &Path) -> Option<MappedFacts> {
    let name = text(folder.join("name"))?;
    // Identifiers begin with the name of the program that made the device: `LVM-4x7c...`.
    let uuid = text(folder.join("uuid"));
    let kind = uuid.and_then(|uuid| uuid.split_once('-').map(|(kind, _)| kind.to_owned()));
    Some(MappedFacts { name, kind })
}

fn loop_file(folder: &Path) -> Option<LoopFacts> {
    Some(LoopFacts {
        backing_file: text(folder.join("backing_file"))?,
        offset_bytes: value(folder.join("offset")),
        direct_io: flag(folder.join("dio")),
    })
}

#[cfg(test)]
mod tests;
