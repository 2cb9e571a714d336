//! MariaDB servers that fail in the middle of a trial, refuse, or fall silent: the trial fails with
//! its reason, the run continues, and nothing is left behind. In addition: every trial begins with
//! the tables of the set-up.

use crate::common::{Lab, end, hear, signal, wait_until};
use crate::servers;
use crate::servers::mariadb::Server;
use crate::servers::mariadb_load::{LOAD_RUNS, await_load, once_it_says, running_load};
use crate::servers::{
    BY_CONFIGURATION, ONCE, PLACES_ON_A_SMALL_DISK, causes, inserts, kill, lab, nothing_is_left,
    only_trials_on_the_small_disk_fail, processes,
};
use mariadb::client::Client;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::Receiver;

const STATUSES: &str = "SELECT status FROM trials ORDER BY id";
const TRIAL_TIME: &str = "took longer than limits.trial_time";
const SLEEP: &str = "SELECT id FROM information_schema.processlist WHERE info LIKE '%sleep(600)%' \
                     AND id <> connection_id()";

fn installed() -> bool {
    !servers::installed::mariadb_installations().is_empty()
}

/// An experiment on a private server or on one by URL; `more` comes at its end.
fn experiment(blocks: u32, target: &str, workload: &str, more: &str) -> String {
    format!(
        "[experiment]\nname = \"t\"\n[target]\nengine = \
         \"mariadb\"\n{target}\n[workload]\n{workload}\n[repeats]\nblocks = {blocks}\n{more}"
    )
}

#[test]
fn a_killed_server_and_a_killed_session_fail_their_trials_only() {
    if !installed() {
        return;
    }
    let lab = lab(&experiment(3, "", &inserts(3.0), ""));
    let child = lab.start();
    let (first, _) = running_load(&lab, None);
    kill(first, libc::SIGKILL);
    let (second, mut client) = running_load(&lab, Some(first));
    let session = "SELECT max(id) FROM information_schema.processlist WHERE db = 'steelbench'";
    let session = client.cell(session).unwrap().unwrap();
    client.run(&format!("KILL {session}")).unwrap();
    end(child).expect(1).says("FAILED");
    assert!(!servers::installed::is_alive(first) && !servers::installed::is_alive(second));
    assert_eq!(lab.rows("t", STATUSES), ["failed", "failed", "done"]);
    let causes = causes(&lab);
    // The load notices it, or earlier the sampler of waits.
    let is_reported = |cause: &String| {
        cause.contains("connection to the server") || cause.contains("cannot connect")
    };
    assert!(causes.iter().all(is_reported), "{causes:?}");
    nothing_is_left(&lab);
}

#[test]
fn a_server_that_hangs_fails_its_trial_when_its_time_is_over() {
    if !installed() {
        return;
    }
    let lab = lab(&experiment(2, "", &inserts(2.0), "[limits]\ntrial_time = \"12 s\"\n"));
    let child = lab.start();
    let (first, _) = running_load(&lab, None);
    kill(first, libc::SIGSTOP);
    end(child).expect(1);
    let causes = causes(&lab);
    assert!(causes.len() == 1 && causes[0].contains(TRIAL_TIME), "{causes:?}");
    assert_eq!(lab.rows("t", STATUSES), ["failed", "done"]);
    assert!(!servers::installed::is_alive(first));
    nothing_is_left(&lab);
}

