//! Servers that stop answering: every wait for them ends in its time, and at the first Ctrl-C.

use crate::common::{Lab, end, hear, signal, wait_until};
use crate::servers;
use crate::servers::by_url::{OWNER, Server, bindirs};
use crate::servers::installed::mariadb_installations;
use crate::servers::{
    await_load, causes, inserts, kill, lab, managed, newest, nothing_is_left, processes, versions,
};
use std::fs::{DirEntry, read_dir, read_to_string};
use std::io::{Read, Write};
use std::process::{Child, Stdio};
use std::sync::mpsc::Receiver;

/// The end of a login without a password: `AuthenticationOk`, `server_version`, `ReadyForQuery`.
const WELCOME: &[u8] = b"R\0\0\0\x08\0\0\0\0S\0\0\0\x18server_version\x0015.0\0Z\0\0\0\x05I";

/// A server that falls silent after the login, if `lets_in`, or instead of one. Reports each client
/// that waits.
fn silent(lets_in: bool) -> (u16, Receiver<()>) {
    servers::silent(move |socket| {
        socket.read_exact(&mut [0])?;
        let _ = socket.read(&mut [0; 10_000])?;
        if lets_in {
            socket.write_all(WELCOME)?;
            socket.read_exact(&mut [0])?;
        }
        Ok(())
    })
}

fn by_url(url: &str, limits: &str) -> String {
    format!(
        "[experiment]\nname = \"t\"\n[target]\nengine = \"postgres\"\nurl = \
         \"{url}\"\n[workload]\nprobe = \"insert\"\nconnections = 2\nduration = \"4 \
         s\"\nrows_per_transaction = 10\n[repeats]\nblocks = 1\n{limits}"
    )
}

/// The number of commands of [`commands`].
const COMMANDS: usize = 3;

/// The commands that ask a server by URL.
fn commands(url: &str) -> [(Lab, Vec<String>); COMMANDS] {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    [
        (Lab::new(), words(&["waits", url, "--seconds", "1"])),
        (Lab::new(), words(&["survey", "--server", url])),
        (Lab::with(&by_url(url, "")), words(&["run", "e.toml"])),
    ]
}

