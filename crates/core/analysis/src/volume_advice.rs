//! What should be different about a volume before databases are put on it, or measured on it.

use crate::wording::percent;
use observations::Weight::{self, Note, Problem};
use observations::number::{bytes as about, exact_bytes as bytes};
use observations::{Advice, ArrayFacts, DeviceFacts, MountFacts, VolumeFacts};

/// Everything that the rules find, problems first, then in the order of the rules.
pub fn volume_advice(facts: &VolumeFacts) -> Vec<Advice> {
    let mut all = Vec::new();
    for &(weight, rule, find, reason) in &RULES {
        let mut add = |subject: &str, found: Option<Said>| {
            let Some((fact, action)) = found else { return };
            all.push(Advice { rule, weight, subject: subject.to_owned(), fact, reason, action });
        };
        match find {
            Device(find) => facts.devices.iter().for_each(|own| add(&own.name, find(own))),
            Mount(find) => facts.mount.iter().for_each(|own| add(&own.folder, find(own, facts))),
        }
    }
    all.sort_by_key(|advice| advice.weight);
    all
}

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
/// Sectors of drives that address 512 bytes and write 4096 (512e).
const OLD_SECTOR_BYTES: u64 = 512;
/// Table scans read in pieces of this size.
const SCAN_READ_BYTES: u64 = 512 * KIB;
/// Below this share of free space, file systems that write elsewhere and drives without spare
/// blocks begin to tidy up while they write.
const FREE_SHARE_MIN: f64 = 0.10;

/// What was found, and what to do.
type Said = (String, String);

/// What a rule looks at.
#[derive(Clone, Copy)]
enum Find {
    /// Each device.
    Device(fn(&DeviceFacts) -> Option<Said>),
    /// The file system.
    Mount(fn(&MountFacts, &VolumeFacts) -> Option<Said>),
}
use Find::{Device, Mount};

/// Weight, name, what finds it, and why it matters, with the source where there is one.
type Rule = (Weight, &'static str, Find, &'static str);

#[rustfmt::skip]
const RULES: [Rule; 15] = [
    (Problem, "partition-sector", Device(partition_sector),
        "a block that covers parts of two physical sectors is read, changed and written back by \
         the drive"),
    (Problem, "partition-stripe", Device(partition_stripe),
        "a block that covers parts of two stripe units takes two disks: with a 64 KiB stripe, a \
         partition at 64 KiB instead of 32 KiB made +11 % random I/Os/s on RAID 10 and +5.7 % on \
         RAID 5 (K. Van Dyke, 2009)"),
    (Note, "partition-mib", Device(partition_mib),
        "erase blocks and stripes are hidden by many drives and controllers; what begins at a \
         whole MiB suits nearly all of them, which is why tools for partitions have it as their \
         default"),
    (Problem, "file-system-stripe", Mount(file_system_stripe),
        "a file system that knows the stripe spreads its structures over the disks and writes \
         whole stripes, which spares RAID 5 and 6 the reading of what is missing for the parity"),
    (Problem, "block-size", Mount(block_size),
        "a block smaller than a physical sector is read, changed and written back by the drive"),
    (Problem, "barriers", Mount(barriers),
        "without barriers nothing that was made durable is safe from a loss of power, and \
         measured log writes are faster than those of a database that can be trusted"),
    (Problem, "loop-cache", Device(loop_cache),
        "a loop device without direct I/O goes through the page cache of its file: data is cached \
         twice, and direct I/O on it measures memory"),
    (Problem, "free-space", Mount(free_space),
        "a nearly full file system places new blocks where there is room, in pieces, and a nearly \
         full SSD must clean up before it can write"),
    (Note, "sector-emulation", Device(sector_emulation),
        "the drive accepts 512-byte writes but reads, changes and writes back a larger sector: \
         logs that write less than that, or not at its boundaries, pay twice"),
    (Note, "write-cache", Device(write_cache),
        "what was written may be lost with the power until the cache is flushed: every commit \
         needs a flush, and its time, not that of the write, is the log's latency. A cache that \
         the power cannot empty says write through"),
    (Note, "scheduler", Device(scheduler),
        "a drive that does not rotate gains nothing from sorted I/Os: schedulers that sort or \
         share out I/Os cost processor time on each (Documentation/block/switching-sched.rst)"),
    (Note, "online-discard", Mount(online_discard),
        "each deletion of a file or of log sends discards, which some drives answer slowly and in \
         between other I/Os"),
    (Note, "read-ahead", Device(read_ahead),
        "a scan through the page cache has no more in flight than this; larger reads keep the \
         disks of an array, or the channels of an SSD, busy at once. Direct I/O is not concerned"),
    (Note, "access-times", Mount(access_times),
        "each read of a file makes a write of its access time"),
    (Note, "btrfs-parity", Mount(btrfs_parity),
        "RAID 5 and 6 of btrfs can lose a stripe when the power fails while it is written \
         (btrfs(5))"),
];

