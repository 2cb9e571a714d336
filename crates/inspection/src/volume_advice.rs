//! Problems of a volume, to fix before a database uses it or before a measurement.

use observations::Weight::{self, Note, Problem};
use observations::number::{bytes as about, exact_bytes as bytes, short_percent as percent};
use observations::{Advice, ArrayFacts, DeviceFacts, MountFacts, VolumeFacts, order};

/// Everything that the rules find, problems first, then in the order of the rules.
pub fn volume_advice(facts: &VolumeFacts) -> Vec<Advice> {
    let mut all = Vec::new();
    for &(weight, rule, find, reason) in &RULES {
        let mut add = |subject: &str, found: Option<Diagnosis>| {
            let Some((fact, action)) = found else { return };
            all.push(Advice { rule, weight, subject: subject.to_owned(), fact, reason, action });
        };
        match find {
            Device(find) => facts.devices.iter().for_each(|device| add(&device.name, find(device))),
            Mount(find) => {
                facts.mount.iter().for_each(|mount| add(&mount.folder, find(mount, facts)));
            }
        }
    }
    order::by_key(&mut all, &|advice| advice.weight);
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

/// The finding and its remedy.
type Diagnosis = (String, String);

/// Input of a rule.
#[derive(Clone, Copy)]
enum Find {
    /// Each device.
    Device(fn(&DeviceFacts) -> Option<Diagnosis>),
    /// The file system.
    Mount(fn(&MountFacts, &VolumeFacts) -> Option<Diagnosis>),
}
use Find::{Device, Mount};

/// Weight, name, what finds it, and why it matters, with the source where there is one.
type Rule = (Weight, &'static str, Find, &'static str);

#[rustfmt::skip]
const RULES: [Rule; 15] = [
    (Problem, "partition-sector", Device(partition_sector),
        "the drive reads, changes and rewrites a block that spans two physical sectors"),
    (Problem, "partition-stripe", Device(partition_stripe),
        "a block that spans two stripe units uses two disks: with a 64 KiB stripe, a partition \
         at 64 KiB instead of 32 KiB gave +11 % random IOPS on RAID 10 and +5.7 % on RAID 5 (K. \
         Van Dyke, 2009)"),
    (Note, "partition-mib", Device(partition_mib),
        "many drives and controllers hide their erase blocks and stripes; a start at a whole MiB \
         suits nearly all of them and is the default of partitioning tools"),
    (Problem, "file-system-stripe", Mount(file_system_stripe),
        "a file system that knows the stripe spreads its structures over the disks and writes \
         whole stripes, so RAID 5 and 6 need no reads to compute parity"),
    (Problem, "block-size", Mount(block_size),
        "the drive reads, changes and rewrites a physical sector for each smaller block"),
    (Problem, "barriers", Mount(barriers),
        "without barriers committed data can be lost on power failure, and measured log writes \
         are faster than durable ones"),
    (Problem, "loop-cache", Device(loop_cache),
        "a loop device without direct I/O uses the page cache of its file: data is cached twice, \
         and direct I/O on it measures memory"),
    (Problem, "free-space", Mount(free_space),
        "a nearly full file system fragments new files, and a nearly full SSD must erase blocks \
         before it can write"),
    (Note, "sector-emulation", Device(sector_emulation),
        "the drive accepts 512-byte writes but reads, changes and rewrites a larger sector: \
         smaller or misaligned log writes cost twice"),
    (Note, "write-cache", Device(write_cache),
        "written data can be lost on power failure until the cache is flushed: each commit needs \
         a flush, and the flush determines the log's latency. A cache protected against power \
         loss reports write through"),
    (Note, "scheduler", Device(scheduler),
        "a non-rotating drive gains nothing from sorted I/O, and a scheduler costs CPU time on \
         each I/O (Documentation/block/switching-sched.rst)"),
    (Note, "online-discard", Mount(online_discard),
        "each deletion of a file or log sends discards, which some drives process slowly and \
         ahead of other I/O"),
    (Note, "read-ahead", Device(read_ahead),
        "a scan through the page cache keeps at most this much in flight; larger reads use more \
         disks of an array, or more channels of an SSD, in parallel. Direct I/O is not affected"),
    (Note, "access-times", Mount(access_times),
        "each read of a file writes its access time"),
    (Note, "btrfs-parity", Mount(btrfs_parity),
        "btrfs RAID 5 and 6 can lose a stripe if power fails during its write (btrfs(5))"),
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

/// Unit of the kernel's alignment offset.
fn granularity_bytes(device: &DeviceFacts) -> u64 {
    device.physical_sector_bytes.max(device.minimum_io_bytes).unwrap_or_default()
}

/// Stripe unit of one disk under the partition; 0 without stripes.
fn stripe_unit_bytes(device: &DeviceFacts) -> u64 {
    let chunk_bytes = device.array.as_ref().and_then(|array| array.chunk_bytes);
    chunk_bytes
        .or(device.minimum_io_bytes.filter(|bytes| Some(*bytes) > device.physical_sector_bytes))
        .unwrap_or_default()
}

fn partition_sector(device: &DeviceFacts) -> Option<Diagnosis> {
    let sector_bytes = device.physical_sector_bytes?;
    let start_bytes = off_boundary(device, sector_bytes)?;
    let fact = format!(
        "starts at {}, not on a boundary of its {} sectors",
        bytes(start_bytes),
        bytes(sector_bytes)
    );
    Some((fact, "recreate the partition, starting at 1 MiB or a multiple".into()))
}

fn partition_stripe(device: &DeviceFacts) -> Option<Diagnosis> {
    let unit_bytes = stripe_unit_bytes(device);
    let start_bytes = off_boundary(device, unit_bytes)?;
    let fact = format!(
        "starts at {}, not on a boundary of its {} stripe unit",
        bytes(start_bytes),
        bytes(unit_bytes)
    );
    let start = bytes(MIB.max(unit_bytes).next_multiple_of(unit_bytes));
    Some((fact, format!("recreate the partition, starting at {start} or a multiple")))
}

fn partition_mib(device: &DeviceFacts) -> Option<Diagnosis> {
    // A start that the rules before have named is not named twice.
    let sector_bytes = device.physical_sector_bytes.unwrap_or_default();
    if off_boundary(device, sector_bytes)
        .or(off_boundary(device, stripe_unit_bytes(device)))
        .is_some()
    {
        return None;
    }
    let start_bytes = device.partition.as_ref()?.start_bytes;
    let fact = format!("starts at {}, not at a whole MiB", bytes(start_bytes));
    let action = "start the partition at 1 MiB when it is recreated; measure the difference with \
                  `target.offset`";
    (start_bytes % MIB != 0).then(|| (fact, action.into()))
}

fn file_system_stripe(mount: &MountFacts, facts: &VolumeFacts) -> Option<Diagnosis> {
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
        "has {} formatted for {has}; the array ({}) has chunks of {} and stripes of {}",
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

fn block_size(mount: &MountFacts, facts: &VolumeFacts) -> Option<Diagnosis> {
    let sector_bytes =
        facts.devices.iter().filter_map(|device| device.physical_sector_bytes).max()?;
    let block_bytes = mount.block_bytes.filter(|bytes| *bytes < sector_bytes)?;
    let fact =
        format!("has {} blocks on {} physical sectors", bytes(block_bytes), bytes(sector_bytes));
    Some((fact, format!("recreate the file system with {} blocks", bytes(sector_bytes))))
}

fn has_option(mount: &MountFacts, options: &[&str]) -> Option<String> {
    let found = mount.options.split(',').find(|option| options.contains(option));
    found.map(str::to_owned)
}

fn barriers(mount: &MountFacts, _: &VolumeFacts) -> Option<Diagnosis> {
    let option = has_option(mount, &["nobarrier", "barrier=0"])?;
    Some((format!("is mounted with {option}"), format!("mount without {option}")))
}

fn loop_cache(device: &DeviceFacts) -> Option<Diagnosis> {
    let file = device.loop_file.as_ref().filter(|file| file.direct_io == Some(false))?;
    let fact = format!("is backed by the file {} without direct I/O", file.backing_file);
    let disk = disk(device);
    Some((fact, format!("losetup --direct-io=on /dev/{disk}")))
}

fn free_space(mount: &MountFacts, _: &VolumeFacts) -> Option<Diagnosis> {
    let (size, free) = (mount.size_bytes.filter(|size| *size > 0)?, mount.free_bytes?);
    let share = free as f64 / size as f64;
    let fact = format!("has {} of {} free ({})", about(free), about(size), percent(share));
    (share < FREE_SHARE_MIN).then(|| (fact, "free some space, or use a larger volume".into()))
}

fn sector_emulation(device: &DeviceFacts) -> Option<Diagnosis> {
    let (logical, physical) = (device.logical_sector_bytes?, device.physical_sector_bytes?);
    let fact = format!("has {} logical and {} physical sectors", bytes(logical), bytes(physical));
    let action = format!(
        "make logs write {} or multiples (for xfs: mkfs.xfs -l sectsize={physical}), or format \
         the drive with sectors of that size",
        bytes(physical)
    );
    (logical == OLD_SECTOR_BYTES && physical > logical).then_some((fact, action))
}

fn write_cache(device: &DeviceFacts) -> Option<Diagnosis> {
    device.write_cache.as_ref().filter(|cache| *cache == "write back")?;
    let fua = match device.fua {
        Some(true) => "; single writes can bypass it (FUA)",
        Some(false) => {
            "; single writes cannot bypass it (no FUA), so a durable write is a write plus a flush"
        }
        None => "",
    };
    let action = "measure the cost of a durable write (workload.sync) and choose log volumes by it";
    Some((format!("has a volatile write cache{fua}"), action.into()))
}

fn scheduler(device: &DeviceFacts) -> Option<Diagnosis> {
    let scheduler =
        device.scheduler.as_deref().filter(|name| !["none", "mq-deadline"].contains(name))?;
    let disk = disk(device);
    let fact = format!("is not rotating and uses the scheduler {scheduler}");
    let action = format!("echo none > /sys/block/{disk}/queue/scheduler, and measure both");
    (device.rotational == Some(false)).then_some((fact, action))
}

fn online_discard(mount: &MountFacts, _: &VolumeFacts) -> Option<Diagnosis> {
    // The asynchronous discard of btrfs waits for a quiet moment.
    let option = has_option(mount, &["discard", "discard=sync"])?;
    let action = format!("mount without {option}, and run fstrim at quiet times");
    Some((format!("is mounted with {option}"), action))
}

fn read_ahead(device: &DeviceFacts) -> Option<Diagnosis> {
    let ahead = device.read_ahead_bytes?;
    let disk = disk(device);
    let fact =
        format!("reads ahead {}; a scan reads {} at a time", bytes(ahead), bytes(SCAN_READ_BYTES));
    let action =
        format!("blockdev --setra {} /dev/{disk}, and measure both", 4 * SCAN_READ_BYTES / 512);
    (ahead < SCAN_READ_BYTES).then_some((fact, action))
}

fn access_times(mount: &MountFacts, facts: &VolumeFacts) -> Option<Diagnosis> {
    let is_spared = has_option(mount, &["noatime", "relatime", "ro"]).is_some();
    let is_stored = !facts.devices.is_empty();
    let fact = "writes the time of each access (strictatime)".to_owned();
    (!is_spared && is_stored).then(|| (fact, "mount with noatime or relatime".into()))
}

fn btrfs_parity(mount: &MountFacts, _: &VolumeFacts) -> Option<Diagnosis> {
    let parity = mount
        .btrfs_data
        .iter()
        .chain(&mount.btrfs_metadata)
        .find(|profile| ["raid5", "raid6"].contains(&profile.as_str()))?;
    let fact = format!("stores blocks with profile {parity}");
    Some((fact, "use raid1 or raid10 for important data".into()))
}

#[cfg(test)]
mod tests;
