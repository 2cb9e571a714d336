//! The ready experiments on file systems, RAID and throttled disks, scaled down: each level is what
//! its name says, and nothing of it stays. Needs root.

use crate::common::{Lab, alone_with_control_groups, end, signal, skipped, wait_until};
use std::process::Command;

const SCRIPT: &str = "loop-volume.sh";

/// A lab with a ready experiment, changed, as `e.toml`, and the script that makes volumes.
fn lab(name: &str, changes: &[(&str, &str)], hooks: &str) -> Lab {
    let lab = Lab::new();
    std::os::unix::fs::symlink(testing::ready::file(SCRIPT), lab.path(SCRIPT)).unwrap();
    let mut text = testing::ready::text(name);
    for (old, new) in changes {
        assert!(text.contains(old), "{old} is in {name}.toml");
        text = text.replace(old, new);
    }
    lab.write("e.toml", &format!("{text}\n[hooks]\n{hooks}\n"));
    lab
}

/// Returns whether these volumes can be made here; prints a note otherwise.
fn can_make(mkfs: &[&str]) -> bool {
    for program in mkfs {
        let folder = tempfile::tempdir().unwrap();
        let run = |arguments: &[&str]| {
            let mut command = Command::new(testing::ready::file(SCRIPT));
            command.args(arguments).env("STEELBENCH_VOLUME_PATH", folder.path().join("volume"));
            command.output().unwrap()
        };
        let made = run(&["make", "1", "512M", program, "-q"]);
        run(&["remove"]);
        if !made.status.success() {
            skipped(String::from_utf8_lossy(&made.stdout).trim());
            return false;
        }
    }
    true
}

/// Mounts, loop devices and their files that lie in the lab.
fn left_in(lab: &Lab) -> Vec<String> {
    let folder = lab.path("").canonicalize().unwrap().display().to_string();
    let devices =
        Command::new("losetup").args(["--noheadings", "--output", "BACK-FILE"]).output().unwrap();
    let devices = String::from_utf8(devices.stdout).unwrap();
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
    let lines = devices.lines().chain(mounts.lines());
    let mut left: Vec<String> =
        lines.filter(|line| line.contains(&folder)).map(str::to_owned).collect();
    let results = std::fs::read_dir(lab.path("results")).into_iter().flatten().flatten();
    let paths = results
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_none_or(|extension| extension != "html"));
    let names =
        paths.map(|path| path.file_name().unwrap_or_default().to_string_lossy().into_owned());
    left.extend(names.filter(|name| !name.contains(".steelbench")));
    left
}

/// Returns a hook's output in the trials of each volume, in one line for each different output.
fn printed(lab: &Lab, name: &str, hook: &str) -> Vec<String> {
    let sql = format!(
        "SELECT DISTINCT l.level, trim(replace(h.output, char(10), ' ')) FROM hooks h
         JOIN trials t ON t.id = h.trial JOIN configuration_levels l ON l.configuration = \
         t.configuration
         WHERE l.factor = 'target.volume' AND h.hook = '{hook}' ORDER BY 1"
    );
    lab.rows(name, &sql)
}

const FILE_SYSTEMS: &[&str] = &["mkfs.ext4", "mkfs.xfs", "mkfs.btrfs"];

