//! kill -9 at any instant loses at most the trial in flight.

use crate::common::{Exit, Lab, end, scripted, signal};
use crate::servers::{lab, managed, newest, versions};
use std::process::Command;
use std::time::Duration;

/// Instants that look random and are the same each time.
struct Instants(u64);

impl Instants {
    fn next(&mut self, longest: Duration) -> Duration {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        longest.mul_f64((self.0 >> 11) as f64 / (1_u64 << 53) as f64)
    }
}

/// Returns the number of trials that a run reports as recorded before it, and the number when it
/// ends.
fn announced(stderr: &str) -> (Option<u32>, u32) {
    let before =
        |line: &str| line.strip_suffix(" already recorded")?.rsplit(' ').next()?.parse().ok();
    let after = |line: &str| line.split_once('/')?.0.trim().parse().ok();
    (stderr.lines().find_map(before), stderr.lines().filter_map(after).max().unwrap_or(0))
}

/// Kills the run `kills` times, each time at most `longest` after its start, then lets it end and
/// checks that each of its two configurations has each block once. Nothing else touches the results
/// file: the next run has to repair what a killed one left.
fn kill_and_resume(file: &str, kills: u32, blocks: usize, mut longest: Duration) {
    let lab = Lab::with(file);
    let (mut instants, mut recorded) = (Instants(42), 0);
    for kill in 0..kills {
        let child = lab.start();
        std::thread::sleep(instants.next(longest));
        signal(&child, libc::SIGKILL);
        let ended = end(child);
        assert_eq!(ended.code, None, "kill {kill} found a run that had ended: {}", ended.stderr);
        let (before, after) = announced(&ended.stderr);
        assert!(
            before.is_none_or(|before| before >= recorded),
            "{recorded} were announced: {}",
            ended.stderr
        );
        recorded = recorded.max(after);
        let most = 2 * blocks as u32 * (kill + 1) / kills * 3 / 4;
        if recorded == 0 {
            // A slow machine: later kills leave more time.
            longest = longest.mul_f64(2.5);
        } else if recorded > most {
            // A fast one: something has to be left for the last kill.
            longest = longest.mul_f64(0.6);
        }
    }
    assert!(recorded > 0, "no run got far enough to record anything");
    let last = lab.run(0);
    let (before, after) = announced(&last.stderr);
    assert!(before >= Some(recorded), "{recorded} were announced: {}", last.stderr);
    assert_eq!(after as usize, 2 * blocks);
    let all = format!("{blocks}|{blocks}|1|{blocks}|1|done");
    let by_configuration = "SELECT count(*), count(DISTINCT block), min(block), max(block), \
                            max(attempt), max(status)
                            FROM trials GROUP BY configuration";
    assert_eq!(lab.rows("t", by_configuration), [all.clone(), all]);
    assert_eq!(lab.rows("t", "SELECT count(*) FROM runs"), ["1"]);
    let sequence: Vec<String> = (1..=2 * blocks).map(|number| number.to_string()).collect();
    assert_eq!(lab.rows("t", "SELECT sequence FROM trials ORDER BY id"), sequence);
    assert_eq!(lab.rows("t", "PRAGMA integrity_check"), ["ok"]);
    assert!(lab.rows("t", "PRAGMA foreign_key_check").is_empty());
    for table in ["responses", "latencies", "load_health", "machine_load"] {
        let missing = format!(
            "SELECT count(*) FROM trials t WHERE NOT EXISTS (SELECT 1 FROM {table} x WHERE \
             x.trial = t.id)"
        );
        assert_eq!(lab.rows("t", &missing), ["0"], "{table}");
    }
    assert_eq!(lab.work_folders().len(), 0);
}

#[test]
fn fifty_kills_lose_nothing_that_was_recorded() {
    let file = scripted(300, "real_delay = \"1 ms\"", "");
    kill_and_resume(&file, 50, 300, Duration::from_millis(150));
}

#[test]
fn kills_of_the_real_engine_leave_no_files() {
    let file = scripted(100, "", "").replace("\"null\"", "\"sqlite\"").replace(
        "rows = 10\nrows_per_transaction = 1\n",
        "rows = 2000\nrows_per_transaction = 200\n",
    );
    kill_and_resume(&file, 8, 100, Duration::from_millis(400));
}

/// In the folder for temporary files, where a path in the server's folder is too long for a socket.
#[test]
fn a_server_that_starts_removes_the_sockets_of_killed_ones() {
    let Some(versions) = versions() else { return };
    let workload = "probe = \"insert\"\nconnections = 1\nrows = 10\nrows_per_transaction = 1";
    let lab = lab(&managed(1, &newest(&versions), ["", workload, ""]));
    let mut child = Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    let left = lab.path(&format!("temporary/steelbench-{}-0", child.id()));
    std::fs::create_dir_all(&left).unwrap();
    std::fs::write(left.join(".s.PGSQL.5432"), "").unwrap();
    let namespace = std::fs::read_link("/proc/self/ns/pid").unwrap();
    let maker = format!(
        "{{\"owner\":{{\"pid\":{},\"started_ticks\":1}},\"namespace\":{namespace:?}}}",
        child.id()
    );
    std::fs::write(left.join(".steelbench-socket"), format!("/srv/run\0{maker}")).unwrap();
    let mut command = lab.command(&["run", "e.toml"]);
    Exit::from(command.env("TMPDIR", lab.path("temporary")).output().unwrap()).expect(0);
    assert!(!left.exists());
}

/// A study with a preparation before each measurement, on cold and on warm caches.
#[test]
fn a_killed_study_of_the_optimizer_resumes_with_cold_and_warm_caches() {
    let file = "[experiment]\nname = \"t\"\n[target]\nengine = \"sqlite\"\n[workload]\nprobe = \
                \"optimizer\"\nrows = \"10k\"\nruns = 2\n[factors]\n\"target.cache\" = [\"cold\", \
                \"warm\"]\n[repeats]\nblocks = 30\n";
    kill_and_resume(file, 3, 30, Duration::from_secs(1));
}
