//! kill -9 of Steelbench or its servers at random moments: recorded data stays, the run continues,
//! and nothing is left behind.

use crate::attack::arena::{Arena, Exit, Limits, Random, Tries, USUAL, campaign};
use crate::common::{scripted, signal};
use crate::servers;
use crate::tune::SCRIPTED;
use rusqlite::Connection;
use rusqlite::types::FromSql;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// Kills of a run before it may end: a try.
const KILLS: usize = 8;
/// More than a hundred kills of Steelbench.
const FULL: u64 = 13;
/// Time for a run that was killed to end.
const LONG: Limits = Limits { time: Duration::from_secs(240), bytes: 16 << 30, ..USUAL };

fn ask<T: FromSql>(arena: &Arena, sql: &str) -> Result<T, String> {
    let file =
        Connection::open(arena.path("results/t.steelbench")).map_err(|error| error.to_string())?;
    file.query_row(sql, [], |row| row.get(0)).map_err(|error| format!("{sql}: {error}"))
}

/// An experiment that is killed.
struct Job {
    name: String,
    file: String,
    trials: i64,
    /// The time that a run of it may last before it is killed.
    longest_ms: usize,
}

/// Loads of the probes that work on tables, with a connection and with two.
const WORKLOADS: [(&str, &str); 5] = [
    ("insert", "rows = 200\nrows_per_transaction = 10"),
    ("scan", "rows = 2000\nscans = 4"),
    ("lookup", "rows = 2000\nlookups = 100"),
    ("update", "rows = 2000\nupdates = 20"),
    ("script", "script = \"s.sql\"\ntransactions = 40"),
];
const SCRIPT: &str = "\\set n random(1, 100)\nBEGIN;\nSELECT :n + 1;\nCOMMIT;\n";

/// Such a load of each probe on a target with these lines.
fn on_tables(target: &str, blocks: i64, longest_ms: usize) -> impl Iterator<Item = Job> {
    WORKLOADS.iter().map(move |(probe, workload)| Job {
        name: format!("{probe} on {target}"),
        file: format!(
            "[experiment]\nname = \"t\"\n[target]\n{target}\n[workload]\nprobe = \
             \"{probe}\"\n{workload}\n[factors]\n\"workload.connections\" = [1, \
             2]\n[repeats]\nblocks = {blocks}\n"
        ),
        trials: 2 * blocks,
        longest_ms,
    })
}

/// A job without tables, of two levels.
fn plain(name: &str, target: &str, workload: &str, factor: &str) -> Job {
    Job {
        name: name.into(),
        file: format!(
            "[experiment]\nname = \"t\"\n[target]\n{target}\n[workload]\nprobe = \
             \"{name}\"\n{workload}\n[factors]\n{factor}\n[repeats]\nblocks = 6\n"
        ),
        trials: 12,
        longest_ms: 600,
    }
}

#[test]
fn kills_null() {
    let file = scripted(30, "real_delay = \"1 ms\"", "");
    kills("null", FULL, &[Job { name: "null".into(), file, trials: 60, longest_ms: 400 }]);
}

#[test]
fn kills_sqlite() {
    kills("sqlite", FULL, &on_tables("engine = \"sqlite\"", 15, 600).collect::<Vec<_>>());
}

#[test]
fn kills_duckdb() {
    let libraries = servers::installed::duckdb_libraries();
    let named =
        |path: Option<String>| path.map_or(String::new(), |path| format!("\nlibrary = \"{path}\""));
    let targets = libraries.into_iter().map(|path| format!("engine = \"duckdb\"{}", named(path)));
    let jobs: Vec<Job> =
        targets.flat_map(|target| on_tables(&target, 6, 2000).collect::<Vec<_>>()).collect();
    kills("duckdb", 20, &jobs);
}

#[test]
fn kills_files() {
    let workload = "pattern = \"random-write\"\nduration = \"30 ms\"";
    let factor = "\"workload.queue_depth\" = [1, 4]";
    kills(
        "files",
        FULL,
        &[plain("disk", "engine = \"files\"\nfile_size = \"4 MiB\"", workload, factor)],
    );
}

#[test]
fn kills_none() {
    let none = "engine = \"none\"";
    let sync = "duration = \"30 ms\"\nwarmup = \"5 ms\"";
    let command = "command = \"sleep 0.0{n} | cat; echo {n}\"\nruns = 2\nsetup = \"touch \
                   made\"\ncleanup = \"rm -f made\"\n[workload.responses.n]\nregex = \
                   \"[0-9]+\"\ndirection = \"lower\"";
    kills(
        "none",
        FULL,
        &[
            plain("sync", none, sync, "\"workload.threads\" = [1, 2]"),
            plain("command", none, command, "\"workload.parameters.n\" = [1, 3]"),
        ],
    );
}