#[test]
fn a_statement_that_takes_too_long_fails_its_trial_or_all_its_time() {
    if !installed() {
        return;
    }
    let levels = "[limits]\ntrial_time = \"12 s\"\n[[level]]\nfactor = \"sleep\"\nname = \
                  \"short\"\nset = { \"workload.variables.sleep\" = 0 }\n[[level]]\nfactor = \
                  \"sleep\"\nname = \"over the statement's limit\"\nset = { \
                  \"workload.variables.sleep\" = 600, \"target.statement_timeout\" = \"200 ms\" \
                  }\n[[level]]\nfactor = \"sleep\"\nname = \"over the trial's limit\"\nset = { \
                  \"workload.variables.sleep\" = 600 }\n";
    let lab = lab(&experiment(1, "", ONCE, levels));
    lab.write("script.sql", "SELECT sleep(:sleep);\n");
    lab.run(1);
    for row in lab.rows("t", BY_CONFIGURATION) {
        assert_eq!(row.ends_with("|done|1"), row.contains("sleep=short"), "{row}");
    }
    let mut causes = causes(&lab);
    causes.sort_by_key(|cause| cause.contains("limits.trial_time"));
    assert!(causes[0].contains("max_statement_time exceeded"), "{causes:?}");
    assert!(causes[1].contains(TRIAL_TIME), "{causes:?}");
    nothing_is_left(&lab);
}

#[test]
fn a_full_disk_of_data_or_log_fails_its_trials_only() {
    if !installed() {
        return;
    }
    let workload = "probe = \"insert\"\nconnections = 2\nrows = \"500k\"\nrows_per_transaction = \
                    100000\nmethod = \"copy\"";
    let lab = lab(&experiment(1, "", workload, PLACES_ON_A_SMALL_DISK));
    only_trials_on_the_small_disk_fail(&lab, "size=80m,mode=755");
}

#[test]
fn a_killed_run_takes_its_server_along_and_goes_on_later() {
    if !installed() {
        return;
    }
    let lab = lab(&experiment(1, "", &inserts(2.0), ""));
    let child = lab.start();
    let (first, _) = running_load(&lab, None);
    signal(&child, libc::SIGKILL);
    end(child);
    // A process that exits has neither a folder nor arguments any more.
    wait_until("the server ends with the run", || {
        processes(&lab).is_empty() && !servers::installed::is_alive(first)
    });
    assert_ne!(lab.work_folders().len(), 0);
    lab.run(0).says("left by a killed run");
    nothing_is_left(&lab);
}

#[test]
fn an_interruption_ends_a_trial_and_its_preparation_also_in_the_middle_of_a_statement() {
    if !installed() {
        return;
    }
    let load = "probe = \"script\"\nbuiltin = \"tpcb-like\"\nscale = 40\nconnections = \
                1\ntransactions = 1";
    for (workload, running) in [
        (inserts(600.0), LOAD_RUNS.to_owned()),
        (ONCE.to_owned(), SLEEP.to_owned()),
        (load.to_owned(), SLEEP.replace("%sleep(600)%", "LOAD DATA%")),
    ] {
        let lab = lab(&experiment(1, "", &workload, ""));
        lab.write("script.sql", "SELECT sleep(600);\n");
        let child = lab.start();
        once_it_says(&lab, None, &running);
        signal(&child, libc::SIGINT);
        end(child).expect(130);
        assert_eq!(lab.trials("t"), 0);
        nothing_is_left(&lab);
    }
}

/// A user with privileges in the `steelbench` database only.
const APP: &str = "CREATE USER app; GRANT ALL ON steelbench.* TO app";

#[test]
fn what_a_server_by_url_refuses_is_told_and_locks_are_waited_for_again() {
    Server::each().iter().for_each(refusals);
}

