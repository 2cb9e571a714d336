//! `steelbench waits` on real servers.

use crate::common;
use testing::installed as servers;

use crate::common::{Lab, end, on_screen, signal, wait_until};
use crate::screen::Screen;
use postgres::client::Client;
use postgres::server::PrivateServer;
use postgres::server::Stop;
use std::process::Stdio;
use work::Cancel;

/// Runs the test with a server of each version and the arguments by which `waits` finds it.
fn on_each_server(test: impl Fn(&PrivateServer, &str)) {
    for installation in servers::installations() {
        let folder = servers::folder();
        let cluster = servers::running(servers::options(&installation, folder.path()));
        let mut client = cluster.connect().unwrap();
        let (place, port) =
            (show(&mut client, "unix_socket_directories"), show(&mut client, "port"));
        let user = client
            .query("SELECT session_user", &[])
            .unwrap()
            .first()
            .unwrap()
            .get(0)
            .unwrap()
            .to_owned();
        let place = place.trim_matches('"');
        test(&cluster, &format!("host='{place}' port={port} user={user} dbname=postgres"));
        drop(client);
        cluster.remove().unwrap();
    }
}

fn show(client: &mut Client, setting: &str) -> String {
    client
        .query(&format!("SHOW {setting}"), &[])
        .unwrap()
        .first()
        .unwrap()
        .get(0)
        .unwrap()
        .to_owned()
}

/// A session that waits for a row that another has changed, while something is done.
fn with_a_blocked_session(cluster: &PrivateServer, act: impl FnOnce(i32, i32)) {
    let (mut holder, mut waiter) = (cluster.connect().unwrap(), cluster.connect().unwrap());
    let (holder_pid, waiter_pid) = (holder.backend_pid(), waiter.backend_pid());
    holder.batch("CREATE TABLE stock (a int); INSERT INTO stock VALUES (1)").unwrap();
    holder.batch("BEGIN; UPDATE stock SET a = 2").unwrap();
    waiter.batch("SET compute_query_id = on; SET application_name = 'shop'").unwrap();
    let thread =
        std::thread::spawn(move || waiter.batch("UPDATE /* one more */ stock SET a = a + 1"));
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
            let screen = on_screen(&Lab::new(), &["waits", url, "--seconds", "0.5"]);
            assert!(screen.contains("blocks 1 session") && screen.contains("WaitType"), "{screen}");
            let mut ended = Lab::new()
                .steelbench(&["waits", "--full", url, "--seconds", "1", "--tasks"])
                .expect(0);
            let find = |start: &str| {
                ended.stdout.lines().find(|line| line.starts_with(start)).unwrap_or_default()
            };
            let columns: Vec<&str> = find("WaitType").split_whitespace().collect();
            let row = find("Lock:transactionid");
            // The seconds are sampled: they have an error.
            let (name_and_seconds, rest) = row.split_once(" ± ").unwrap_or_default();
            let cells: Vec<&str> = name_and_seconds
                .split_whitespace()
                .chain(rest.split_whitespace().skip(1))
                .collect();
            assert_eq!(columns, HEADINGS, "{ended:#?}");
            assert_eq!(cells.len(), HEADINGS.len(), "{ended:#?}");
            // Sampled: no count, no averages.
            assert_eq!((cells[4], &cells[6..]), ("-", &["-", "-", "-"][..]), "{row}");
            // Half of the busy time: the other half, the holder's client leaves its transaction
            // open.
            let percentage: f64 = cells[5].parse().unwrap();
            assert!((45.0..=55.0).contains(&percentage), "{row}");
            // Where lines are wrapped is of no interest.
            ended.stdout = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
            ended
                .shows("samples of each process from pg_stat_activity, 100 per second")
                .shows("By class")
                .shows("UPDATE stock SET a = a + ?")
                .shows(&format!(" pid {waiter} (shop, user "))
                .shows(&format!(" pid {holder} (no name, user "))
                .shows(" blocks 1 session, wait time ")
                .shows(": idle in transaction for ")
                .shows("its last statement: BEGIN; UPDATE stock SET a = ?")
                .shows(&format!("SELECT pg_terminate_backend({holder}) rolls it back."))
                .shows(
                    "Lock:transactionid: Waiting for the transaction that changed or locked the \
                     same row",
                );
        });
    });
}

