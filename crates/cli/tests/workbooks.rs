//! The workbook of `steelbench queries` and the plans beside it, read by openpyxl: what the server
//! says by itself, and nothing of users' data.

use crate::common::Lab;
use crate::servers::private::{in_a_session, on_each_server};
use serde_json::Value;
use std::fs;
use std::process::Command;
use testing::installed as servers;

/// The rows of each sheet as objects, by the headings of its first line; `None` without openpyxl.
pub fn sheets(lab: &Lab, file: &str) -> Option<Value> {
    let script = "
import openpyxl, json, sys
book = openpyxl.load_workbook(sys.argv[1])
sheets = {}
for sheet in book:
    rows = list(sheet.iter_rows(values_only=True))
    sheets[sheet.title] = [dict(zip(rows[0], row)) for row in rows[1:]]
print(json.dumps(sheets, default=str))";
    let mut python = Command::new("python3");
    let output = python.args(["-c", script, file]).current_dir(lab.path("")).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    if text.contains("No module named") {
        println!("SKIPPED: python3 with openpyxl is not installed");
        return None;
    }
    Some(serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{text}")))
}

pub fn rows<'a>(sheets: &'a Value, name: &str) -> &'a [Value] {
    sheets[name].as_array().unwrap_or_else(|| panic!("{name}: {sheets}"))
}

/// The row of which a cell has this value.
pub fn row<'a>(sheets: &'a Value, name: &str, heading: &str, value: &str) -> &'a Value {
    let found = rows(sheets, name).iter().find(|row| row[heading] == value);
    found.unwrap_or_else(|| {
        let contents = (rows(sheets, name), rows(sheets, "Notes"));
        panic!("{name}, {heading} = {value}: {contents:#?}")
    })
}

/// The texts of the plans in a folder, by name.
pub fn plans(lab: &Lab, folder: &str) -> Vec<(String, String)> {
    let Ok(entries) = fs::read_dir(lab.path(folder)) else { return Vec::new() };
    let mut all: Vec<(String, String)> = entries
        .map(|entry| entry.unwrap())
        .map(|entry| {
            let text = fs::read_to_string(entry.path()).unwrap();
            (entry.file_name().into_string().unwrap(), text)
        })
        .filter(|(name, _)| name != "steelbench-plans.json")
        .collect();
    all.sort();
    all
}

/// Every plan that the sheet names is a file, and every file is named there.
pub fn files_are_those_of_the_sheet(lab: &Lab, sheets: &Value, folder: &str) {
    let mut named: Vec<&str> =
        rows(sheets, "Plans").iter().filter_map(|row| row["file"].as_str()).collect();
    named.sort_unstable();
    let found = plans(lab, folder);
    let found: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(named, found);
    assert!(!named.is_empty(), "{sheets:#}");
}

/// No text of a workbook, its shared strings or its plans has this.
pub fn nowhere(lab: &Lab, file: &str, folder: &str, secret: &str, sheets: &Value) {
    assert!(!sheets.to_string().contains(secret), "{file}");
    for (name, text) in plans(lab, folder) {
        assert!(!text.contains(secret), "{folder}/{name}: {text}");
    }
}

/// The note on a sheet that begins so.
fn note<'a>(sheets: &'a Value, sheet: &str, begin: &str) -> &'a str {
    let text = |row: &'a Value| row["note"].as_str().unwrap_or_default();
    let of_sheet = rows(sheets, "Notes").iter().filter(|row| row["sheet"] == sheet);
    let found = of_sheet.map(text).find(|note| note.starts_with(begin));
    found.unwrap_or_else(|| panic!("{sheet}: {begin}: {:#?}", rows(sheets, "Notes")))
}

const COUNTED: [(&str, &str); 2] =
    [("shared_preload_libraries", "pg_stat_statements"), ("track_io_timing", "off")];

/// A table without indexes, one with a key, and a view with a constant, which stays in plans.
const TABLES: &str = "
    CREATE EXTENSION pg_stat_statements;
    CREATE TABLE plain (a int, b text);
    INSERT INTO plain SELECT g, CASE g % 2 WHEN 0 THEN 'S3cret' ELSE 'other ' || g END
        FROM generate_series(1, 20000) g;
    CREATE TABLE keyed (id int PRIMARY KEY, city text);
    INSERT INTO keyed SELECT g, nullif('city ' || g % 200, 'city 0')
        FROM generate_series(1, 5000) g;
    CREATE VIEW secrets AS SELECT a FROM plain WHERE b = 'S3cret';
    VACUUM ANALYZE plain; VACUUM ANALYZE keyed; SELECT pg_stat_statements_reset()";

