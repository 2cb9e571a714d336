use serde::{Deserialize, Serialize};

/// Facts about the storage under a path, layer by layer; unknown ones are `None`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct VolumeFacts {
    /// The path that was looked at: a directory, a file or a block device.
    pub path: String,
    /// The file system that holds it; `None` of a block device, which is looked at by itself.
    pub mount: Option<MountFacts>,
    /// The devices under it, each once: first those that the file system is on, then what those
    /// are made of. None for file systems in memory or on a network.
    pub devices: Vec<DeviceFacts>,
}

/// A mounted file system.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MountFacts {
    /// Where it is mounted.
    pub folder: String,
    /// The type: `ext4`.
    pub file_system: String,
    /// Mounted source: a device, or a name.
    pub source: String,
    /// Options of the mount and of the file system: `rw,relatime,discard`.
    pub options: String,
    /// The block, the least that it allocates and writes, in bytes.
    pub block_bytes: Option<u64>,
    /// Stripe unit that it was made for, in bytes: what one disk gets before the next (xfs su).
    pub stripe_unit_bytes: Option<u64>,
    /// Stripe width that it was made for, in bytes: the unit times the disks with data (xfs su x
    /// sw).
    pub stripe_width_bytes: Option<u64>,
    /// How btrfs spreads data over its devices: `single`, `raid1`; several while it is converted.
    pub btrfs_data: Vec<String>,
    /// Profiles of metadata.
    pub btrfs_metadata: Vec<String>,
    /// The size in bytes.
    pub size_bytes: Option<u64>,
    /// Free bytes for unprivileged use.
    pub free_bytes: Option<u64>,
}

/// A block device or a partition, as `/sys/block` describes it
/// (Documentation/ABI/stable/sysfs-block). A partition has the limits and the queue of its disk.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceFacts {
    /// The name: `vda1`, `md0`, `loop3`.
    pub name: String,
    /// The size in bytes.
    pub size_bytes: Option<u64>,
    /// Of a partition: where it lies on its disk.
    pub partition: Option<PartitionFacts>,
    /// Bytes from its beginning to the next boundary of what the device below handles as one; 0 is
    /// aligned, -1 is not aligned by any shift.
    pub alignment_offset_bytes: Option<i64>,
    /// Least that can be addressed, in bytes.
    pub logical_sector_bytes: Option<u64>,
    /// Least that is written without reading what is around it, in bytes.
    pub physical_sector_bytes: Option<u64>,
    /// Least that is done well at random: of an array its chunk, in bytes.
    pub minimum_io_bytes: Option<u64>,
    /// Optimal size of sequential I/O: for an array its stripe, in bytes. 0: unknown.
    pub optimal_io_bytes: Option<u64>,
    /// True if it reports that it rotates (a hard disk). Virtual disks report this, too.
    pub rotational: Option<bool>,
    /// The scheduler of its I/Os: `none`, `mq-deadline`.
    pub scheduler: Option<String>,
    /// `write back`: what was written may be in a cache that loses it with the power, until it is
    /// flushed. `write through`: what was written is safe.
    pub write_cache: Option<String>,
    /// True if single writes can bypass the cache (force unit access).
    pub fua: Option<bool>,
    /// Granularity of discards, in bytes. 0: no discard.
    pub discard_granularity_bytes: Option<u64>,
    /// I/Os that its queue takes.
    pub queue_requests: Option<u64>,
    /// The bytes that the page cache reads ahead in a sequence.
    pub read_ahead_bytes: Option<u64>,
    /// Of an array of Linux's software RAID.
    pub array: Option<ArrayFacts>,
    /// Of a device of the device mapper: a logical volume, an encrypted device.
    pub mapped: Option<MappedFacts>,
    /// Of a loop device.
    pub loop_file: Option<LoopFacts>,
    /// Names of the devices that are made of it.
    pub holders: Vec<String>,
    /// Names of the devices that it is made of.
    pub slaves: Vec<String>,
}

/// Where a partition lies.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PartitionFacts {
    /// Name of its disk.
    pub disk: String,
    /// Bytes of the disk before it.
    pub start_bytes: u64,
}

/// An array of software RAID.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ArrayFacts {
    /// `raid0`, `raid1`, `raid10`, `raid5`.
    pub level: String,
    /// Bytes on one disk before the next; `None` without stripes.
    pub chunk_bytes: Option<u64>,
    /// Number of disks in it.
    pub disks: Option<u64>,
    /// Number of disks' worth of data in a stripe: what copies and parity leave.
    pub data_disks: Option<u64>,
}

/// A device of the device mapper.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MappedFacts {
    /// The name that it was given.
    pub name: String,
    /// The driver: `LVM`, `CRYPT`, `mpath`.
    pub kind: Option<String>,
}

/// A file as a block device.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LoopFacts {
    /// The file.
    pub backing_file: String,
    /// Where the device begins in the file, in bytes.
    pub offset_bytes: Option<u64>,
    /// True if it bypasses the page cache of the file.
    pub direct_io: Option<bool>,
}