#[test]
fn a_capture_stands_for_its_server_and_holds_no_statement_unless_asked() {
    on_each_server(|cluster, url| {
        with_a_blocked_session(cluster, |holder, waiter| {
            let lab = Lab::new();
            lab.steelbench(&["capture", url, "--seconds", "1", "--output", "c.json"]).expect(0);
            assert!(!lab.read("c.json").contains("stock SET"), "{}", lab.read("c.json"));
            let shown = lab.steelbench(&["waits", "--full", "c.json"]).expect(0);
            shown
                .shows("Lock:transactionid")
                .shows(&format!("pid {waiter} (shop, user "))
                .shows(&format!("SELECT pg_terminate_backend({holder}) rolls it back."));
            let merged = lab.steelbench(&["survey", "merge", "c.json"]).expect(0);
            merged.shows("shared_buffers").shows("host=");
            let arguments =
                ["capture", url, "--seconds", "1", "--output", "c.json", "--statements"];
            lab.steelbench(&arguments).expect(0);
            assert!(
                lab.read("c.json").contains("UPDATE stock SET a = a + ?"),
                "{}",
                lab.read("c.json")
            );
            // Escape sequences in names do not reach the terminal.
            let named =
                lab.read("c.json").replace("shop", "sh\\u001b[2J\\u009b2J\\u007f\\u202e\\u2066op");
            assert_ne!(named, lab.read("c.json"));
            lab.write("named.json", &named);
            for arguments in [&["waits", "named.json"][..], &["survey", "merge", "named.json"]] {
                let ended = lab.steelbench(arguments).expect(0);
                let harmful =
                    |c: char| (c.is_control() && c != '\n') || "\u{202e}\u{2066}".contains(c);
                assert!(!ended.stdout.contains(harmful), "{:?}", ended.stdout);
            }
            lab.write("o.json", "{\"schema\": \"steelbench/1\", \"kind\": \"volume\"}");
            lab.steelbench(&["waits", "o.json"]).expect(2).says("of kind \"volume\"");
        });
    });
}

#[test]
fn json_has_the_same_with_exact_figures_and_ctrl_c_ends_the_interval() {
    on_each_server(|cluster, url| {
        with_a_blocked_session(cluster, |holder, waiter| {
            let lab = Lab::new();
            let mut command = lab.command(&["waits", url, "--seconds", "600", "--json"]);
            let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            wait_for_polls(cluster, 60);
            signal(&child, libc::SIGINT);
            let ended = end(child).expect(0);
            let value: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
            assert_eq!(
                (&value["schema"], &value["kind"]),
                (&"steelbench/1".into(), &"activity".into())
            );
            let rows = value["table"]["rows"].as_array().unwrap();
            let row = rows.iter().find(|row| row["wait_type"] == "Lock:transactionid").unwrap();
            assert_eq!(row["class"], "lock");
            let (waited, elapsed) =
                (row["wait_s"].as_f64().unwrap(), value["elapsed_s"].as_f64().unwrap());
            assert!((waited - elapsed).abs() < 0.2 * elapsed, "{waited} of {elapsed}");
            assert!(value["sampling"]["polls"].as_u64().unwrap() > 0);
            let root = &value["blocking"][0];
            assert_eq!(root["session"]["pid"], holder);
            assert_eq!(root["victims"], serde_json::json!([{"task": 0, "depth": 1}]));
            assert_eq!(value["tasks"][0]["session"]["pid"], waiter);
            // The same by statement, over the whole interval.
            let blocked = &value["blocked"][0];
            assert_eq!(blocked["blocker"], "BEGIN; UPDATE stock SET a = ?");
            assert_eq!(blocked["blocker_state"], "idle in transaction");
            assert_eq!(blocked["victim"], "UPDATE stock SET a = a + ?");
            assert_eq!(blocked["sessions_max"], 1);
            assert!(blocked["looks"].as_u64().unwrap() > 0, "{blocked}");
            assert!(blocked["seconds"].as_f64().unwrap() <= elapsed, "{blocked}");
            // One statement waits for a lock, and its share is known with an error.
            let waits = value["statement_waits"].as_array().unwrap();
            let wait = waits.iter().find(|wait| wait["wait_type"] == "Lock:transactionid").unwrap();
            assert!(value["texts"][wait["query_id"].to_string()].is_string(), "{value}");
            let (share, error) = (wait["share"].as_f64().unwrap(), wait["error"].as_f64().unwrap());
            assert!((0.35..=0.55).contains(&share) && error > 0.0 && error < 0.2, "{wait}");
        });
    });
}