#[test]
fn a_workbook_has_what_the_server_says_and_no_data_of_users() {
    on_each_server(&COUNTED, |cluster, url| {
        for sql in TABLES.split(';') {
            in_a_session(cluster, |client| client.batch(sql).unwrap());
        }
        in_a_session(cluster, |client| {
            client.query("SELECT city FROM keyed WHERE id = 5", &[]).unwrap();
            client.query("SELECT count(*) FROM plain WHERE b = 'S3cret'", &[]).unwrap();
            client.query("SELECT count(*) FROM secrets", &[]).unwrap();
        });
        let lab = Lab::new();
        lab.steelbench(&["queries", url, "--workbook", "w.xlsx"]).expect(0);
        let Some(book) = sheets(&lab, "w.xlsx") else { return };
        nowhere(&lab, "w.xlsx", "w-plans", "S3cret", &book);
        files_are_those_of_the_sheet(&lab, &book, "w-plans");
        let ask = |sql: &str| servers::ask(cluster, sql).parse::<f64>().unwrap();

        let plain = row(&book, "Tables", "table", "plain");
        assert_eq!((&plain["indexes"], &plain["rows (estimated)"]), (&0.into(), &20_000.into()));
        assert_eq!(plain["size (B)"].as_f64(), Some(ask("SELECT pg_relation_size('plain')")));
        assert_eq!(plain["lacks primary key"], true);
        assert_eq!(row(&book, "Tables", "table", "keyed")["lacks primary key"], Value::Null);
        let readers = plain["statements"].as_str().unwrap().split(", ").count();
        assert_eq!(readers, 2, "{plain}");

        let city = row(&book, "Statistics", "statistics", "city");
        let steps = ask("SELECT coalesce(array_length(most_common_freqs, 1), 0) + \
             coalesce(array_length(histogram_bounds::text::text[], 1), 0) FROM pg_stats WHERE \
             attname = 'city'");
        assert_eq!(city["histogram steps"].as_f64(), Some(steps));
        assert!(steps > 100.0 && city["age (days)"].as_f64().unwrap() >= 0.0, "{city}");
        let nulls = ask("SELECT null_frac FROM pg_stats WHERE attname = 'city'");
        assert!((city["NULL"].as_f64().unwrap() - nulls).abs() < 1e-6, "{city}");
        // The server does not record them, and nothing stands for them.
        for unknown in ["rows", "sampled rows", "sampled", "sampled pages"] {
            assert_eq!(city[unknown], Value::Null, "{unknown}");
        }
        assert!(note(&book, "statistics", "Not recorded by postgres").contains("sampled rows"));
        assert!(rows(&book, "Histograms").is_empty());

        let memory = row(&book, "Configuration", "setting", "work_mem");
        assert_eq!((&memory["value"], &memory["unit"]), (&"4096".into(), &"kB".into()));
        let wal = row(&book, "Files", "file", "pg_wal");
        assert!(wal["size (B)"].as_u64() >= Some(1 << 24), "{wal}");
        let of_database =
            rows(&book, "Files").iter().find(|row| row["kind"] == "data files").unwrap();
        assert!(of_database["reads"].is_u64() && of_database["read time (ms)"].is_null());
        let kinds = rows(&book, "Files").iter().any(|row| row["kind"] == "I/O of all databases");
        assert_eq!(kinds, ask("SHOW server_version_num") >= 160_000.0);
        assert!(rows(&book, "Waits").is_empty());
        note(&book, "waits", "postgres keeps no waits since its start");

        with_values(&lab, url, nulls);
        plans_of_others_stay(&lab, url);
        waits_of_an_interval(cluster, &lab, url);
    });
}

/// On request the values of histograms and constants are there.
fn with_values(lab: &Lab, url: &str, nulls: f64) {
    lab.steelbench(&["queries", url, "--workbook", "v.xlsx", "--literals"]).expect(0);
    let book = sheets(lab, "v.xlsx").unwrap();
    let steps: Vec<&Value> =
        rows(&book, "Histograms").iter().filter(|row| row["statistics"] == "city").collect();
    let of = |heading: &str| steps.iter().filter_map(|row| row[heading].as_f64()).sum::<f64>();
    let all = of("rows with the value") + of("rows up to the value") + nulls;
    assert!((all - 1.0).abs() < 1e-4, "{all}: {steps:#?}");
    let secret = row(&book, "Histograms", "value", "S3cret");
    assert!((secret["rows with the value"].as_f64().unwrap() - 0.5).abs() < 0.1, "{secret}");
    let texts = plans(lab, "v-plans");
    assert!(texts.iter().any(|(_, text)| text.contains("S3cret")), "{texts:#?}");
}

