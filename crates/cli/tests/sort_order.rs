//! `steelbench sort-order`, and the ready experiment on sort orders in DuckDB.

use crate::common::Lab;
use crate::servers::by_url::{OWNER, Server, bindirs};
use engine::{Answer, Folders, Permits};
use experiment::{Configuration, Value};
use parquet::data_type::Int32Type;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use rusqlite::Connection;
use serde_json::{Value as Json, json};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use work::{Cancel, Request, Statement, Work};

/// The libraries of DuckDB to test on.
fn libraries() -> Vec<String> {
    let listed = std::env::var("STEELBENCH_TEST_DUCKDB_LIBS").unwrap_or_default();
    let found: Vec<String> =
        listed.split(':').filter(|path| !path.is_empty()).map(str::to_owned).collect();
    if found.is_empty() {
        println!("SKIPPED: no libduckdb is installed");
    }
    found
}

fn bytes(order: &serde_json::Value) -> f64 {
    order["measured"]["bytes"].as_f64().unwrap()
}

#[test]
fn a_file_gets_advice_that_takes_no_more_than_it_does() {
    let lab = Lab::new();
    lab.steelbench(&[
        "data", "lineitem", "--scale", "0.01", "--format", "parquet", "--output", "d",
    ])
    .expect(0);
    let output = lab
        .steelbench(&["sort-order", "d/lineitem.parquet", "--measure", "--orders", "2", "--json"])
        .expect(0);
    let json: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!((json["kind"].as_str(), json["rows"].as_u64()), (Some("sort_order"), Some(60_175)));
    let best = &json["orders"][0];
    assert!(bytes(best) <= bytes(&json["generated"]), "{json}");
    // One row group: what was looked at is all there is.
    assert_eq!(best["predicted"]["bytes"].as_f64().map(f64::round), Some(bytes(best)));
    let output = lab.steelbench(&["sort-order", "d/lineitem.parquet", "--rows", "20k"]).expect(0);
    output.shows("ORDER BY").shows("20,000 of 60,175 rows sampled");
    assert_eq!(std::fs::read_dir(lab.path("d")).unwrap().count(), 1);
}