#[test]
fn the_screen_waits_for_a_server_that_restarts() {
    for installation in servers::installations() {
        let folder = servers::folder();
        let mut cluster = servers::running(servers::options(&installation, folder.path()));
        let mut client = cluster.connect().unwrap();
        let place = show(&mut client, "unix_socket_directories");
        let port = show(&mut client, "port");
        drop(client);
        let user = servers::ask(&cluster, "SELECT session_user");
        let url =
            format!("host='{}' port={port} user={user} dbname=postgres", place.trim_matches('"'));
        let lab = Lab::new();
        let mut screen = Screen::start(&lab, 120, &["waits", &url, "--watch"]);
        screen.await_words(&["from pg_stat_activity"]);
        cluster.stop(Stop::Clean, &Cancel::new()).unwrap();
        screen.await_words(&["Reconnecting: "]);
        cluster.start(&Cancel::new()).unwrap();
        screen.await_words(&["from pg_stat_activity"]);
        screen.press(b"q");
        assert!(screen.end().success());
        cluster.remove().unwrap();
    }
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
        .says("Is the server running?");
    lab.steelbench(&["waits", "host=h colour=blue"]).expect(2).says("colour");
    // What is called like a file is one, and no database.
    lab.steelbench(&["waits", "no.json"]).expect(2).says("no.json: No such file or directory");
    lab.steelbench(&["waits", "mongodb://h/d"]).expect(2).says(
        "mongodb://; expected one of \
                                                                postgres://",
    );
    for arguments in [["--rate", "0"], ["--rate", "x"], ["--seconds", "-1"]] {
        lab.steelbench(&["waits", &nowhere, arguments[0], arguments[1]]).expect(2);
    }
    lab.steelbench(&["waits", &nowhere, "--watch"]).expect(2).says("--watch needs a terminal");
    on_each_server(|_, url| {
        let other = format!("{url} dbname=missing");
        lab.steelbench(&["waits", &other])
            .expect(1)
            .says("missing")
            .says("The database does not exist");
    });
}

/// Starts to observe for ten minutes, and returns when samples are taken.
fn observing(lab: &Lab, arguments: &[&str], cluster: &PrivateServer) -> std::process::Child {
    let mut command = lab.command(&[&["waits", "--full", "--seconds", "600"], arguments].concat());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for_polls(cluster, 100);
    child
}

/// Waits until an observer has sampled the sessions at least `count` times.
fn wait_for_polls(cluster: &PrivateServer, count: usize) {
    let mut admin = cluster.connect().unwrap();
    let mut starts = std::collections::HashSet::new();
    wait_until("it samples", || {
        let sql = "SELECT query_start FROM pg_stat_activity WHERE application_name = 'steelbench \
                   observer' AND query LIKE '%pg_stat_get_activity%'";
        let rows = admin.query(sql, &[]).unwrap();
        starts.extend(rows.iter().filter_map(|row| row.get(0).map(str::to_owned)));
        starts.len() >= count
    });
}

#[test]
fn a_server_that_is_lost_leaves_what_was_seen_and_a_failure() {
    on_each_server(|cluster, url| {
        let lab = Lab::new();
        let mut sleeper = cluster.connect().unwrap();
        let thread = std::thread::spawn(move || sleeper.batch("SELECT pg_sleep(600)"));
        let child = observing(&lab, &[url, "--output", "w.steelbench"], cluster);
        let mut admin = cluster.connect().unwrap();
        // All sessions end, as when the server stops.
        let end_all = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> \
                       pg_backend_pid() AND backend_type = 'client backend'";
        admin.batch(end_all).unwrap();
        let ended = end(child).expect(1);
        thread.join().unwrap().unwrap_err();
        let ended = ended
            .says("terminating connection due to administrator command")
            .shows("The connection was lost after ")
            .shows("Timeout:PgSleep");
        // The same was recorded.
        let again = lab.steelbench(&["waits", "--full", "w.steelbench"]).expect(0);
        assert_eq!(again.stdout, ended.stdout);
    });
}

