//! Volumes that are slower than their device.

use crate::common::{Lab, alone_with_control_groups, end, scripted, signal, skipped, wait_until};
use crate::servers;
use std::fs::{File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

/// A lab with an ext4 on a loop device in its folder `disk`; unmounted and detached when dropped.
struct SlowLab {
    lab: Lab,
    _alone: File,
}

fn script() -> PathBuf {
    testing::ready::file("loop-volume.sh")
}

fn volume(lab: &Lab, arguments: &[&str]) -> Result<(), String> {
    let mut command = Command::new(script());
    command.args(arguments).env("STEELBENCH_VOLUME_PATH", lab.path("disk"));
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if output.status.success() { Ok(()) } else { Err(text) }
}

impl SlowLab {
    /// `None`, with a word about it, where loop devices or limits are not to be had.
    fn with(file: &str) -> Option<Self> {
        let lab = Self { lab: Lab::with(file), _alone: alone_with_control_groups() };
        if let Err(cause) = volume(&lab.lab, &["make", "1", "256M", "mkfs.ext4", "-q"]) {
            skipped(&cause);
            return None;
        }
        lab.lab.write("short.toml", &self::file(1, ""));
        let probe = lab.lab.steelbench(&["run", "short.toml", "--results", "short.steelbench"]);
        if probe.stderr.contains("`throttle` needs") {
            skipped(&probe.stderr);
            return None;
        }
        probe.expect(0);
        Some(lab)
    }
}

impl Drop for SlowLab {
    fn drop(&mut self) {
        let removed = volume(&self.lab, &["remove"]);
        assert!(removed.is_ok() || std::thread::panicking(), "{removed:?}");
    }
}

/// SQLite on the same device, at its speed and at 20 writes a second.
fn file(rows: u32, hooks: &str) -> String {
    format!(
        "[experiment]\nname = \"t\"\n[target]\nengine = \"sqlite\"\nsettings = {{ journal_mode = \
         \"wal\", synchronous = \"full\" }}\n[workload]\nprobe = \"insert\"\nconnections = \
         1\nrows = {rows}\nrows_per_transaction = 1\n[factors]\n\"target.volume\" = [\"fast\", \
         \"slow\"]\n[[volume]]\nname = \"fast\"\npath = \"disk\"\n[[volume]]\nname = \
         \"slow\"\npath = \"disk\"\nthrottle = {{ write_iops = 20 }}\n[repeats]\nblocks = \
         2\n{hooks}"
    )
}

/// The groups that a process has made.
fn groups_of(pid: u32) -> Vec<PathBuf> {
    let (prefix, mut found) = (format!("steelbench-{pid}-"), Vec::new());
    let mut folders = vec![PathBuf::from("/sys/fs/cgroup")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(&prefix) {
                found.push(entry.path());
            } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
            }
        }
    }
    found
}

#[test]
fn a_throttled_volume_is_slower_by_far_and_everything_is_as_before() {
    let hooks = "[hooks]\nbefore_trial = 'cat /proc/$PPID/cgroup'\nafter_trial = 'cat \
                 /proc/$PPID/cgroup'\n";
    let Some(SlowLab { lab, .. }) = &SlowLab::with(&file(60, hooks)) else { return };
    let child = lab.start();
    let pid = child.id();
    end(child).expect(0);
    let mean = |volume: &str| -> f64 {
        let sql = format!(
            "SELECT avg(r.value) FROM responses r JOIN trials t ON t.id = r.trial
             JOIN configuration_levels l ON l.configuration = t.configuration
             WHERE r.name = 'elapsed' AND l.level = '{volume}'"
        );
        lab.rows("t", &sql)[0].parse().unwrap()
    };
    let (fast, slow) = (mean("fast"), mean("slow"));
    assert!(slow > 3.0 * fast, "{slow} s against {fast} s");
    // Each commit is at least one write: 60 of them at 20 a second, less what may pass at first.
    assert!((1.5..100.0).contains(&slow), "{slow} s");
    // Around trials our process is where it was started: where this test is.
    let cgroup = std::fs::read_to_string("/proc/self/cgroup").unwrap();
    assert_eq!(lab.rows("t", "SELECT DISTINCT output FROM hooks"), [cgroup]);
    assert_eq!((groups_of(pid).len(), lab.work_folders().len()), (0, 0));
}

