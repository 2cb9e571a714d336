//! Scripts on SQLite: pgbench's built-in ones and those of users, on the files themselves.

use engine::{Folders, Permits};
use experiment::{Configuration, NamedFile, Value};
use observations::{Observations, WaitClass};
use probe::{Probe as _, Target, TrialContext};
use rusqlite::Connection;
use script::ScriptProbe;
use sqlite::SQLITE;
use std::path::Path;
use work::Cancel;

/// Runs a trial and hands its data file to a check before it is removed.
fn measured(settings: &[(&str, Value)], check: impl FnOnce(&Connection, &Observations)) {
    let settings =
        settings.iter().map(|(path, value)| ((*path).to_owned(), value.clone())).collect();
    let mut configuration = Configuration { settings, ..Configuration::default() };
    let files = ScriptProbe.files(&configuration).into_iter();
    configuration.files = files
        .map(|(setting, path)| NamedFile::read(setting, &path, Path::new("")).unwrap().into())
        .collect();
    let target = Target::for_engine(&SQLITE, &configuration);
    let connections = ScriptProbe.connections(&configuration);
    let objections = (
        ScriptProbe.plan(&configuration, &target),
        (SQLITE.validate)(&configuration, connections, &[]),
    );
    assert_eq!(objections, (Vec::new(), Vec::new()));
    let (folder, cancel) = (tempfile::tempdir().unwrap(), Cancel::new());
    let directory: &Path = folder.path();
    let place = Folders {
        directory: directory.into(),
        volumes: Vec::new(),
        permits: Permits::default(),
        cgroup_joins: Vec::new(),
    };
    let instance = (SQLITE.host)(place).prepare(&configuration, connections, &cancel).unwrap();
    let observations = ScriptProbe.run(&TrialContext {
        disturbances: &[],
        generation: probe::generation::Generation::Here,
        configuration: &configuration,
        instance: instance.as_ref(),
        target,
        storage: &[],
        seed: 7,
        cancel: &cancel,
        progress: &|_| {},
    });
    let connection = Connection::open(directory.join("data-0.db")).unwrap();
    check(&connection, &observations.unwrap());
    drop(connection);
    instance.remove().unwrap();
}

fn number(connection: &Connection, sql: &str) -> i64 {
    connection.query_row(sql, [], |row| row.get(0)).unwrap()
}

fn text(value: &str) -> Value {
    Value::Text(value.into())
}

#[test]
fn built_in_scripts_leave_the_balances_that_the_history_says() {
    for (builtin, protocol) in [("tpcb-like", "prepared"), ("simple-update", "simple")] {
        let settings = [
            ("workload.builtin", text(builtin)),
            ("workload.protocol", text(protocol)),
            ("workload.connections", Value::Integer(3)),
            ("workload.transactions", Value::Integer(90)),
            ("target.settings.journal_mode", text("wal")),
        ];
        measured(&settings, |connection, observations| {
            assert_eq!(
                (
                    observations.work.amount,
                    observations.work.transactions,
                    observations.work.errors
                ),
                (90, 90, 0)
            );
            assert_eq!(number(connection, "SELECT count(*) FROM pgbench_accounts"), 100_000);
            assert_eq!(number(connection, "SELECT count(*) FROM pgbench_history"), 90);
            let delta = number(connection, "SELECT sum(delta) FROM pgbench_history");
            assert_ne!(delta, 0);
            assert_eq!(number(connection, "SELECT sum(abalance) FROM pgbench_accounts"), delta);
            if builtin == "tpcb-like" {
                assert_eq!(number(connection, "SELECT sum(tbalance) FROM pgbench_tellers"), delta);
                assert_eq!(number(connection, "SELECT sum(bbalance) FROM pgbench_branches"), delta);
            }
            // Blank-padded as `char(84)` is, so that a row is as long as pgbench's.
            assert_eq!(number(connection, "SELECT min(length(filler)) FROM pgbench_accounts"), 84);
            assert!(
                observations.waits.iter().any(|wait| wait.wait_type == "WRITER_LOCK"),
                "{:?}",
                observations.waits
            );
        });
    }
}

