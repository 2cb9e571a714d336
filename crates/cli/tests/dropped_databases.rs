//! Statements of dropped databases, which have no names: an interval has its own figures alone.

use crate::common::{Lab, wait_until};
use postgres::client::Client;
use postgres::server::PrivateServer;
use serde_json::Value;
use std::collections::BTreeMap;
use testing::installed as servers;
use work::Cancel;

const TEXT: &str = "SELECT count(*) FROM pg_class WHERE relname = ";

/// A server of each version that counts statements, and its URL.
fn on_each_server(test: impl Fn(&PrivateServer, &str)) {
    for installation in servers::installations() {
        let folder = servers::folder();
        let mut cluster = servers::running(servers::options(&installation, folder.path()));
        let settings: BTreeMap<String, String> =
            [("shared_preload_libraries".to_owned(), "pg_stat_statements".to_owned())].into();
        cluster.apply(&settings, &Cancel::new()).unwrap();
        let ask = |sql: &str| servers::ask(&cluster, sql);
        let url = format!(
            "host='{}' port={} user={} dbname=postgres",
            ask("SHOW unix_socket_directories").trim_matches('"'),
            ask("SHOW port"),
            ask("SELECT session_user")
        );
        let mut admin = cluster.connect().unwrap();
        admin.batch("CREATE EXTENSION pg_stat_statements").unwrap();
        for name in ["d1", "d2"] {
            admin.batch(&format!("CREATE DATABASE {name}")).unwrap();
        }
        admin.batch("SELECT pg_stat_statements_reset()").unwrap();
        drop(admin);
        test(&cluster, &url);
        cluster.remove().unwrap();
    }
}

fn run(cluster: &PrivateServer, database: &str, times: usize) {
    let mut client = Client::connect(&cluster.config().with_database(database)).unwrap();
    for n in 0..times {
        client.query(&format!("{TEXT}'{n}'"), &[]).unwrap();
    }
}

fn drop_both(cluster: &PrivateServer) {
    for name in ["d1", "d2"] {
        wait_until("the sessions have ended", || {
            cluster.connect().unwrap().batch(&format!("DROP DATABASE {name}")).is_ok()
        });
    }
}

fn read(lab: &Lab, arguments: &[&str]) -> Value {
    let ended = lab.steelbench(&[&["queries", "--json"], arguments].concat()).expect(0);
    serde_json::from_str(&ended.stdout).unwrap()
}

/// The runs of the statement by database, and whether some of them may be missing.
fn runs(found: &Value) -> Vec<(String, u64, bool)> {
    let all = found["statements"].as_array().unwrap().iter();
    let matching = all.filter(|statement| statement["text"].as_str().unwrap().starts_with(TEXT));
    let mut runs: Vec<_> = matching
        .map(|statement| {
            let calls = statement["counters"]["calls"].as_u64().unwrap();
            let database = statement["database"].as_str().unwrap();
            (database.to_owned(), calls, statement["is_partial"].as_bool().unwrap())
        })
        .collect();
    runs.sort_by_key(|(_, calls, _)| *calls);
    runs
}

fn counts(found: &Value) -> Vec<u64> {
    runs(found).into_iter().map(|(_, calls, _)| calls).collect()
}

/// The notes that doubt a figure of the statement.
fn doubts(found: &Value) -> Vec<&str> {
    let notes = found["notes"].as_array().unwrap().iter().map(|note| note.as_str().unwrap());
    notes.filter(|note| note.contains("statement")).collect()
}

