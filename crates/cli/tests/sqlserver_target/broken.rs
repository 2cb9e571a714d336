//! Servers that are lost, fall silent or are down in the middle of a run.

use super::{INSERTS, OnServer};
use crate::common;
use crate::common::{end, signal, wait_until};
use crate::servers::installed::sql_server_stand_in;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use testing::relay::{Fate, From, Relay, contains, utf16};

/// An experiment on a stand-in behind a relay.
fn behind_a_relay(silenced_by: Option<&str>) -> Option<(OnServer, Arc<Relay>)> {
    let (url, relay) = Relay::before(&sql_server_stand_in(&[])?, silenced_by);
    Some((OnServer::new(&format!("{url}&connecttimeout=2")), relay))
}

/// The connections of a trial are lost: it fails and says so, nothing is counted in silence on new
/// ones, and it can be tried again.
#[test]
fn a_failover_in_mid_trial_fails_it_and_it_can_be_tried_again() {
    let Some((on, relay)) = behind_a_relay(None) else { return };
    let load = "probe = \"insert\"\nconnections = 8\nduration = \"3 s\"\nrows_per_transaction = 5";
    on.write("", load, "");
    let child = on.start();
    wait_until("the load has connected", || relay.opened() > 10);
    std::thread::sleep(Duration::from_millis(500));
    relay.cut();
    let ended = end(child).expect(1);
    assert_eq!(
        on.lab.rows("t", "SELECT status, count(*) FROM trials GROUP BY status"),
        ["failed|1"]
    );
    let cause = on.lab.rows("t", "SELECT cause FROM trials").concat();
    assert!(cause.contains("onnection"), "{cause}: {ended:#?}");
    let again = on.command(&["run", "e.toml", "--retry-failed"]).output().unwrap();
    common::Exit::from(again).expect(0);
    assert_eq!(
        on.lab.rows("t", "SELECT status, count(*) FROM trials GROUP BY status ORDER BY status"),
        ["done|1", "failed|1"]
    );
}

/// The phases of a trial, each with a text of its requests and a workload that has it.
const PHASES: [(&str, &str); 5] = [
    ("CREATE DATABASE", INSERTS),
    ("CREATE TABLE", INSERTS),
    ("INSERT BULK", "probe = \"lookup\"\nrows = 500\nconnections = 2\nlookups = 40"),
    ("INSERT INTO", INSERTS),
    ("DROP DATABASE", INSERTS),
];

/// The first Ctrl-C ends a run whose server does not answer any more, and names the database that
/// could not be dropped.
#[test]
fn ctrl_c_ends_a_trial_in_each_phase_on_a_silent_server() {
    for (text, workload) in PHASES {
        let Some((on, relay)) = behind_a_relay(Some(text)) else { return };
        on.write("", workload, "");
        let child = on.start();
        wait_until(text, || relay.is_silent());
        signal(&child, libc::SIGINT);
        let ended = end(child).expect(130);
        let left = "database steelbench on 127.0.0.1 could not be removed";
        // Before there is a database, nothing can be left.
        let is_created = text != "CREATE DATABASE";
        assert_eq!(ended.stderr.contains(left), is_created, "{text}: {ended:#?}");
    }
}

#[test]
fn the_time_limit_of_a_trial_holds_in_each_phase_on_a_silent_server() {
    for (text, workload) in PHASES {
        let Some((on, _relay)) = behind_a_relay(Some(text)) else { return };
        on.write("", workload, "[limits]\ntrial_time = \"3 s\"\n");
        on.run(1);
        let cause = on.lab.rows("t", "SELECT cause FROM trials").concat();
        // A server that does not answer before a trial has anything stops the run.
        let is_recorded = text != "CREATE DATABASE";
        assert_eq!(cause.contains("limits.trial_time"), is_recorded, "{text}: {cause}");
    }
}

