//! Scripts on SQLite: pgbench's built-in ones and those of users, on the files themselves.
#![allow(clippy::unwrap_used, reason = "a test")]

use engines::sqlite::Sqlite;
use engines::{Cancel, Engine as _, Folders, Permits};
use experiment::{Configuration, NamedFile, Value};
use observations::Observations;
use probes::script::ScriptProbe;
use probes::{Probe as _, Target, TrialContext};
use rusqlite::Connection;
use std::path::Path;

/// Runs a trial and hands its data file to a check before it is removed.
fn measured(given: &[(&str, Value)], check: impl FnOnce(&Connection, &Observations)) {
    let settings = given.iter().map(|(path, value)| ((*path).to_owned(), value.clone())).collect();
    let mut configuration = Configuration { settings, ..Configuration::default() };
    let files = ScriptProbe.files(&configuration).into_iter();
    configuration.files =
        files.map(|(setting, path)| NamedFile::read(setting, &path).unwrap().into()).collect();
    let target = Target::of(&Sqlite, &configuration);
    let connections = ScriptProbe.connections(&configuration);
    let objections =
        (ScriptProbe.plan(&configuration, &target), Sqlite.validate(&configuration, connections));
    assert_eq!(objections, (Vec::new(), Vec::new()));
    let (folder, cancel) = (tempfile::tempdir().unwrap(), Cancel::new());
    let directory: &Path = folder.path();
    let place = Folders {
        directory: directory.into(),
        volumes: Vec::new(),
        permits: Permits::default(),
        cgroup_joins: Vec::new(),
    };
    let instance = Sqlite.host(place).prepare(&configuration, connections, &cancel).unwrap();
    let seen = ScriptProbe.run(&TrialContext {
        configuration: &configuration,
        instance: instance.as_ref(),
        target,
        storage: &[],
        seed: 7,
        cancel: &cancel,
        progress: &|_| {},
    });
    let connection = Connection::open(directory.join("data-0.db")).unwrap();
    check(&connection, &seen.unwrap());
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
        let given = [
            ("workload.builtin", text(builtin)),
            ("workload.protocol", text(protocol)),
            ("workload.connections", Value::Integer(3)),
            ("workload.transactions", Value::Integer(90)),
            ("target.settings.journal_mode", text("wal")),
        ];
        measured(&given, |connection, seen| {
            assert_eq!((seen.work.amount, seen.work.transactions, seen.work.errors), (90, 90, 0));
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
            assert!(seen.waits.iter().any(|wait| wait.wait_type == "WRITER_LOCK"), "{:?}", seen.waits);
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
        "\\set aid random(1, 10)\nBEGIN;\nSELECT abalance + 1 AS next FROM pgbench_accounts WHERE aid = :aid \\gset\n\
         UPDATE pgbench_accounts SET abalance = :next WHERE aid = :aid;\nCOMMIT;\n",
    )
    .unwrap();
    let given = [
        ("workload.script", text(script.to_str().unwrap())),
        ("workload.initialize", Value::Bool(true)),
        ("workload.connections", Value::Integer(4)),
        ("workload.transactions", Value::Integer(400)),
        ("workload.max_tries", Value::Integer(1000)),
        ("target.settings.journal_mode", text("wal")),
    ];
    measured(&given, |connection, seen| {
        assert_eq!((seen.work.transactions, seen.work.errors), (400, 0));
        // No update is lost: each read and wrote in one transaction.
        assert_eq!(number(connection, "SELECT sum(abalance) FROM pgbench_accounts"), 400);
    });
}
