use super::volume_advice;
use observations::{Advice, Weight};
use observations::{ArrayFacts, DeviceFacts, LoopFacts, MountFacts, PartitionFacts, VolumeFacts};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// A volume about which there is nothing to say: xfs on an SSD with a safe cache.
fn sound() -> VolumeFacts {
    let mount = MountFacts {
        folder: "/data".into(),
        file_system: "xfs".into(),
        source: "/dev/nvme0n1p1".into(),
        options: "rw,noatime,attr2,inode64,noquota".into(),
        block_bytes: Some(4096),
        size_bytes: Some(1_000_000),
        free_bytes: Some(100_000),
        ..MountFacts::default()
    };
    let device = DeviceFacts {
        name: "nvme0n1p1".into(),
        partition: Some(PartitionFacts { disk: "nvme0n1".into(), start_bytes: MIB }),
        alignment_offset_bytes: Some(0),
        logical_sector_bytes: Some(4096),
        physical_sector_bytes: Some(4096),
        minimum_io_bytes: Some(4096),
        optimal_io_bytes: Some(0),
        rotational: Some(false),
        scheduler: Some("none".into()),
        write_cache: Some("write through".into()),
        read_ahead_bytes: Some(512 * KIB),
        ..DeviceFacts::default()
    };
    VolumeFacts { path: "/data".into(), mount: Some(mount), devices: vec![device] }
}

fn device(change: impl FnOnce(&mut DeviceFacts)) -> Vec<Advice> {
    let mut facts = sound();
    change(&mut facts.devices[0]);
    volume_advice(&facts)
}

fn mount(change: impl FnOnce(&mut MountFacts)) -> Vec<Advice> {
    let mut facts = sound();
    change(facts.mount.as_mut().unwrap());
    volume_advice(&facts)
}

/// A partition at this place, where the kernel does not tell of alignment.
fn partition(start_bytes: u64, change: impl FnOnce(&mut DeviceFacts)) -> Vec<Advice> {
    device(|device| {
        device.partition = Some(PartitionFacts { disk: "sda".into(), start_bytes });
        device.alignment_offset_bytes = None;
        change(device);
    })
}

fn rules(advice: &[Advice]) -> Vec<&str> {
    advice.iter().map(|advice| advice.rule).collect()
}

fn only(advice: Vec<Advice>) -> Advice {
    let [single] =
        <[Advice; 1]>::try_from(advice).unwrap_or_else(|all| panic!("not one: {all:#?}"));
    single
}

#[test]
fn nothing_is_said_of_a_sound_volume_nor_of_one_without_facts() {
    assert_eq!(volume_advice(&sound()), []);
    assert_eq!(volume_advice(&VolumeFacts::default()), []);
    let unknown = DeviceFacts { name: "sda".into(), ..DeviceFacts::default() };
    let facts = VolumeFacts { devices: vec![unknown], ..VolumeFacts::default() };
    assert_eq!(volume_advice(&facts), []);
}

#[test]
fn a_partition_begins_at_a_physical_sector() {
    // Sector 63, where old tools began, on a drive with 4 KiB sectors.
    let advice = only(partition(63 * 512, |_| {}));
    assert_eq!((advice.rule, advice.weight), ("partition-sector", Weight::Problem));
    assert_eq!(advice.fact, "starts at 32256 B, not on a boundary of its 4 KiB sectors");
    let on_512 = partition(63 * 512, |device| {
        (device.physical_sector_bytes, device.minimum_io_bytes) = (Some(512), Some(512));
        device.logical_sector_bytes = Some(512);
    });
    assert_eq!(rules(&on_512), ["partition-mib"]);

    // Drives whose first sector is shifted, so that sector 63 is a boundary: the kernel knows.
    let shifted = partition(63 * 512, |device| device.alignment_offset_bytes = Some(0));
    assert_eq!(rules(&shifted), ["partition-mib"]);
    for offset in [512, -1] {
        let shifted = partition(MIB, |device| device.alignment_offset_bytes = Some(offset));
        assert_eq!(rules(&shifted), ["partition-sector"], "{offset}");
    }
}

