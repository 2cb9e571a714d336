//! sysbench's scripts as built-in ones: beside sysbench itself, on the same server, and on every
//! engine.

use testing::installed as servers;

use crate::common::{Lab, skipped};
use mariadb::client::Client;
use mariadb::server::PrivateServer;
use script::BUILTINS_OF_SYSBENCH;
use std::collections::BTreeMap;
use std::process::{Command, Stdio};

/// Rows of the table.
const ROWS: i64 = 1_000;

/// A server that keeps all statements in a table.
fn with_a_log(test: impl Fn(&PrivateServer, &mut Client)) {
    if Command::new("sysbench").arg("--version").stdout(Stdio::null()).status().is_err() {
        return skipped("there is no sysbench");
    }
    for installation in servers::mariadb_installations() {
        let folder = servers::folder();
        let server = servers::mariadb(installation, folder.path(), false);
        let mut admin = Client::connect(&server.config()).unwrap();
        admin.run("CREATE DATABASE sbtest; SET GLOBAL log_output = 'TABLE'").unwrap();
        test(&server, &mut admin);
    }
}

fn sysbench(server: &PrivateServer, script: &str, events: u64, command: &str) {
    let socket = server.config().to_string();
    let socket = socket.split_once("socket=").unwrap().1;
    let ended = Command::new("sysbench")
        .args([
            script,
            "--mysql-user=root",
            "--threads=1",
            "--time=0",
            "--rand-seed=7",
            "--db-driver=mysql",
        ])
        .arg(format!("--mysql-socket={socket}"))
        .arg(format!("--table-size={ROWS}"))
        .arg(format!("--events={events}"))
        .arg(command)
        .output()
        .unwrap();
    assert!(ended.status.success(), "{ended:?}");
}

fn steelbench(server: &PrivateServer, script: &str, transactions: u64) {
    let url = server.config();
    let lab = Lab::with(&format!(
        "[experiment]\nname = \"e\"\n[target]\nengine = \"mariadb\"\nurl = \
         \"{url}\"\n[observe]\nwaits = false\n[workload]\nprobe = \"script\"\nbuiltin = \
         \"{script}\"\ntable_size = {ROWS}\nconnections = 1\ntransactions = \
         {transactions}\n[repeats]\nblocks = 1\n"
    ));
    lab.run(0);
}

/// The statements that were run as prepared ones while something was done, in their order.
fn logged(admin: &mut Client, act: impl FnOnce()) -> Vec<String> {
    admin.run("TRUNCATE mysql.general_log; SET GLOBAL general_log = ON").unwrap();
    act();
    admin.run("SET GLOBAL general_log = OFF").unwrap();
    let sql = "SELECT argument FROM mysql.general_log WHERE command_type = 'Execute' ORDER BY \
               event_time, thread_id";
    let all = admin.query(sql).unwrap();
    // Plans are asked for when the load is over.
    let statements = all.iter().map(|row| row.text(0));
    statements.filter(|statement| !statement.starts_with("EXPLAIN ")).collect()
}

/// A statement without its values and blanks.
fn shape(statement: &str) -> String {
    let mut shape = String::new();
    for c in statement.chars().filter(|c| !c.is_whitespace()) {
        match c {
            '0'..='9' | '\'' | '-' if shape.ends_with('?') => {}
            '0'..='9' | '\'' if !shape.ends_with("sbtest") => shape.push('?'),
            c => shape.extend(c.to_lowercase()),
        }
    }
    shape
}

/// The integers in statements of this shape.
fn values(log: &[String], like: &str) -> Vec<i64> {
    let log = log.iter().filter(|statement| shape(statement).starts_with(like));
    let number = |statement: &String| statement.rsplit(['=', ' ']).next()?.trim().parse().ok();
    log.filter_map(number).collect()
}

/// The largest difference of the shares of two samples that are no larger than a number (Kolmogorov
/// and Smirnov), and what it is at most in 999 of 1,000 pairs of samples of one distribution.
fn distance(group: &[i64], other: &[i64]) -> (f64, f64) {
    let share = |sample: &[i64], most: i64| {
        sample.iter().filter(|value| **value <= most).count() as f64 / sample.len() as f64
    };
    let furthest =
        (0..=ROWS).map(|most| (share(group, most) - share(other, most)).abs()).fold(0.0, f64::max);
    let (n, m) = (group.len() as f64, other.len() as f64);
    (furthest, 1.95 * ((n + m) / (n * m)).sqrt())
}

fn same_distribution(what: &str, ours: &[i64], theirs: &[i64]) {
    assert!(
        ours.len() >= 900 && theirs.len() >= 900,
        "{what}: {} and {}",
        ours.len(),
        theirs.len()
    );
    let (distance, most) = distance(ours, theirs);
    assert!(
        distance <= most,
        "{what}: the distributions differ by {distance}, which chance makes {most} at most"
    );
    // This distance tells distributions apart: uniform numbers are far from both.
    let uniform: Vec<i64> = (1..=ROWS).collect();
    assert!(self::distance(&uniform, theirs).0 > 5.0 * most.min(0.06), "{what}");
}