fn refusals(server: &Server) {
    let mut root = server.connect();
    root.run(APP).unwrap();
    let by_url = |url: &str, target: &str, workload: &str| {
        let file = experiment(
            1,
            &format!("url = \"{url}\"\n{target}"),
            workload,
            "[observe]\nwaits = false\n",
        );
        lab(&file)
    };
    let url = server.url("app");
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    by_url(&format!("mariadb://app@127.0.0.1:{closed}"), "", &inserts(0.2))
        .run(1)
        .says("Connection refused");
    // Of the server as a whole, found before the first trial.
    for (set, text, back) in [
        ("read_only = 1", "the server is read-only", "read_only = 0"),
        ("max_connections = 10", "the server allows 10 connections", "max_connections = 50"),
        ("local_infile = 0", "SET GLOBAL local_infile = ON", "local_infile = 1"),
    ] {
        root.run(&format!("SET GLOBAL {set}")).unwrap();
        by_url(&url, "", &inserts(0.2).replace("= 2", "= 16")).run(1).says(text);
        root.run(&format!("SET GLOBAL {back}")).unwrap();
    }
    // Others have taken what there is.
    let others: Vec<Client> = (0..40).map(|_| server.connect()).collect();
    let full = by_url(&url, "", &inserts(0.2).replace("= 2", "= 16"));
    full.run(1);
    assert!(causes(&full)[0].contains("Too many connections"), "{:?}", causes(&full));
    drop(others);
    // A packet that is longer than it takes.
    root.run("SET GLOBAL max_allowed_packet = 4096").unwrap();
    let packet = by_url(&url, "", &inserts(0.2).replace("= 10", "= 9000\nmethod = \"copy\""));
    packet.run(1);
    assert!(causes(&packet)[0].contains("max_allowed_packet"), "{:?}", causes(&packet));
    root.run("SET GLOBAL max_allowed_packet = 16777216").unwrap();
    // Another session holds a lock for longer than the server waits, which counts as a try.
    let tpcb = "probe = \"script\"\nbuiltin = \"tpcb-like\"\nscale = 1\nconnections = 2\nduration \
                = \"4 s\"\nmax_tries = 10";
    let locked = by_url(&url, "settings.innodb_lock_wait_timeout = 1", tpcb);
    let child = locked.start();
    await_load(&mut root);
    root.run("BEGIN; UPDATE steelbench.pgbench_branches SET bbalance = bbalance + 0").unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1500));
    root.run("ROLLBACK").unwrap();
    end(child).expect(0);
    assert_eq!(locked.rows("t", "SELECT errors, retries > 0 FROM trials"), ["0|1"]);
    // An interruption ends the statements of the load, a kill leaves what the next run removes.
    let lab = by_url(&url, "", ONCE);
    for sent in [libc::SIGINT, libc::SIGKILL] {
        lab.write("script.sql", "SELECT sleep(600);\n");
        let child = lab.start_with(&["run", "e.toml", "--fresh"]);
        wait_until("the script sleeps", || root.cell(SLEEP).unwrap().is_some());
        signal(&child, sent);
        end(child);
        let is_interrupt = sent == libc::SIGINT;
        assert_eq!(root.cell(SLEEP).unwrap().is_none(), is_interrupt);
        let database = "SELECT 1 FROM information_schema.schemata WHERE schema_name = 'steelbench'";
        assert_eq!(root.cell(database).unwrap().is_none(), is_interrupt);
        lab.write("script.sql", "SELECT sleep(0);\n");
        let next = lab.run_with(&["--fresh"], 0);
        let left = "database steelbench of an earlier run is still there; the first trial drops it";
        let is_told = next.stdout.contains(left) || next.stderr.contains(left);
        assert_eq!(is_told, !is_interrupt, "{next:#?}");
        assert_eq!(root.cell(database).unwrap(), None);
    }
}

/// Two rows in either order: sessions that wait for each other, of which the server ends one (error
/// 1213). Then a row lock held for longer than the lock timeout (1205), after which the server
/// itself rolls back one statement only.
#[test]
fn deadlocks_and_lock_timeouts_are_tried_again_as_often_as_the_script_says_and_counted() {
    Server::each().iter().for_each(deadlocks);
}