#[test]
fn a_partition_begins_at_a_stripe_unit() {
    let stripe =
        |start_bytes| partition(start_bytes, |device| device.minimum_io_bytes = Some(64 * KIB));
    let advice = only(stripe(32 * KIB));
    assert_eq!((advice.rule, advice.weight), ("partition-stripe", Weight::Problem));
    assert_eq!(advice.fact, "starts at 32 KiB, not on a boundary of its 64 KiB stripe unit");
    assert!(
        advice.reason.contains("+11 %") && advice.reason.contains("+5.7 %"),
        "{}",
        advice.reason
    );
    assert_eq!(advice.action, "recreate the partition, starting at 1 MiB or a multiple");
    assert_eq!(rules(&stripe(64 * KIB)), ["partition-mib"], "aligned, but not to a MiB");
    assert_eq!(rules(&stripe(MIB)), Vec::<&str>::new());

    // A chunk size that does not divide a MiB.
    let odd = partition(MIB, |device| device.minimum_io_bytes = Some(768 * KIB));
    assert_eq!(only(odd).action, "recreate the partition, starting at 1536 KiB or a multiple");
    // The chunk of an array that is partitioned.
    let array =
        ArrayFacts { level: "raid0".into(), chunk_bytes: Some(2 * MIB), ..ArrayFacts::default() };
    let advice = partition(MIB, |device| device.array = Some(array));
    assert_eq!(rules(&advice)[0], "partition-stripe");
}

#[test]
fn a_partition_begins_at_a_whole_mib() {
    let advice = only(partition(MIB + 4 * KIB, |_| {}));
    assert_eq!((advice.rule, advice.weight), ("partition-mib", Weight::Note));
    assert_eq!(advice.fact, "starts at 1028 KiB, not at a whole MiB");
    assert_eq!(partition(3 * MIB, |_| {}), []);
}

/// An array of four disks with chunks of 64 KiB under the sound volume.
fn on_array(
    level: &str,
    data_disks: Option<u64>,
    change: impl FnOnce(&mut MountFacts),
) -> Vec<Advice> {
    let mut facts = sound();
    facts.devices[0].partition = None;
    let chunk_bytes = data_disks.map(|_| 64 * KIB);
    facts.devices[0].array =
        Some(ArrayFacts { level: level.into(), chunk_bytes, disks: Some(4), data_disks });
    change(facts.mount.as_mut().unwrap());
    volume_advice(&facts)
}

#[test]
fn a_file_system_knows_the_stripes_of_its_array() {
    let advice = only(on_array("raid5", Some(3), |_| {}));
    assert_eq!((advice.rule, advice.weight), ("file-system-stripe", Weight::Problem));
    assert_eq!(
        advice.fact,
        "has xfs formatted for stripe unit none, stripe width none; the array (raid5) has chunks \
         of 64 KiB and stripes of 192 KiB"
    );
    assert_eq!(advice.action, "mkfs.xfs -d su=64k,sw=3, or mount with sunit=128,swidth=384");
    let made_for = |unit: u64, width: u64| {
        on_array("raid5", Some(3), |mount| {
            (mount.stripe_unit_bytes, mount.stripe_width_bytes) =
                (Some(unit * KIB), Some(width * KIB));
        })
    };
    assert_eq!(rules(&made_for(64, 192)), Vec::<&str>::new());
    assert_eq!(rules(&made_for(32, 192)), ["file-system-stripe"]);
    assert_eq!(
        rules(&made_for(64, 256)),
        ["file-system-stripe"],
        "the disk for parity was counted"
    );

    let ext4 = |width: Option<u64>| {
        on_array("raid10", Some(2), |mount| {
            mount.file_system = "ext4".into();
            mount.stripe_width_bytes = width;
        })
    };
    assert_eq!(only(ext4(None)).action, "tune2fs -E stride=16,stripe-width=32");
    assert_eq!(ext4(Some(128 * KIB)), []);
    assert_eq!(on_array("raid1", None, |_| {}), [], "a mirror has no stripes");
}

#[test]
fn blocks_are_no_smaller_than_sectors() {
    let advice = only(mount(|mount| mount.block_bytes = Some(1024)));
    assert_eq!((advice.rule, advice.subject.as_str()), ("block-size", "/data"));
    assert_eq!(advice.fact, "has 1 KiB blocks on 4 KiB physical sectors");
    assert_eq!(mount(|mount| mount.block_bytes = Some(16_384)), []);
}