#[test]
fn each_file_system_holds_the_data_of_its_level() {
    if !can_make(FILE_SYSTEMS) {
        return;
    }
    let hooks = "before_trial = 'findmnt -no FSTYPE \
                 results/$STEELBENCH_TARGET_VOLUME'\nafter_trial = 'device=$(findmnt -no SOURCE \
                 results/$STEELBENCH_TARGET_VOLUME); read -r _ _ _ _ _ _ written _ < \
                 /sys/block/${device#/dev/}/stat; echo $written'";
    let lab = lab("file-systems", &[("\"10k\"", "800"), ("blocks = 5", "blocks = 1")], hooks);
    lab.run(0);
    assert_eq!(lab.trials("file-systems"), 6);
    assert_eq!(
        printed(&lab, "file-systems", "before_trial"),
        ["btrfs|btrfs", "ext4|ext4", "xfs|xfs"]
    );
    // Between the trials on a volume its device has been written to: at least a page (8 sectors)
    // for each of 40 transactions.
    let written = printed(&lab, "file-systems", "after_trial");
    let sectors = |line: &String| line.rsplit('|').next().unwrap().parse::<u64>().unwrap();
    let of = |volume: &str| -> Vec<u64> {
        written.iter().filter(|line| line.starts_with(volume)).map(sectors).collect()
    };
    for volume in ["btrfs", "ext4", "xfs"] {
        let [first, second] = of(volume)[..] else { panic!("{written:?}") };
        assert!(first.abs_diff(second) >= 40 * 8, "{written:?}");
    }
    assert_eq!(left_in(&lab), [""; 0]);
}

#[test]
fn each_array_has_the_profile_of_its_level() {
    if !can_make(&["mkfs.btrfs"]) {
        return;
    }
    let hooks = "before_trial = 'btrfs filesystem df results/btrfs-$STEELBENCH_TARGET_VOLUME | \
                 grep -o \"^[DM][a-z]*, [A-Za-z0-9]*\"'\nafter_trial = 'btrfs filesystem show \
                 results/btrfs-$STEELBENCH_TARGET_VOLUME | grep -c devid'";
    let lab = lab(
        "raid-btrfs",
        &[("\"24k\"", "800"), ("= 2000", "= 200"), ("blocks = 3", "blocks = 1")],
        hooks,
    );
    lab.run(0);
    assert_eq!(
        printed(&lab, "raid-btrfs", "before_trial"),
        [
            "raid0|Data, RAID0 Metadata, RAID0",
            "raid1|Data, RAID1 Metadata, RAID1",
            "raid10|Data, RAID10 Metadata, RAID10",
            "single|Data, single Metadata, single"
        ]
    );
    let devices = printed(&lab, "raid-btrfs", "after_trial");
    assert_eq!(devices, ["raid0|4", "raid1|4", "raid10|4", "single|4"]);
    assert_eq!(left_in(&lab), [""; 0]);
}

#[test]
fn parity_and_mirrors_are_the_profiles_of_their_levels() {
    if !can_make(&["mkfs.btrfs"]) {
        return;
    }
    let hooks = "before_trial = 'btrfs filesystem df results/disk-$STEELBENCH_TARGET_VOLUME | \
                 grep -o \"^D[a-z]*, [A-Za-z0-9]*\"'";
    let lab = lab("disk-raid5", QUICK, hooks);
    lab.run(0);
    assert_eq!(
        printed(&lab, "disk-raid5", "before_trial"),
        ["raid10|Data, RAID10", "raid5|Data, RAID5"]
    );
    assert_eq!(left_in(&lab), [""; 0]);
}

/// An I/O study once, for a short time.
const QUICK: &[(&str, &str)] = &[
    ("blocks = 3", "blocks = 1"),
    ("setups = 3", "setups = 1"),
    ("duration = \"1 s\"", "duration = \"50 ms\""),
    ("warmup = \"250 ms\"", "warmup = 0"),
];

/// A file of one byte takes a whole unit.
#[test]
fn a_file_system_allocates_in_the_unit_of_its_level() {
    if !can_make(&["mkfs.ext4", "mkfs.xfs"]) {
        return;
    }
    let hooks = "before_trial = 'cd results/$STEELBENCH_TARGET_VOLUME; echo x > byte; du -k byte | \
                 cut -f 1; rm byte'";
    let mut changes = QUICK.to_vec();
    // Linux before 6.12 does not mount larger blocks than its pages.
    let folder = tempfile::tempdir().unwrap();
    let script = |arguments: &[&str]| {
        let mut command = Command::new(testing::ready::file(SCRIPT));
        command.args(arguments).env("STEELBENCH_VOLUME_PATH", folder.path().join("volume"));
        command.output().unwrap()
    };
    let made = script(&["make", "1", "512M", "mkfs.xfs", "-q", "-b", "size=65536"]);
    script(&["remove"]);
    if !made.status.success() {
        changes.push((", \"xfs-64k\"]", "]"));
    }
    let lab = lab("disk-allocation-unit", &changes, hooks);
    lab.run(0);
    let mut expected = vec!["ext4-4k|4", "ext4-64k|64", "xfs-4k|4"];
    if made.status.success() {
        expected.push("xfs-64k|64");
    }
    assert_eq!(printed(&lab, "disk-allocation-unit", "before_trial"), expected);
    assert_eq!(left_in(&lab), [""; 0]);
}

