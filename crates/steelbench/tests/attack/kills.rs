//! kill -9 at random moments, of ours and of servers: what was recorded stays, the run goes on, and nothing is left.

use crate::arena::{Arena, Limits, Random, Seen, Tries, USUAL, campaign};
use crate::common::{scripted, signal};
use crate::servers;
use rusqlite::Connection;
use rusqlite::types::FromSql;
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// Kills of a run before it may end.
const KILLS: usize = 8;
/// Time for a run that was killed to end.
const LONG: Limits = Limits { time: Duration::from_secs(240), bytes: 8 << 30, ..USUAL };

fn ask<T: FromSql>(arena: &Arena, sql: &str) -> Result<T, String> {
    let file = Connection::open(arena.path("results/t.steelbench")).map_err(|error| error.to_string())?;
    file.query_row(sql, [], |row| row.get(0)).map_err(|error| format!("{sql}: {error}"))
}

/// An experiment on an engine, its number of trials, and how long a run of it may go on before it is killed.
fn experiment(engine: &str, random: &mut Random) -> (String, i64, usize) {
    let of_sqlite = |file: String| file.replace("rows = 10\n", "rows = 50\n");
    match engine {
        "null" => (scripted(30, "real_delay = \"1 ms\"", ""), 60, 400),
        "files" => (
            "[experiment]\nname = \"t\"\n[target]\nengine = \"files\"\nfile_size = \"4 MiB\"\n[workload]\nprobe = \"disk\"\n\
             pattern = \"random-write\"\nduration = \"30 ms\"\n[factors]\n\"workload.queue_depth\" = [1, 4]\n[repeats]\nblocks = 15\n"
                .into(),
            30,
            600,
        ),
        "postgres" => {
            let versions = servers::newest(&servers::versions().unwrap_or_default());
            let reset = random.of(&["checkpoint", "restart", "cluster"]);
            let target = format!("reset = \"{reset}\"");
            (servers::managed(4, &versions, [&target, &servers::inserts(0.2), ""]), 4, 6000)
        }
        _ => (of_sqlite(scripted(30, "", "").replace("\"null\"", &format!("{engine:?}"))), 60, 400),
    }
}

fn start(arena: &Arena) -> Child {
    let mut command = arena.lab.command(&["run", "e.toml"]);
    command.current_dir(arena.path("")).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    command.spawn().unwrap()
}

/// All trials of a run are there once, in a file that is whole.
fn is_whole(arena: &Arena, trials: i64, last: &Seen) -> Result<(), String> {
    let state: String = ask(arena, "PRAGMA integrity_check")?;
    if state != "ok" {
        return Err(state);
    }
    for (sql, expected) in [
        ("SELECT count(*) FROM pragma_foreign_key_check", 0),
        ("SELECT count(*) FROM trials", trials),
        ("SELECT count(DISTINCT block || ' ' || configuration) FROM trials", trials),
        ("SELECT count(*) FROM runs", 1),
    ] {
        let answer: i64 = ask(arena, sql)?;
        if answer != expected {
            return Err(format!("{sql}: {answer}, not {expected}: {}", last.text()));
        }
    }
    match servers::processes(&arena.lab) {
        left if left.is_empty() => arena.is_clean(),
        left => Err(format!("leaves processes {left:?}")),
    }
}

#[test]
fn kills() {
    let mut engines = vec!["null", "sqlite", "files"];
    if servers::versions().is_some() {
        engines.push("postgres");
    }
    campaign("kills", Tries { short: 4, full: 40 }, |random| {
        let arena = Arena::new();
        let engine = *random.of(&engines);
        let (file, trials, longest_ms) = experiment(engine, random);
        arena.write("e.toml", file.as_bytes());
        let mut recorded: i64 = 0;
        for _ in 0..KILLS {
            let mut child = start(&arena);
            std::thread::sleep(Duration::from_millis(random.below(longest_ms) as u64));
            let _ = child.kill();
            child.wait().unwrap();
            // A journal of the killed run is rolled back by whoever reads, as a reader of ours does.
            let now = ask(&arena, "SELECT count(*) FROM trials").unwrap_or(0);
            if now < recorded {
                return Err(format!("{engine}: {recorded} became {now}"));
            }
            recorded = now;
        }
        let last = arena.run(&["run", "e.toml"], LONG)?;
        if !last.status.success() {
            return Err(format!("{engine}: does not go on: {}", last.text()));
        }
        is_whole(&arena, trials, &last).map_err(|why| format!("{engine}: {why}"))
    });
}

/// A process of a private server: its first one, or another one of those that are its children.
fn victim(arena: &Arena, random: &mut Random) -> Option<(i32, &'static str)> {
    let (first, _) = servers::private_in(&arena.path("results/t.steelbench.work"))?;
    let children = std::fs::read_to_string(format!("/proc/{first}/task/{first}/children")).ok()?;
    let children: Vec<i32> = children.split(' ').filter_map(|number| number.parse().ok()).collect();
    match random.below(3) {
        0 => Some((first, "the first process")),
        _ if children.is_empty() => None,
        _ => Some((*random.of(&children), "a child")),
    }
}

#[test]
fn kills_of_servers() {
    let Some(versions) = servers::versions() else { return };
    campaign("kills_of_servers", Tries { short: 2, full: 40 }, |random| {
        let arena = Arena::new();
        let versions = if random.below(2) == 0 { servers::newest(&versions) } else { versions.clone() };
        let of_server = versions.split(',').count() as i64;
        let file =
            servers::managed(2, &versions, ["", &servers::inserts(0.5), "[limits]\ntrial_time = \"60 s\"\n"]);
        arena.write("e.toml", file.as_bytes());
        let mut child = start(&arena);
        let begun = Instant::now();
        let mut next = Duration::from_millis(random.below(3000) as u64);
        let mut kills = Vec::new();
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if begun.elapsed() > LONG.time {
                signal(&child, libc::SIGKILL);
                child.wait().unwrap();
                return Err(format!("hangs after {kills:?}"));
            }
            if kills.len() < 2
                && begun.elapsed() > next
                && let Some((process, what)) = victim(&arena, random)
            {
                let number = *random.of(&[libc::SIGKILL, libc::SIGKILL, libc::SIGSEGV, libc::SIGTERM]);
                servers::kill(process, number);
                kills.push((what, number));
                next = begun.elapsed() + Duration::from_millis(random.below(3000) as u64);
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        // A kill between trials, or of a worker that nobody needs, may fail none.
        if !matches!(status.code(), Some(0 | 1)) {
            return Err(format!("{kills:?}: {status}"));
        }
        let unexplained = "SELECT count(*) FROM trials WHERE status = 'failed' AND length(cause) < 20";
        if ask::<i64>(&arena, unexplained)? != 0 {
            return Err(format!("{kills:?}: fails a trial without a cause"));
        }
        let last = arena.run(&["run", "--retry-failed", "e.toml"], LONG)?;
        if !last.status.success() {
            return Err(format!("{kills:?}: does not go on: {}", last.text()));
        }
        let done = "SELECT count(DISTINCT block || ' ' || configuration) FROM trials WHERE status = 'done'";
        let done: i64 = ask(&arena, done)?;
        if done != 2 * of_server {
            return Err(format!("{kills:?}: {done} trials are done: {}", last.text()));
        }
        match servers::processes(&arena.lab) {
            left if left.is_empty() => arena.is_clean(),
            left => Err(format!("{kills:?}: leaves processes {left:?}")),
        }
    });
}