#[test]
fn options_of_mounts_are_looked_at() {
    let cases = [
        ("rw,noatime,nobarrier", Some("barriers")),
        ("rw,noatime,barrier=0", Some("barriers")),
        ("rw,noatime,barrier=1", None),
        ("rw,noatime,discard", Some("online-discard")),
        ("rw,noatime,discard=sync", Some("online-discard")),
        ("rw,noatime,discard=async", None),
        ("rw,noatime,nodiscard", None),
        ("rw", Some("access-times")),
        ("rw,relatime", None),
        ("ro", None),
    ];
    for (options, expected) in cases {
        let advice = mount(|mount| mount.options = options.into());
        assert_eq!(rules(&advice), Vec::from_iter(expected), "{options}");
    }
    let mut memory = sound();
    memory.devices.clear();
    memory.mount.as_mut().unwrap().options = "rw".into();
    assert_eq!(volume_advice(&memory), [], "access times in memory cost no write");
}

#[test]
fn space_is_kept_free() {
    let free = |free_bytes| mount(|mount| mount.free_bytes = Some(free_bytes));
    assert_eq!(free(100_000), []);
    let advice = only(free(99_999));
    assert_eq!((advice.rule, advice.weight), ("free-space", Weight::Problem));
    assert!(advice.fact.starts_with("has 97.7 KiB of 977 KiB free"), "{}", advice.fact);
}

#[test]
fn a_loop_device_bypasses_the_cache_of_its_file() {
    let of = |direct_io| {
        device(|device| {
            let backing_file = "/images/a".into();
            device.loop_file = Some(LoopFacts { backing_file, direct_io, ..LoopFacts::default() });
        })
    };
    let advice = only(of(Some(false)));
    assert_eq!((advice.rule, advice.weight), ("loop-cache", Weight::Problem));
    assert_eq!(advice.fact, "is backed by the file /images/a without direct I/O");
    assert_eq!((of(Some(true)), of(None)), (vec![], vec![]));
}

#[test]
fn properties_of_drives_are_noted() {
    let emulated = |logical, physical| {
        device(|device| {
            (device.logical_sector_bytes, device.physical_sector_bytes) =
                (Some(logical), Some(physical));
        })
    };
    let advice = only(emulated(512, 4096));
    assert_eq!((advice.rule, advice.weight), ("sector-emulation", Weight::Note));
    assert!(advice.action.contains("sectsize=4096"), "{}", advice.action);
    assert_eq!(rules(&emulated(4096, 4096)), Vec::<&str>::new());

    let cache = |cache: &str| device(|device| device.write_cache = Some(cache.into()));
    assert_eq!(only(cache("write back")).rule, "write-cache");
    assert_eq!(cache("write through"), []);

    let ahead = |bytes| device(|device| device.read_ahead_bytes = Some(bytes));
    assert_eq!(only(ahead(512 * KIB - 1)).rule, "read-ahead");
    assert_eq!(ahead(512 * KIB), []);
}

#[test]
fn schedulers_are_for_moving_heads() {
    let with = |name: &str, rotational| {
        device(|device| (device.scheduler, device.rotational) = (Some(name.into()), rotational))
    };
    let advice = only(with("bfq", Some(false)));
    assert_eq!((advice.rule, advice.weight), ("scheduler", Weight::Note));
    assert_eq!(advice.action, "echo none > /sys/block/nvme0n1/queue/scheduler, and measure both");
    for (name, rotational) in [("mq-deadline", Some(false)), ("bfq", Some(true)), ("bfq", None)] {
        assert_eq!(with(name, rotational), [], "{name} {rotational:?}");
    }
}

#[test]
fn parity_of_btrfs_is_noted() {
    let data = |profile: &str| mount(|mount| mount.btrfs_data = vec![profile.into()]);
    assert_eq!(only(data("raid5")).rule, "btrfs-parity");
    assert_eq!(data("raid10"), []);
}

#[test]
fn problems_come_first() {
    let advice = device(|device| {
        device.write_cache = Some("write back".into());
        device.alignment_offset_bytes = Some(512);
        device.read_ahead_bytes = Some(0);
    });
    assert_eq!(rules(&advice), ["partition-sector", "write-cache", "read-ahead"]);
}