/// Where a partition begins, when that is not a boundary of this unit. The kernel's own figure
/// knows of disks whose first sector is not a boundary.
fn off_boundary(device: &DeviceFacts, unit_bytes: u64) -> Option<u64> {
    let start_bytes = device.partition.as_ref()?.start_bytes;
    if unit_bytes == 0 {
        return None;
    }
    let off_bytes = match device.alignment_offset_bytes {
        Some(offset) if unit_bytes <= granularity_bytes(device) => {
            offset.rem_euclid(unit_bytes as i64) as u64
        }
        _ => start_bytes % unit_bytes,
    };
    (off_bytes != 0).then_some(start_bytes)
}

/// The disk that a partition is on; a disk itself.
fn disk(device: &DeviceFacts) -> &str {
    device.partition.as_ref().map_or(&device.name, |partition| &partition.disk)
}

/// What the kernel's alignment offset is counted in.
fn granularity_bytes(device: &DeviceFacts) -> u64 {
    device.physical_sector_bytes.max(device.minimum_io_bytes).unwrap_or_default()
}

/// What one disk under a partition gets before the next; 0: no stripes are known.
fn stripe_unit_bytes(device: &DeviceFacts) -> u64 {
    let chunk_bytes = device.array.as_ref().and_then(|array| array.chunk_bytes);
    let more_than_a_sector = |bytes: &u64| Some(*bytes) > device.physical_sector_bytes;
    chunk_bytes.or(device.minimum_io_bytes.filter(more_than_a_sector)).unwrap_or_default()
}

fn partition_sector(device: &DeviceFacts) -> Option<Said> {
    let sector_bytes = device.physical_sector_bytes?;
    let start_bytes = off_boundary(device, sector_bytes)?;
    let fact = format!(
        "begins at {}, not at a boundary of its {} sectors",
        bytes(start_bytes),
        bytes(sector_bytes)
    );
    Some((fact, "make the partition anew, beginning at 1 MiB or a multiple of it".into()))
}

fn partition_stripe(device: &DeviceFacts) -> Option<Said> {
    let unit_bytes = stripe_unit_bytes(device);
    let start_bytes = off_boundary(device, unit_bytes)?;
    let fact = format!(
        "begins at {}, not at a boundary of its {} stripe unit",
        bytes(start_bytes),
        bytes(unit_bytes)
    );
    let start = bytes(MIB.max(unit_bytes).next_multiple_of(unit_bytes));
    Some((fact, format!("make the partition anew, beginning at {start} or a multiple of it")))
}