#[test]
fn a_script_of_the_users_takes_results_into_variables_and_repeats_what_its_snapshot_refused() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("transfer.sql");
    // Reads before it writes: in a write-ahead log the snapshot may be too old to write by then.
    std::fs::write(
        &script,
        "\\set aid random(1, 10)\nBEGIN;\nSELECT abalance + 1 AS next FROM pgbench_accounts WHERE \
         aid = :aid \\gset\nUPDATE pgbench_accounts SET abalance = :next WHERE aid = \
         :aid;\nCOMMIT;\n",
    )
    .unwrap();
    let settings = [
        ("workload.script", text(script.to_str().unwrap())),
        ("workload.initialize", Value::Bool(true)),
        ("workload.connections", Value::Integer(4)),
        ("workload.transactions", Value::Integer(400)),
        ("workload.max_tries", Value::Integer(1000)),
        ("target.settings.journal_mode", text("wal")),
    ];
    measured(&settings, |connection, observations| {
        assert_eq!((observations.work.transactions, observations.work.errors), (400, 0));
        // No update is lost: each read and wrote in one transaction.
        assert_eq!(number(connection, "SELECT sum(abalance) FROM pgbench_accounts"), 400);
    });
}

/// A session that may not write is refused immediately, hundreds of times while another one holds
/// the lock. Pauses between the tries outlast it, and are a wait.
#[test]
fn tries_are_not_used_up_while_another_session_holds_the_lock() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("slow.sql");
    std::fs::write(
        &script,
        "BEGIN;\nSELECT abalance FROM pgbench_accounts WHERE aid = 1;\nUPDATE pgbench_accounts SET \
         abalance = abalance + 1 WHERE aid = 1;\n\\sleep 400 ms\nCOMMIT;\n",
    )
    .unwrap();
    let settings = [
        ("workload.script", text(script.to_str().unwrap())),
        ("workload.initialize", Value::Bool(true)),
        ("workload.connections", Value::Integer(2)),
        ("workload.transactions", Value::Integer(2)),
        ("workload.max_tries", Value::Integer(200)),
        ("target.settings.journal_mode", text("wal")),
    ];
    measured(&settings, |connection, observations| {
        assert_eq!((observations.work.transactions, observations.work.errors), (2, 0));
        assert_eq!(number(connection, "SELECT sum(abalance) FROM pgbench_accounts"), 2);
        let pause = observations.waits.iter().find(|wait| wait.wait_type == "RETRY_PAUSE").unwrap();
        assert!(pause.class == WaitClass::Lock && pause.wait_s() > 0.01, "{pause:?}");
        assert!((1..200).contains(&observations.work.retries), "{}", observations.work.retries);
    });
}

/// The parts of a transaction are in the whole: what is counted by statement adds up to what is
/// counted by transaction.
#[test]
fn every_statement_has_its_count_and_time() {
    let settings = [
        ("workload.builtin", Value::List(vec![text("tpcb-like@2"), text("select-only")])),
        ("workload.connections", Value::Integer(3)),
        ("workload.transactions", Value::Integer(90)),
        ("target.settings.journal_mode", text("wal")),
    ];
    measured(&settings, |connection, observations| {
        let of_script = |script: &'static str| {
            observations.statements.iter().filter(move |statement| statement.script == script)
        };
        let texts: Vec<&str> = of_script("tpcb-like")
            .map(|statement| statement.text.split(' ').next().unwrap())
            .collect();
        assert_eq!(texts, ["BEGIN", "UPDATE", "SELECT", "UPDATE", "UPDATE", "INSERT", "END"]);
        let history = number(connection, "SELECT count(*) FROM pgbench_history");
        assert!(history > 0 && history < 90);
        assert!(
            of_script("tpcb-like").all(|statement| statement.count == history as u64),
            "{:?}",
            observations.statements
        );
        let [select] = &of_script("select-only").collect::<Vec<_>>()[..] else {
            panic!("{:?}", observations.statements)
        };
        assert_eq!(select.text, "SELECT abalance FROM pgbench_accounts WHERE aid = :aid");
        assert_eq!(select.count, 90 - history as u64);
        for script in ["tpcb-like", "select-only"] {
            let statements_s: f64 = of_script(script).map(|statement| statement.wall_s).sum();
            let whole = observations.latency(&format!("transaction: {script}")).unwrap();
            let transactions_s = whole.min_mean_max_ns().1 * whole.len() as f64 / 1e9;
            assert!(statements_s > 0.0 && statements_s < transactions_s * 1.002, "{script}");
            assert!(
                of_script(script).all(|statement| statement.wall_s_max <= statement.wall_s
                    && statement.wall_s_max > 0.0)
            );
        }
        assert!(observations.fact("initial_connection_time").unwrap() > 0.0);
    });
}

