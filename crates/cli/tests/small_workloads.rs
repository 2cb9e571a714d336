//! YCSB, SmallBank and TATP from `init --like` to the checks of their tables, on each engine.

use crate::common::{Lab, skipped};
use crate::servers::installed::{duckdb_libraries, installations, mariadb_installations};
use crate::servers::lab;
use std::collections::BTreeMap;

/// Transactions of a trial whose shares are compared.
const TRANSACTIONS: u32 = 800;

/// Transactions of a trial that fails.
const SOME: u32 = 100;

/// Engines that are installed, as lines of `[target]`.
fn engines() -> Vec<String> {
    let mut engines = vec!["engine = \"sqlite\"\nsettings.journal_mode = \"wal\"".to_owned()];
    match installations().last() {
        Some(_) => engines.push("engine = \"postgres\"\nsettings.fsync = false".to_owned()),
        None => skipped("PostgreSQL is not installed"),
    }
    match mariadb_installations().last() {
        Some(_) => engines
            .push("engine = \"mariadb\"\nsettings.innodb_flush_log_at_trx_commit = 0".to_owned()),
        None => skipped("MariaDB is not installed"),
    }
    match duckdb_libraries().into_iter().flatten().next() {
        Some(library) => {
            engines.push(format!("engine = \"duckdb\"\nlibrary = \"{library}\""));
        }
        None => skipped("libduckdb is not installed"),
    }
    engines
}

/// Runs a check on all engines in parallel.
fn on_each_engine(check: impl Fn(&str) + Sync) {
    let engines = engines();
    std::thread::scope(|scope| {
        for target in &engines {
            scope.spawn(|| check(target));
        }
    });
}

/// A lab with a ready experiment on an engine: one block of this many transactions.
fn ready(name: &str, target: &str, transactions: u32) -> Lab {
    let lab = lab("");
    lab.steelbench(&["init", "--like", name]).expect(0).shows(&format!("{name}.toml"));
    let file = lab.read(&format!("{name}.toml"));
    let mut text = String::new();
    let mut section = "";
    for line in file.lines() {
        let key = line.split('=').next().unwrap_or_default().trim();
        if line.starts_with('[') {
            section = line;
        }
        match (section, key) {
            ("[target]", "engine") => text.push_str(target),
            ("[target]", "settings") | (_, "warmup" | "baseline") => continue,
            ("[factors]", key) if key.contains("settings") => continue,
            ("[factors]", "\"workload.connections\"") => {
                text.push_str("\"workload.connections\" = [4]");
            }
            ("[workload]", "duration") => {
                text = format!("{text}transactions = {transactions}");
            }
            ("[workload]", "rows") => text.push_str("rows = 2000"),
            ("[repeats]", "blocks") => text.push_str("blocks = 1"),
            _ => text.push_str(line),
        }
        text.push('\n');
    }
    lab.write("e.toml", &text);
    lab
}

/// True if the count is within five standard deviations of a binomial distribution.
fn is_near(count: f64, of: f64, share: f64) -> bool {
    (count - of * share).abs() <= 5.0 * (of * share * (1.0 - share)).sqrt() + 1e-9
}

/// Transactions of the trials by script, and the sums of counters.
fn counted(lab: &Lab, name: &str) -> (BTreeMap<String, f64>, BTreeMap<String, f64>) {
    let json = lab.json(&["show", name]);
    let mut scripts = BTreeMap::new();
    let mut counts = BTreeMap::new();
    for array in
        json.iter().flat_map(|json| json["scripts"].as_array().cloned().unwrap_or_default())
    {
        for script in array["scripts"].as_array().unwrap() {
            let transactions = script["transactions"].as_f64().unwrap();
            let share = script["specified_share"].as_f64().unwrap();
            assert!(is_near(transactions, f64::from(TRANSACTIONS), share), "{script}");
            *scripts.entry(script["script"].as_str().unwrap().to_owned()).or_insert(0.0) +=
                transactions;
        }
        for count in array["counts"].as_array().unwrap() {
            let (script, name) =
                (count["script"].as_str().unwrap(), count["name"].as_str().unwrap());
            *counts.entry(format!("{script} {name}")).or_insert(0.0) +=
                count["sum"].as_f64().unwrap();
        }
        assert!(array["checks"].as_u64().unwrap() > 0, "{array}");
    }
    assert!(!scripts.is_empty(), "{json:?}");
    (scripts, counts)
}

#[test]
fn mixes_are_within_binomial_limits_and_the_checks_hold_on_each_engine() {
    on_each_engine(|target| {
        for name in ["smallbank", "ycsb"] {
            let lab = ready(name, target, TRANSACTIONS);
            lab.run(0).shows("of the tables held after each trial");
            let (_, counts) = counted(&lab, name);
            assert!(counts.values().any(|sum| *sum > 0.0), "{target} {name}: {counts:?}");
        }
    });
}

/// TATP's expected failures are results: their shares follow from its description. DuckDB has no
/// foreign keys here, so that a missing facility does not refuse an insert.
#[test]
fn missing_rows_and_duplicates_of_tatp_are_results() {
    on_each_engine(|target| {
        let lab = ready("tatp", target, TRANSACTIONS);
        lab.run(0).shows("2 checks of the tables held after each trial");
        assert_eq!(lab.rows("tatp", "SELECT DISTINCT errors FROM trials"), ["0"], "{target}");
        let (scripts, counts) = counted(&lab, "tatp");
        let inserted = if target.contains("duckdb") { 0.6875 } else { 0.3125 };
        for (script, counter, share) in [
            ("tatp-get-access-data.sql", "found", 0.625),
            ("tatp-get-new-destination.sql", "found", 0.147_877),
            ("tatp-insert-call-forwarding.sql", "inserted", inserted),
            ("tatp-insert-call-forwarding.sql", "refused", 1.0 - inserted),
            ("tatp-delete-call-forwarding.sql", "deleted", 0.3125),
        ] {
            let (count, of) = (counts[&format!("{script} {counter}")], scripts[script]);
            assert!(is_near(count, of, share), "{target} {script} {counter}: {count} of {of}");
        }
    });
}