#[test]
fn kills_postgres() {
    let resets = ["checkpoint", "restart", "cluster"];
    let versions = servers::versions().unwrap_or_default();
    let versions =
        versions.trim_matches(['[', ']']).split(", ").filter(|version| !version.is_empty());
    let targets = versions.flat_map(|version| {
        let target = |reset| {
            format!(
                "engine = \"postgres\"\nversion = {version}\nsettings.fsync = false\nreset = \
                 \"{reset}\""
            )
        };
        resets.map(target)
    });
    let jobs: Vec<Job> =
        targets.flat_map(|target| on_tables(&target, 2, 4000).collect::<Vec<_>>()).collect();
    // More than a hundred of each of two versions.
    kills("postgres", 2 * FULL + 4, &jobs);
}

#[test]
fn kills_mariadb() {
    let targets = servers::installed::mariadb_installations().into_iter();
    let target = |found: mariadb::server::Installation| {
        format!("engine = \"mariadb\"\nversion = \"{}\"", found.version)
    };
    let jobs: Vec<Job> =
        targets.flat_map(|found| on_tables(&target(found), 2, 6000).collect::<Vec<_>>()).collect();
    kills("mariadb", FULL, &jobs);
}

fn start(arena: &Arena, verb: &str, cache: Option<&Path>) -> Child {
    let mut command = arena.lab.command(&[verb, "e.toml"]);
    command
        .current_dir(arena.path(""))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0);
    command.envs(cache.map(|cache| ("XDG_CACHE_HOME", cache)));
    command.spawn().unwrap()
}

/// Each experiment in its turn, killed again and again.
fn kills(engine: &str, full: u64, jobs: &[Job]) {
    if jobs.is_empty() {
        return;
    }
    let on_server = matches!(engine, "postgres" | "mariadb");
    // Each try kills several times; servers take long to start.
    let short = if engine == "sqlite" { 2 } else { 1 };
    campaign(&format!("kills_{engine}"), Tries { short, full }, |random| {
        let job = random.in_turn(jobs);
        killed(job, random, on_server).map_err(|why| format!("{}: {why}", job.name))
    });
}

/// A search of few and short trials.
pub fn search() -> String {
    let replaced = SCRIPTED.replace("rows = 40\n", "rows = 4\n");
    replaced.replace("40 trials", "16 trials").replace("blocks = 3", "blocks = 2")
}

/// A search continues whatever a kill has left of its results files.
#[test]
fn kills_tune() {
    campaign("kills_tune", Tries { short: 2, full: 40 }, |random| {
        let arena = Arena::new();
        arena.write("e.toml", search().as_bytes());
        for _ in 0..KILLS {
            let mut child = start(&arena, "tune", None);
            std::thread::sleep(Duration::from_millis(random.below(500) as u64));
            let _ = child.kill();
            child.wait().unwrap();
        }
        let last = arena.run(&["tune", "e.toml"], LONG)?;
        if !last.status.success() {
            return Err(format!("does not go on: {}", last.text()));
        }
        arena.is_clean()
    });
}

/// Query of the recorded trials.
const RECORDED: &str = "SELECT coalesce(group_concat(id || ' ' || block || ' ' || configuration \
                        || ' ' || status || ' ' || started_ms || ';', ''), '') FROM (SELECT * \
                        FROM trials ORDER BY id)";

fn killed(job: &Job, random: &mut Random, on_server: bool) -> Result<(), String> {
    let arena = Arena::new();
    arena.write("e.toml", job.file.as_bytes());
    arena.write("s.sql", SCRIPT.as_bytes());
    // What is made once and copied then is killed while it is made; of servers, which take long for
    // it, now and then.
    let cache = arena.lab.path("inside/cache");
    let is_made = !on_server || *random.in_turn(&[false, true, false, false]);
    let cache = is_made.then_some(cache.as_path());
    let (mut recorded, mut memory) = (String::new(), Vec::new());
    for _ in 0..KILLS {
        let mut child = start(&arena, "run", cache);
        std::thread::sleep(Duration::from_millis(random.below(job.longest_ms) as u64));
        memory.extend(shared_memory(&arena));
        let _ = child.kill();
        child.wait().unwrap();
        // Any reader rolls back the killed run's journal, as Steelbench itself does.
        let now: String = ask(&arena, RECORDED).unwrap_or_default();
        if !now.starts_with(&recorded) {
            return Err(format!("{recorded} became {now}"));
        }
        recorded = now;
    }
    let mut last = arena.lab.command(&["run", "e.toml"]);
    last.envs(cache.map(|cache| ("XDG_CACHE_HOME", cache)));
    let last = arena.run_command(last, LONG)?;
    let now: String = ask(&arena, RECORDED)?;
    if !last.status.success() || !now.starts_with(&recorded) {
        return Err(format!("does not go on: {now} after {recorded}: {}", last.text()));
    }
    memory.retain(SharedMemory::is_there);
    if !memory.is_empty() {
        return Err(format!("leaves shared memory: {memory:?}"));
    }
    is_whole(&arena, job.trials, &last)
}

/// Shared memory of a private server.
#[derive(Debug)]
enum SharedMemory {
    File(PathBuf),
    /// A System V segment, made by this process.
    Segment(i32),
}