/// Without mdadm or its driver the trials fail, say what is missing, and leave nothing.
#[test]
fn a_stripe_unit_needs_md() {
    if !can_make(&["mkfs.xfs"]) {
        return;
    }
    let hooks = "before_trial = 'device=$(findmnt -no SOURCE --target \"$(find results -maxdepth 1 \
                 -name \"stripe-*\" -type d | head -1)\"); cat \
                 /sys/block/${device#/dev/}/md/chunk_size'";
    let lab = lab("disk-stripe", QUICK, hooks);
    let ended = lab.steelbench(&["run", "e.toml", "--full"]);
    assert_eq!(left_in(&lab), [""; 0]);
    if ended.code == Some(0) {
        assert_eq!(
            printed(&lab, "disk-stripe", "before_trial"),
            ["16 KiB|16384", "256 KiB|262144", "64 KiB|65536"]
        );
    } else {
        ended.expect(1).says("mdadm");
    }
}

/// Only the volumes of a layout are mounted while a server works on it.
#[test]
fn a_layout_uses_the_drives_that_its_name_says() {
    if !can_make(&["mkfs.btrfs"]) || crate::servers::versions().is_none() {
        return;
    }
    let text = testing::ready::text("insert-layouts");
    let kept = ["\"striped 50, log on disks\"", "\"round robin 70\""];
    let is_kept =
        |part: &&str| !part.starts_with("[[level]]") || kept.iter().any(|name| part.contains(name));
    let text = text.split("\n\n").filter(is_kept).collect::<Vec<_>>().join("\n\n");
    let text = text
        .replace("[1, 8]", "[2]")
        .replace("\"16k\"", "160")
        .replace("= 1000\n", "= 10\n")
        .replace("blocks = 2", "blocks = 1")
        .replace("layout = \"disks\", \"target.data_files\" = 1", "\"target.data_files\" = 2");
    let lab = Lab::with(&format!(
        "{text}\n[hooks]\nbefore_trial = 'findmnt -nlo TARGET | grep -o layout-.* | sort'\n"
    ));
    std::os::unix::fs::symlink(testing::ready::file(SCRIPT), lab.path(SCRIPT)).unwrap();
    std::fs::set_permissions(lab.path(""), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .unwrap();
    lab.run(0);
    let used = "SELECT DISTINCT l.level || '|' || trim(replace(h.output, char(10), ' ')) FROM \
                hooks h JOIN trials t ON t.id = h.trial JOIN configuration_levels l ON \
                l.configuration = t.configuration WHERE l.factor = 'layout' AND \
                h.hook = 'before_trial' ORDER BY 1";
    assert_eq!(
        lab.rows("insert-layouts", used),
        [
            "round robin 70|layout-a-70 layout-b-70",
            "striped 50, log on disks|layout-log-disks layout-striped-50"
        ]
    );
    assert_eq!(left_in(&lab), [""; 0]);
}

/// The kernel's own figure of the mount, and what SQLite's files have allocated: the same with and
/// without compression, so that only the file system's space tells its size.
#[test]
fn a_file_system_compresses_below_an_engine_that_does_not() {
    if !can_make(&["mkfs.btrfs"]) {
        return;
    }
    let hooks = "before_trial = 'findmnt -no OPTIONS results/btrfs-$STEELBENCH_TARGET_VOLUME | \
                 grep -o \"compress=[a-z]*\" || echo none'";
    let changes = [
        ("blocks = 3", "blocks = 2"),
        ("setups = 3", "setups = 2"),
        ("scale = 0.02", "scale = 0.01"),
        ("\"50k\"", "2000"),
        ("\"workload.updates\" = 1000", "\"workload.updates\" = 50"),
        ("profile = true", "profile = false"),
    ];
    let lab = lab("compression-file-system", &changes, hooks);
    let ended = lab.run(0);
    assert_eq!(lab.trials("compression-file-system"), 30);
    let mounted = lab.rows(
        "compression-file-system",
        "SELECT DISTINCT l.level, trim(h.output, char(10)) FROM hooks h JOIN trials t ON t.id = \
         h.trial
         JOIN configuration_levels l ON l.configuration = t.configuration WHERE l.factor = \
         'compression'
         AND h.hook = 'before_trial' ORDER BY 1",
    );
    assert_eq!(mounted, ["lzo|compress=lzo", "none|none", "zstd|compress=zstd"]);
    let figure = |level: &str, sql: &str| -> f64 {
        let from = format!(
            "SELECT {sql} FROM trials t JOIN configuration_levels l ON l.configuration = \
             t.configuration
             JOIN facts f ON f.trial = t.id AND f.name = 'stored_bytes'
             LEFT JOIN responses r ON r.trial = t.id AND r.name = 'space'
             WHERE l.factor = 'compression' AND l.level = '{level}'"
        );
        lab.rows("compression-file-system", &from)[0].parse().unwrap()
    };
    let [none, lzo, zstd] = ["none", "lzo", "zstd"].map(|level| figure(level, "avg(f.value)"));
    assert!(lzo < 0.8 * none && zstd < lzo, "{none} {lzo} {zstd}");
    let [allocated, compressed] = ["none", "zstd"].map(|level| figure(level, "min(r.value) * 1e6"));
    assert!((compressed / allocated - 1.0).abs() < 0.05, "{allocated} {compressed}");
    assert!((none / allocated - 1.0).abs() < 0.2, "{none} of {allocated}");
    let kernel = lab
        .rows("compression-file-system", "SELECT count(*) FROM facts WHERE name = 'kernel_cpu_s'");
    assert_eq!(kernel, ["30"]);
    ended.shows("zstd, work=cold scan: break-even of a scan").shows("of it kernel threads");
    assert_eq!(left_in(&lab), [""; 0]);
}

#[test]
fn an_interrupted_run_leaves_no_volume_and_what_a_killed_one_leaves_is_replaced() {
    if !can_make(FILE_SYSTEMS) {
        return;
    }
    let changes = [("\"10k\"", "200"), ("blocks = 5", "blocks = 2")];
    let lab = lab("file-systems", &changes, "before_trial = 'sleep 0.2'");
    let mounted = || left_in(&lab).iter().any(|left| left.contains("/dev/loop"));
    for (by, code) in [(libc::SIGINT, Some(130)), (libc::SIGKILL, None)] {
        let before = lab.trials("file-systems");
        let child = lab.start();
        wait_until("a trial runs on a volume", || mounted() && lab.trials("file-systems") > before);
        signal(&child, by);
        assert_eq!(end(child).code, code);
        assert_eq!(mounted(), by == libc::SIGKILL, "{:?}", left_in(&lab));
    }
    lab.run(0);
    assert_eq!(lab.trials("file-systems"), 12);
    assert_eq!(left_in(&lab), [""; 0]);
}

#[test]
fn a_disk_is_compared_with_a_throttled_one() {
    let _alone = alone_with_control_groups();
    let lab = lab("cloud-disk", &[("\"2 s\"", "\"100 ms\""), ("blocks = 5", "blocks = 1")], "");
    let ended = lab.steelbench(&["run", "e.toml", "--full"]);
    if ended.code == Some(2) && ended.stderr.contains("throttle") {
        return skipped(&ended.stderr);
    }
    ended.expect(0);
    assert_eq!(lab.trials("cloud-disk"), 4);
}
