//! `steelbench queries --every` and `history` of its file, on real servers.

use crate::common;
use testing::installed as servers;

use crate::common::{Lab, end, signal, wait_until};
use postgres::server::{PrivateServer, Stop};
use serde_json::Value;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use work::Cancel;

const FILE: &str = "results/w.steelbench";

/// Runs `act` repeatedly in a thread until the sender sends or is dropped.
fn load(mut act: impl FnMut() + Send + 'static) -> (Sender<()>, JoinHandle<()>) {
    let (end, ended) = channel();
    let thread = std::thread::spawn(move || {
        while ended.try_recv().is_err() {
            act();
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
    });
    (end, thread)
}

fn lab() -> Lab {
    let lab = Lab::new();
    std::fs::create_dir(lab.path("results")).unwrap();
    lab
}

fn number(lab: &Lab, sql: &str) -> u64 {
    lab.rows("w", sql)[0].parse().unwrap()
}

/// The number of intervals in which a statement with this text was sampled in this wait.
fn intervals_with(lab: &Lab, text: &str, wait: &str) -> u64 {
    let sql = format!(
        "SELECT count(*) FROM query_counts WHERE text LIKE '%{text}%' AND counters LIKE \
         '%sampled.{wait}%'"
    );
    number(lab, &sql)
}

fn intervals(lab: &Lab) -> u64 {
    if lab.path(FILE).exists() { number(lab, "SELECT count(*) FROM query_intervals") } else { 0 }
}

fn wait_for_intervals(lab: &Lab, more: u64) {
    // A file that is being made has no table yet.
    wait_until("the file is there", || {
        lab.path(FILE).exists()
            && lab.rows("w", "SELECT name FROM sqlite_schema WHERE name = 'query_times'").len() == 1
    });
    let enough = intervals(lab) + more;
    wait_until("there are more intervals", || intervals(lab) >= enough);
}

/// Returns statements with a changed plan: text, plans before and after, and the whole entry.
fn changed_plans(history: &Value) -> Vec<(String, String, String, Value)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let plan = |value: &Value| text(&history["plans"][value.as_u64().unwrap() as usize]);
    let all =
        history["changes"].as_array().unwrap().iter().filter(|array| !array["plans"].is_null());
    let summary = |value: &Value| {
        let statement = &history["statements"][value["statement"].as_u64().unwrap() as usize];
        (
            text(&statement["text"]),
            plan(&value["plans"][0]),
            plan(&value["plans"][1]),
            value.clone(),
        )
    };
    all.map(summary).collect()
}

/// The intervals adjoin, and the one that is named begins when it says.
fn edges_are_exact(history: &Value, change: &Value) {
    let all = history["intervals"].as_array().unwrap();
    assert!(all.windows(2).all(|pair| pair[0]["to_ms"] == pair[1]["from_ms"]), "{all:#?}");
    assert_eq!(all[change["interval"].as_u64().unwrap() as usize]["from_ms"], change["since_ms"]);
}

fn every_server(settings: &[(&str, &str)], test: impl Fn(&mut PrivateServer, &str)) {
    for installation in servers::installations() {
        let folder = servers::folder();
        let mut cluster = servers::running(servers::options(&installation, folder.path()));
        let settings =
            settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        cluster.apply(&settings.collect(), &Cancel::new()).unwrap();
        let ask = |setting: &str| servers::ask(&cluster, &format!("SHOW {setting}"));
        let (place, user) =
            (ask("unix_socket_directories"), servers::ask(&cluster, "SELECT session_user"));
        let url = format!(
            "host='{}' port={} user={user} dbname=postgres",
            place.trim_matches('"'),
            ask("port")
        );
        test(&mut cluster, &url);
        cluster.remove().unwrap();
    }
}

const TABLES: &str = "
    CREATE EXTENSION pg_stat_statements;
    CREATE TABLE customers (id int PRIMARY KEY, city int NOT NULL);
    CREATE TABLE orders (id int PRIMARY KEY, customer_id int NOT NULL, amount int NOT NULL);
    CREATE INDEX orders_customer_idx ON orders (customer_id);
    INSERT INTO customers SELECT g, g % 50 FROM generate_series(1, 5000) g;
    INSERT INTO orders SELECT g, g % 10000, g % 977 FROM generate_series(1, 60000) g";

const LOOKUP: &str = "SELECT amount FROM orders WHERE customer_id = ";

