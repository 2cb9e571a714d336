//! `queries try`, and the plans that trials of scripts record, on real engines.

use crate::common;
use crate::common::{Exit, Lab};
use crate::servers;
use crate::servers::by_url::{Server, bindirs};
use crate::servers::lab;
use serde_json::Value;

/// The data of sections of the report, by name.
fn summary(lab: &Lab, name: &str) -> Value {
    lab.json(&["show", name]).remove(0)
}

/// Returns the result for the statement with this beginning.
fn gain<'a>(summary: &'a Value, begin: &str) -> &'a Value {
    let gains = summary["statement_gains"].as_array().unwrap();
    gains.iter().find(|gain| gain["text"].as_str().unwrap().starts_with(begin)).unwrap()
}

/// The operators of each plan of the statement that begins so, in the order of the levels.
fn operators(summary: &Value, begin: &str) -> Vec<String> {
    let statements = summary["plans"].as_array().unwrap();
    let statement = statements
        .iter()
        .find(|statement| statement["statement"].as_str().unwrap().starts_with(begin))
        .unwrap();
    statement["plans"]
        .as_array()
        .unwrap()
        .iter()
        .map(|plan| plan["operators"].to_string())
        .collect()
}

fn run(lab: &Lab, arguments: &[&str], code: i32) -> Exit {
    let mut command = lab.command(&[&["queries", "try", "--full"], arguments].concat());
    Exit::from(command.env("XDG_CACHE_HOME", lab.path("cache")).output().unwrap()).expect(code)
}

/// A server with a table that has an index of two columns and one of the first of them, which is
/// redundant.
fn with_items() -> Option<(Server, String)> {
    let bin = bindirs().into_iter().next()?;
    let server = Server::start(&bin, "", &[]);
    server
        .connect()
        .batch(
            "CREATE TABLE items (id int PRIMARY KEY, a int NOT NULL, b int NOT NULL, note text \
             NOT NULL);
             INSERT INTO items SELECT n, n % 500, n % 7, md5(n::text) FROM generate_series(1, \
             30000) n;
             CREATE INDEX items_a ON items (a); CREATE INDEX items_a_b ON items (a, b); ANALYZE",
        )
        .unwrap();
    let url = server.conninfo();
    Some((server, url))
}

/// Adds rows: a scan of them takes longer than a lookup waits on a busy machine.
fn add_items(server: &Server) {
    let rows = "INSERT INTO items SELECT n, n % 500, n % 7, md5(n::text) FROM \
                generate_series(30001, 300000) n;
                ALTER TABLE items SET (parallel_workers = 0); ANALYZE items";
    server.connect().batch(rows).unwrap();
}