/// A file with a column of this name.
fn with_column(path: &Path, name: &str) {
    let column = Type::primitive_type_builder(name, parquet::basic::Type::INT32);
    let column =
        Arc::new(column.with_repetition(parquet::basic::Repetition::REQUIRED).build().unwrap());
    let schema = Type::group_type_builder("t").with_fields(vec![column]).build().unwrap();
    let mut writer =
        SerializedFileWriter::new(File::create(path).unwrap(), Arc::new(schema), Arc::default())
            .unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let values: Vec<i32> = (0..5000).map(|row| row * 7919 % 13).collect();
    column.typed::<Int32Type>().write_batch(&values, None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
}

#[test]
fn hostile_files_neither_command_the_terminal_nor_end_the_program() {
    let lab = Lab::new();
    with_column(&lab.path("h.parquet"), "a\u{1b}[31m\u{202e}");
    for form in [
        &["sort-order", "h.parquet", "--measure"][..],
        &["sort-order", "h.parquet", "--json"],
        &["sort-order", "h.parquet", "--md"],
    ] {
        let output = lab.steelbench(form).expect(0);
        assert!(!output.stdout.contains(['\u{1b}', '\u{202e}']), "{}", output.stdout);
    }
    let whole = std::fs::read(lab.path("h.parquet")).unwrap();
    std::fs::write(lab.path("cut.parquet"), &whole[..whole.len() / 2]).unwrap();
    std::fs::write(
        lab.path("noise.parquet"),
        (0..5000_u32).map(|n| (n * 31 % 251) as u8).collect::<Vec<u8>>(),
    )
    .unwrap();
    for file in ["cut.parquet", "noise.parquet", "missing.parquet", "."] {
        let output = lab.steelbench(&["sort-order", file]).expect(2);
        assert!(!output.stderr.contains("panicked"), "{}", output.stderr);
    }
}

/// Makes a database with a table that holds the rows of a Parquet file.
fn database(library: &str, folder: &Path, at: &Path, parquet: &Path) {
    let settings =
        [("target.library".to_owned(), Value::Text(library.into()))].into_iter().collect();
    let configuration = Configuration { settings, ..Configuration::default() };
    let place = Folders {
        directory: folder.into(),
        volumes: Vec::new(),
        permits: Permits::default(),
        cgroup_joins: Vec::new(),
    };
    let mut host = (testing::engine("duckdb").host)(place);
    let instance = host.prepare(&configuration, 1, &Cancel::new()).unwrap();
    instance.create(Work::default()).unwrap();
    let mut connections = instance.connect(1).unwrap();
    let sql = format!(
        "ATTACH '{}' AS w; CREATE TABLE w.\"the \"\"lines\" AS SELECT * FROM read_parquet('{}'); \
         DETACH w",
        at.display(),
        parquet.display()
    );
    let statement = Statement::Text(&sql);
    connections.send(0, &Request::Execute { statement, parameters: &[], results: false }).unwrap();
    let mut answers: Vec<Answer> = Vec::new();
    while answers.is_empty() {
        connections.wait(None, &mut answers).unwrap();
    }
    answers.remove(0).result.unwrap();
    drop(connections);
    instance.remove().unwrap();
}

#[test]
fn a_table_of_duckdb_gets_the_advice_of_its_rows() {
    for library in libraries() {
        let lab = Lab::new();
        lab.steelbench(&[
            "data", "lineitem", "--scale", "0.005", "--format", "parquet", "--output", "d",
        ])
        .expect(0);
        std::fs::create_dir(lab.path("t")).unwrap();
        database(&library, &lab.path("t"), &lab.path("w.duckdb"), &lab.path("d/lineitem.parquet"));
        let ask = |arguments: &[&str]| {
            let mut command = lab.command(arguments);
            command.env("STEELBENCH_DUCKDB_LIB", &library);
            let output = command.output().unwrap();
            (
                output.status.code(),
                String::from_utf8(output.stdout).unwrap(),
                String::from_utf8(output.stderr).unwrap(),
            )
        };
        let (code, of_table, message) = ask(&["sort-order", "w.duckdb", "the \"lines", "--json"]);
        assert_eq!(code, Some(0), "{message}");
        let (_, of_file, _) = ask(&["sort-order", "d/lineitem.parquet", "--json"]);
        let [of_table, of_file]: [serde_json::Value; 2] =
            [of_table, of_file].map(|text| serde_json::from_str(&text).unwrap());
        assert_eq!(of_table["rows_all"], of_file["rows_all"]);
        assert_eq!(of_table["columns"], of_file["columns"]);
        assert_eq!(of_table["orders"][0]["columns"], of_file["orders"][0]["columns"]);
        let (code, _, message) = ask(&["sort-order", "w.duckdb", "nothing"]);
        assert!(code != Some(0) && message.contains("nothing"), "{message}");
        let (code, _, message) = ask(&["sort-order", "none.duckdb", "t"]);
        assert!(code != Some(0) && message.contains("none.duckdb"), "{message}");
    }
}

/// Advice as JSON.
fn advice(lab: &Lab, arguments: &[&str]) -> Json {
    let output = lab.steelbench(&[&["sort-order"], arguments, &["--json"]].concat()).expect(0);
    serde_json::from_str(&output.stdout).unwrap()
}

#[test]
fn a_table_of_sqlite_gets_the_advice_of_its_rows_and_is_only_read() {
    let lab = Lab::new();
    for format in ["csv", "parquet"] {
        lab.steelbench(&[
            "data", "lineitem", "--scale", "0.005", "--format", format, "--output", "d",
        ])
        .expect(0);
    }
    let csv = std::fs::read_to_string(lab.path("d/lineitem.csv")).unwrap();
    let mut lines = csv.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let database = Connection::open(lab.path("w.sqlite")).unwrap();
    let columns = names.iter().map(|name| format!("{name} NUMERIC")).collect::<Vec<_>>().join(", ");
    database.execute_batch(&format!("BEGIN; CREATE TABLE \"the \"\"lines\" ({columns})")).unwrap();
    let mut insert = database
        .prepare(&format!("INSERT INTO \"the \"\"lines\" VALUES ({})", ["?"; 16].join(", ")))
        .unwrap();
    for line in lines {
        // Only the last column has commas of its own, within quotes.
        let values = line.splitn(16, ',').map(|value| value.trim_matches('"'));
        insert.execute(rusqlite::params_from_iter(values)).unwrap();
    }
    drop(insert);
    let keyed = format!(
        "CREATE TABLE keyed ({columns}, PRIMARY KEY (l_orderkey, l_linenumber)) WITHOUT ROWID"
    );
    database
        .execute_batch(&format!(
            "{keyed}; INSERT INTO keyed SELECT * FROM \"the \"\"lines\"; COMMIT"
        ))
        .unwrap();
    drop(database);
    let before = std::fs::read(lab.path("w.sqlite")).unwrap();
    let of_file = advice(&lab, &["d/lineitem.parquet"]);
    for table in ["the \"lines", "keyed"] {
        let all = advice(&lab, &["w.sqlite", table]);
        for part in ["rows", "rows_all", "columns"] {
            assert_eq!(all[part], of_file[part], "{table}: {part}");
        }
        let some = advice(&lab, &["w.sqlite", table, "--rows", "10k"]);
        assert_eq!(some["rows_all"], of_file["rows_all"]);
        assert!(
            (5_000..=10_000).contains(&some["rows"].as_u64().unwrap()),
            "{table}: {}",
            some["rows"]
        );
        // The rows are sampled from the whole table: its first rows have fewer distinct orders.
        let orders = some["columns"][0]["distinct"].as_u64().unwrap();
        assert!(
            orders > 1_000 && some["columns"][10]["distinct"].as_u64().unwrap() > 2_000,
            "{}",
            some["columns"]
        );
    }
    lab.steelbench(&["sort-order", "w.sqlite", "key"]).expect(1).says("did you mean `keyed`?");
    assert!(std::fs::read(lab.path("w.sqlite")).unwrap() == before);
    assert_eq!(
        std::fs::read_dir(lab.path(""))
            .unwrap()
            .flatten()
            .filter(|dir| dir.path().is_file())
            .count(),
        1
    );
}

#[test]
fn a_table_of_a_postgresql_server_gets_advice_and_is_only_read() {
    for bin in bindirs() {
        let (lab, server) =
            (Lab::new(), Server::start(&bin, "host all owner 127.0.0.1/32 trust", &[]));
        let rows = "SELECT g AS id, (g % 7)::smallint AS \"Seven\", CASE WHEN g % 5 > 0 THEN \
                    'text ' || g % 11 END AS word, (g % 13)::numeric / 4 AS part, date \
                    '2020-01-01' + g % 17 AS day FROM generate_series(1, 50000) AS g";
        server
            .connect()
            .batch(&format!("CREATE SCHEMA s; CREATE TABLE s.\"Rows\" AS {rows}"))
            .unwrap();
        let url = format!("postgresql://{OWNER}@127.0.0.1:{}/postgres", server.port);
        let all = advice(&lab, &[&url, "s.Rows"]);
        assert_eq!((&all["rows"], &all["rows_all"]), (&json!(50_000), &json!(50_000)));
        let columns: Vec<_> = all["columns"].as_array().unwrap().iter().collect();
        let columns: Vec<_> = columns
            .into_iter()
            .map(|column| (column["name"].clone(), column["distinct"].clone()))
            .collect();
        let known = [("id", 50_000), ("Seven", 7), ("word", 12), ("part", 13), ("day", 17)];
        assert_eq!(columns, known.map(|(name, distinct)| (json!(name), json!(distinct))));
        let some = advice(&lab, &[&url, "s.Rows", "--rows", "10k"]);
        assert_eq!(some["rows_all"], json!(50_000));
        assert!((3_000..=10_000).contains(&some["rows"].as_u64().unwrap()), "{}", some["rows"]);
        lab.steelbench(&["sort-order", &url, "s.rows"])
            .expect(1)
            .says("the table does not exist or this role cannot see it");
        lab.steelbench(&["sort-order", "mysql://127.0.0.1/x", "t"]).expect(1);
    }
}

/// As small as it can be: it is valid, runs, and says what the advice was worth.
#[test]
#[ignore = "lane all: runs a ready experiment"]
fn the_ready_experiment_runs() {
    let text = testing::ready::text("sort-order");
    for library in libraries() {
        let small =
            text.replace("scale = 0.1", "scale = 0.002").replace("blocks = 3", "blocks = 2");
        let lab = Lab::with(&small.replace(
            "engine = \"duckdb\"",
            &format!("engine = \"duckdb\"\nlibrary = \"{library}\""),
        ));
        let mut output = lab.run(0);
        for words in
            ["Sort order", "The advice, order=advise", "Prediction error", "row groups skipped"]
        {
            output = output.shows(words);
        }
        let ordered = lab.rows(
            "sort-order",
            "SELECT count(DISTINCT trial) FROM facts WHERE name LIKE 'order!_%' ESCAPE '!'",
        );
        assert_eq!(ordered, ["8"]);
        let other =
            lab.rows("sort-order", "SELECT count(*) FROM warnings WHERE kind = 'other-plan'");
        assert_eq!(other, ["0"]);
    }
}