impl SharedMemory {
    fn is_there(&self) -> bool {
        match self {
            Self::File(path) => path.exists(),
            Self::Segment(maker) => {
                let segments = std::fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
                // The fifth column: who made it.
                segments
                    .lines()
                    .any(|line| line.split_whitespace().nth(4) == Some(&maker.to_string()))
            }
        }
    }
}

/// Shared memory of the run's private server, if one runs.
fn shared_memory(arena: &Arena) -> Vec<SharedMemory> {
    let Some((first, _)) = servers::private_in(&arena.path("results/t.steelbench.work")) else {
        return Vec::new();
    };
    let maps = std::fs::read_to_string(format!("/proc/{first}/maps")).unwrap_or_default();
    let files = maps
        .lines()
        .filter_map(|line| Some(format!("/dev/shm/{}", line.split_once("/dev/shm/")?.1)));
    files
        .map(|path| SharedMemory::File(path.into()))
        .chain([SharedMemory::Segment(first)])
        .collect()
}

/// All trials of a run are there once, in a file that is whole, and nothing else is.
fn is_whole(arena: &Arena, trials: i64, last: &Exit) -> Result<(), String> {
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
    for folder in ["results", "cache/steelbench/sqlite"] {
        let entries = std::fs::read_dir(arena.path(folder)).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let is_known = |name: &String| {
            ["t.steelbench", "t.html"].contains(&name.as_str())
                || (folder != "results" && !name.contains(".new-"))
        };
        let unknown: Vec<String> = names.filter(|name| !is_known(name)).collect();
        if !unknown.is_empty() {
            return Err(format!("leaves {unknown:?} in {folder}"));
        }
    }
    match servers::processes(&arena.lab) {
        left if left.is_empty() => arena.is_clean(),
        left => Err(format!("leaves processes {left:?}")),
    }
}

/// A process of a private server: its first one, or another one of those that are its children.
fn victim(arena: &Arena, random: &mut Random) -> Option<(i32, &'static str)> {
    let (first, _) = servers::private_in(&arena.path("results/t.steelbench.work"))?;
    let children = std::fs::read_to_string(format!("/proc/{first}/task/{first}/children")).ok()?;
    let children: Vec<i32> = children.split(' ').filter_map(|number| number.parse().ok()).collect();
    match random.below(3) {
        0 => Some((first, "the first process")),
        _ if children.is_empty() => None,
        _ => Some((*random.pick(&children), "a child")),
    }
}

#[test]
fn kills_of_servers() {
    let Some(versions) = servers::versions() else { return };
    let versions: Vec<&str> = versions.trim_matches(['[', ']']).split(", ").collect();
    let loads = ["insert", "scan", "lookup", "update"].map(|probe| {
        let rows = if probe == "insert" { "rows_per_transaction = 10" } else { "rows = \"20k\"" };
        format!("probe = \"{probe}\"\nconnections = 2\nduration = \"500 ms\"\n{rows}")
    });
    let pairs: Vec<_> =
        loads.iter().flat_map(|load| versions.iter().map(move |version| (load, version))).collect();
    // Twenty of each of two versions.
    campaign("kills_of_servers", Tries { short: 1, full: 40 }, |random| {
        let arena = Arena::new();
        let (load, version) = *random.in_turn(&pairs);
        let limits = "[limits]\ntrial_time = \"60 s\"\n";
        let file = servers::managed(2, &format!("[{version}]"), ["", load, limits]);
        arena.write("e.toml", file.as_bytes());
        let mut child = start(&arena, "run", None);
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
                let number =
                    *random.pick(&[libc::SIGKILL, libc::SIGKILL, libc::SIGSEGV, libc::SIGTERM]);
                servers::kill(process, number);
                kills.push((what, number));
                next = begun.elapsed() + Duration::from_millis(random.below(3000) as u64);
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        // A kill between trials, or of an unused worker, may fail no trial.
        if !matches!(status.code(), Some(0 | 1)) {
            return Err(format!("{kills:?}: {status}"));
        }
        let unexplained =
            "SELECT count(*) FROM trials WHERE status = 'failed' AND length(cause) < 20";
        if ask::<i64>(&arena, unexplained)? != 0 {
            return Err(format!("{kills:?}: fails a trial without a cause"));
        }
        let last = arena.run(&["run", "--retry-failed", "e.toml"], LONG)?;
        if !last.status.success() {
            return Err(format!("{kills:?}: does not go on: {}", last.text()));
        }
        let done = "SELECT count(DISTINCT block || ' ' || configuration) FROM trials WHERE status \
                    = 'done'";
        let done: i64 = ask(&arena, done)?;
        if done != 2 {
            return Err(format!("{kills:?}: {done} trials are done: {}", last.text()));
        }
        match servers::processes(&arena.lab) {
            left if left.is_empty() => arena.is_clean(),
            left => Err(format!("{kills:?}: leaves processes {left:?}")),
        }
    });
}