fn start(lab: &Lab, words: &[String]) -> Child {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    lab.command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn the_first_interruption_ends_every_wait_for_a_silent_server() {
    for lets_in in [false, true] {
        for command in 0..COMMANDS {
            // Each has a server of its own, which reports no client of the one before.
            let (port, receiver) = silent(lets_in);
            let url = format!(
                "host=127.0.0.1 port={port} user=me dbname=d sslmode=disable connect_timeout=600"
            );
            let (lab, words) = &commands(&url)[command];
            let mut child = start(lab, words);
            hear(&receiver, &mut child);
            signal(&child, libc::SIGINT);
            end(child).expect(130);
            assert_eq!(lab.work_folders().len(), 0, "{words:?}");
        }
    }
}

#[test]
fn a_server_that_does_not_let_us_in_is_given_up_in_the_time_of_its_url() {
    let (port, _told) = silent(false);
    let url =
        format!("host=127.0.0.1 port={port} user=me dbname=d sslmode=prefer connect_timeout=2");
    for (lab, words) in commands(&url) {
        let ended = end(start(&lab, &words)).expect(1);
        let receiver = ended.stderr.clone() + &ended.stdout;
        assert!(receiver.contains("no answer within 2 s"), "{words:?}: {ended:#?}");
    }
}

#[test]
fn limits_hold_for_a_server_that_does_not_answer() {
    // Cleaning up takes its time twice without a login.
    let silences: &[bool] = if testing::lane::is_all() { &[true, false] } else { &[true] };
    for lets_in in silences.iter().copied() {
        let (port, _told) = silent(lets_in);
        let url = format!("host=127.0.0.1 port={port} user=me dbname=d sslmode=disable");
        // A command that may repair it runs before the trial, so the trial is begun.
        let limits = "[limits]\ntrial_time = \"1 s\"\n[hooks]\nbefore_trial = \"true\"\n";
        let lab = Lab::with(&by_url(&url, limits));
        end(lab.start()).expect(1);
        let causes = causes(&lab);
        assert!(causes[0].contains("took longer than limits.trial_time"), "{causes:?}");
        let lab = Lab::with(&by_url(&url, "[limits]\nrun_time = \"1 s\"\n"));
        end(lab.start()).expect(1).says("limits.run_time reached");
    }
}

/// A hook that does something with every process of the private servers that the lab's run has
/// started.
fn after_trial(with_each: &str) -> String {
    format!(
        "[hooks]\nafter_trial = \"\"\"for process in /proc/[0-9]*; do case \"$(cat $process/comm \
         2>/dev/null)\" in postgres|mariadbd) case \"$(readlink $process/cwd)\" in \"$PWD\"*) \
         {with_each};; esac;; esac; done; touch done\"\"\"\n"
    )
}

fn freeze() -> String {
    after_trial("kill -STOP ${process#/proc/}")
}

/// Inserts for `seconds` in two blocks on the private servers of all engines that are installed.
fn on_each(seconds: f64, rest: &str) -> Vec<Lab> {
    let postgres =
        versions().map(|versions| managed(2, &newest(&versions), ["", &inserts(seconds), rest]));
    let mariadb = mariadb_installations().first().map(|_| {
        format!(
            "[experiment]\nname = \"t\"\n[target]\nengine = \
             \"mariadb\"\n[workload]\n{}\n[repeats]\nblocks = 2\n{rest}",
            inserts(seconds)
        )
    });
    postgres.into_iter().chain(mariadb).map(|file| lab(&file)).collect()
}

#[test]
fn a_private_server_that_is_frozen_between_trials_fails_the_next_in_its_time() {
    for lab in on_each(0.2, &format!("[limits]\ntrial_time = \"5 s\"\n{}", freeze())) {
        end(lab.start()).expect(1);
        let causes = causes(&lab);
        assert!(
            causes.len() == 1 && causes[0].contains("took longer than limits.trial_time"),
            "{causes:?}"
        );
        nothing_is_left(&lab);
    }
}

#[test]
fn an_interruption_ends_the_wait_for_a_private_server_that_is_frozen() {
    for lab in on_each(0.2, &freeze()) {
        let child = lab.start();
        wait_until("the server is frozen", || lab.path("done").exists());
        wait_until("a trial is recorded", || lab.trials("t") == 1);
        signal(&child, libc::SIGINT);
        end(child).expect(130);
        nothing_is_left(&lab);
    }
}

#[test]
fn an_interruption_ends_a_load_on_a_private_server_that_is_frozen() {
    for lab in on_each(20.0, "") {
        let child = lab.start();
        let threads = format!("/proc/{}/task", child.id());
        let is_load = |thread: DirEntry| {
            read_to_string(thread.path().join("comm")).is_ok_and(|name| name.starts_with("load"))
        };
        wait_until("a load runs", || read_dir(&threads).unwrap().flatten().any(is_load));
        let servers = processes(&lab).into_iter().filter(|pid| *pid != child.id() as i32);
        servers.for_each(|pid| kill(pid, libc::SIGSTOP));
        signal(&child, libc::SIGINT);
        end(child).expect(130);
        nothing_is_left(&lab);
    }
}

#[test]
fn an_interruption_ends_cleaning_up_that_somebody_stands_in_the_way_of() {
    let Some(bin) = bindirs().pop() else { return };
    let server = Server::start(&bin, "host all all 127.0.0.1/32 trust", &[]);
    let url = format!("host=127.0.0.1 port={} user={OWNER} dbname=postgres", server.port);
    let lab = lab(&by_url(&url, ""));
    let child = lab.start();
    await_load(&server.config());
    let mut other = server.connect();
    let table = "SELECT c.oid::regclass FROM pg_class c JOIN pg_namespace n ON n.oid = \
                 c.relnamespace WHERE n.nspname = 'steelbench' AND c.relkind IN ('r', 'p')";
    let table = other.cell(table).unwrap().unwrap();
    other.batch(&format!("BEGIN; LOCK TABLE {table} IN ACCESS SHARE MODE")).unwrap();
    let mut admin = server.connect();
    wait_until("the schema is being dropped", || {
        let sql = "SELECT 1 FROM pg_stat_activity WHERE query LIKE 'DROP SCHEMA%' AND \
                   wait_event_type = 'Lock'";
        !admin.query(sql, &[]).unwrap().is_empty()
    });
    signal(&child, libc::SIGINT);
    end(child).expect(130);
    other.batch("ROLLBACK").unwrap();
    // The run after it takes over what it could not remove.
    lab.run(0);
    assert!(
        admin
            .query("SELECT 1 FROM pg_namespace WHERE nspname = 'steelbench'", &[])
            .unwrap()
            .is_empty()
    );
}

#[test]
fn a_server_of_another_user_knows_nothing_of_our_environment() {
    for lab in on_each(0.2, &after_trial("tr '\\\\0' '\\\\n' < $process/environ >> environment")) {
        let mut command = lab.command(&["run", "e.toml"]);
        command
            .env("CLOUD_TOKEN", "planted-secret")
            .env("PGPASSWORD", "planted-secret")
            .env("TZ", "UTC");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let environment = lab.read("environment");
        assert!(
            environment.contains("LC_ALL=C") && environment.contains("TZ=UTC"),
            "{environment}"
        );
        let known = ["PATH", "LD_LIBRARY_PATH", "TZ", "LC_ALL"];
        // The servers add variables of their own.
        let names = [
            "PGDATA",
            "PG_GRANDPARENT_PID",
            "PGLOCALEDIR",
            "PGSYSCONFDIR",
            "LC_COLLATE",
            "LC_CTYPE",
            "LC_MESSAGES",
        ];
        for line in environment.lines() {
            let (name, _) = line.split_once('=').unwrap_or((line, ""));
            assert!(
                known.contains(&name) || names.contains(&name) || line.is_empty(),
                "{environment}"
            );
        }
    }
}