/// Three levels on reduced tables: the report compares both loads with each alone by block, and has
/// headings of its own.
#[test]
fn the_report_has_the_mutual_slowdown_of_order_entry_and_analytics() {
    let lab = lab("");
    lab.steelbench(&["init", "--like", "mixed-load"]).expect(0).shows("mixed-load.toml");
    let file = lab.read("mixed-load.toml");
    let mut text = file.clone();
    for (old, new) in [
        ("\nwarehouses = 1\n", "\nwarehouses = 1\nreduced_by = 100\n"),
        ("journal_mode = \"wal\"", "journal_mode = \"wal\", synchronous = \"off\""),
        ("duration = \"6 s\"", "duration = \"2 s\""),
        ("warmup = \"1 s\"", "warmup = 0"),
    ] {
        assert!(text.contains(old), "{file}");
        text = text.replace(old, new);
    }
    lab.write("e.toml", &text);
    let ended = lab.run(0);
    // Analytics alone have no new orders, which the other levels have.
    assert!(!ended.stderr.contains("unknown response"), "{ended:#?}");
    ended
        .shows("Order entry and analytics at the same time")
        .shows("keeps ")
        .shows(" as long")
        .shows("Order entry transactions: load=");
    let json = lab.json(&["show", "mixed-load"]);
    let slowdown = json.iter().find_map(|json| json["slowdown"].as_array()).unwrap();
    let [slowdown] = &slowdown[..] else { panic!("{slowdown:?}") };
    for (side, response) in [("order_entry", "new_orders"), ("analytics", "analytics_time")] {
        let sql = format!(
            "SELECT t.block || ' ' || l.level || ' ' || r.value FROM responses r JOIN trials t ON \
             t.id = r.trial JOIN configuration_levels l ON l.configuration = t.configuration WHERE \
             r.name = '{response}' ORDER BY 1"
        );
        let values = lab.rows("mixed-load", &sql);
        let of_level = |level: &str| -> Vec<f64> {
            let values = values.iter().filter(|value| value.contains(level));
            values.map(|value| value.rsplit_once(' ').unwrap().1.parse().unwrap()).collect()
        };
        let alone = of_level(if side == "analytics" { " analytics " } else { " order entry " });
        let both = of_level(" both ");
        assert_eq!((alone.len(), both.len()), (3, 3), "{values:?}");
        let logs = both.iter().zip(&alone).map(|(both, alone)| (both / alone).ln());
        let expected = (logs.sum::<f64>() / 3.0).exp();
        let ratio = slowdown[side]["ratio"]["value"].as_f64().unwrap();
        assert!((ratio / expected - 1.0).abs() < 1e-6, "{side}: {ratio} for {expected}");
        assert_eq!(slowdown[side]["ratio"]["blocks"], 3);
    }
    assert_eq!(slowdown["queries"].as_array().map(Vec::len), Some(8));
    assert_eq!(slowdown["sessions"].as_array().map(Vec::len), Some(3));
}

/// A transfer that loses money fails the trial, on each engine.
#[test]
fn a_check_that_does_not_hold_fails_the_trial() {
    on_each_engine(|target| {
        let lab = ready("smallbank", target, SOME);
        let script = lab.read("smallbank-amalgamate.sql");
        lab.write("smallbank-amalgamate.sql", &script.replace("bal + :savings + :checking", "bal"));
        lab.run(1).says("check `money`").says(":before + :paid_in - :paid_out");
    });
}

#[test]
fn a_check_is_read_before_anything_runs() {
    let lab = ready("smallbank", "engine = \"sqlite\"", SOME);
    let text = lab.read("e.toml");
    for (wrong, says) in [
        (text.replace(":paid_out", ":paid_off"), "variable `paid_off`"),
        (text.replace("\nsql = ", "\n# "), "missing: sql"),
        (text.replace(":before +", ":before + +)"), "expected in the expression"),
    ] {
        lab.write("e.toml", &wrong);
        lab.steelbench(&["check", "e.toml"]).expect(2).says(says);
    }
}

#[test]
fn a_violation_without_a_word_of_the_script_fails_the_trial() {
    let lab = ready("tatp", "engine = \"sqlite\"", SOME);
    let script = lab.read("tatp-insert-call-forwarding.sql");
    lab.write("tatp-insert-call-forwarding.sql", &script.replace("\\refused refused\n", ""));
    lab.run(1).says("constraint");
}

#[test]
fn ready_files_are_never_written_over() {
    let lab = Lab::new();
    lab.write("tatp-get-access-data.sql", "SELECT 1;");
    lab.steelbench(&["init", "--like", "tatp"]).expect(2).says("tatp-get-access-data.sql exists");
    assert!(!lab.path("tatp.toml").exists());
    lab.steelbench(&["init", "--like", "tap"])
        .expect(2)
        .says("did you mean `tatp`?")
        .says(" lag-mariadb, lag-postgres\n");
    for name in ["order-entry/sqlite-order-entry", "decision-support"] {
        lab.steelbench(&["init", "--like", name]).expect(0).shows("steelbench run");
    }
}
