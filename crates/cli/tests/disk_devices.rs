//! `steelbench disk` on block devices, and storage that fails. Needs root and loop devices.

use crate::common::{Exit, Lab, end, skipped, wait_until};
use std::path::PathBuf;
use std::process::{Command, Stdio};

const MIB: u64 = 1 << 20;

/// A loop device over a file in a lab, gone when dropped.
struct Loop {
    device: String,
    mounted: Option<PathBuf>,
}

impl Loop {
    /// `None`, and a word about it, where that is not permitted.
    fn new(lab: &Lab, name: &str, bytes: u64) -> Option<Self> {
        let file = lab.path(name);
        std::fs::File::create(&file).unwrap().set_len(bytes).unwrap();
        let output = Command::new("losetup").args(["--find", "--show"]).arg(&file).output();
        let made = output.ok().filter(|output| output.status.success());
        let Some(made) = made else {
            skipped("no loop devices: root is needed");
            return None;
        };
        let device = String::from_utf8(made.stdout).unwrap().trim().to_owned();
        Some(Self { device, mounted: None })
    }

    /// Makes an ext4 on it.
    fn format(&self) {
        run("mkfs.ext4", &["-q", "-F", &self.device]);
    }

    fn mount(&mut self, lab: &Lab, name: &str) {
        std::fs::create_dir(lab.path(name)).unwrap();
        self.mounted = Some(lab.path(name));
        run("mount", &[&self.device, lab.path(name).to_str().unwrap()]);
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        if let Some(mounted) = &self.mounted {
            let _ = Command::new("umount").arg(mounted).status();
        }
        let _ = Command::new("losetup").args(["--detach", &self.device]).status();
    }
}

#[track_caller]
fn run(program: &str, arguments: &[&str]) {
    let output = Command::new(program).args(arguments).output().unwrap();
    assert!(output.status.success(), "{program} {arguments:?}: {output:?}");
}

fn quick(lab: &Lab, arguments: &[&str]) -> Exit {
    lab.steelbench(
        &[&["disk"], arguments, &["--duration", "100ms", "--warmup", "0", "--blocks", "1"]]
            .concat(),
    )
}

fn content(lab: &Lab, name: &str) -> Vec<u8> {
    std::fs::read(lab.path(name)).unwrap()
}

#[test]
fn the_file_behind_a_loop_device_is_not_overwritten() {
    let lab = Lab::new();
    let Some(mut device) = Loop::new(&lab, "disk.img", 16 * MIB) else { return };
    std::fs::hard_link(lab.path("disk.img"), lab.path("other.img")).unwrap();
    let before = content(&lab, "disk.img");
    let write = |name: &str| {
        quick(&lab, &[name, "--pattern", "randwrite", "--overwrite", name, "--size", "1M"])
    };
    write("disk.img").expect(2);
    let write = |name: &str| quick(&lab, &[name, "--pattern", "randwrite", "--overwrite", name]);
    write("other.img").expect(1).says("is not overwritten: it is the content of loop");
    assert!(content(&lab, "disk.img") == before);
    device.format();
    device.mount(&lab, "mnt");
    write("disk.img").expect(1).says(", which is mounted at ");
}

#[test]
fn a_device_is_written_only_when_it_is_named() {
    let lab = Lab::new();
    let Some(device) = Loop::new(&lab, "disk.img", 16 * MIB) else { return };
    let device = device.device.as_str();
    quick(&lab, &[device]).expect(0);
    let not_named = format!("allow it with --destroy {device}");
    quick(&lab, &[device, "--pattern", "randwrite"]).expect(2).says(&not_named);
    quick(&lab, &[device, "--pattern", "randwrite", "--overwrite"]).expect(2).says(&not_named);
    quick(&lab, &[device, "--pattern", "randwrite", "--destroy", "/dev/sda"])
        .expect(2)
        .says("not one of the paths");
    quick(&lab, &[device, "--mix", "oltp-data"]).expect(1).says(&not_named);
    assert!(content(&lab, "disk.img").iter().all(|byte| *byte == 0));
    quick(&lab, &[device, "--pattern", "write", "--destroy", device]).expect(0);
    assert!(content(&lab, "disk.img").iter().any(|byte| *byte != 0));
    // The same of an experiment file.
    let text = quick(&lab, &[device, "--pattern", "write", "--destroy", device, "--print"])
        .expect(0)
        .stdout;
    lab.write("e.toml", &text);
    lab.run_with(&["--fresh"], 1).says(&not_named);
    lab.run_with(&["--fresh", "--destroy", device], 0);
}