/// A message of the server that has one error and ends the request
/// ([MS-TDS] 2.2.7.10, 2.2.7.6).
fn error_message(number: i32, text: &str) -> Vec<u8> {
    let length = |length: usize| (length as u16).to_le_bytes();
    let mut body =
        [&number.to_le_bytes()[..], &[1, 13], &length(text.len()), &utf16(text)].concat();
    // No names of the server and the procedure, line 1.
    body.extend([0, 0, 1, 0, 0, 0]);
    // DONE with an error, of no command and no row.
    let done = [&[0xFD, 2, 0, 0, 0][..], &[0; 8]].concat();
    let tokens = [&[0xAA][..], &length(body.len()), &body, &done].concat();
    let [high, low] = (tokens.len() as u16 + 8).to_be_bytes();
    [&[4, 1, high, low, 0, 0, 1, 0][..], &tokens].concat()
}

/// The session that drops the database may be the victim of a deadlock: it tries again.
#[test]
fn a_drop_that_is_the_victim_of_a_deadlock_is_tried_again() {
    // Each time but the last one, and each time.
    for (victims, code) in [(4, 0), (usize::MAX, 1)] {
        let Some(url) = sql_server_stand_in(&[]) else { return };
        let count = Arc::new(AtomicUsize::new(0));
        let shared = Arc::clone(&count);
        let (url, _relay) = Relay::judging(&url, move |_| {
            let shared = Arc::clone(&shared);
            Box::new(move |from, bytes| {
                let is_drop = from == From::Client && contains(bytes, &utf16("DROP DATABASE"));
                if is_drop && shared.fetch_add(1, Ordering::SeqCst) < victims {
                    return Fate::Answer(error_message(1205, "deadlock victim"));
                }
                Fate::Pass
            })
        });
        let on = OnServer::new(&url);
        on.write("", INSERTS, "");
        let ended = on.run(code);
        if code == 0 {
            assert_eq!(count.load(Ordering::SeqCst), victims + 1);
        } else {
            assert!(ended.stderr.contains("error 1205: deadlock victim"), "{ended:#?}");
        }
    }
}

/// The types of a table's columns are read once, not by each connection or transaction.
#[test]
fn bulk_loads_of_a_trial_read_the_columns_once() {
    let Some(url) = sql_server_stand_in(&[]) else { return };
    let [reads, loads] = [(); 2].map(|()| Arc::new(AtomicUsize::new(0)));
    let counts = [("FMTONLY ON", Arc::clone(&reads)), ("INSERT BULK", Arc::clone(&loads))];
    let (url, _relay) = Relay::judging(&url, move |_| {
        let counts = counts.clone();
        Box::new(move |from, bytes| {
            for (text, count) in &counts {
                let is_one = from == From::Client && contains(bytes, &utf16(text));
                count.fetch_add(usize::from(is_one), Ordering::SeqCst);
            }
            Fate::Pass
        })
    });
    let on = OnServer::new(&url);
    on.write("", &format!("{INSERTS}\nmethod = \"copy\""), "");
    on.run(0);
    let [reads, loads] = [reads, loads].map(|count| count.load(Ordering::SeqCst));
    // A load that is the victim of a deadlock comes again.
    assert!(reads == 1 && loads >= 12, "{reads} {loads}");
}

/// A server that falls silent before the login of a trial: the run stops, and nothing is recorded.
#[test]
fn a_server_that_is_down_stops_the_run_resumably() {
    let Some((on, relay)) = behind_a_relay(None) else { return };
    on.write(
        "",
        INSERTS,
        "[hooks]\nafter_trial = \"touch after; while [ -e wait ]; do sleep 0.05; done\"\n",
    );
    let text = on.lab.read("e.toml").replace("blocks = 1", "blocks = 2");
    on.lab.write("e.toml", &text);
    on.lab.write("wait", "");
    let child = on.start();
    wait_until("the first trial has ended", || on.lab.path("after").exists());
    relay.refuse(true);
    std::fs::remove_file(on.lab.path("wait")).unwrap();
    let ended = end(child).expect(1);
    assert!(ended.stderr.contains("Stopped: connecting: 127.0.0.1"), "{ended:#?}");
    let count = "SELECT status, count(*) FROM trials GROUP BY status";
    assert_eq!(on.lab.rows("t", count), ["done|1"]);
    relay.refuse(false);
    let again = on.command(&["run", "e.toml"]).output().unwrap();
    common::Exit::from(again).expect(0);
    assert_eq!(on.lab.rows("t", count), ["done|2"]);
}
