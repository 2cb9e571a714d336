//! Results files that an older Steelbench recorded (format 4: before warnings and facts had tables
//! of their own) are read, shown and gone on with.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use common::Lab;
use flate2::read::GzDecoder;
use std::io::Read;

const INSERT: &[u8] = include_bytes!("recorded/insert.steelbench.gz");
const SYNC: &[u8] = include_bytes!("recorded/sync.steelbench.gz");
const DISK: &[u8] = include_bytes!("recorded/disk.steelbench.gz");
const INTERRUPTED: &[u8] = include_bytes!("recorded/interrupted.steelbench.gz");

/// What was a response of the `sync` probe and is a fact now.
const NOW_FACTS: &str = "('shared_lines', 'processors', 'cores', 'sockets', 'nodes')";

/// The columns that trials had.
const TRIALS: &str = "SELECT id, run, configuration, block, sequence, attempt, started_ms, \
                      wall_s, status, cause, observed,
    elapsed_s, connections, work_unit, work_amount, transactions, errors, retries, session_s, \
                      cpu_s, cpu_user_s,
    synthetic FROM trials";

/// A folder with a recorded results file and the experiment file that it was recorded with.
fn recorded(name: &str, compressed: &[u8]) -> Lab {
    let mut bytes = Vec::new();
    GzDecoder::new(compressed).read_to_end(&mut bytes).unwrap();
    let lab = Lab::new();
    std::fs::create_dir(lab.path("results")).unwrap();
    std::fs::write(lab.path(&format!("results/{name}.steelbench")), bytes).unwrap();
    assert_eq!(lab.rows(name, "SELECT user_version FROM pragma_user_version"), ["4"]);
    let source = lab.rows(name, "SELECT source FROM runs");
    lab.write("e.toml", &source[0]);
    lab
}

/// Whatever the old tables say, the new ones say after the file was opened for writing.
#[test]
fn a_migrated_file_says_what_it_said() {
    let same = [
        "SELECT name, source, seed FROM runs",
        "SELECT key, label FROM configurations ORDER BY run, position",
        "SELECT * FROM settings",
        TRIALS,
        "SELECT trial, position, wait_type, class, count, resource_s, signal_s, source, \
         sampled_hz FROM waits",
        "SELECT * FROM latencies",
        "SELECT * FROM operations",
        "SELECT * FROM series",
        "SELECT * FROM devices",
        "SELECT * FROM hooks",
        "SELECT * FROM profiles",
    ];
    let moved = [
        (
            "SELECT trial, position, kind, detail FROM marks",
            "SELECT trial, position, kind, detail FROM warnings",
        ),
        (
            &format!("SELECT trial, name, unit, value FROM responses WHERE name IN {NOW_FACTS}"),
            "SELECT trial, name, unit, value FROM facts",
        ),
        (
            &format!(
                "SELECT trial, name, unit, direction, value FROM responses WHERE name NOT IN \
                 {NOW_FACTS}"
            ),
            "SELECT trial, name, unit, direction, value FROM responses",
        ),
    ];
    for (name, file, trials) in [
        ("insert", INSERT, 8),
        ("sync", SYNC, 6),
        ("disk", DISK, 4),
        ("interrupted", INTERRUPTED, 3),
    ] {
        let lab = recorded(name, file);
        let old: Vec<_> = same.iter().map(|sql| lab.rows(name, sql)).collect();
        let old_moved: Vec<_> = moved.iter().map(|(old, _)| lab.rows(name, old)).collect();
        drop(
            store::Store::create_or_open(lab.path(&format!("results/{name}.steelbench"))).unwrap(),
        );
        for (sql, old) in same.iter().zip(old) {
            assert_eq!(lab.rows(name, sql), old, "{name}: {sql}");
        }
        for ((_, sql), old) in moved.iter().zip(old_moved) {
            assert_eq!(lab.rows(name, sql), old, "{name}: {sql}");
        }
        assert_eq!(lab.trials(name), trials);
        let facts = lab.rows(name, "SELECT count(*) > 0 FROM facts");
        assert_eq!(facts, [if name == "sync" { "1" } else { "0" }], "{name}");
        assert_eq!(lab.rows(name, "PRAGMA integrity_check"), ["ok"]);
    }
}

#[test]
fn an_old_recording_is_shown_and_reported() {
    for (name, file, parts) in [
        (
            "insert",
            INSERT,
            &["data_files=4 synchronous=full", "hook before_trial failed", "WRITER_LOCK", "short"]
                [..],
        ),
        ("sync", SYNC, &["same-core", "other-core", "Scaling"]),
        ("disk", DISK, &["queue_depth", "IOPS", "io_uring_enter"]),
        ("interrupted", INTERRUPTED, &["synchronous", "connections"]),
    ] {
        let lab = recorded(name, file);
        // A neighbour, which may have measured what the storage can do.
        std::fs::copy(
            lab.path(&format!("results/{name}.steelbench")),
            lab.path("results/n.steelbench"),
        )
        .unwrap();
        let read =
            |name: &str| std::fs::read(lab.path(&format!("results/{name}.steelbench"))).unwrap();
        let before = read(name);
        let mut shown = lab.steelbench(&["show", name]).expect(0).stdout;
        lab.steelbench(&["report", name]).expect(0);
        let page = lab.read(&format!("results/{name}.html"));
        assert!(page.contains("</html>"), "{name}");
        shown.push_str(&page);
        for part in parts {
            assert!(shown.contains(part), "{name}: {part:?} is not in {shown}");
        }
        lab.steelbench(&["export", name, "--format", "json"]).expect(0);
        assert!(read(name) == before && read("n") == before, "{name}: reading has changed a file");
    }
}

/// The configurations have the keys and the order of before: what is recorded counts.
#[test]
fn an_interrupted_run_of_before_goes_on() {
    let name = "interrupted";
    let lab = recorded(name, INTERRUPTED);
    let before = lab.rows(name, &format!("{TRIALS} ORDER BY id"));
    lab.run(0).says("8 trials, 3 of them recorded before");
    assert_eq!(lab.rows(name, "SELECT DISTINCT run FROM trials"), ["1"]);
    assert_eq!(lab.rows(name, &format!("{TRIALS} ORDER BY id LIMIT 3")), before);
    let once = "SELECT count(*), count(DISTINCT configuration || '/' || block) FROM trials WHERE \
                status = 'done'";
    assert_eq!(lab.rows(name, once), ["8|8"]);

    // Steelbench of today, alone: the same configurations in the same order.
    let fresh = Lab::with(&lab.read("e.toml"));
    fresh.run(0);
    for sql in [
        "SELECT position, key, label FROM configurations ORDER BY position",
        "SELECT configuration, block, sequence FROM trials ORDER BY sequence",
    ] {
        assert_eq!(lab.rows(name, sql), fresh.rows(name, sql), "{sql}");
    }
}

/// Nothing of these is left to be run: neither the settings nor their defaults have other values
/// today.
#[test]
fn a_complete_run_of_before_is_complete() {
    for (name, file, trials) in [("sync", SYNC, 6), ("disk", DISK, 4)] {
        let lab = recorded(name, file);
        lab.run(0);
        assert_eq!(lab.trials(name), trials);
        assert_eq!(lab.rows(name, "SELECT count(*) FROM runs"), ["1"]);
    }
}