#[test]
fn a_missing_index_gains_the_select_and_costs_the_insert() {
    let Some((server, url)) = with_items() else {
        return common::skipped("PostgreSQL is not installed");
    };
    add_items(&server);
    let lab = lab("");
    lab.write(
        "read.sql",
        "\\set n random(1, 300000)\nSELECT count(*) FROM items WHERE note = md5(:n::text);\n",
    );
    lab.write(
        "write.sql",
        "INSERT INTO items SELECT nextval('more'), n % 500, n % 7, md5(random()::text) FROM \
         generate_series(1, 500) n;\n",
    );
    lab.write("sequence.sql", "CREATE SEQUENCE more START 1000000;\n");
    let line = [
        &url,
        "--sql",
        "sequence.sql",
        "-f",
        "read.sql",
        "-f",
        "write.sql",
        // Long enough for some inserts in each trial on a busy machine.
        "-T",
        "2",
        "--warmup",
        "0",
        "--blocks",
        "5",
        "--index",
        "CREATE INDEX items_note ON items (note)",
        "--index",
        "CREATE INDEX items_note_a ON items (note, a)",
        "--index",
        "CREATE INDEX items_a_note ON items (a, note)",
    ];
    run(&lab, &line, 0).shows("Statements: change=with against change=without");
    let found = summary(&lab, "try");
    let (select, insert) = (gain(&found, "SELECT"), gain(&found, "INSERT"));
    assert_eq!(select["reference"], "change=without");
    // An index instead of a scan: a hundred times, which a busy machine does not hide.
    let faster = &select["gain"];
    assert!(faster["adjusted_p"].as_f64().unwrap() < 0.05, "{select}");
    assert!(faster["value"].as_f64().unwrap() > 1.0, "{select}");
    // Three more indexes cost an insert a factor of two at most, which a busy machine may hide.
    for statement in [select, insert] {
        let gain = &statement["gain"];
        let bound = |name: &str| gain["interval"][name].as_f64().unwrap();
        let value = gain["value"].as_f64().unwrap();
        assert!(bound("low") <= value && value <= bound("high"), "{statement}");
        assert_eq!(gain["blocks"], 5, "{statement}");
    }
    let plans = operators(&found, "SELECT");
    assert_eq!(plans.len(), 2, "{plans:?}");
    assert!(plans[0].contains("Seq Scan on items") && plans[1].contains("items_note"), "{plans:?}");
    assert_eq!(operators(&found, "INSERT").len(), 1);
    let kinds = found["findings"].as_array().unwrap();
    let finding = kinds.iter().find(|finding| finding["kind"] == "plan").unwrap();
    assert!(finding["text"].as_str().unwrap().contains("Seq Scan on items -> "), "{finding}");
    // The dump was read, and nothing was changed.
    let mut client = server.connect();
    let count = "SELECT count(*) FROM pg_indexes WHERE tablename = 'items'";
    assert_eq!(client.cell(count).unwrap().as_deref(), Some("3"));
    assert!(
        lab.read("try.toml").contains("setup.dump = \"try.dump\"")
            || lab.read("try.toml").contains("dump = \"try.dump\"")
    );
    // The file runs again, and what is there is not dumped over.
    run(&lab, &line, 2).says("try.dump already exists");
    // Each text of a plan is kept once.
    let texts = lab.rows("try", "SELECT count(*), count(DISTINCT hash) FROM plan_texts");
    assert_eq!(texts, ["3|3"]);
    assert!(lab.rows("try", "SELECT count(*) FROM plans")[0].parse::<u32>().unwrap() >= 20);
}

/// A copy is measured on the version of its source, with the programs of that version.
#[test]
fn a_copy_runs_on_the_major_version_of_its_source() {
    for installation in servers::installed::installations() {
        let server = Server::start(&installation.bindir, "", &[]);
        server.connect().batch("CREATE TABLE items AS SELECT 1 AS a").unwrap();
        let lab = lab("");
        let major = installation.version.major;
        // Another version divides by zero.
        lab.write(
            "read.sql",
            &format!(
                "SELECT a / (current_setting('server_version_num')::int / 10000 = {major})::int \
                 FROM items;\n"
            ),
        );
        let url = server.conninfo();
        let ended = run(&lab, &[&[&*url, "-f", "read.sql"], &QUICK[..]].concat(), 0);
        assert!(!ended.stderr.contains("instead of"), "{}", ended.stderr);
        assert!(lab.read("try.toml").contains(&format!("version = {major}\n")));
        assert_eq!(lab.rows("try", "SELECT DISTINCT status FROM trials"), ["done"]);
    }
}

/// Short trials of a setting.
const QUICK: [&str; 6] = ["-T", "0.1", "--warmup=0", "--blocks=1", "--set", "enable_seqscan=off"];

/// No version before 14 is measured.
const OLD_DUMP: &str = "--\n-- PostgreSQL database dump\n--\n\n-- Dumped from database version \
                        12.9\n-- Dumped by pg_dump version 12.9\n\nSET statement_timeout = \
                        0;\n\nCREATE TABLE items (a int);\n";

#[test]
fn the_first_line_states_which_version_is_measured_instead_of_the_sources() {
    if bindirs().is_empty() {
        return common::skipped("PostgreSQL is not installed");
    }
    let lab = lab("");
    lab.write("old.sql", OLD_DUMP);
    lab.write("read.sql", "SELECT count(*) FROM items;\n");
    let ended = run(&lab, &[&["--dump", "old.sql", "-f", "read.sql"], &QUICK[..]].concat(), 0);
    let first = ended.stderr.lines().next().unwrap_or_default();
    assert!(
        first.starts_with("Measuring on PostgreSQL ")
            && first.contains(" instead of PostgreSQL 12.9: PostgreSQL 12 is not installed"),
        "{}",
        ended.stderr
    );
    assert!(ended.stdout.contains("instead of PostgreSQL 12.9"), "{}", ended.stdout);
}

