//! Results files of format 16, the first of a released version, are read, shown and resumed.

use crate::common::Lab;
use flate2::read::GzDecoder;
use std::io::Read;

const INSERT: &[u8] = include_bytes!("recorded/insert.steelbench.gz");
const SYNC: &[u8] = include_bytes!("recorded/sync.steelbench.gz");
const DISK: &[u8] = include_bytes!("recorded/disk.steelbench.gz");
const INTERRUPTED: &[u8] = include_bytes!("recorded/interrupted.steelbench.gz");

/// The columns of trials in format 16.
const TRIALS: &str = "SELECT id, run, configuration, block, sequence, attempt, started_ms, \
                      wall_s, status, cause, observed,
    elapsed_s, connections, work_unit, work_amount, transactions, errors, retries, session_s, \
                      cpu_s, cpu_user_s,
    synthetic, setup, timeout_s, sampled_running_s, corrected_s FROM trials";

/// A folder with a recorded results file and the experiment file that it was recorded with.
fn recorded(name: &str, compressed: &[u8]) -> Lab {
    let mut bytes = Vec::new();
    GzDecoder::new(compressed).read_to_end(&mut bytes).unwrap();
    let lab = Lab::new();
    std::fs::create_dir(lab.path("results")).unwrap();
    std::fs::write(lab.path(&format!("results/{name}.steelbench")), bytes).unwrap();
    assert_eq!(lab.rows(name, "SELECT user_version FROM pragma_user_version"), ["16"]);
    let source = lab.rows(name, "SELECT source FROM runs");
    lab.write("e.toml", &source[0]);
    lab
}

/// The tables of a file and their columns.
fn tables(lab: &Lab, name: &str) -> Vec<String> {
    let sql = "SELECT 'SELECT ' || group_concat(c.name) || ' FROM ' || t.name FROM sqlite_schema \
               t, pragma_table_info(t.name) c WHERE t.type = 'table' GROUP BY t.name";
    lab.rows(name, sql)
}

/// Opening the file for writing keeps all of its contents.
#[test]
fn a_migrated_file_says_what_it_said() {
    for (name, file, trials) in [
        ("insert", INSERT, 8),
        ("sync", SYNC, 6),
        ("disk", DISK, 4),
        ("interrupted", INTERRUPTED, 3),
    ] {
        let lab = recorded(name, file);
        let tables = tables(&lab, name);
        assert!(tables.len() > 20, "{tables:?}");
        let old: Vec<_> = tables.iter().map(|sql| lab.rows(name, sql)).collect();
        drop(
            store::Store::create_or_open(lab.path(&format!("results/{name}.steelbench"))).unwrap(),
        );
        for (sql, old) in tables.iter().zip(old) {
            assert_eq!(lab.rows(name, sql), old, "{name}: {sql}");
        }
        assert_eq!(lab.trials(name), trials);
        assert_eq!(lab.rows(name, "PRAGMA integrity_check"), ["ok"]);
    }
}

#[test]
fn a_format_before_the_first_release_is_refused_with_its_number() {
    let lab = recorded("sync", SYNC);
    lab.results("sync").pragma_update(None, "user_version", 15).unwrap();
    for arguments in [&["show", "sync"][..], &["run", "e.toml"]] {
        lab.steelbench(arguments).expect(2).says("has format 15 from before version 0.1.0");
    }
}

#[test]
fn a_recording_is_shown_and_reported() {
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
        let mut shown = lab.steelbench(&["show", name, "--full"]).expect(0).stdout;
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

/// Every line that is printed of a recording, as a person accepted it: `cargo insta review`, or
/// `INSTA_UPDATE=always`, after a change that is meant.
#[test]
fn a_recording_is_printed_as_it_was() {
    for (name, file) in
        [("insert", INSERT), ("sync", SYNC), ("disk", DISK), ("interrupted", INTERRUPTED)]
    {
        let lab = recorded(name, file);
        let mut printed = lab.steelbench(&["show", name, "--full"]).expect(0).stdout;
        printed.push_str("\n=== --stability\n\n");
        printed.push_str(&lab.steelbench(&["show", name, "--stability"]).expect(0).stdout);
        insta::assert_snapshot!(name, printed);
    }
}

/// The configurations have the recorded keys and order, so that the recorded trials count.
#[test]
fn an_interrupted_run_is_resumed() {
    let name = "interrupted";
    let lab = recorded(name, INTERRUPTED);
    let before = lab.rows(name, &format!("{TRIALS} ORDER BY id"));
    lab.run(0).says("8 trials, 3 already recorded");
    assert_eq!(lab.rows(name, "SELECT DISTINCT run FROM trials"), ["1"]);
    assert_eq!(lab.rows(name, &format!("{TRIALS} ORDER BY id LIMIT 3")), before);
    let once = "SELECT count(*), count(DISTINCT configuration || '/' || block) FROM trials WHERE \
                status = 'done'";
    assert_eq!(lab.rows(name, once), ["8|8"]);

    // A new run has the same configurations in the same order.
    let fresh = Lab::with(&lab.read("e.toml"));
    fresh.run(0);
    for sql in [
        "SELECT position, key, label FROM configurations ORDER BY position",
        "SELECT configuration, block, sequence FROM trials ORDER BY sequence",
    ] {
        assert_eq!(lab.rows(name, sql), fresh.rows(name, sql), "{sql}");
    }
}

/// No trial of these remains: neither the settings nor their defaults have changed.
#[test]
fn a_complete_run_is_complete() {
    for (name, file, trials) in [("sync", SYNC, 6), ("disk", DISK, 4)] {
        let lab = recorded(name, file);
        lab.run(0);
        assert_eq!(lab.trials(name), trials);
        assert_eq!(lab.rows(name, "SELECT count(*) FROM runs"), ["1"]);
    }
}