fn partition_mib(device: &DeviceFacts) -> Option<Said> {
    // A start that the rules before have named is not named twice.
    let sector_bytes = device.physical_sector_bytes.unwrap_or_default();
    if off_boundary(device, sector_bytes)
        .or(off_boundary(device, stripe_unit_bytes(device)))
        .is_some()
    {
        return None;
    }
    let start_bytes = device.partition.as_ref()?.start_bytes;
    let fact = format!("begins at {}, not at a whole MiB", bytes(start_bytes));
    let action = "begin the partition at 1 MiB when it is made anew; measure the difference with \
                  `target.offset`";
    (start_bytes % MIB != 0).then(|| (fact, action.into()))
}

fn file_system_stripe(mount: &MountFacts, facts: &VolumeFacts) -> Option<Said> {
    let array = facts.devices.iter().find_map(|device| device.array.as_ref())?;
    let (chunk_bytes, width_bytes) = (array.chunk_bytes?, stripe_bytes(array));
    let is_unit_off = mount.file_system == "xfs" && mount.stripe_unit_bytes != Some(chunk_bytes);
    let knows_stripes = matches!(mount.file_system.as_str(), "xfs" | "ext4");
    let is_width_off =
        knows_stripes && width_bytes.is_some() && mount.stripe_width_bytes != width_bytes;
    if !is_unit_off && !is_width_off {
        return None;
    }
    let or_none = |value: Option<u64>| value.map_or("none".to_owned(), bytes);
    let has = match mount.file_system.as_str() {
        "xfs" => {
            let (unit, width) = (mount.stripe_unit_bytes, mount.stripe_width_bytes);
            format!("stripe unit {}, stripe width {}", or_none(unit), or_none(width))
        }
        _ => format!("stripe width {}", or_none(mount.stripe_width_bytes)),
    };
    let fact = format!(
        "has {} made for {has}; the array ({}) has chunks of {} and stripes of {}",
        mount.file_system,
        array.level,
        bytes(chunk_bytes),
        or_none(width_bytes)
    );
    Some((fact, stripe_action(mount, array, chunk_bytes)))
}

fn stripe_bytes(array: &ArrayFacts) -> Option<u64> {
    Some(array.chunk_bytes? * array.data_disks?)
}

/// The options of mkfs and mount that make the stripe known.
fn stripe_action(mount: &MountFacts, array: &ArrayFacts, chunk_bytes: u64) -> String {
    let disks = array.data_disks.unwrap_or(1);
    match (mount.file_system.as_str(), mount.block_bytes) {
        ("ext4", Some(block_bytes)) if block_bytes > 0 => {
            format!(
                "tune2fs -E stride={},stripe-width={}",
                chunk_bytes / block_bytes,
                disks * chunk_bytes / block_bytes
            )
        }
        _ => format!(
            "mkfs.xfs -d su={}k,sw={disks}, or mount with sunit={},swidth={}",
            chunk_bytes / KIB,
            chunk_bytes / 512,
            disks * chunk_bytes / 512
        ),
    }
}

fn block_size(mount: &MountFacts, facts: &VolumeFacts) -> Option<Said> {
    let sector_bytes =
        facts.devices.iter().filter_map(|device| device.physical_sector_bytes).max()?;
    let block_bytes = mount.block_bytes.filter(|bytes| *bytes < sector_bytes)?;
    let fact = format!(
        "has blocks of {} on physical sectors of {}",
        bytes(block_bytes),
        bytes(sector_bytes)
    );
    Some((fact, format!("make the file system anew with blocks of {}", bytes(sector_bytes))))
}

fn has_option(mount: &MountFacts, options: &[&str]) -> Option<String> {
    let found = mount.options.split(',').find(|option| options.contains(option));
    found.map(str::to_owned)
}

fn barriers(mount: &MountFacts, _: &VolumeFacts) -> Option<Said> {
    let option = has_option(mount, &["nobarrier", "barrier=0"])?;
    Some((format!("is mounted with {option}"), format!("mount without {option}")))
}

