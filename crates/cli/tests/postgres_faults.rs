//! Private servers that fail in the middle of a trial, and runs that end in the middle of one: the
//! trial fails with its reason, the run continues, and nothing is left behind.

use crate::common::{end, signal, wait_until};
use crate::servers;
use crate::servers::{
    BY_CONFIGURATION, ONCE, PLACES_ON_A_SMALL_DISK, causes, inserts, kill, lab, managed, newest,
    nothing_is_left, only_trials_on_the_small_disk_fail, running_load, versions,
};

#[test]
fn a_killed_server_and_a_killed_session_fail_their_trials_only() {
    let Some(versions) = versions() else { return };
    // Long enough for a kill to hit it, whatever else the machine does.
    let lab = lab(&managed(3, &versions, ["", &inserts(4.0), ""]));
    let child = lab.start();
    let (first, _) = running_load(&lab, None);
    kill(first, libc::SIGKILL);
    let (second, mut client) = running_load(&lab, Some(first));
    let session =
        "SELECT pid FROM pg_stat_activity WHERE application_name = 'steelbench load' LIMIT 1";
    let session =
        client.query(session, &[]).unwrap().first().unwrap().get(0).unwrap().parse().unwrap();
    kill(session, libc::SIGKILL);
    let (third, _) = running_load(&lab, Some(second));
    assert!(
        !servers::installed::is_alive(first)
            && !servers::installed::is_alive(second)
            && third != first
    );
    end(child).expect(1).says("FAILED");
    let of_server = versions.split(", ").count();
    let statuses = lab.rows("t", "SELECT status FROM trials ORDER BY id");
    assert_eq!(statuses[..2], ["failed", "failed"]);
    assert_eq!(statuses.iter().filter(|status| *status == "done").count(), 3 * of_server - 2);
    let causes = causes(&lab);
    // The cause quotes the log of a server that recovers from the crash of one process.
    assert!(
        causes[0].contains("connection") && causes[0].contains("end of the server's log"),
        "{causes:?}"
    );
    assert!(causes[1].contains("was terminated by signal 9: Killed"), "{causes:?}");
    nothing_is_left(&lab);
}

#[test]
fn a_server_that_hangs_fails_its_trial_when_its_time_is_over() {
    let Some(versions) = versions() else { return };
    let limits = "[limits]\ntrial_time = \"25 s\"\n";
    let lab = lab(&managed(2, &newest(&versions), ["", &inserts(2.0), limits]));
    let child = lab.start();
    let (first, _) = running_load(&lab, None);
    // All of its processes, so that it neither answers nor closes a connection.
    for pid in servers::processes(&lab).into_iter().filter(|pid| *pid != child.id() as i32) {
        kill(pid, libc::SIGSTOP);
    }
    let ended = end(child).expect(1);
    let causes = causes(&lab);
    assert!(
        causes.len() == 1 && causes[0].contains("took longer than limits.trial_time"),
        "{causes:?} {ended:?}"
    );
    assert_eq!(lab.rows("t", "SELECT status FROM trials ORDER BY id"), ["failed", "done"]);
    assert!(!servers::installed::is_alive(first));
    nothing_is_left(&lab);
}

#[test]
fn a_statement_that_takes_too_long_fails_its_trial_or_all_its_time() {
    let Some(versions) = versions() else { return };
    let levels = "[limits]\ntrial_time = \"25 s\"\n[[level]]\nfactor = \"sleep\"\nname = \
                  \"short\"\nset = { \"workload.variables.sleep\" = 0 }\n[[level]]\nfactor = \
                  \"sleep\"\nname = \"over the statement's limit\"\nset = { \
                  \"workload.variables.sleep\" = 600, \"target.statement_timeout\" = \"200 ms\" \
                  }\n[[level]]\nfactor = \"sleep\"\nname = \"over the trial's limit\"\nset = { \
                  \"workload.variables.sleep\" = 600 }\n";
    let lab = lab(&managed(1, &newest(&versions), ["", ONCE, levels]));
    lab.write(
        "script.sql",
        "CREATE TABLE locked (a int);\nBEGIN;\nLOCK TABLE locked;\nSELECT \
         pg_sleep(:sleep);\nCOMMIT;\n",
    );
    lab.run(1);
    for row in lab.rows("t", BY_CONFIGURATION) {
        assert_eq!(row.ends_with("|done|1"), row.contains("sleep=short"), "{row}");
    }
    let mut causes = causes(&lab);
    causes.sort_by_key(|cause| cause.contains("limits.trial_time"));
    assert!(causes[0].contains("canceling statement due to statement timeout"), "{causes:?}");
    assert!(causes[1].contains("took longer than limits.trial_time"), "{causes:?}");
    nothing_is_left(&lab);
}