fn deadlocks(server: &Server) {
    let mut root = server.connect();
    root.run("CREATE DATABASE app; CREATE TABLE app.counters (id int PRIMARY KEY, n int)").unwrap();
    root.run("INSERT INTO app.counters VALUES (1, 0), (2, 0)").unwrap();
    let script = "\\set one random(1, 2)\nBEGIN;\nUPDATE app.counters SET n = n + 1 WHERE id = \
                  :one;\nDO sleep(0.002);\nUPDATE app.counters SET n = n + 1 WHERE id = 3 - \
                  :one;\nCOMMIT;\n";
    let by_url = |target: &str, workload: &str| {
        let target = format!("url = \"{}\"\n{target}", server.url("root"));
        let lab = lab(&experiment(1, &target, workload, "[observe]\nwaits = false\n"));
        lab.write("s.sql", script);
        lab
    };
    let work = |lab: &Lab| {
        let work = lab.rows("t", "SELECT transactions, errors, retries FROM trials");
        let work: Vec<u32> = work[0].split('|').map(|number| number.parse().unwrap()).collect();
        (work[0], work[1], work[2])
    };
    let sum = "SELECT sum(n) FROM app.counters";
    for protocol in ["simple", "prepared"] {
        for tries in [1, 100_000] {
            root.run("UPDATE app.counters SET n = 0").unwrap();
            let lab = by_url(
                "",
                &format!(
                    "probe = \"script\"\nscript = \"s.sql\"\nconnections = 4\ntransactions = \
                     80\nmax_tries = {tries}\nprotocol = \"{protocol}\""
                ),
            );
            lab.run(0);
            let (done, errors, retries) = work(&lab);
            // Every committed transaction, and none that was rolled back, has counted.
            assert_eq!(root.cell(sum).unwrap().unwrap(), (done * 2).to_string());
            assert_eq!(done + errors, 80);
            let again = (errors == 0 && retries > 0, errors > 0 && retries == 0);
            assert_eq!(again, (tries > 1, tries == 1), "{protocol}: {done} {errors} {retries}");
        }
    }
    root.run("UPDATE app.counters SET n = 0; BEGIN; UPDATE app.counters SET n = 0 WHERE id = 2")
        .unwrap();
    let once =
        "probe = \"script\"\nscript = \"s.sql\"\nconnections = 1\ntransactions = 1\nmax_tries = 3";
    let lab = by_url("settings.innodb_lock_wait_timeout = 1", once);
    lab.write("s.sql", &script.replace("random(1, 2)", "1"));
    lab.run(0);
    assert_eq!(work(&lab), (0, 1, 2));
    root.run("COMMIT").unwrap();
    assert_eq!(
        root.cell(sum).unwrap().as_deref(),
        Some("0"),
        "the first of its updates, too, is rolled back"
    );
}

const SCHEMA: &str = "CREATE TABLE items (id int PRIMARY KEY, note varchar(20));\nDELIMITER \
                      //\nCREATE PROCEDURE fill(IN n int)\nBEGIN\n  DECLARE i int DEFAULT 0;\n  \
                      WHILE i < n DO\n    INSERT INTO items VALUES (i, @note); SET i = i + 1;\n  \
                      END WHILE;\nEND//\nDELIMITER ;\nCALL fill(@rows);\n";

/// Fails unless both tables are as they were made, and takes what is in one.
const LOOK: &str = "SELECT count(*) AS n FROM items WHERE note = 'it''s' \\gset\nSELECT count(*) \
                    AS old FROM old \\gset\n\\if :n <> 10 or :old <> 3\nSELECT \
                    wrong_number_of_rows;\n\\endif\nDELETE FROM items;\n";