/// A file that Steelbench did not write is neither replaced nor removed.
fn plans_of_others_stay(lab: &Lab, url: &str) {
    let first = plans(lab, "w-plans")[0].0.clone();
    lab.write("w-plans/99.json", "mine");
    lab.steelbench(&["queries", url, "--workbook", "w.xlsx", "--statements", "1"]).expect(0);
    let names: Vec<String> = plans(lab, "w-plans").into_iter().map(|(name, _)| name).collect();
    assert!(names.len() <= 2 && names.contains(&"99.json".to_owned()), "{names:?}");
    lab.write(&format!("w-plans/{first}"), "mine too");
    let again = ["queries", url, "--workbook", "w.xlsx"];
    lab.steelbench(&again).expect(1).says("was not written by Steelbench");
    assert_eq!(lab.read(&format!("w-plans/{first}")), "mine too");
    lab.write("blocked", "a file");
    let blocked = ["queries", url, "--plan-files", "blocked"];
    lab.steelbench(&blocked).expect(1).says("it exists and is not a folder");
    assert_eq!(lab.read("blocked"), "a file");
    lab.steelbench(&["queries", url, "--plan-files", "own"]).expect(0);
    assert!(!plans(lab, "own").is_empty());
}

/// A session waits for a row that another one has changed.
fn waits_of_an_interval(cluster: &postgres::server::PrivateServer, lab: &Lab, url: &str) {
    let mut holder = cluster.connect().unwrap();
    holder.batch("BEGIN; UPDATE keyed SET city = 'x' WHERE id = 1").unwrap();
    let mut waiter = cluster.connect().unwrap();
    let waiting = std::thread::spawn(move || {
        waiter.batch("UPDATE keyed SET city = 'y' WHERE id = 1").unwrap();
    });
    let line = ["queries", url, "--workbook", "s.xlsx", "--seconds", "1"];
    lab.steelbench(&line).expect(0);
    holder.batch("COMMIT").unwrap();
    waiting.join().unwrap();
    let book = sheets(lab, "s.xlsx").unwrap();
    let lock = row(&book, "Waits", "class", "lock");
    assert!(lock["wait (s)"].as_f64().unwrap() > 0.0, "{lock}");
    let shares = rows(&book, "Waits").iter().filter_map(|row| row["share"].as_f64());
    assert!((shares.sum::<f64>() - 1.0).abs() < 1e-9);
}

