//! `steelbench queries` on logs of statements that real servers write.

use crate::common::{Lab, wait_until};
use mariadb::client::Client;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use testing::installed as servers;
use work::Cancel;

/// The statement whose text begins so.
fn statement(found: &Value, text: &str) -> Value {
    let all = found["statements"].as_array().unwrap();
    let is_it = |value: &&Value| value["text"].as_str().unwrap().starts_with(text);
    all.iter().find(is_it).unwrap_or_else(|| panic!("{text}: {all:#?}")).clone()
}

fn read(lab: &Lab, file: &Path) -> Value {
    let ended = lab.steelbench(&["queries", file.to_str().unwrap(), "--json"]).expect(0);
    assert!(!ended.stdout.contains("S3cret"), "{ended:?}");
    serde_json::from_str(&ended.stdout).unwrap()
}

#[test]
fn each_form_of_a_log_of_postgresql_has_the_same_runs() {
    for installation in servers::installations() {
        let folder = servers::folder();
        let mut cluster = servers::running(servers::options(&installation, folder.path()));
        let destination = if installation.version.major >= 15 {
            "stderr,csvlog,jsonlog"
        } else {
            "stderr,csvlog"
        };
        let settings: BTreeMap<String, String> = [
            ("logging_collector", "on"),
            ("log_destination", destination),
            ("log_directory", "kept"),
            ("log_filename", "server.log"),
            ("log_min_duration_statement", "0"),
            ("log_line_prefix", "%m [%p] %q%u@%d "),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
        cluster.apply(&settings, &Cancel::new()).unwrap();
        let mut client = cluster.connect().unwrap();
        client.batch("CREATE TABLE t (a int, b text)").unwrap();
        for n in 1..=30 {
            client
                .query(&format!("SELECT a FROM t\n WHERE a = {n} AND b = 'S3cret, \"x\"'"), &[])
                .unwrap();
        }
        client.query("SELECT b FROM t WHERE a = $1::int", &[Some("7")]).unwrap();
        drop(client);
        let lab = Lab::new();
        let kept = folder.path().join("data/kept");
        for ending in ["log", "csv", "json"] {
            let file = kept.join(format!("server.{ending}"));
            if ending == "json" && !destination.contains("json") {
                continue;
            }
            wait_until("the log is written", || {
                std::fs::read_to_string(&file).is_ok_and(|text| text.contains("SELECT b FROM t"))
            });
            let found = read(&lab, &file);
            let list = statement(&found, "SELECT a FROM t");
            assert_eq!(list["counters"]["calls"], 30, "{ending}");
            assert_eq!(
                (&list["user"], &list["database"]),
                (&"postgres".into(), &"postgres".into())
            );
            let ms = |name: &str| list["percentiles"][name].as_f64().unwrap();
            assert!(ms("p50_ms") <= ms("p95_ms") && ms("p95_ms") <= ms("p99_ms"), "{list}");
            assert_eq!(list["spread"]["max_ms"].as_f64().unwrap(), ms("p99_ms"));
            assert_eq!(statement(&found, "SELECT b FROM t")["counters"]["calls"], 1);
        }
        cluster.remove().unwrap();
    }
}

#[test]
fn a_slow_query_log_of_mariadb_is_read() {
    servers::on_each_mariadb(false, |server, _| {
        let mut client = Client::connect(&server.config()).unwrap();
        client
            .run(
                "SET GLOBAL long_query_time = 0; SET SESSION long_query_time = 0; SET SESSION \
                 slow_query_log = ON; SET GLOBAL \
                 slow_query_log = ON; CREATE DATABASE shop; USE shop; CREATE TABLE t (a int)",
            )
            .unwrap();
        client.query("INSERT INTO t SELECT seq FROM seq_1_to_100").unwrap();
        for n in 1..=25 {
            client.query(&format!("SELECT a FROM t WHERE a > {n} AND 'S3cret' <> 'x'")).unwrap();
        }
        let place = "SELECT concat(if(@@slow_query_log_file LIKE '/%', '', @@datadir), \
                     @@slow_query_log_file)";
        let file = client.cell(place).unwrap().unwrap();
        let found = read(&Lab::new(), Path::new(&file));
        let list = statement(&found, "SELECT a FROM t");
        let rows: u64 = (1..=25).map(|n| 100 - n).sum();
        assert_eq!(list["counters"]["calls"], 25);
        assert_eq!(list["counters"]["rows"], rows);
        assert_eq!(list["counters"]["rows_read"], 2500);
        assert_eq!(list["database"], "shop");
        assert_eq!(list["user"], "root");
    });
}

#[test]
fn percentiles_are_the_smallest_times_that_cover_their_share() {
    let lab = Lab::new();
    let log = (1..=100).fold(String::new(), |log, ms| {
        log + &format!(
            "# Time: 261124 12:00:00\n# User@Host: app[app] @ localhost []\n# Thread_id: 8  \
             Schema: shop  QC_hit: No\n# Query_time: 0.{ms:03}000  Lock_time: 0.000010  \
             Rows_sent: 2  Rows_examined: 50\n\
             SET timestamp=1790000000;\nSELECT * FROM t WHERE id = {ms};\n"
        )
    });
    lab.write("slow.log", &log);
    let found = read(&lab, &lab.path("slow.log"));
    let statement = statement(&found, "SELECT * FROM t");
    let expected = serde_json::json!({"p50_ms": 50.0, "p95_ms": 95.0, "p99_ms": 99.0});
    assert_eq!(statement["percentiles"], expected);
    assert_eq!(statement["counters"]["time_ns"], 5_050_000_000_u64);
    assert_eq!(statement["counters"]["rows_read"], 5000);
    lab.steelbench(&["queries", "slow.log"]).expect(0).shows("Statements of a log").shows("95 %");
}

#[test]
fn a_file_is_never_taken_for_a_database() {
    let lab = Lab::new();
    lab.write("notes.txt", "nothing that anybody reads\n");
    for (name, text) in [
        ("missing.log", "missing.log: no such file"),
        ("logs/today", "logs/today: no such file"),
        ("notes.txt", "notes.txt: not a results file, a capture, a database or a log"),
    ] {
        lab.steelbench(&["queries", name]).expect(2).says(text);
    }
}