/// Servers with the update of November 2026 keep an option that older ones do not know.
#[test]
fn an_option_that_the_server_of_the_copy_does_not_know_is_reported_with_a_remedy() {
    let Some((server, url)) = with_items() else {
        return common::skipped("PostgreSQL is not installed");
    };
    let sql = "UPDATE pg_attribute SET attoptions = '{pg_other=1}' WHERE attrelid = \
               'items'::regclass AND attname = 'a'";
    server.connect().batch(sql).unwrap();
    let lab = lab("");
    lab.write("read.sql", "SELECT count(*) FROM items;\n");
    run(&lab, &[&[&*url, "-f", "read.sql"], &QUICK[..]].concat(), 1)
        .says("unrecognized parameter \"pg_other\"")
        .says("does not know this part of the dump")
        .says("Remedy: remove it from the database");
}

#[test]
fn without_a_redundant_index_reads_still_use_the_other_one() {
    let Some((_server, url)) = with_items() else {
        return common::skipped("PostgreSQL is not installed");
    };
    let lab = lab("");
    lab.write(
        "read.sql",
        "\\set n random(0, 499)\nSELECT count(b) FROM items WHERE a = :n AND b < 3;\n",
    );
    let line = [
        &url, "-f", "read.sql", "-T", "0.5", "--warmup", "0.2", "--blocks", "3", "--drop",
        "items_a",
    ];
    run(&lab, &line, 0);
    let found = summary(&lab, "try");
    assert!(gain(&found, "SELECT")["gain"]["value"].as_f64().unwrap() > 0.5, "{found}");
    let plans = operators(&found, "SELECT");
    assert!(
        plans.last().unwrap().contains("items_a_b") && !plans.last().unwrap().contains("Seq Scan"),
        "{plans:?}"
    );
}

#[test]
fn a_setting_of_the_planner_is_tried_on_a_test_server() {
    let Some((server, url)) = with_items() else {
        return common::skipped("PostgreSQL is not installed");
    };
    let lab = lab("");
    lab.write(
        "table.sql",
        "CREATE TABLE t AS SELECT n AS a FROM generate_series(1, 10000) n;\nCREATE INDEX ON t \
         (a);\n",
    );
    lab.write("read.sql", "\\set n random(1, 10000)\nSELECT count(*) FROM t WHERE a = :n;\n");
    let line = [
        "--sql",
        "table.sql",
        "--test-server",
        &url,
        "-f",
        "read.sql",
        "-T",
        "0.3",
        "--blocks",
        "2",
        "--set",
        "enable_indexonlyscan=off",
        "--set",
        "enable_bitmapscan=off",
    ];
    run(&lab, &line, 0);
    let plans = operators(&summary(&lab, "try"), "SELECT");
    assert!(
        plans[0].contains("Index Only Scan") && plans[1].contains("\"Index Scan using"),
        "{plans:?}"
    );
    let left = "SELECT count(*) FROM pg_database WHERE datname LIKE 'steelbench%'";
    assert_eq!(server.connect().cell(left).unwrap().as_deref(), Some("0"));
}

#[test]
fn a_missing_index_is_tried_on_mariadb() {
    if servers::installed::mariadb_installations().is_empty() {
        return common::skipped("MariaDB is not installed");
    }
    let lab = lab("");
    lab.write(
        "items.sql",
        "CREATE TABLE items (id int PRIMARY KEY AUTO_INCREMENT, a int NOT NULL, note char(32) NOT \
         NULL);
         INSERT INTO items (a, note) SELECT seq % 500, md5(seq) FROM seq_1_to_20000; ANALYZE TABLE \
         items;\n",
    );
    lab.write(
        "read.sql",
        "\\set n random(1, 20000)\nSELECT count(*) FROM items WHERE note = md5(:n);\n",
    );
    lab.write(
        "write.sql",
        "INSERT INTO items (a, note) SELECT seq, md5(rand()) FROM seq_1_to_200;\n",
    );
    let line = [
        "--engine",
        "mariadb",
        "--sql",
        "items.sql",
        "-f",
        "read.sql@5",
        "-f",
        "write.sql",
        "-T",
        "0.5",
        "--warmup",
        "0",
        "--blocks",
        "3",
        "--index",
        "CREATE INDEX items_note ON items (note)",
    ];
    run(&lab, &line, 0);
    let found = summary(&lab, "try");
    let plans = operators(&found, "SELECT");
    assert!(
        plans.len() == 2 && !plans[0].contains("items_note") && plans[1].contains("items_note"),
        "{plans:?}"
    );
    // A scan of 20,000 rows against one lookup.
    assert!(gain(&found, "SELECT")["gain"]["value"].as_f64().unwrap() > 1.0, "{found}");
    assert!(gain(&found, "INSERT")["gain"]["value"].as_f64().is_some(), "{found}");
}

