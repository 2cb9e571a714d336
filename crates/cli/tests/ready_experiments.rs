//! Ready experiments on scripts and manual steps, scaled down: each level does what its name says.

use crate::common::Lab;
use crate::servers::installed::mariadb_installations;
use crate::servers::{lab, nothing_is_left, versions};

/// A lab with a ready experiment as `e.toml`, changed, and the SQL files beside it.
fn ready(name: &str, changes: &[(&str, &str)]) -> Lab {
    let mut text = testing::ready::text(name);
    for (old, new) in changes {
        assert!(text.contains(old), "{old} is in {name}.toml");
        text = text.replace(old, new);
    }
    let lab = lab(&text);
    let folder = testing::ready::file(&format!("{name}.toml"));
    for path in
        std::fs::read_dir(folder.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path())
    {
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        if file.starts_with(name) && path.extension().is_some_and(|extension| extension == "sql") {
            lab.write(&file, &std::fs::read_to_string(&path).unwrap());
        }
    }
    lab
}

/// For each level of a factor, the number of times that statements like this ran in each
/// transaction.
fn runs(lab: &Lab, name: &str, factor: &str, statement: &str) -> Vec<String> {
    let sql = format!(
        "SELECT l.level || ' ' || round(1.0 * sum(s.count) / (SELECT sum(o.work_amount) FROM \
         trials o JOIN configuration_levels m ON m.configuration = o.configuration WHERE \
         m.factor = l.factor AND m.level = l.level), 3) FROM trials t JOIN configuration_levels l \
         ON l.configuration = t.configuration JOIN statements s ON s.trial = t.id WHERE l.factor = \
         '{factor}' AND s.text LIKE '{statement}' GROUP BY l.level ORDER BY l.level + 0, l.level"
    );
    lab.rows(name, &sql)
}

#[test]
fn a_drive_is_formatted_once_for_all_trials_of_a_format() {
    let small = [("\"80k\"", "800"), ("= 1000", "= 100"), ("blocks = 3", "blocks = 1")];
    let lab = ready("drive-format", &small);
    let step = "Format the drive as ";
    lab.run(3).says(step).says("results/drive");
    for code in [3, 3, 0] {
        lab.run_with(&["--manual-done"], code);
    }
    let formats = "SELECT l.level || ' ' || count(*) FROM trials t JOIN configuration_levels l ON \
                   l.configuration = t.configuration WHERE l.factor = 'format' GROUP BY l.level \
                   ORDER BY 1";
    assert_eq!(lab.rows("drive-format", formats), ["basic 2", "improved 2", "maximum 2"]);
}

/// The transactions of a level make as many calls as it says, and each costs CPU time.
#[test]
fn a_transaction_makes_as_many_round_trips_as_its_level() {
    let only_sqlite = "name = \"sqlite\"\nset = { \"target.engine\" = \"sqlite\", \
                       \"target.settings.journal_mode\" = \"wal\" }\n\n[repeats]";
    let name = "round-trips";
    let text = testing::ready::text(name);
    let from = text.find("name = \"sqlite\"").unwrap();
    let to = text.find("[repeats]").unwrap() + "[repeats]".len();
    let small = [
        (&text[from..to], only_sqlite),
        ("\"1 s\"", "\"200 ms\""),
        ("\"300 ms\"", "0"),
        ("blocks = 3", "blocks = 1"),
    ];
    let lab = ready(name, &small);
    lab.run(0).shows("cpu_per_transaction");
    let factor = "workload.variables.calls";
    assert_eq!(
        runs(&lab, name, factor, "SELECT abalance%"),
        ["1 1.0", "2 2.0", "5 5.0", "10 10.0", "20 20.0", "30 30.0"]
    );
    let cpu = "SELECT count(*) FROM responses WHERE name = 'cpu_per_transaction' AND value > 0";
    assert_eq!(lab.rows(name, cpu), ["6"]);
}

#[test]
fn a_scan_locks_what_its_level_says() {
    let small = [("transactions = 20", "transactions = 2"), ("blocks = 5", "blocks = 1")];
    let small = [small[0], small[1], ("warmup = \"500 ms\"", "warmup = 0")];
    let engines = [
        ("scan-locks", versions().is_some(), "%FOR SHARE%", "LOCK TABLE %"),
        (
            "mariadb-scan-locks",
            !mariadb_installations().is_empty(),
            "%LOCK IN SHARE MODE",
            "LOCK TABLES %",
        ),
    ];
    for (name, is_here, rows, table) in engines {
        if !is_here {
            continue;
        }
        let lab = ready(name, &small);
        lab.run(0);
        assert_eq!(
            runs(&lab, name, "locks", rows),
            ["none 0.0", "rows 1.0", "table 0.0"],
            "{name}"
        );
        assert_eq!(
            runs(&lab, name, "locks", table),
            ["none 0.0", "rows 0.0", "table 1.0"],
            "{name}"
        );
        nothing_is_left(&lab);
    }
}

/// Each operation is planned as its name says, with the least memory and the most.
#[test]
fn work_mem_is_varied_for_a_sort_a_hash_join_and_a_hash_aggregate() {
    if versions().is_none() {
        return;
    }
    let small = [
        ("\"1MB\", \"2MB\", \"4MB\", \"8MB\", \"16MB\", \"32MB\"", "\"1MB\", \"32MB\""),
        ("scale = 2", "scale = 1"),
        ("transactions = 3", "transactions = 1"),
        ("warmup = \"300 ms\"", "warmup = 0"),
        ("blocks = 3", "blocks = 1"),
    ];
    let lab = ready("work-mem", &small);
    lab.run(0);
    let planned = |operation: &str, node: &str| {
        let sql = format!(
            "SELECT count(*) FROM plans p JOIN trials t ON t.id = p.trial JOIN \
             configuration_levels l ON l.configuration = t.configuration JOIN plan_texts x ON \
             x.hash = p.hash WHERE l.factor = 'operation' AND l.level = '{operation}' AND x.text \
             LIKE '%{node}%'"
        );
        lab.rows("work-mem", &sql)
    };
    for (operation, node) in
        [("sort", "Sort"), ("hash join", "Hash Join"), ("hash aggregate", "HashAggregate")]
    {
        assert_eq!(planned(operation, node), ["2"], "{operation}");
    }
    nothing_is_left(&lab);
}