#[test]
fn mariadb_records_samples_files_and_waits() {
    servers::on_each_mariadb(true, |server, url| {
        let mut client = mariadb::client::Client::connect(&server.config()).unwrap();
        for sql in [
            "CREATE DATABASE shop",
            "USE shop",
            "CREATE TABLE plain (a int, b varchar(40))",
            "INSERT INTO plain SELECT seq, if(seq % 2, 'S3cret', concat('other ', seq)) FROM \
             seq_1_to_5000",
            "CREATE TABLE keyed (id int PRIMARY KEY, city varchar(40), KEY city (city))",
            "INSERT INTO keyed SELECT seq, concat('city ', seq % 20) FROM seq_1_to_5000",
            "SET histogram_type = 'JSON_HB', histogram_size = 10",
            "ANALYZE TABLE plain PERSISTENT FOR ALL",
            "ANALYZE TABLE keyed",
        ] {
            client.query(sql).unwrap();
        }
        client.query("SELECT count(*) FROM plain WHERE b = 'S3cret'").unwrap();
        client.query("SELECT count(*) FROM keyed WHERE city = 'city 3'").unwrap();
        let lab = Lab::new();
        lab.steelbench(&["queries", url, "--workbook", "w.xlsx"]).expect(0);
        let Some(book) = sheets(&lab, "w.xlsx") else { return };
        nowhere(&lab, "w.xlsx", "w-plans", "S3cret", &book);
        files_are_those_of_the_sheet(&lab, &book, "w-plans");
        assert_eq!(row(&book, "Tables", "table", "plain")["indexes"], 0);
        let mut cell = |sql: &str| client.cell(sql).unwrap().unwrap().parse::<f64>().unwrap();
        let city = row(&book, "Statistics", "statistics", "city");
        let stored = "FROM mysql.innodb_index_stats WHERE index_name = 'city' AND stat_name = \
                      'n_diff_pfx01'";
        assert_eq!(city["columns"], "city");
        assert_eq!(
            city["different values"].as_f64(),
            Some(cell(&format!("SELECT stat_value {stored}")))
        );
        assert_eq!(
            city["sampled pages"].as_f64(),
            Some(cell(&format!("SELECT sample_size {stored}")))
        );
        assert!(city["rows"].is_number() && city["age (days)"].as_f64().unwrap() >= 0.0);
        assert_eq!(city["histogram steps"], Value::Null);
        let b = row(&book, "Statistics", "statistics", "b");
        assert!(b["histogram steps"].as_u64() > Some(1), "{b}");
        assert!(rows(&book, "Histograms").is_empty());
        let data = rows(&book, "Files")
            .iter()
            .find(|row| row["file"].as_str().unwrap().ends_with("shop/keyed.ibd"))
            .unwrap_or_else(|| panic!("{:#?}", rows(&book, "Files")));
        assert_eq!(data["database"], "shop");
        assert!(data["size (B)"].as_u64() > Some(0) && data["reads"].is_u64(), "{data}");
        // Pages of a new table may not be written yet; the log is.
        let written = rows(&book, "Files").iter().filter_map(|row| row["written (B)"].as_u64());
        assert!(written.sum::<u64>() > 0, "{:#?}", rows(&book, "Files"));
        let waits = rows(&book, "Waits");
        assert!(waits.iter().any(|row| row["wait type"].as_str().unwrap().starts_with("wait/")));
        // The server does not tell the run queue from the rest.
        assert!(
            waits.iter().all(|row| row["signal (s)"].is_null() && row["resource (s)"].is_null())
        );
        note(&book, "waits", "Not recorded by mariadb: resource (s), signal (s)");
        row(&book, "Configuration", "setting", "innodb_buffer_pool_size");
        lab.steelbench(&["queries", url, "--workbook", "v.xlsx", "--literals"]).expect(0);
        let book = sheets(&lab, "v.xlsx").unwrap();
        let of_b = || rows(&book, "Histograms").iter().filter(|row| row["statistics"] == "b");
        let all: f64 = of_b().filter_map(|row| row["rows up to the value"].as_f64()).sum();
        assert!((all - 1.0).abs() < 1e-3, "{all}: {:#?}", of_b().collect::<Vec<_>>());
    });
}

#[test]
fn sqlite_has_files_and_what_analyze_counted() {
    let lab = Lab::new();
    let database = rusqlite::Connection::open(lab.path("shop.sqlite")).unwrap();
    database
        .execute_batch(
            "CREATE TABLE plain (a, b); CREATE TABLE keyed (id INTEGER PRIMARY KEY, city);
             CREATE INDEX by_city ON keyed (city);
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
             INSERT INTO keyed SELECT i, i % 10 FROM n; INSERT INTO plain VALUES (1, 'S3cret');
             ANALYZE",
        )
        .unwrap();
    drop(database);
    lab.write(
        "shop.sql",
        "SELECT * FROM plain WHERE b = 'S3cret'; SELECT id FROM keyed WHERE city = 3;",
    );
    let line = ["queries", "shop.sqlite", "--sql", "shop.sql", "--workbook", "w.xlsx"];
    lab.steelbench(&line).expect(0);
    let Some(book) = sheets(&lab, "w.xlsx") else { return };
    nowhere(&lab, "w.xlsx", "w-plans", "S3cret", &book);
    files_are_those_of_the_sheet(&lab, &book, "w-plans");
    let texts = plans(&lab, "w-plans");
    assert!(texts.iter().any(|(_, text)| text.contains("INDEX by_city")), "{texts:?}");
    assert_eq!(row(&book, "Tables", "table", "plain")["indexes"], 0);
    let statistics = row(&book, "Statistics", "statistics", "by_city");
    assert_eq!(
        (&statistics["rows"], &statistics["different values"], &statistics["sampled rows"]),
        (&1000.into(), &10.into(), &Value::Null)
    );
    let bytes = fs::metadata(lab.path("shop.sqlite")).unwrap().len();
    assert_eq!(row(&book, "Files", "kind", "database")["size (B)"], bytes);
    for sheet in ["Configuration", "Waits", "Parameters"] {
        assert!(rows(&book, sheet).is_empty(), "{sheet}");
    }
    note(&book, "waits", "not recorded by sqlite");
}
