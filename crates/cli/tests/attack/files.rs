//! Paths that do not lead to a usable regular file: a pipe without a writer, an endless device, a
//! folder, a socket, a link to itself, a file larger than memory.

use crate::attack::arena::{Arena, Limits, Tries, USUAL, campaign};
use crate::attack::kills::search;
use crate::common::scripted;
use crate::tune::SERVER;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;

/// Puts it there.
type Put = fn(&Path);

const KINDS: &[(&str, Put)] = &[
    ("a pipe", |path| {
        let path = CString::new(path.as_os_str().as_bytes()).unwrap();
        // SAFETY: a system call with a text that ends in zero.
        assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
    }),
    ("a device", |path| symlink("/dev/zero", path).unwrap()),
    ("a folder", |path| std::fs::create_dir(path).unwrap()),
    ("a socket", |path| drop(UnixListener::bind(path).unwrap())),
    ("a link to itself", |path| symlink(path, path).unwrap()),
    ("a huge file", |path| std::fs::File::create(path).unwrap().set_len(1 << 40).unwrap()),
    ("memory", |path| symlink("/proc/self/mem", path).unwrap()),
];

/// Where one can be named, and what reads it.
const PLACES: &[(&str, &[&str])] = &[
    ("e.toml", &["check", "e.toml"]),
    ("e.toml", &["run", "e.toml"]),
    ("a.fio", &["disk", "--fio", "a.fio", "--print"]),
    ("data", &["disk", "data", "--duration", "0.1", "--write-percent", "0", "--print"]),
    ("data", &["disk", "data", "--duration", "0.1"]),
    ("s.sql", &["check", "script.toml"]),
    ("survey.json", &["survey", "merge", "survey.json"]),
    ("profile.json", &["profile", "compare", "profile.json", "profile.json"]),
    ("results/t.steelbench", &["show", "t"]),
    ("results/t.steelbench", &["run", "good.toml"]),
    ("results/t.steelbench-journal", &["show", "t"]),
    ("results/t.steelbench-journal", &["run", "good.toml"]),
    ("results/t.steelbench-wal", &["history", "t"]),
    ("results/t.steelbench-shm", &["report", "t"]),
    ("results/t.steelbench.work", &["run", "good.toml", "--fresh"]),
    ("results/t.html", &["report", "t"]),
    ("results/other.steelbench", &["show", "t"]),
    ("results/other.steelbench-journal", &["show", "t"]),
    ("t.xlsx", &["export", "t", "--format", "xlsx"]),
    ("t-export", &["export", "t", "--format", "csv"]),
    ("services", &["waits", "service=x servicefile=services", "--seconds=0.1"]),
    ("passwords", &["waits", "host=127.0.0.1 port=1 passfile=passwords", "--seconds=0.1"]),
    ("new.toml", &["init", "new.toml"]),
    ("schema.sql", &["check", "setup.toml"]),
    ("schema.sql", &["run", "setup.toml"]),
    ("prod.sqlite", &["check", "dump.toml"]),
    ("prod.sqlite", &["run", "dump.toml"]),
    ("in", &["run", "command.toml"]),
    ("out", &["run", "command.toml"]),
    ("w.steelbench", &["waits", "w.steelbench"]),
    ("d", &["data", "nation", "--output", "d"]),
    ("d/nation.csv", &["data", "nation", "--output", "d"]),
    ("x.json", &["time", "-r", "1", "-N", "true", "--export-json", "x.json"]),
    ("slow.sqlplan", &["plan", "slow.sqlplan"]),
    ("plans", &["plan", "plans"]),
    ("x.csv", &["results", "x.csv"]),
    ("size.toml", &["size", "size.toml"]),
    ("rows.parquet", &["sort-order", "rows.parquet"]),
    ("app.sqlite", &["sort-order", "app.sqlite", "items"]),
    ("results/t.steelbench", &["predict", "t", "--set", "connections=2"]),
    ("c.json", &["waits", "c.json"]),
    ("c.json", &["survey", "merge", "c.json"]),
    ("c.json", &["capture", "host=127.0.0.1 port=1", "--seconds=0.1", "--output", "c.json"]),
    ("h.json", &["import", "h.json"]),
    ("h.log", &["import", "h.log"]),
    ("results/tuned-search.steelbench", &["tune", "tuned.toml"]),
    ("results/tuned.steelbench", &["tune", "tuned.toml"]),
    ("../state/steelbench/servers/server-settings-1.json", &["tune", "live.toml", "--undo"]),
    ("../state/steelbench/servers/server-settings-1.applied", &["tune", "live.toml", "--undo"]),
];

#[test]
fn other_than_regular_files() {
    let arena = Arena::new();
    campaign("other_than_regular_files", Tries { short: 10, full: 1000 }, |random| {
        for entry in std::fs::read_dir(arena.path("")).unwrap().flatten() {
            let removed = std::fs::remove_dir_all(entry.path())
                .or_else(|_| std::fs::remove_file(entry.path()));
            removed.unwrap();
        }
        arena.write("good.toml", scripted(1, "", "").as_bytes());
        arena.write("tuned.toml", search().as_bytes());
        arena.write("live.toml", SERVER.as_bytes());
        let script = scripted(1, "", "").replace("insert", "script");
        let script = script.replace("rows = 10\nrows_per_transaction = 1", "script = \"s.sql\"");
        arena.write("script.toml", script.as_bytes());
        for (name, target) in
            [("setup", "setup.sql = \"schema.sql\""), ("dump", "setup.dump = \"prod.sqlite\"")]
        {
            let script = script
                .replace("\"null\"", &format!("\"sqlite\"\n{target}"))
                .replace("target.data_files", "workload.connections");
            arena.write(
                &format!("{name}.toml"),
                script.replace("connections = 1\n", "transactions = 2\n").as_bytes(),
            );
        }
        arena.write("s.sql", b"SELECT 1;\n");
        arena.write("in", b"text");
        std::fs::create_dir(arena.path("d")).unwrap();
        let command = "[experiment]\nname = \"t\"\n[target]\nengine = \"none\"\n[workload]\nprobe \
                       = \"command\"\ncommand = \"true\"\ninput = \"in\"\noutput = \
                       \"out\"\n[repeats]\nblocks = 1\n";
        arena.write("command.toml", command.as_bytes());
        let outcome = arena.run(&["run", "good.toml"], USUAL)?;
        if !outcome.status.success() {
            return Err(outcome.text());
        }
        std::fs::copy(arena.path("results/t.steelbench"), arena.path("results/other.steelbench"))
            .unwrap();
        let ((what, put), (place, command)) = (random.pick(KINDS), random.pick(PLACES));
        // What tables are made of may be as large, and is read to its end: that takes its time.
        if *what == "a huge file" && ["schema.sql", "prod.sqlite"].contains(place) {
            return Ok(());
        }
        let path = arena.path(place);
        let _ = std::fs::remove_file(&path).or_else(|_| std::fs::remove_dir_all(&path));
        put(&path);
        let limits = Limits { bytes: 1 << 30, ..USUAL };
        arena.run(command, limits).map_err(|why| format!("{what} as {place}: {why}"))?;
        // Steelbench does not remove a work folder without its marker.
        let _ = std::fs::remove_file(arena.path("results/t.steelbench.work"));
        // It is not among what is removed before the next try.
        let _ = std::fs::remove_file(&path).or_else(|_| std::fs::remove_dir_all(&path));
        arena.is_clean().map_err(|why| format!("{what} as {place}: {why}"))
    });
}