fn loop_cache(device: &DeviceFacts) -> Option<Said> {
    let file = device.loop_file.as_ref().filter(|file| file.direct_io == Some(false))?;
    let fact = format!("is the file {} without direct I/O", file.backing_file);
    let disk = disk(device);
    Some((fact, format!("losetup --direct-io=on /dev/{disk}")))
}

fn free_space(mount: &MountFacts, _: &VolumeFacts) -> Option<Said> {
    let (size, free) = (mount.size_bytes.filter(|size| *size > 0)?, mount.free_bytes?);
    let share = free as f64 / size as f64;
    let fact = format!("has {} of {} free ({})", about(free), about(size), percent(share));
    (share < FREE_SHARE_MIN).then(|| (fact, "free some space, or use a larger volume".into()))
}

fn sector_emulation(device: &DeviceFacts) -> Option<Said> {
    let (logical, physical) = (device.logical_sector_bytes?, device.physical_sector_bytes?);
    let fact = format!("has sectors of {} on physical ones of {}", bytes(logical), bytes(physical));
    let action = format!(
        "let logs write {} or multiples of it (for xfs: mkfs.xfs -l sectsize={physical}), or \
         format the drive to sectors of that size",
        bytes(physical)
    );
    (logical == OLD_SECTOR_BYTES && physical > logical).then_some((fact, action))
}

fn write_cache(device: &DeviceFacts) -> Option<Said> {
    device.write_cache.as_ref().filter(|cache| *cache == "write back")?;
    let fua = match device.fua {
        Some(true) => "; single writes can bypass it (FUA)",
        Some(false) => {
            "; single writes cannot bypass it (no FUA), so that a durable write is a write and a \
             flush"
        }
        None => "",
    };
    let action =
        "measure what a durable write costs (workload.sync), and compare volumes by that for logs";
    Some((format!("has a volatile write cache{fua}"), action.into()))
}

fn scheduler(device: &DeviceFacts) -> Option<Said> {
    let scheduler =
        device.scheduler.as_deref().filter(|name| !["none", "mq-deadline"].contains(name))?;
    let disk = disk(device);
    let fact = format!("has the scheduler {scheduler} and does not rotate");
    let action = format!("echo none > /sys/block/{disk}/queue/scheduler, and measure both");
    (device.rotational == Some(false)).then_some((fact, action))
}

fn online_discard(mount: &MountFacts, _: &VolumeFacts) -> Option<Said> {
    // The asynchronous discard of btrfs waits for a quiet moment.
    let option = has_option(mount, &["discard", "discard=sync"])?;
    let action = format!("mount without {option}, and run fstrim when little is going on");
    Some((format!("is mounted with {option}"), action))
}

fn read_ahead(device: &DeviceFacts) -> Option<Said> {
    let ahead = device.read_ahead_bytes?;
    let disk = disk(device);
    let fact =
        format!("reads {} ahead, a scan reads {} at a time", bytes(ahead), bytes(SCAN_READ_BYTES));
    let action =
        format!("blockdev --setra {} /dev/{disk}, and measure both", 4 * SCAN_READ_BYTES / 512);
    (ahead < SCAN_READ_BYTES).then_some((fact, action))
}

fn access_times(mount: &MountFacts, facts: &VolumeFacts) -> Option<Said> {
    let is_spared = has_option(mount, &["noatime", "relatime", "ro"]).is_some();
    let is_stored = !facts.devices.is_empty();
    let fact = "keeps the time of each access (strictatime)".to_owned();
    (!is_spared && is_stored).then(|| (fact, "mount with noatime or relatime".into()))
}

fn btrfs_parity(mount: &MountFacts, _: &VolumeFacts) -> Option<Said> {
    let profiles = || mount.btrfs_data.iter().chain(&mount.btrfs_metadata);
    let parity = profiles().find(|profile| ["raid5", "raid6"].contains(&profile.as_str()))?;
    let fact = format!("has blocks in profile {parity}");
    Some((fact, "use raid1 or raid10 where data matters".into()))
}

#[cfg(test)]
mod tests;