#[test]
fn an_observation_is_recorded_and_shown_again_as_it_was() {
    on_each_server(|cluster, url| {
        with_a_blocked_session(cluster, |holder, _| {
            let lab = Lab::new();
            let arguments = [
                "waits",
                url,
                "--seconds",
                "3",
                "--output",
                "w.steelbench",
                "--tasks",
                "--statements",
                "--full",
            ];
            let live = lab.steelbench(&arguments).expect(0).shows("UPDATE stock SET a = a + ?");
            let recorded = |arguments: &[&str]| lab.steelbench(arguments).expect(0).stdout;
            assert_eq!(
                recorded(&["waits", "--full", "w.steelbench", "--tasks", "--statements"]),
                live.stdout
            );
            let shown = recorded(&["show", "w.steelbench", "--full"]);
            assert_eq!(shown, recorded(&["waits", "--full", "w.steelbench"]));
            assert!(
                shown.contains(&format!("pid {holder} ")) && shown.contains("Lock:transactionid"),
                "{shown}"
            );
            assert!(
                recorded(&["show", "w.steelbench", "--runs"]).starts_with("observation 1: host=")
            );
            let page = recorded(&["report", "w.steelbench"]);
            assert!(lab.read(page.trim()).contains("UPDATE stock SET a = a + ?"), "{page}");
            // Any SQLite tool reads it.
            let file = rusqlite::Connection::open(lab.path("w.steelbench")).unwrap();
            let sql = "SELECT wait_s / elapsed_s FROM server_waits WHERE wait_type = \
                       'Lock:transactionid'";
            let sessions: f64 = file.query_row(sql, [], |row| row.get(0)).unwrap();
            assert!((0.8..=1.2).contains(&sessions), "{sessions}");
            lab.steelbench(&["waits", "w.steelbench@2"]).expect(2).says("has no observation 2");
            lab.steelbench(&["waits", "missing.steelbench"]).expect(2).says("missing.steelbench");
            lab.steelbench(&["export", "w.steelbench", "--format", "json"]).expect(2).says("waits");
        });
    });
}

#[test]
fn two_observations_are_compared_with_intervals() {
    on_each_server(|cluster, url| {
        let lab = Lab::new();
        let observe = |file: &str| {
            lab.steelbench(&["waits", url, "--seconds", "10", "--output", file]).expect(0)
        };
        let intervals =
            ["waits", url, "--seconds", "1", "--interval", "0.5", "--output", "before.steelbench"];
        assert_eq!(lab.steelbench(&intervals).expect(0).stdout.matches(": waits in ").count(), 2);
        observe("before.steelbench");
        with_a_blocked_session(cluster, |_, _| {
            observe("after.steelbench");
        });
        let compared = lab
            .steelbench(&["compare", "before.steelbench@3", "after.steelbench", "--json"])
            .expect(0);
        let compared: serde_json::Value = serde_json::from_str(&compared.stdout).unwrap();
        assert_eq!(compared["kind"], "activity_comparison");
        let waits = compared["waits"].as_array().unwrap();
        let lock = waits.iter().find(|wait| wait["wait_type"] == "Lock:transactionid").unwrap();
        assert_eq!((&lock["tendency"], &lock["class"]), (&"more".into(), &"lock".into()), "{lock}");
        assert!((lock["to"].as_f64().unwrap() - 1.0).abs() < 0.1 && lock["from"] == 0.0, "{lock}");
        let text = lab.steelbench(&["compare", "after.steelbench", "before.steelbench"]).expect(0);
        text.shows("Before: PostgreSQL ").shows("Lock:transactionid").shows("fewer");
        let same =
            lab.steelbench(&["compare", "before.steelbench@3", "before.steelbench"]).expect(2);
        same.says("both are observation 3");
        let short =
            lab.steelbench(&["compare", "before.steelbench@1", "before.steelbench@2"]).expect(0);
        short.shows("No intervals");
        let gate = ["compare", "before.steelbench", "after.steelbench", "--all"];
        lab.steelbench(&gate).expect(2).says("shows every wait");
    });
}