#[test]
fn a_full_disk_of_data_or_log_fails_its_trials_only() {
    let Some(versions) = versions() else { return };
    let workload = "probe = \"insert\"\nconnections = 2\nrows = \"800k\"\nrows_per_transaction = \
                    100000\nmethod = \"copy\"";
    let lab = lab(&managed(1, &newest(&versions), ["", workload, PLACES_ON_A_SMALL_DISK]));
    only_trials_on_the_small_disk_fail(&lab, "size=96m,mode=755");
}

#[test]
fn a_run_killed_in_the_middle_of_a_trial_takes_its_server_along_and_goes_on_later() {
    let Some(versions) = versions() else { return };
    let lab = lab(&managed(2, &newest(&versions), ["", &inserts(3.0), ""]));
    let child = lab.start();
    let (first, _) = running_load(&lab, None);
    signal(&child, libc::SIGKILL);
    end(child);
    // A process that exits has neither a folder nor arguments any more.
    wait_until("the server ends with the run", || {
        servers::processes(&lab).is_empty() && !servers::installed::is_alive(first)
    });
    assert_ne!(lab.work_folders().len(), 0);
    lab.run(0).says("left by a killed run");
    assert_eq!(lab.rows("t", "SELECT status FROM trials"), ["done", "done"]);
    nothing_is_left(&lab);
}

#[test]
fn an_orphaned_server_is_stopped_by_the_next_run() {
    let Some(versions) = versions() else { return };
    let lab = lab(&managed(1, &newest(&versions), ["", &inserts(3.0), ""]));
    let child = lab.start();
    let (first, _) = running_load(&lab, None);
    // It does not hear that the run has ended.
    kill(first, libc::SIGSTOP);
    signal(&child, libc::SIGKILL);
    end(child);
    assert!(servers::installed::is_alive(first));
    lab.run(0).says("left by a killed run");
    assert!(!servers::installed::is_alive(first));
    nothing_is_left(&lab);
}

#[test]
fn an_interruption_ends_the_trial_also_in_the_middle_of_a_statement() {
    let Some(versions) = versions() else { return };
    for workload in [inserts(600.0), ONCE.to_owned()] {
        let lab = lab(&managed(1, &newest(&versions), ["", &workload, ""]));
        lab.write(
            "script.sql",
            "CREATE TABLE locked (a int);\nBEGIN;\nLOCK TABLE locked;\nSELECT \
             pg_sleep(600);\nCOMMIT;",
        );
        let child = lab.start();
        running_load(&lab, None);
        signal(&child, libc::SIGINT);
        end(child).expect(130);
        assert_eq!(lab.trials("t"), 0);
        nothing_is_left(&lab);
    }
}

#[test]
fn an_interruption_ends_the_preparation_also_in_the_middle_of_a_statement() {
    let Some(versions) = versions() else { return };
    // Millions of accounts, and their index.
    let workload = "probe = \"script\"\nbuiltin = \"tpcb-like\"\nscale = 20\nconnections = \
                    1\ntransactions = 1";
    let lab = lab(&managed(1, &newest(&versions), ["", workload, ""]));
    let child = lab.start();
    wait_until("the index is being made", || {
        let client = servers::private(&lab)
            .and_then(|(_, config)| postgres::client::Client::connect(&config).ok());
        client.is_some_and(|mut client| {
            let sql = "SELECT 1 FROM pg_stat_activity WHERE query ILIKE \
                       '%pgbench_accounts%primary key%' AND state = 'active' AND pid <> \
                       pg_backend_pid()";
            !client.query(sql, &[]).unwrap().is_empty()
        })
    });
    signal(&child, libc::SIGINT);
    end(child).expect(130);
    nothing_is_left(&lab);
}
