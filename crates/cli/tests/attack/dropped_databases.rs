//! Databases that are dropped, recreated or reset between two snapshots of `queries --seconds`: no
//! difference of counters wraps, and nothing from before the interval is counted in it.

use crate::attack::arena::{Arena, Random, Tries, USUAL, campaign};
use crate::common::{end, signal};
use crate::servers::by_url::{OWNER, Server, bindirs};
use postgres::client::{Client, Config};
use serde_json::Value;
use std::process::Child;
use std::time::{Duration, Instant};

/// Beginning of 2^64 in decimal: a negative difference that wrapped.
const WRAPPED: &str = "184467440737";
const DATABASES: [&str; 3] = ["a", "b", "c"];
/// Runs of each statement in each database before the interval.
const BEFORE: u64 = 300;

fn connect(server: &Server, database: &str) -> Client {
    let config = Config::unix(server.folder(), server.port, OWNER, database);
    Client::connect(&config).unwrap()
}

/// Runs a statement `runs` times.
fn work(client: &mut Client, runs: u64) {
    for _ in 0..runs {
        client.query("SELECT count(*) FROM pg_class WHERE relpages > 3", &[]).unwrap();
    }
}

/// Drops a database with its sessions. The command under test may connect after the server has
/// ended them, and the server then refuses to drop the database, which is in use: then again.
fn drop_database(admin: &mut Client, database: &str) {
    let begun = Instant::now();
    while let Err(error) = admin.batch(&format!("DROP DATABASE IF EXISTS {database} WITH (FORCE)"))
    {
        assert!(error.code() == Some("55006") && begun.elapsed() < USUAL.time, "{error}");
    }
}

/// Changes a database in one of the ways that move its counters backwards; returns the statements
/// that it has run since.
fn disturb(server: &Server, random: &mut Random) -> u64 {
    let mut admin = server.connect();
    let database = *random.pick(&DATABASES);
    let runs = random.below(20) as u64;
    match random.below(5) {
        0 => drop_database(&mut admin, database),
        1 => {
            drop_database(&mut admin, database);
            admin.batch(&format!("CREATE DATABASE {database}")).unwrap();
            work(&mut connect(server, database), runs);
            return runs;
        }
        2 => admin.batch("SELECT pg_stat_statements_reset()").unwrap(),
        3 => connect(server, database).batch("SELECT pg_stat_reset()").unwrap(),
        _ => {
            work(&mut connect(server, database), runs);
            return runs;
        }
    }
    0
}

/// Waits until the command has taken its first snapshot: its session has answered and is idle.
fn first_snapshot(server: &Server, child: &mut Child) {
    let text = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'steelbench%' \
                 AND state LIKE 'idle%' AND state_change < clock_timestamp() - interval '150 ms'";
    let (mut admin, begun) = (server.connect(), Instant::now());
    while admin.cell(text).unwrap().as_deref() == Some("0")
        && child.try_wait().unwrap().is_none()
        && begun.elapsed() < USUAL.time
    {
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The sum of all calls of the statement.
fn calls(found: &Value) -> f64 {
    let statements = found["statements"].as_array().cloned().unwrap_or_default();
    let ours = statements.iter().filter(|statement| {
        statement["text"].as_str().is_some_and(|text| text.contains("relpages >"))
    });
    ours.filter_map(|statement| statement["counters"]["calls"].as_f64()).sum()
}

/// Counters below zero.
fn negative(value: &Value, path: &str) -> Option<String> {
    match value {
        Value::Object(all) => {
            all.iter().find_map(|(name, member)| negative(member, &format!("{path}.{name}")))
        }
        Value::Array(all) => all.iter().find_map(|element| negative(element, path)),
        Value::Number(number) if path.contains("counters") && number.as_f64() < Some(0.0) => {
            Some(format!("{path} is {number}"))
        }
        _ => None,
    }
}

#[test]
fn dropped_databases() {
    let Some(bin) = bindirs().into_iter().next() else { return };
    let counted = [("shared_preload_libraries", "pg_stat_statements"), ("track_io_timing", "on")];
    let server = Server::start(&bin, "", &counted);
    if let Err(error) = server.connect().batch("CREATE EXTENSION pg_stat_statements") {
        return crate::common::skipped(&error.to_string());
    }
    let url = server.conninfo();
    campaign("dropped_databases", Tries { short: 1, full: 150 }, |random| {
        let arena = Arena::new();
        let mut admin = server.connect();
        for database in DATABASES {
            drop_database(&mut admin, database);
            admin.batch(&format!("CREATE DATABASE {database}")).unwrap();
            work(&mut connect(&server, database), BEFORE);
        }
        let mut child = arena.lab.start_with(&["queries", &url, "--seconds", "1.5", "--json"]);
        first_snapshot(&server, &mut child);
        let mut within = 0;
        for _ in 0..=random.below(3) {
            // A database that is gone cannot be disturbed again.
            let missing = "SELECT count(*) < 3 FROM pg_database WHERE datname IN ('a', 'b', 'c')";
            if admin.cell(missing).unwrap().as_deref() == Some("t") {
                break;
            }
            within += disturb(&server, random);
        }
        if child.try_wait().unwrap().is_none() && random.below(8) == 0 {
            signal(&child, libc::SIGINT);
        }
        let ended = end(child);
        if !matches!(ended.code, Some(0 | 130)) || ended.stderr.contains("panicked") {
            return Err(format!("{ended:?}"));
        }
        if let Some(at) = ended.stdout.find(WRAPPED) {
            return Err(format!(
                "a counter wraps: {:.300}",
                &ended.stdout[at.saturating_sub(200)..]
            ));
        }
        let Ok(found) = serde_json::from_str::<Value>(&ended.stdout) else {
            return if ended.code == Some(130) { Ok(()) } else { Err(format!("{ended:?}")) };
        };
        if let Some(why) = negative(&found, "") {
            return Err(why);
        }
        let calls = calls(&found);
        if calls > within as f64 {
            return Err(format!("{calls} calls, but {within} within the interval"));
        }
        arena.is_clean()
    });
}