#[test]
fn an_index_that_is_dropped_changes_a_plan_and_nothing_else_is_named() {
    every_server(
        &[("shared_preload_libraries", "pg_stat_statements"), ("autovacuum", "off")],
        |cluster, url| {
            let mut admin = cluster.connect().unwrap();
            admin.batch(TABLES).unwrap();
            admin.batch("VACUUM ANALYZE").unwrap();
            admin.batch("SELECT pg_stat_statements_reset()").unwrap();
            let lab = lab();
            let watch = lab.start_with(&["queries", url, "--every", "300ms", "-o", FILE]);
            wait_for_intervals(&lab, 1);
            let mut client = cluster.connect().unwrap();
            let mut number_of = 0;
            let (stop, thread) = load(move || {
                number_of = number_of % 5000 + 1;
                client.query(&format!("/* app:shop */ {LOOKUP}{number_of}"), &[]).unwrap();
                client
                    .query(&format!("SELECT city FROM customers WHERE id = {number_of}"), &[])
                    .unwrap();
                client
                    .query(&format!("SELECT count(*) FROM customers WHERE city < {number_of}"), &[])
                    .unwrap();
                client.query("SELECT pg_sleep(0.02)", &[]).unwrap();
            });
            wait_for_intervals(&lab, 8);
            admin.batch("DROP INDEX orders_customer_idx").unwrap();
            wait_for_intervals(&lab, 8);
            stop.send(()).unwrap();
            thread.join().unwrap();
            // A session reports its last counters when it ends.
            wait_for_intervals(&lab, 3);
            signal(&watch, libc::SIGINT);
            let ended = end(watch).expect(0).shows("interval 2: ").shows(" runs, ");
            // As soon as it is known, with both plans.
            let ended = ended.shows("Slower with another plan").shows("plan since:");
            assert_eq!(ended.stdout.matches("regression, plan changed: ").count(), 1, "{ended:?}");
            assert!(intervals_with(&lab, "pg_sleep", "Timeout:PgSleep") > 0);
            assert!(!ended.stdout.contains("did not"), "{ended:?}");

            let history = &lab.json(&["history", FILE])[0];
            let [(text, before, since, change)] = &changed_plans(history)[..] else {
                panic!("{history:#}")
            };
            assert!(text.contains(LOOKUP), "{text}");
            assert!(before.contains("(orders_customer_idx)"), "{before}");
            assert!(since.contains("Seq Scan orders") && !since.contains("idx"), "{since}");
            assert_eq!(change["verdict"], "worse", "{change:#}");
            let pages = |at: usize| change["work"][at].as_f64().unwrap();
            assert!(pages(1) > 10.0 * pages(0), "{change:#}");
            edges_are_exact(history, change);

            // Every run that the server counted is in one interval.
            let counted = "SELECT sum(calls)::text FROM pg_stat_statements WHERE query LIKE \
                           '%FROM orders WHERE customer_id%'";
            let sum = "SELECT sum(calls) FROM query_times WHERE text LIKE '%FROM orders WHERE \
                       customer_id%'";
            assert_eq!(servers::ask(cluster, counted), lab.rows("w", sum)[0]);
            let joined = &lab.json(&["queries", FILE])[0];
            let lookup = |found: &Value| {
                let mut all = found["statements"].as_array().unwrap().iter();
                all.find(|statement| statement["text"].as_str().unwrap().contains(LOOKUP)).unwrap()
                    ["counters"]["calls"]
                    .to_string()
            };
            assert_eq!(lookup(joined), lab.rows("w", sum)[0]);
            let since = "2000-01-01";
            assert_eq!(lookup(&lab.json(&["queries", FILE, "--from", since])[0]), lookup(joined));
            lab.steelbench(&["queries", FILE, "--to", since])
                .expect(2)
                .says("no complete interval between");
            lab.steelbench(&["queries", FILE, "--to", "yesterday"])
                .expect(2)
                .says("not a time such as");
            shown(&lab);
        },
    );
}

fn shown(lab: &Lab) {
    let output =
        lab.command(&["history", FILE, "--html", "h.html"]).env("COLUMNS", "80").output().unwrap();
    let ended = common::Exit::from(output).expect(0);
    let ended =
        ended.shows("regression, plan changed: ").shows("plan since:").shows("pages a run: ");
    let wide: Vec<&str> = ended.stdout.lines().filter(|line| line.chars().count() > 80).collect();
    assert!(wide.is_empty(), "{wide:#?}");
    assert!(lab.read("h.html").contains("orders_customer_idx"));
    lab.steelbench(&["show", FILE]).expect(2).says("`history` and `queries` show its statements");
}