#[test]
fn every_trial_begins_with_the_tables_that_a_dump_and_sql_have_made() {
    let Some(server) = Server::start(&[]) else { return };
    server
        .connect()
        .run(
            "CREATE DATABASE app; CREATE TABLE app.old (a int); INSERT INTO app.old VALUES (1), \
             (2), (3)",
        )
        .unwrap();
    let mut dump = std::process::Command::new("mariadb-dump");
    dump.args(["--no-defaults", "--user=root", "app"])
        .arg(format!("--socket={}", server.socket().display()));
    let dump = dump.output().unwrap();
    assert!(dump.status.success(), "{dump:?}");
    let setup = "setup.dump = \"old.sql\"\nsetup.sql = \"schema.sql\"\nsetup.variables = { rows = \
                 10, note = \"it's\" }";
    for target in [String::new(), format!("url = \"{}\"\n", server.url("root"))] {
        let lab = lab(&experiment(
            2,
            &format!("{target}{setup}"),
            &ONCE.replace("simple", "prepared"),
            "",
        ));
        lab.write("old.sql", &String::from_utf8_lossy(&dump.stdout));
        lab.write("schema.sql", SCHEMA);
        lab.write("script.sql", LOOK);
        lab.run(0);
        assert_eq!(lab.rows("t", STATUSES), ["done", "done"], "{target}");
        lab.write("schema.sql", &format!("{SCHEMA}INSERT INTO missing VALUES (1);\n"));
        lab.run_with(&["--fresh"], 1);
        let cause = causes(&lab).pop().unwrap();
        assert!(cause.contains("running schema.sql") && cause.contains("ERROR 1146"), "{cause}");
        assert!(cause.contains("at line 12"), "{cause}");
        nothing_is_left(&lab);
    }
    let databases =
        "SELECT count(*) FROM information_schema.schemata WHERE schema_name = 'steelbench'";
    assert_eq!(server.connect().cell(databases).unwrap().as_deref(), Some("0"));
}

/// A greeting of a MariaDB server: version, number, challenge, capabilities, plugin; and its word
/// that the login is done.
const GREETING: [&[u8]; 5] = [
    b"\x0a5.5.5-10.11.6-MariaDB\0",
    b"\x07\0\0\x0012345678\0\xfe\xf7\x2d\x02\0\xff\x01\x15",
    b"\0\0\0\0\0\0\0\0\0\0",
    b"901234567890\0",
    b"mysql_native_password\0",
];
const OK: &[u8] = b"\x07\0\0\x02\0\0\0\x02\0\0\0";

/// A server that falls silent after the login, if `lets_in`, or instead of one. Reports each client
/// that waits.
fn silent(lets_in: bool) -> (u16, Receiver<()>) {
    servers::silent(move |socket| {
        if lets_in {
            let greeting = GREETING.concat();
            socket.write_all(&[greeting.len() as u8, 0, 0, 0])?;
            socket.write_all(&greeting)?;
            let _ = socket.read(&mut [0; 10_000])?;
            socket.write_all(OK)?;
            socket.read_exact(&mut [0])?;
        }
        Ok(())
    })
}

#[test]
fn every_wait_for_a_silent_server_ends_in_its_time_and_at_the_first_interruption() {
    for lets_in in [false, true] {
        let (port, receiver) = silent(lets_in);
        let url = format!("mariadb://me@127.0.0.1:{port}/?ssl-mode=DISABLED&connect-timeout=600");
        let limited = |url: &str, limits: &str| {
            Lab::with(&experiment(1, &format!("url = \"{url}\""), &inserts(0.2), limits))
        };
        let lab = limited(&url, "");
        let mut child = lab.start();
        hear(&receiver, &mut child);
        signal(&child, libc::SIGINT);
        end(child).expect(130);
        assert_eq!(lab.work_folders().len(), 0);
        let url = url.replace("connect-timeout=600", "connect-timeout=2");
        // A command that may repair it runs before the trial, so the trial is begun.
        let limits = "[limits]\ntrial_time = \"1 s\"\n[hooks]\nbefore_trial = \"true\"\n";
        let lab = limited(&url, limits);
        end(lab.start()).expect(1);
        assert!(causes(&lab)[0].contains(TRIAL_TIME), "{:?}", causes(&lab));
        let lab = limited(&url, "[limits]\nrun_time = \"1 s\"\n");
        end(lab.start()).expect(1).says("limits.run_time reached");
        if !lets_in {
            end(limited(&url, "").start()).expect(1).says("no answer within 2 s");
        }
    }
}