#[test]
fn nothing_is_cut_for_a_program_and_constants_are_shown_on_request_only() {
    on_each_server(|cluster, url| {
        let mut client = cluster.connect().unwrap();
        let application = "a-very-long-name-of-an-application-that-has-60-characters-60";
        client
            .batch(&format!("SET compute_query_id = on; SET application_name = '{application}'"))
            .unwrap();
        let columns: Vec<String> =
            (0..40).map(|n| format!("a_rather_long_column_name_{n}")).collect();
        let text = format!("SELECT pg_sleep(?), {}", columns.join(", "));
        let from =
            columns.iter().map(|name| format!("'S3cret' AS {name}")).collect::<Vec<_>>().join(", ");
        // The server itself cuts after 1 kB; what it has is not cut again.
        let statement = text.replace('?', "61703") + &format!(" FROM (SELECT {from}) t");
        let canceller = client.canceller();
        let thread = std::thread::spawn(move || client.batch(&statement));
        let mut admin = cluster.connect().unwrap();
        wait_until("it sleeps", || {
            !admin
                .query("SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'", &[])
                .unwrap()
                .is_empty()
        });
        let lab = Lab::new();
        let shown = lab.steelbench(&["waits", "--full", url, "--seconds", "1"]).expect(0).stdout;
        let start = &text[..900];
        assert!(shown.contains(application) && shown.contains(start), "{shown}");
        assert!(
            !shown.contains("S3cret") && !shown.contains("61703") && !shown.contains('…'),
            "{shown}"
        );
        let literal = ["waits", "--full", url, "--seconds", "1", "--literals"];
        lab.steelbench(&literal).expect(0).shows(&start.replace('?', "61703"));
        while !thread.is_finished() {
            let _ = canceller.cancel();
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        thread.join().unwrap().unwrap_err();
    });
}

#[test]
fn the_options_of_psql_name_the_server() {
    on_each_server(|_, url| {
        let lab = Lab::new();
        let value = |key: &str| {
            let (_, rest) = url.split_once(&format!("{key}=")).unwrap();
            rest.split_whitespace().next().unwrap().trim_matches('\'').to_owned()
        };
        let (host, port, user) = (value("host"), value("port"), value("user"));
        let run = |arguments: &[&str], variables: &[(&str, &str)]| {
            let mut command = lab.command(&[&["waits", "--seconds", "0.2"], arguments].concat());
            command.envs(variables.iter().copied());
            common::Exit::from(command.output().unwrap())
        };
        let all = ["-h", &host, "-p", &port, "-U", &user, "-d", "postgres"];
        run(&all, &[]).expect(0).shows("waits in");
        let long = ["--host", &host, "--port", &port, "--username", &user, "postgres"];
        run(&long, &[]).expect(0).shows("waits in");
        let variables =
            [("PGHOST", &*host), ("PGPORT", &port), ("PGUSER", &user), ("PGDATABASE", "postgres")];
        run(&[], &variables).expect(0).shows("waits in");
        run(&["-h", "/nowhere", "-U", "somebody"], &variables[1..])
            .expect(1)
            .says("/nowhere")
            .says("somebody");
        run(&["-d", "postgres", "postgres"], &variables).expect(2).says("given twice");
        run(&["-h", &host, url], &[]).expect(2).says("put it into the URL");
    });
    let help = Lab::new().steelbench(&["waits", "--help"]).expect(0);
    help.shows("-h, --host <HOST>").shows("--help");
}

#[test]
fn no_complaint_about_an_argument_repeats_a_password() {
    let lab = Lab::new();
    for url in [
        "mysql://root:S3cr3t@h",
        "mysql://root:S3cr3t@h/d?x=y",
        "mssql://sa:S3'cr3t@h:1/d",
        "mysql://root:S3 cr3t@h",
        "postgres://u:S3 cr3t@h/d",
        "root:S3cr3t@h",
        "postgres://u:S3cr3t@h:port/d",
        "postgres://u:S3/cr3t@h/d",
        "host=h password=S3cr3t colour=blue",
    ] {
        for arguments in [
            &["waits", url][..],
            &["waits", "-d", url],
            &["waits", "-h", url, "-p", "1", "-d", "d"],
            &["waits", "-h", "h", url],
            &["waits", "-p", url],
            &["waits", url, url],
            &["waits", "--seconds", url],
            &["waits", "--output", url],
            &["survey", "--server", url, "--volume", "."],
            &["survey", url],
            &["survey", "merge", url],
        ] {
            let mut command = lab.command(arguments);
            command
                .env("PGCONNECT_TIMEOUT", "1")
                .env("HOME", lab.path(""))
                .env("PGHOST", "127.0.0.1")
                .env("PGPORT", "1");
            let ended = common::Exit::from(command.output().unwrap());
            assert_ne!(ended.code, Some(0), "{arguments:?}");
            for part in ["S3", "cr3t"] {
                assert!(!format!("{ended:?}").contains(part), "{arguments:?} {ended:?}");
            }
        }
    }
}