#[test]
fn resets_evictions_kills_and_a_lost_server_are_told_and_lose_nothing() {
    let settings =
        [("shared_preload_libraries", "pg_stat_statements"), ("pg_stat_statements.max", "100")];
    every_server(&settings, |cluster, url| {
        let mut admin = cluster.connect().unwrap();
        admin.batch("CREATE EXTENSION pg_stat_statements").unwrap();
        let lab = lab();
        let command = ["queries", url, "--every", "300ms", "-o", FILE];
        let lines = lab.json(&[&command[..], &["--count", "2"]].concat());
        assert!(
            lines.len() == 2 && lines.iter().all(|line| line["kind"] == "query_interval"),
            "{lines:#?}"
        );
        let watch = lab.start_with(&command);
        wait_for_intervals(&lab, 2);
        admin.batch("SELECT pg_stat_statements_reset()").unwrap();
        wait_for_intervals(&lab, 2);
        let noted = |what: &str| {
            number(
                &lab,
                &format!("SELECT count(*) FROM query_intervals WHERE notes LIKE '%{what}%'"),
            )
        };
        assert_eq!(noted("Statement statistics were reset"), 1);
        for number in 0..300 {
            admin.batch(&format!("SELECT 1{}", ", 1".repeat(number))).unwrap();
        }
        wait_for_intervals(&lab, 2);
        assert!(number(&lab, "SELECT sum(evictions) FROM query_intervals") > 0);

        signal(&watch, libc::SIGKILL);
        end(watch);
        let kept = intervals(&lab);
        assert_eq!(lab.rows("w", "PRAGMA integrity_check"), ["ok"]);
        let watch = lab.start_with(&command);
        wait_for_intervals(&lab, 1);
        cluster.stop(Stop::Crash, &Cancel::new()).unwrap();
        end(watch).expect(1).says("postgres");
        assert!(intervals(&lab) > kept);
        assert_eq!(number(&lab, "SELECT count(DISTINCT id) FROM query_intervals"), intervals(&lab));
        lab.steelbench(&["history", FILE])
            .expect(0)
            .shows("were not observed")
            .shows("The server evicted statements")
            .shows("reset during the interval");
        cluster.start(&Cancel::new()).unwrap();
    });
}

#[test]
fn of_mariadb_the_same() {
    servers::on_each_mariadb(true, |server, url| {
        let connect = || mariadb::client::Client::connect(&server.config()).unwrap();
        let mut admin = connect();
        admin
            .run(
                "UPDATE performance_schema.setup_consumers SET enabled = 'YES' WHERE name LIKE \
                 'events_statements_%'; CREATE DATABASE shop; USE shop; CREATE TABLE orders (id \
                 int PRIMARY KEY, customer_id int NOT NULL, amount int NOT NULL, KEY \
                 orders_customer_idx (customer_id)); INSERT INTO orders SELECT seq, seq % 10000, \
                 seq % 977 FROM seq_1_to_60000; ANALYZE TABLE orders",
            )
            .unwrap();
        let lab = lab();
        let watch = lab.start_with(&["queries", url, "--every", "300ms", "-o", FILE]);
        let mut client = connect();
        client.run("USE shop").unwrap();
        let mut number_of = 0;
        let (stop, thread) = load(move || {
            number_of = number_of % 5000 + 1;
            client.query(&format!("{LOOKUP}{number_of}")).unwrap();
            client.query(&format!("SELECT amount FROM orders WHERE id = {number_of}")).unwrap();
            client.query("SELECT sleep(0.02)").unwrap();
        });
        wait_for_intervals(&lab, 8);
        admin.run("DROP INDEX orders_customer_idx ON shop.orders").unwrap();
        wait_for_intervals(&lab, 8);
        stop.send(()).unwrap();
        thread.join().unwrap();
        signal(&watch, libc::SIGINT);
        end(watch).expect(0).shows("Slower with another plan").shows("plan since:");
        assert!(intervals_with(&lab, "sleep", "User sleep") > 0);
        let history = &lab.json(&["history", FILE])[0];
        let changed = changed_plans(history);
        let [(text, before, since, change)] = &changed[..] else { panic!("{changed:#?}") };
        assert!(text.contains("customer_id"), "{text}");
        assert!(
            before.contains("orders_customer_idx") && !since.contains("idx"),
            "{before}\n{since}"
        );
        assert_eq!(change["verdict"], "worse", "{change:#}");
        edges_are_exact(history, change);
        lab.steelbench(&["history", FILE]).expect(0).shows("rows read a run: ");
    });
}

#[test]
fn what_cannot_be_is_said() {
    let lab = lab();
    lab.steelbench(&["queries", "--every", "60s"]).expect(2).says("--output");
    lab.steelbench(&["queries", "--every", "0s", "-o", "f"]).expect(2).says("above 0");
    lab.steelbench(&["queries", "host=nowhere", "--from", "2026-01-01"]).expect(2).says("name one");
    every_server(&[], |_, url| {
        lab.steelbench(&["queries", url, "--every", "1s", "--count", "1", "-o", FILE])
            .expect(1)
            .says("the statements cannot be read: the extension pg_stat_statements was not found");
    });
}