const SCHEMA: &str = "CREATE TABLE items (id INTEGER PRIMARY KEY, a INTEGER);\nINSERT INTO items \
                      SELECT value, value % 100 FROM (WITH RECURSIVE n(value) AS (SELECT 1 UNION \
                      ALL SELECT value + 1 FROM n WHERE value < 5000) SELECT value FROM n);\n";

#[test]
fn an_index_is_tried_on_sqlite_and_plans_are_told() {
    let lab = Lab::new();
    lab.write("schema.sql", SCHEMA);
    lab.write(
        "r.sql",
        "\\set n random(0, 99)\nSELECT count(id) FROM items WHERE a = :n;\nANALYZE;\n",
    );
    let line = [
        "--engine",
        "sqlite",
        "--sql",
        "schema.sql",
        "-f",
        "r.sql",
        "-T",
        "0.2",
        "--warmup",
        "0",
        "--blocks",
        "2",
    ];
    let ended =
        run(&lab, &[&line[..], &["--index", "CREATE INDEX items_a ON items (a)"]].concat(), 0);
    let plans = operators(&summary(&lab, "try"), "SELECT");
    assert_eq!(
        plans,
        ["[\"SCAN items\"]", "[\"SEARCH items USING COVERING INDEX items_a (a=?)\"]"]
    );
    assert!(ended.stdout.contains("SEARCH items USING COVERING INDEX items_a"), "{}", ended.stdout);
    assert!(
        ended.stdout.contains("No plan of 1 statement (ANALYZE): ANALYZE has no plan."),
        "{}",
        ended.stdout
    );
    assert_eq!(lab.read("try.sql").lines().last(), Some("CREATE INDEX items_a ON items (a);"));
    // The next run overwrites its own file, but never another one.
    run(&lab, &[&line[..], &["--index", "CREATE INDEX items_b ON items (a, id)"]].concat(), 0);
    lab.write("try.sql", "mine");
    run(&lab, &[&line[..], &["--drop", "items_a"]].concat(), 2).says("try.sql exists");
    assert_eq!(lab.read("try.sql"), "mine");
}

#[test]
fn what_is_printed_is_an_experiment() {
    let lab = Lab::new();
    let line = ["--dump", "d", "-f", "r.sql", "--index", "CREATE INDEX ON t (a)", "--print"];
    let ended = run(&lab, &line, 0);
    assert!(
        ended.stdout.contains("[[level]]\nfactor = \"change\"\nname = \"without\""),
        "{}",
        ended.stdout
    );
    assert!(!lab.path("try.toml").exists() && !lab.path("try.sql").exists());
}

/// The name becomes the name of files: one that leads elsewhere is refused before one is written.
#[test]
fn a_name_that_is_a_path_is_refused_before_anything_is_written() {
    let lab = lab("");
    std::fs::create_dir_all(lab.path("a/b")).unwrap();
    lab.write("a/b/s.sql", "CREATE TABLE t (a INTEGER);\n");
    lab.write("a/b/r.sql", "SELECT count(*) FROM t;\n");
    let index = "CREATE INDEX i ON t (a)";
    let line =
        ["queries", "try", "--engine=sqlite", "--sql=s.sql", "-f", "r.sql", "--index", index];
    for name in ["../../pwn", "/tmp/steelbench-pwn", "..", ".hidden", "-x", "", "A"] {
        let mut command = lab.command(&[&line[..], &["--name", name]].concat());
        let refused = Exit::from(command.current_dir(lab.path("a/b")).output().unwrap());
        assert_eq!(refused.code, Some(2), "{name}: {refused:#?}");
    }
    let mut files: Vec<_> = std::fs::read_dir(lab.path("a/b")).unwrap().flatten().collect();
    files.retain(|file| !["s.sql", "r.sql"].contains(&file.file_name().to_str().unwrap()));
    assert!(files.is_empty(), "{files:?}");
    assert!(!lab.path("pwn.sql").exists() && !lab.path("pwn.toml").exists());
}
