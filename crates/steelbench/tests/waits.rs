//! `steelbench waits` on real servers.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

mod common;
#[path = "../../engines/tests/common/mod.rs"]
mod servers;

use common::{Lab, end, signal, wait_until};
use engines::postgres::server::Cluster;
use pgclient::Client;
use std::process::Stdio;

/// A server of each version, and what `waits` is told to find it.
fn on_each_server(test: impl Fn(&Cluster, &str)) {
    for installation in servers::installations() {
        let folder = servers::folder();
        let cluster = servers::running(servers::options(&installation, folder.path()));
        let mut client = cluster.connect().unwrap();
        let (place, port) = (show(&mut client, "unix_socket_directories"), show(&mut client, "port"));
        let user =
            client.query("SELECT session_user", &[]).unwrap().first().unwrap().get(0).unwrap().to_owned();
        let place = place.trim_matches('"');
        test(&cluster, &format!("host='{place}' port={port} user={user} dbname=postgres"));
        drop(client);
        cluster.remove().unwrap();
    }
}

fn show(client: &mut Client, setting: &str) -> String {
    client.query(&format!("SHOW {setting}"), &[]).unwrap().first().unwrap().get(0).unwrap().to_owned()
}

/// A session that waits for a row that another has changed, while something is done.
fn with_a_blocked_session(cluster: &Cluster, act: impl FnOnce(i32, i32)) {
    let (mut holder, mut waiter) = (cluster.connect().unwrap(), cluster.connect().unwrap());
    let (holder_pid, waiter_pid) = (holder.backend_pid(), waiter.backend_pid());
    holder.batch("CREATE TABLE stock (a int); INSERT INTO stock VALUES (1)").unwrap();
    holder.batch("BEGIN; UPDATE stock SET a = 2").unwrap();
    waiter.batch("SET compute_query_id = on; SET application_name = 'shop'").unwrap();
    let thread = std::thread::spawn(move || waiter.batch("UPDATE /* one more */ stock SET a = a + 1"));
    let mut admin = cluster.connect().unwrap();
    wait_until("a session waits", || {
        let sql = "SELECT 1 FROM pg_locks WHERE NOT granted AND pid = $1";
        !admin.query(sql, &[Some(&waiter_pid.to_string())]).unwrap().is_empty()
    });
    act(holder_pid, waiter_pid);
    holder.batch("ROLLBACK").unwrap();
    thread.join().unwrap().unwrap();
}

const HEADINGS: [&str; 9] = [
    "WaitType",
    "Wait_S",
    "Resource_S",
    "Signal_S",
    "WaitCount",
    "Percentage",
    "AvgWait_S",
    "AvgRes_S",
    "AvgSig_S",
];

#[test]
fn the_report_has_the_table_its_breakdowns_and_who_blocks_whom() {
    on_each_server(|cluster, url| {
        with_a_blocked_session(cluster, |holder, waiter| {
            let ended = Lab::new().steelbench(&["waits", url, "--seconds", "1", "--tasks"]).expect(0);
            let find =
                |start: &str| ended.stdout.lines().find(|line| line.starts_with(start)).unwrap_or_default();
            let columns: Vec<&str> = find("WaitType").split_whitespace().collect();
            let row = find("Lock:transactionid");
            // The seconds are sampled: they have an error.
            let (name_and_seconds, rest) = row.split_once(" ± ").unwrap_or_default();
            let cells: Vec<&str> =
                name_and_seconds.split_whitespace().chain(rest.split_whitespace().skip(1)).collect();
            assert_eq!(columns, HEADINGS, "{ended:#?}");
            assert_eq!(cells.len(), HEADINGS.len(), "{ended:#?}");
            // Sampled: no count, no averages.
            assert_eq!((cells[4], &cells[6..]), ("-", &["-", "-", "-"][..]), "{row}");
            // Half of the busy time: the other half, the holder's client leaves its transaction open.
            let percentage: f64 = cells[5].parse().unwrap();
            assert!((45.0..=55.0).contains(&percentage), "{row}");
            ended
                .shows("samples of each process from pg_stat_activity, 100 a second")
                .shows("By class")
                .shows("UPDATE /* one more */ stock SET a = a + 1")
                .shows(&format!("pid {waiter} (shop, user "))
                .shows(&format!("blocked by pid {holder} ("))
                .shows("idle in transaction")
                .shows("Lock:transactionid: Waiting for the transaction that changed or locked the same row");
        });
    });
}

#[test]
fn json_has_the_same_with_exact_figures_and_ctrl_c_ends_the_interval() {
    on_each_server(|cluster, url| {
        with_a_blocked_session(cluster, |_, _| {
            let lab = Lab::new();
            let mut command = lab.command(&["waits", url, "--seconds", "600", "--json"]);
            let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            let mut admin = cluster.connect().unwrap();
            wait_until("it observes", || {
                let sql = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'steelbench observer' \
                           AND query LIKE '%pg_stat_get_activity%'";
                !admin.query(sql, &[]).unwrap().is_empty()
            });
            std::thread::sleep(std::time::Duration::from_millis(300));
            signal(&child, libc::SIGINT);
            let ended = end(child).expect(0);
            let seen: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
            assert_eq!((&seen["schema"], &seen["kind"]), (&"steelbench/1".into(), &"activity".into()));
            let rows = seen["table"]["rows"].as_array().unwrap();
            let row = rows.iter().find(|row| row["wait_type"] == "Lock:transactionid").unwrap();
            assert_eq!(row["class"], "lock");
            let (waited, elapsed) = (row["wait_s"].as_f64().unwrap(), seen["elapsed_s"].as_f64().unwrap());
            assert!((waited - elapsed).abs() < 0.2 * elapsed, "{waited} of {elapsed}");
            assert!(seen["tasks"].is_null() && seen["sampling"]["polls"].as_u64().unwrap() > 0);
        });
    });
}

#[test]
fn what_goes_wrong_is_told_with_what_to_do() {
    let lab = Lab::new();
    let folder = lab.path("no-server");
    std::fs::create_dir(&folder).unwrap();
    let nowhere = format!("host='{}' user=somebody dbname=d", folder.display());
    lab.steelbench(&["waits", &nowhere, "--seconds", "1"])
        .expect(1)
        .says("no-server")
        .says("Is the server running there?");
    lab.steelbench(&["waits", "host=h colour=blue"]).expect(2).says("colour");
    lab.steelbench(&["waits", "mongodb://h/d"]).expect(2).says("mongodb://; known are postgres://");
    for arguments in [["--rate", "0"], ["--rate", "x"], ["--seconds", "-1"]] {
        lab.steelbench(&["waits", &nowhere, arguments[0], arguments[1]]).expect(2);
    }
    lab.steelbench(&["waits", &nowhere, "--watch"]).expect(2).says("--watch needs a terminal");
    on_each_server(|_, url| {
        let other = format!("{url} dbname=missing");
        lab.steelbench(&["waits", &other]).expect(1).says("missing").says("Name a database that exists");
    });
}
