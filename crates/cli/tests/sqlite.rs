//! The embedded engine, end to end.

use crate::common::Lab;

fn file(blocks: u32, target: &str, factors: &str) -> String {
    format!(
        "[experiment]\nname = \"t\"\n[target]\nengine = \"sqlite\"\n{target}\n[workload]\nprobe = \
         \"insert\"\nconnections = 2\nrows = \"4k\"\nrows_per_transaction = \
         100\n{factors}\n[repeats]\nblocks = {blocks}\n"
    )
}

const DATA_FILES: &str =
    "[factors]\n\"target.data_files\" = [2, 1]\n\"workload.key\" = [\"sequential\", \"random\"]";

#[test]
fn a_small_study_has_all_its_tables() {
    let lab = Lab::with(&file(
        3,
        "settings = { journal_mode = \"wal\", synchronous = \"normal\" }",
        DATA_FILES,
    ));
    let text = lab.run(0).stdout;
    for part in [
        "12 trials done",
        "\nFindings\n",
        "\nConfigurations\ndata_files  key",
        "\nWaitType",
        " CPU ",
        " unaccounted ",
        "2 sessions x ",
        "sqlite 3.",
    ] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    let header: Vec<&str> = text
        .lines()
        .find(|line| line.starts_with("WaitType"))
        .unwrap()
        .split_whitespace()
        .collect();
    let nine =
        "WaitType Wait_S Resource_S Signal_S WaitCount Percentage AvgWait_S AvgRes_S AvgSig_S";
    assert_eq!(header, nine.split(' ').collect::<Vec<_>>());
    assert!(!text.contains("synthetic"), "{text}");
    // The order of configurations is the file's, not the alphabet's nor that of the trials.
    let table = text.split("\nConfigurations\n").nth(1).unwrap();
    let rows: Vec<String> = table
        .lines()
        .skip(1)
        .take(4)
        .map(|line| line.split_whitespace().take(2).collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(rows, ["2 sequential", "2 random", "1 sequential", "1 random"]);
    assert_eq!(lab.work_folders().len(), 0);
}

#[test]
fn the_records_of_a_trial_agree_with_each_other() {
    let lab = Lab::with(&file(2, "", DATA_FILES));
    lab.run(0);
    let work = "SELECT DISTINCT work_unit, work_amount, transactions, errors, connections, \
                synthetic FROM trials";
    assert_eq!(lab.rows("t", work), ["row|4000|40|0|2|0"]);
    let responses = "SELECT count(*) FROM trials t JOIN responses e ON e.trial = t.id AND e.name \
                     = 'elapsed'
                     JOIN responses r ON r.trial = t.id AND r.name = 'throughput'
                     WHERE e.value = t.elapsed_s AND abs(r.value * t.elapsed_s - t.work_amount) < \
                     1e-6
                     AND e.unit = 's' AND r.unit = 'rows/s'";
    assert_eq!(lab.rows("t", responses), ["8"]);
    let latencies = "SELECT DISTINCT name, count FROM latencies ORDER BY 1";
    assert_eq!(lab.rows("t", latencies), ["service|40", "transaction|40"]);
    // CPU and waits cannot be more than the time of the sessions, but for what clocks differ by.
    let over = "SELECT count(*) FROM trials t WHERE cpu_s + (SELECT sum(resource_s + signal_s) \
                FROM waits w WHERE w.trial = t.id)
                > session_s * 1.1";
    assert_eq!(lab.rows("t", over), ["0"]);
    assert_eq!(lab.rows("t", "SELECT count(*) FROM trials WHERE elapsed_s >= wall_s"), ["0"]);
    let engine = lab.rows("t", "SELECT json ->> '$.engines.sqlite.version' FROM environments");
    assert_eq!(engine, [rusqlite::version()], "the same bundled SQLite");
}

#[test]
fn page_sizes_are_levels_in_every_journal_mode() {
    let factors = "[factors]\n\"target.settings.page_size\" = [1024, \
                   8192]\n\"target.settings.journal_mode\" = [\"delete\", \"truncate\", \
                   \"persist\", \"memory\", \"off\", \"wal\"]";
    for open in ["separate", "attached"] {
        let lab = Lab::with(
            &file(1, &format!("data_files = 2\nopen = \"{open}\""), factors)
                .replace("= 2\nrows", "= 1\nrows"),
        );
        lab.run(0);
        assert_eq!(
            lab.rows("t", "SELECT status, count(*) FROM trials GROUP BY 1"),
            ["done|12"],
            "{open}"
        );
    }
}

#[test]
fn a_trial_that_takes_too_much_space_has_failed() {
    let factors =
        "[factors]\n\"workload.initial_rows\" = [0, \"20k\"]\n[limits]\ndisk_space = \"2 MiB\"";
    let lab = Lab::with(&file(2, "", factors));
    lab.run(1).says("limits.disk_space");
    let by_level = "SELECT c.label, status, count(*) FROM trials t JOIN configurations c ON c.id \
                    = t.configuration
                    GROUP BY 1, 2 ORDER BY c.position";
    assert_eq!(lab.rows("t", by_level), ["initial_rows=0|done|2", "initial_rows=20k|failed|2"]);
    assert_eq!(lab.work_folders().len(), 0);
}

/// Two levels that are the same in all but the name. Whether they are called different is chance
/// (at most 1 in 20); that there is a verdict is not.
#[test]
fn identical_configurations_get_a_verdict() {
    let levels = "[[level]]\nfactor = \"same\"\nname = \"a\"\nset = { \"target.data_files\" = 2 \
                  }\n[[level]]\nfactor = \"same\"\nname = \"b\"\nset = { \"target.data_files\" = \
                  2 }\n";
    let lab = Lab::with(&file(6, "", levels));
    let text = lab.run(0).stdout;
    assert!(text.contains("12 trials done"), "{text}");
    let findings =
        text.split("\nFindings\n").nth(1).unwrap().split("\nConfigurations\n").next().unwrap();
    assert!(findings.contains("same=a") || findings.contains("same is"), "{findings}");
    assert_eq!(lab.rows("t", "SELECT count(DISTINCT key), count(*) FROM configurations"), ["1|2"]);
    lab.steelbench(&["compare", "same=a", "same=b"]).expect(0).shows("same=b");
}