#[test]
fn their_totals_are_not_work_of_an_interval() {
    on_each_server(|cluster, url| {
        run(cluster, "d1", 5);
        run(cluster, "d2", 14);
        drop_both(cluster);
        let lab = Lab::new();
        let all = runs(&read(&lab, &[url]));
        assert!(all.iter().all(|(database, ..)| database.starts_with("(dropped, OID ")), "{all:?}");
        assert_eq!(all.iter().map(|(_, calls, _)| *calls).collect::<Vec<_>>(), [5, 14]);
        assert_ne!(all[0].0, all[1].0);

        let found = read(&lab, &[url, "--seconds", "0.5"]);
        assert_eq!((runs(&found), doubts(&found)), (Vec::new(), Vec::new()));
        lab.steelbench(&[
            "queries",
            url,
            "--every",
            "300ms",
            "--count",
            "2",
            "-o",
            "watched.steelbench",
        ])
        .expect(0);
        let found = read(&lab, &["watched.steelbench"]);
        assert_eq!((runs(&found), doubts(&found)), (Vec::new(), Vec::new()));
        let capture = ["capture", url, "-o", "one.json", "--seconds", "0.2", "--statements"];
        lab.steelbench(&capture).expect(0);
        assert_eq!(counts(&read(&lab, &["one.json"])), [5, 14]);
        let found = read(&lab, &["one.json", "--interval"]);
        assert_eq!((runs(&found), doubts(&found)), (Vec::new(), Vec::new()));
    });
}

/// A file as an older version wrote it: without the numbers of rows, and without names of what was
/// dropped.
fn aged(value: &mut Value) {
    match value {
        Value::Object(members) => {
            let is_row = |rows: &Value| rows[0].get("id").is_some();
            if members.get("rows").is_some_and(is_row) {
                members.remove("rows");
            }
            for (name, member) in members.iter_mut() {
                let is_dropped = member.as_str().is_some_and(|text| text.starts_with("(dropped"));
                if name == "database" && is_dropped {
                    *member = "".into();
                }
                aged(member);
            }
        }
        Value::Array(all) => all.iter_mut().for_each(aged),
        _ => {}
    }
}

#[test]
fn a_drop_between_two_captures_loses_nothing_and_a_reset_of_one_row_is_told() {
    on_each_server(|cluster, url| {
        let lab = Lab::new();
        let capture = |file: &str| {
            let arguments = ["capture", url, "-o", file, "--seconds", "0.2", "--statements"];
            lab.steelbench(&arguments).expect(0);
        };
        run(cluster, "d1", 5);
        run(cluster, "d2", 14);
        capture("named.json");
        run(cluster, "d1", 3);
        run(cluster, "d2", 1);
        drop_both(cluster);
        capture("dropped.json");
        let found = read(&lab, &["named.json", "dropped.json"]);
        assert_eq!((counts(&found), doubts(&found)), (vec![1, 3], Vec::new()));

        let reset = "SELECT pg_stat_statements_reset(userid, dbid, queryid) FROM \
                     pg_stat_statements WHERE calls = 15 AND query LIKE 'SELECT count%relname%'";
        assert_eq!(cluster.connect().unwrap().query(reset, &[]).unwrap().len(), 1);
        capture("reset.json");
        let found = read(&lab, &["dropped.json", "reset.json"]);
        assert!(runs(&found).is_empty(), "{found:#}");
        let doubts = doubts(&found);
        assert!(doubts.len() == 1 && doubts[0].starts_with("1 statement: counted"), "{doubts:?}");

        // Files of an older version open; of what they do not tell apart nothing is claimed.
        for file in ["dropped.json", "reset.json"] {
            let mut captured: Value = serde_json::from_str(&lab.read(file)).unwrap();
            aged(&mut captured);
            lab.write(&format!("old-{file}"), &captured.to_string());
        }
        assert_eq!(counts(&read(&lab, &["old-dropped.json"])), [8, 15]);
        let found = read(&lab, &["old-dropped.json", "--interval"]);
        assert!(runs(&found).is_empty(), "{found:#}");
        let notes = found["notes"].to_string();
        assert!(notes.contains("2 statements: this capture has names only"), "{notes}");
        let found = read(&lab, &["old-dropped.json", "old-reset.json"]);
        assert!(runs(&found).is_empty(), "{found:#}");
    });
}