#[test]
fn what_a_kill_leaves_is_removed_by_the_next_run() {
    let Some(SlowLab { lab, .. }) = &SlowLab::with(&file(60, "")) else { return };
    let child = lab.start();
    let pid = child.id();
    let in_group = |group: &PathBuf| {
        let processes = std::fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
        processes.lines().any(|line| line == pid.to_string())
    };
    wait_until("the process is in its group", || groups_of(pid).iter().any(in_group));
    signal(&child, libc::SIGKILL);
    end(child);
    let left = groups_of(pid);
    assert_eq!(left.len(), 1);
    // A run that throttles nothing does not remove it.
    lab.write("other.toml", &scripted(1, "", ""));
    lab.steelbench(&["run", "other.toml", "--results", "other.steelbench"]).expect(0);
    assert_eq!(groups_of(pid), left);
    let warning = format!("removed {}, left by a killed run", left[0].display());
    lab.run(0).says(&warning);
    assert_eq!(groups_of(pid).len(), 0);
}

#[test]
fn an_interrupted_run_leaves_no_group() {
    let slow = file(100_000, "").replace("[\"fast\", \"slow\"]", "[\"slow\"]");
    let Some(SlowLab { lab, .. }) = &SlowLab::with(&slow) else { return };
    let child = lab.start();
    let pid = child.id();
    wait_until("a group is there", || !groups_of(pid).is_empty());
    signal(&child, libc::SIGINT);
    end(child).expect(130);
    assert_eq!((groups_of(pid).len(), lab.work_folders().len()), (0, 0));
}

#[test]
fn what_cannot_be_throttled_is_said_before_anything_runs() {
    let lab = Lab::with(&file(10, "").replace("path = \"disk\"", "path = \"/proc\""));
    // Without root the first thing that is missing is the permission.
    lab.run(2).says("`throttle`");
    assert_eq!(lab.trials("t"), 0);
    let check = lab.steelbench(&["check", "e.toml"]).expect(0);
    check.shows("volume slow: throttled to writes 20 IOPS: needs root and control groups");
}

#[test]
fn a_server_is_throttled_with_its_log() {
    if servers::versions().is_none() {
        return skipped("no PostgreSQL is installed");
    }
    let file = "[experiment]\nname = \"t\"\n[target]\nengine = \"postgres\"\n[workload]\nprobe = \
                \"insert\"\nconnections = 1\nrows = 60\nrows_per_transaction = \
                1\n[factors]\n\"target.log_volume\" = [\"fast\", \"slow\"]\n[[volume]]\nname = \
                \"fast\"\npath = \"disk\"\n[[volume]]\nname = \"slow\"\npath = \"disk\"\nthrottle \
                = { write_iops = 20 }\n[repeats]\nblocks = 2\n";
    let Some(SlowLab { lab, .. }) = &SlowLab::with(file) else { return };
    // The server's account has to enter it.
    for folder in ["", "disk"] {
        std::fs::set_permissions(lab.path(folder), Permissions::from_mode(0o755)).unwrap();
    }
    let child = lab.start();
    let pid = child.id();
    end(child).expect(0);
    let sql = "SELECT r.value FROM responses r JOIN trials t ON t.id = r.trial
               JOIN configuration_levels l ON l.configuration = t.configuration
               WHERE r.name = 'elapsed' ORDER BY l.level, r.value";
    let elapsed: Vec<f64> = lab.rows("t", sql).iter().map(|value| value.parse().unwrap()).collect();
    let [_, fast, slow, _] = elapsed[..] else { panic!("{elapsed:?}") };
    assert!(slow > 3.0 * fast, "{slow} s against {fast} s");
    assert_eq!((groups_of(pid).len(), lab.work_folders().len()), (0, 0));
}