#[test]
fn a_device_that_holds_something_is_not_written_whatever_is_said() {
    let lab = Lab::new();
    let Some(mut device) = Loop::new(&lab, "disk.img", 16 * MIB) else { return };
    device.format();
    let before = content(&lab, "disk.img");
    let path = device.device.clone();
    let destroy = [path.as_str(), "--pattern", "randwrite", "--destroy", path.as_str()];
    let refused = quick(&lab, &destroy).expect(1).says("is not overwritten");
    assert!(refused.stderr.contains("ext4"), "{refused:#?}");
    assert!(content(&lab, "disk.img") == before);
    device.mount(&lab, "mnt");
    std::fs::write(lab.path("mnt/precious"), "data").unwrap();
    quick(&lab, &destroy).expect(1).says("mounted");
    assert_eq!(lab.read("mnt/precious"), "data");
}

#[test]
fn a_full_disk_is_a_clear_failure_that_leaves_nothing() {
    let lab = Lab::new();
    // Some space is to stay free in any case.
    let Some(mut device) = Loop::new(&lab, "disk.img", 192 * MIB) else { return };
    device.format();
    device.mount(&lab, "mnt");
    quick(&lab, &["mnt", "--size", "1g"]).expect(1).says("/mnt: a trial needs 1.00 GiB, ");
    let left: Vec<_> = std::fs::read_dir(lab.path("mnt"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left, ["lost+found"]);
    quick(&lab, &["mnt", "--size", "4m"]).expect(0);
}

#[test]
fn one_device_fails_and_the_other_keeps_its_figures() {
    let lab = Lab::new();
    let (Some(good), Some(bad)) =
        (Loop::new(&lab, "good.img", 16 * MIB), Loop::new(&lab, "bad.img", 16 * MIB))
    else {
        return;
    };
    let arguments = [
        "disk",
        &good.device,
        &bad.device,
        "--duration",
        "3s",
        "--warmup",
        "0",
        "--blocks",
        "1",
        "--depth",
        "2",
    ];
    let child =
        lab.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let reads = |device: &Loop| {
        let name = device.device.trim_start_matches("/dev/");
        let stat = std::fs::read_to_string(format!("/sys/block/{name}/stat")).unwrap();
        stat.split_whitespace().next().unwrap().parse::<u64>().unwrap()
    };
    let before = reads(&bad);
    wait_until("the bad device is read", || reads(&bad) > before + 100);
    // What lies behind the end of the file that a loop device is made of cannot be read.
    std::fs::File::options()
        .write(true)
        .open(lab.path("bad.img"))
        .unwrap()
        .set_len(MIB / 2)
        .unwrap();
    let ended = end(child);
    assert!(matches!(ended.code, Some(0 | 1)), "{ended:#?}");
    let name = |device: &Loop| format!("{}.iops", device.device.trim_start_matches("/dev/"));
    let figures = lab.rows("disk", "SELECT name FROM responses WHERE name LIKE '%.iops'");
    assert_eq!(figures, [name(&good)], "{ended:#?}");
    let warnings = lab.rows("disk", "SELECT detail FROM warnings WHERE kind = 'io_errors'");
    assert!(warnings.len() == 1 && warnings[0].contains(&bad.device), "{warnings:?}");
}
