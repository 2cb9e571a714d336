//! `steelbench pg` beside pgbench: the same options do the same to the same tables, and say the
//! same of it.

use crate::common;
use crate::common::Lab;
use crate::servers::by_url::{OWNER, Server, bindirs};
use crate::servers::{lab, versions};
use postgres::client::Client;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

fn pgbench(bin: &Path, server: &Server, arguments: &[&str]) -> String {
    let mut pgbench = Command::new(bin.join("pgbench"));
    pgbench
        .env("PGHOST", server.folder())
        .env("PGPORT", server.port.to_string())
        .env("PGUSER", OWNER);
    let output = pgbench.env("PGDATABASE", "postgres").args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn number(client: &mut Client, sql: &str) -> i64 {
    client.query(sql, &[]).unwrap().first().unwrap().get(0).unwrap().parse().unwrap()
}

/// Runs pg with the options for both programs, and ours for the server.
fn pg(lab: &Lab, server: &Server, options: &[&str]) -> common::Exit {
    let (folder, port) = (server.folder().to_str().unwrap().to_owned(), server.port.to_string());
    let named = [
        "pg", "-h", &folder, "-p", &port, "-U", OWNER, "-d", "postgres", "--blocks", "1", "--full",
    ];
    lab.steelbench(&[&named, options].concat())
}

#[test]
fn the_same_options_leave_the_same_rows() {
    for bin in bindirs() {
        let server = Server::start(&bin, "", &[]);
        let mut client = server.connect();
        pgbench(&bin, &server, &["-i", "-q", "-s", "2"]);
        let lab = lab("");
        lab.write(
            "mine.sql",
            "\\set a random(1, :most)\nINSERT INTO pgbench_history (aid) VALUES (:a + :scale);\n",
        );
        let mine = lab.path("mine.sql");
        for options in [
            &["-s", "2", "-c", "3", "-j", "2", "-t", "7", "-n"][..],
            &["-s", "2", "-c", "2", "-t", "9", "-M", "prepared", "-N", "-n", "-r"],
            &["-s", "2", "-c", "2", "-t", "4", "-S", "-n"],
            &["-s", "2", "-c", "4", "-t", "5", "-n", "-D", "most=10", "-f", mine.to_str().unwrap()],
        ] {
            let sql = "SELECT count(*) FROM pgbench_history WHERE aid <= 200000";
            client.batch("TRUNCATE pgbench_history").unwrap();
            pgbench(&bin, &server, options);
            let theirs = number(&mut client, sql);
            client.batch("TRUNCATE pgbench_history").unwrap();
            let text =
                pg(&lab, &server, &[&["--existing-tables"], options].concat()).expect(0).stdout;
            assert_eq!(number(&mut client, sql), theirs, "{options:?}");
            // pgbench's own figures, by their names.
            for figure in
                ["Number of transactions", "initial connection time", "tps", "latency average"]
            {
                assert!(text.contains(figure), "{figure}: {text}");
            }
        }
    }
}

/// A statement that always fails on one of two connections is counted as pgbench counts it.
#[test]
fn failures_and_retries_of_statements_are_those_of_pgbench() {
    for bin in bindirs() {
        let server = Server::start(&bin, "", &[]);
        let lab = lab("");
        lab.write(
            "fails.sql",
            "SELECT 1;\nDO $$ BEGIN IF :client_id = 1 THEN RAISE SQLSTATE '40001'; END IF; END \
             $$;\nSELECT 2;\n",
        );
        let file = lab.path("fails.sql");
        let options =
            ["-n", "-c", "2", "-t", "5", "-r", "--max-tries=3", "-f", file.to_str().unwrap()];
        let theirs = pgbench(&bin, &server, &options);
        pg(&lab, &server, &options).expect(0);
        let rows = lab
            .rows("pg", "SELECT text, count, failures, retries FROM statements ORDER BY position");
        // pgbench: milliseconds, failures and retries of each statement, below a heading that names
        // them.
        let lines =
            theirs.lines().skip_while(|line| !line.starts_with("statement latencies")).skip(1);
        let theirs: Vec<(String, String, String)> = lines
            .filter_map(|line| {
                let mut words = line.split_whitespace().skip(1);
                let (failures, retries) = (words.next()?.to_owned(), words.next()?.to_owned());
                Some((
                    words.collect::<Vec<_>>().join(" ").trim_end_matches(';').to_owned(),
                    failures,
                    retries,
                ))
            })
            .collect();
        let ours: Vec<(String, String, String)> = rows
            .iter()
            .map(|row| {
                let parts: Vec<&str> = row.split('|').collect();
                (parts[0].to_owned(), parts[2].to_owned(), parts[3].to_owned())
            })
            .collect();
        assert_eq!(ours, theirs);
        assert_eq!((ours[1].1.as_str(), ours[1].2.as_str()), ("5", "10"));
    }
}

#[test]
fn nothing_has_to_be_installed_and_connections_are_varied() {
    let lab = Lab::new();
    let line = "pg --engine sqlite -t 20 -N --vary connections=1,3 --blocks 2 --label tried --full";
    let text = lab.steelbench(&line.split(' ').collect::<Vec<_>>()).expect(0).stdout;
    for part in [
        "Scripts: connections=1",
        "Scripts: connections=3",
        "INSERT INTO pgbench_history",
        "\"tried\"",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let amounts =
        lab.rows("pg", "SELECT DISTINCT connections, transactions FROM trials ORDER BY 1");
    assert_eq!(amounts, ["1|20", "3|60"]);
    // The table is what was recorded.
    let shown = &lab.json(&["show", "pg"])[0]["scripts"];
    let sql = "SELECT sum(s.count), sum(s.wall_s * 1000 / s.count) / count(*) FROM statements s
               JOIN trials t ON t.id = s.trial WHERE t.connections = 3 GROUP BY s.position ORDER \
               BY s.position";
    let statements = shown[1]["statements"].as_array().unwrap();
    assert_eq!(statements.len(), 5);
    for (row, statement) in lab.rows("pg", sql).iter().zip(statements) {
        let (count, mean) = row.split_once('|').unwrap();
        assert_eq!(statement["count"].as_i64(), count.parse().ok());
        let mean_ms = statement["latency"]["mean"].as_f64().unwrap();
        assert!((mean_ms / mean.parse::<f64>().unwrap() - 1.0).abs() < 1e-5, "{row} {statement}");
        assert!(statement["latency"]["interval"]["low"].is_number());
    }
    let page = lab.read("results/pg.html");
    assert!(
        page.contains("Scripts: connections=3") && page.contains("INSERT INTO pgbench_history")
    );
}

#[test]
fn print_is_a_file_that_runs_the_same() {
    let lab = Lab::new();
    let line = [
        "pg",
        "--engine",
        "sqlite",
        "-t",
        "5",
        "-S",
        "--blocks",
        "1",
        "--vary",
        "synchronous=off,full",
    ];
    lab.steelbench(&line).expect(0);
    let text = lab.steelbench(&[&line[..], &["--print"]].concat()).expect(0).stdout;
    lab.write("e.toml", &text);
    lab.run_with(&["--fresh"], 0);
    let keys =
        lab.rows("pg", "SELECT group_concat(key) FROM configurations GROUP BY run ORDER BY run");
    assert_eq!(keys[0], keys[1], "{text}");
}

#[test]
fn a_private_server_is_started_and_scripts_find_pgbenchs_tables() {
    if versions().is_none() {
        return;
    }
    let lab = lab("");
    lab.write("mine.sql", "SELECT count(*) FROM pgbench_branches;\n");
    let line =
        ["pg", "--private", "-t", "3", "-f", "mine.sql@2", "-b", "se", "-c", "2", "--blocks", "1"];
    let line = [&line[..], &["--full"]].concat();
    lab.steelbench(&line).expect(0).shows("mine.sql").shows("select-only");
    let done: Vec<Value> = lab.json(&["show", "pg"]);
    assert_eq!(done[0]["scripts"][0]["scripts"].as_array().unwrap().len(), 2);
    lab.steelbench(&["pg", "-t", "1", "-M", "extended"]).expect(2).says("prepared, simple");
    lab.steelbench(&["pg", "-t", "1", "-T", "1"]).expect(2);
    lab.steelbench(&["pg", "--vary", "nothing", "-t", "1"]).expect(2).says("SETTING=LEVEL");
}

/// A script finds the tables of the database that the URL names, to which nothing is added.
#[test]
fn a_url_of_mariadb_runs_scripts_on_the_tables_there() {
    testing::installed::on_each_mariadb(false, |server, url| {
        let mut client = mariadb::client::Client::connect(&server.config()).unwrap();
        let tables = "CREATE DATABASE shop; CREATE TABLE shop.visits (id int PRIMARY KEY \
                      AUTO_INCREMENT, page int)";
        client.run(tables).unwrap();
        let lab = Lab::new();
        lab.write(
            "visit.sql",
            "\\set page random(1, 9)\nINSERT INTO visits (page) VALUES (:page);\n",
        );
        let with_database = url.replacen("localhost/?", "localhost/shop?", 1);
        assert_ne!(with_database, url);
        lab.steelbench(&["pg", &with_database, "-f", "visit.sql", "-T", "0.3", "--blocks", "1"])
            .expect(0);
        let count = client.cell("SELECT count(*) > 0 FROM shop.visits").unwrap();
        assert_eq!(count.as_deref(), Some("1"));
        let left = "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'shop'";
        assert_eq!(client.cell(left).unwrap().as_deref(), Some("1"));
        lab.steelbench(&["pg", "--engine", "sqlite", &with_database]).expect(2);
    });
}

/// The scripts of pgbench do to existing tables of MariaDB what they do to PostgreSQL's: each
/// transaction adds its amount to an account, a teller and a branch, and a row to the history.
#[test]
fn built_in_scripts_work_on_existing_tables_of_mariadb() {
    testing::installed::on_each_mariadb(false, |server, url| {
        let mut client = mariadb::client::Client::connect(&server.config()).unwrap();
        let filled = |table: &str, key: &str, rows: u32| {
            format!(
                "INSERT INTO bank.{table} WITH RECURSIVE n AS (SELECT 1 AS {key} UNION ALL SELECT \
                 {key} + 1 FROM n WHERE {key} < {rows}) SELECT {key}, 1, 0, '' FROM n"
            )
        };
        client
            .run(
                "CREATE DATABASE bank;
                 CREATE TABLE bank.pgbench_branches (bid int PRIMARY KEY, bbalance int, filler \
                 char(88));
                 CREATE TABLE bank.pgbench_tellers (tid int PRIMARY KEY, bid int, tbalance int, \
                 filler char(84));
                 CREATE TABLE bank.pgbench_accounts (aid int PRIMARY KEY, bid int, abalance int, \
                 filler char(84));
                 CREATE TABLE bank.pgbench_history (tid int, bid int, aid int, delta int, mtime \
                 timestamp, filler char(22));
                 INSERT INTO bank.pgbench_branches VALUES (1, 0, '');
                 SET max_recursive_iterations = 200000",
            )
            .unwrap();
        client.run(&filled("pgbench_tellers", "tid", 10)).unwrap();
        client.run(&filled("pgbench_accounts", "aid", 100_000)).unwrap();
        let lab = Lab::new();
        let with_database = url.replacen("localhost/?", "localhost/bank?", 1);
        let options = ["-c", "3", "-t", "100", "--existing-tables", "--blocks", "1"];
        lab.steelbench(&[&["pg", with_database.as_str()], options.as_slice()].concat()).expect(0);
        let balances = "SELECT count(*) = 300 AND sum(delta) = (SELECT sum(abalance) FROM \
                        bank.pgbench_accounts) AND sum(delta) = (SELECT sum(tbalance) FROM \
                        bank.pgbench_tellers) AND sum(delta) = (SELECT bbalance FROM \
                        bank.pgbench_branches) FROM bank.pgbench_history";
        assert_eq!(client.cell(balances).unwrap().as_deref(), Some("1"));
    });
}