#[test]
fn failures_and_retries_of_statements_are_those_of_transactions() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("upgrade.sql");
    std::fs::write(
        &script,
        "\\set aid random(1, 10)\nBEGIN;\nSELECT abalance FROM pgbench_accounts WHERE aid = \
         :aid;\nUPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid = :aid;\nCOMMIT;\n",
    )
    .unwrap();
    for max_tries in [1, 1000] {
        let settings = [
            ("workload.script", text(script.to_str().unwrap())),
            ("workload.initialize", Value::Bool(true)),
            ("workload.connections", Value::Integer(4)),
            ("workload.transactions", Value::Integer(400)),
            ("workload.max_tries", Value::Integer(max_tries)),
            ("target.settings.journal_mode", text("wal")),
        ];
        measured(&settings, |connection, observations| {
            let sum = |part: fn(&observations::ScriptStatement) -> u64| {
                observations.statements.iter().map(part).sum::<u64>()
            };
            assert_eq!(
                (sum(|statement| statement.failures), sum(|statement| statement.retries)),
                (observations.work.errors, observations.work.retries)
            );
            assert_eq!(
                observations.work.errors > 0,
                max_tries == 1,
                "a snapshot was too old to write by"
            );
            let updated = number(connection, "SELECT sum(abalance) FROM pgbench_accounts") as u64;
            assert_eq!(
                observations.statements.last().unwrap().count,
                updated,
                "as often as COMMIT succeeded"
            );
            assert_eq!(updated, observations.work.transactions);
        });
    }
}

#[test]
fn transactions_over_the_latency_limit_are_counted_and_hopeless_ones_are_skipped() {
    let limited = |limit: f64, more: &[(&str, Value)]| {
        let mut settings = vec![
            ("workload.builtin", text("tpcb-like")),
            ("workload.latency_limit", Value::Float(limit)),
            ("workload.transactions", Value::Integer(300)),
            ("workload.connections", Value::Integer(1)),
        ];
        settings.extend(more.iter().cloned());
        let mut all = None;
        measured(&settings, |connection, observations| {
            let done = number(connection, "SELECT count(*) FROM pgbench_history") as u64;
            assert_eq!(done, observations.work.transactions);
            all = Some(observations.clone());
        });
        all.unwrap()
    };
    let over = |observations: &Observations| observations.response("over_limit").unwrap();
    assert!((over(&limited(1e-9, &[])) - 100.0).abs() < 1e-9);
    let all = limited(1000.0, &[]);
    assert_eq!((over(&all).to_bits(), all.fact("skipped")), (0.0_f64.to_bits(), None));
    // All are due within some 0.3 ms, and no machine commits 300 transactions in that time and 0.1
    // ms more.
    let late = limited(1e-4, &[("workload.rate", Value::Float(1e6))]);
    let skipped = late.fact("skipped").unwrap();
    assert!(skipped > 0.0, "{:?}", late.facts);
    assert_eq!(late.work.transactions + skipped as u64, 300);
    assert_eq!(late.load.sends_intended, 300);
    assert_eq!(
        late.responses[0].name, "over_limit",
        "what survives says nothing of what was skipped"
    );
    assert!(over(&late) >= skipped / 3.0 - 1e-9);
}