#[test]
fn the_statements_of_a_transaction_and_their_values_are_those_of_sysbench() {
    with_a_log(|server, admin| {
        for (script, transactions) in BUILTINS_OF_SYSBENCH.iter().zip([3_000, 100, 1_000, 100]) {
            sysbench(server, script, transactions, "prepare");
            let numbers = |admin: &mut Client, table: &str| -> Vec<i64> {
                let rows = admin.query(&format!("SELECT k FROM {table}")).unwrap();
                rows.iter().map(|row| row.parse(0).unwrap()).collect()
            };
            let their_k = numbers(admin, "sbtest.sbtest1");
            let theirs = logged(admin, || sysbench(server, script, transactions, "run"));
            sysbench(server, script, transactions, "cleanup");
            let ours = logged(admin, || steelbench(server, script, transactions));
            let shapes =
                |log: &[String]| log.iter().map(|statement| shape(statement)).collect::<Vec<_>>();
            let (our_shapes, their_shapes) = (shapes(&ours), shapes(&theirs));
            let count = |shapes: &[String]| {
                let mut counts: BTreeMap<String, usize> = BTreeMap::new();
                for shape in shapes {
                    *counts.entry(shape.clone()).or_default() += 1;
                }
                counts
            };
            assert_eq!(count(&our_shapes), count(&their_shapes), "{script}");
            // Whole transactions in the same order, wherever the server's clock tells statements
            // apart.
            let of_one = their_shapes.len() / transactions as usize;
            assert_eq!(our_shapes[..of_one], their_shapes[..of_one], "{script}");
            match *script {
                "oltp_point_select" => {
                    let select = "selectcfromsbtest1";
                    same_distribution(
                        "point selects",
                        &values(&ours, select),
                        &values(&theirs, select),
                    );
                }
                "oltp_write_only" => {
                    for verb in ["deletefrom", "updatesbtest1setk", "updatesbtest1setc"] {
                        same_distribution(verb, &values(&ours, verb), &values(&theirs, verb));
                    }
                    let text =
                        ours.iter().find(|statement| statement.starts_with("INSERT")).unwrap();
                    assert_eq!(
                        theirs
                            .iter()
                            .find(|statement| statement.starts_with("INSERT"))
                            .map(|statement| form(statement)),
                        Some(form(text)),
                        "texts are groups of digits of the same lengths"
                    );
                }
                _ => {}
            }
            let rows = datasets::DataSet::sysbench(
                1,
                ROWS as u64,
                datasets::sysbench::Distribution::Special,
            );
            let our_k: Vec<i64> = rows
                .fills()
                .remove(0)
                .batches
                .flat_map(|rows| match &rows.columns[1] {
                    work::Values::Integers(numbers) => numbers.clone(),
                    other => panic!("{other:?}"),
                })
                .collect();
            same_distribution("the column k", &our_k, &their_k);
        }
    });
}

/// The texts of a statement with `#` for each digit.
fn form(statement: &str) -> Vec<String> {
    let texts = statement.split('\'').skip(1).step_by(2);
    texts
        .map(|text| text.chars().map(|c| if c.is_ascii_digit() { '#' } else { c }).collect())
        .collect()
}

#[test]
fn each_script_runs_on_every_engine_and_rows_that_are_deleted_come_back() {
    let mut engines = vec!["sqlite"];
    engines.extend((!servers::duckdb_libraries().is_empty()).then_some("duckdb"));
    engines.extend((!servers::installations().is_empty()).then_some("postgres"));
    engines.extend((!servers::mariadb_installations().is_empty()).then_some("mariadb"));
    let scripts: Vec<String> =
        BUILTINS_OF_SYSBENCH.iter().map(|name| format!("{name:?}")).collect();
    for engine in engines {
        let library = match engine {
            "duckdb" => servers::duckdb_libraries().pop().flatten(),
            _ => None,
        };
        let library = library.map(|path| format!("library = \"{path}\"\n")).unwrap_or_default();
        // One of the scripts counts the rows: it fails when one is missing.
        let lab = Lab::with(&format!(
            "[experiment]\nname = \"e\"\n[target]\nengine = \
             \"{engine}\"\n{library}[workload]\nprobe = \"script\"\nscript = \
             \"check.sql@1\"\ntables = 2\ntable_size = 300\nconnections = 1\ntransactions = \
             60\nbuiltin = [{}]\n[repeats]\nblocks = 1\n",
            scripts.join(", ")
        ));
        lab.write(
            "check.sql",
            "SELECT count(*) AS n, count(DISTINCT id) AS ids, min(k) AS least, max(k) AS most \
             FROM sbtest1;\n\\gset\nSELECT count(*) AS n2 FROM sbtest2;\n\\gset\n\\if :n <> 300 \
             or :ids <> 300 or :n2 <> 300 or :least < 1 or :most > 400\n\\set fault 1 / \
             0\n\\endif\n",
        );
        lab.run(0);
        let ran = lab.rows("e", "SELECT count(*) FROM trials WHERE status = 'done'");
        assert_eq!(ran, ["1"], "{engine}");
        // All of them have run, with so few transactions as their seed chooses them.
        let shown = lab.steelbench(&["show", "--full"]).expect(0).stdout;
        assert!(BUILTINS_OF_SYSBENCH.iter().all(|name| shown.contains(name)), "{engine}: {shown}");
    }
}
