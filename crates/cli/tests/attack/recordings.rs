//! Results files that are damaged, or whose values, views and triggers mean harm.

use crate::attack::arena::{Arena, Random, Tries, USUAL, campaign};
use crate::common::scripted;
use crate::servers::by_url::{Server, bindirs};
use crate::serving::Server as Pages;
use rusqlite::Connection;

/// Values that mean something to a terminal, a browser, a spreadsheet, a path or a number.
const VALUES: &[&str] = &[
    "NULL",
    "''",
    "0",
    "-1",
    "9223372036854775807",
    "-9223372036854775808",
    "1e308",
    "-1e308",
    "9e999",
    "-9e999",
    "x'ff00fe'",
    "zeroblob(1000000)",
    "char(27) || '[2J' || char(7)",
    "char(155) || '31m'",
    "char(8238) || 'txt.exe'",
    "'a' || char(0) || 'b'",
    "'<script>alert(1)</script>'",
    "'\"></table><img src=x onerror=alert(1)>'",
    "'=cmd|x'",
    "'../victim/salaries'",
    "'/etc/passwd'",
    "'../../x'",
    "printf('%.200000c', 'x')",
    "'{\"a\": [1, 2'",
    "'[]'",
    "'nan'",
    "randomblob(300)",
    "'failed'",
    "'done'",
    "1.5",
    "'9999999999999'",
    "replace(source, 'blocks = 3', 'blocks = 4294967295')",
    "replace(source, 'blocks = 3', 'blocks = { min = 2, max = 4294967295, until = \"1%\" }')",
    "replace(source, '[1, 2]', '[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]')",
    "replace(source, 'engine = \"null\"', 'engine = \"postgres\"')",
    "'x = ' || printf('%.*c', 100000, '[')",
];

/// Definitions that replace or join what we made.
const DEFINITIONS: &[&str] = &[
    "ALTER TABLE TABLE_ RENAME TO moved; CREATE VIEW TABLE_ AS WITH RECURSIVE n(x) AS (SELECT 1 \
     UNION ALL SELECT x + 1 FROM n) SELECT * FROM moved, n",
    "ALTER TABLE TABLE_ RENAME TO moved; CREATE VIEW TABLE_ AS SELECT * FROM moved UNION ALL \
     SELECT * FROM moved",
    "CREATE TRIGGER bad BEFORE INSERT ON TABLE_ BEGIN SELECT RAISE(ABORT, 'no \u{1b}[2J'); END",
    "CREATE TRIGGER bad AFTER INSERT ON TABLE_ BEGIN DELETE FROM TABLE_; END",
    "DROP TABLE TABLE_",
    "DELETE FROM TABLE_",
    "INSERT INTO TABLE_ SELECT * FROM TABLE_",
    "CREATE TABLE more AS SELECT * FROM TABLE_",
    "CREATE VIRTUAL TABLE bad USING fts5(x)",
    "PRAGMA user_version = 999999",
    "PRAGMA user_version = -1",
    "PRAGMA user_version = 0",
    "PRAGMA application_id = 1",
    "PRAGMA encoding = 'UTF-16'",
    "PRAGMA journal_mode = WAL",
];

/// A results file that is attacked, and the experiment that made it.
struct Recorded {
    experiment: String,
    bytes: Vec<u8>,
}

/// A study with a cost model: facts, plans, waits.
const SCANS: &str = "[experiment]\nname = \"t\"\n[target]\nengine = \"sqlite\"\n[workload]\nprobe \
                     = \"scan\"\nrows = 500\nscans = 4\nanalyze = \
                     true\n[factors]\n\"workload.rows_per_page\" = [2, \
                     20]\n\"workload.aggregates\" = [\"count\", \"sum\"]\n[repeats]\nblocks = 3\n";

/// Commands with responses of the user's own.
const COMMANDS: &str = "[experiment]\nname = \"t\"\n[target]\nengine = \
                        \"none\"\n[workload]\nprobe = \"command\"\ncommand = \"echo n={n}\"\nruns \
                        = 2\n[workload.responses.n]\nregex = \"n=([0-9])\"\nunit = \
                        \"n\"\ndirection = \"lower\"\n[factors]\n\"workload.parameters.n\" = [1, \
                        2]\n[repeats]\nblocks = 3\n";

/// Runs of several kinds, once for all tries, and what was seen of a server, where there is one.
fn recorded(arena: &Arena) -> Vec<Recorded> {
    let experiments = [scripted(3, "", ""), SCANS.to_owned(), COMMANDS.to_owned()];
    let mut all: Vec<Recorded> = experiments
        .into_iter()
        .map(|experiment| {
            let _ = std::fs::remove_dir_all(arena.path("results"));
            arena.write("e.toml", experiment.as_bytes());
            let outcome = arena.run(&["run", "e.toml", "--label", "a label"], USUAL).unwrap();
            assert!(outcome.status.success(), "{}", outcome.text());
            Recorded {
                experiment,
                bytes: std::fs::read(arena.path("results/t.steelbench")).unwrap(),
            }
        })
        .collect();
    if let Some(bin) = bindirs().first() {
        let server = Server::start(bin, "", &[]);
        let url = server.conninfo();
        let line =
            ["waits", &url, "--seconds=0.2", "--statements", "--tasks", "--output", "w.steelbench"];
        let outcome = arena.run(&line, USUAL).unwrap();
        assert!(outcome.status.success(), "{}", outcome.text());
        let bytes = std::fs::read(arena.path("w.steelbench")).unwrap();
        all.push(Recorded { experiment: scripted(3, "", ""), bytes });
    }
    all
}

/// Markup of [`VALUES`] that no page may have as such.
const MARKUP: &[&str] = &["<script>alert(1)", "<img src=x"];

/// Runs every command that reads a results file and one that writes to it, and loads pages of a
/// `serve` that keeps running.
fn read_all(arena: &Arena, random: &mut Random, server: &mut Pages) -> Result<(), String> {
    let commands: &[&[&str]] = &[
        &["show", "t"],
        &["show", "t", "--json"],
        &["show", "t", "--runs"],
        &["show", "t", "--md"],
        &["show", "t", "--source"],
        &["waits", "results/t.steelbench"],
        &["waits", "results/t.steelbench@1", "--tasks", "--statements", "--json"],
        &["compare", "t", "n=1", "n=2"],
        &["compare", "t", "aggregates=sum", "aggregates=count"],
        &["compare", "--baseline", "t@1", "--candidate", "t@1"],
        &["compare", "t@1", "t@1"],
        &["predict", "t", "--set", "connections=2"],
        &["compare", "t", "data_files=1", "data_files=2"],
        &["history", "t"],
        &["report", "t"],
        &["export", "t", "--format", "csv"],
        &["export", "t", "--format", "json"],
        &["export", "t", "--format", "parquet"],
        &["export", "t", "--format", "xlsx"],
        &["run", "e.toml"],
    ];
    for command in commands {
        // Not all of them on each file: a campaign reaches them all.
        if random.below(3) == 0 {
            arena.run(command, USUAL)?;
        }
    }
    for path in [
        "/",
        "/run?file=t",
        "/run?file=t&run=1",
        "/runs",
        "/compare?file=t&a=data_files%3D1&b=data_files%3D2",
        "/version",
    ] {
        if random.below(3) == 0 {
            let answer = server.get(path);
            let known = [200, 400, 404, 500].contains(&answer.status);
            let bears = MARKUP.iter().find(|markup| answer.body.contains(**markup));
            if !known || bears.is_some() || answer.body.contains("Building this page failed") {
                return Err(format!("{path}: {} {bears:?} {:.300}", answer.status, answer.body));
            }
        }
    }
    match server.child.as_mut().unwrap().try_wait().unwrap() {
        Some(status) => Err(format!("the server of pages has ended with {status}")),
        None => arena.is_clean(),
    }
}

/// A journal of a transaction that was never ended, as a killed run leaves it.
fn journal() -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let file = Connection::open(folder.path().join("j")).unwrap();
    let grow = "WITH n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 900) INSERT INTO \
                t SELECT randomblob(400) FROM n";
    file.execute_batch("PRAGMA cache_size = 2; CREATE TABLE t (x); BEGIN").unwrap();
    file.execute_batch(grow).unwrap();
    std::fs::read(folder.path().join("j-journal")).unwrap()
}

/// How a journal names its super-journal, of which SQLite deletes the file (`writeSuperJournal` in
/// `pager.c`).
pub fn naming(victim: &std::path::Path) -> Vec<u8> {
    let name = victim.as_os_str().as_encoded_bytes();
    let sum = name.iter().map(|byte| u32::from(*byte)).sum::<u32>();
    let magic = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
    let length = name.len() as u32;
    [&[0, 4, 0, 0], name, &length.to_be_bytes(), &sum.to_be_bytes(), &magic].concat()
}

/// Puts the file where it is looked for, without what a try before has left beside it.
fn place(arena: &Arena, experiment: &str, bytes: &[u8]) {
    arena.write("e.toml", experiment.as_bytes());
    let _ = std::fs::remove_dir_all(arena.path("results"));
    std::fs::create_dir(arena.path("results")).unwrap();
    arena.write("results/t.steelbench", bytes);
}

#[test]
fn damaged_results_files() {
    let arena = Arena::new();
    let recorded = recorded(&arena);
    let journal = journal();
    let mut server = Pages::start_in(&arena.lab, &arena.path(""), &[]);
    campaign("damaged_results_files", Tries { short: 6, full: 1000 }, |random| {
        let Recorded { experiment, bytes: whole } = random.pick(&recorded);
        let mut bytes = whole.clone();
        for _ in 0..=random.below(20) {
            // The beginning of each page says what it is.
            let (page, any) = (random.below(bytes.len() / 4096) * 4096, random.below(256) as u8);
            let within = *random.pick(&[110, 4096]);
            let at = (page + random.below(within)).min(bytes.len() - 1);
            bytes[at] = *random.pick(&[0, 1, 0xff, 0x80, any]);
        }
        match random.below(6) {
            0 => bytes.truncate(random.below(whole.len())),
            1 => bytes.extend(vec![0; random.below(10_000)]),
            _ => {}
        }
        place(&arena, experiment, &bytes);
        if random.below(4) == 0 {
            let mut journal = random.mutate(&journal, &[b"\0\0\0\0", b"\xff\xff\xff\xff"]);
            if random.below(2) == 0 {
                journal.extend(naming(&arena.lab.path("victim/salaries.csv")));
            }
            arena.write("results/t.steelbench-journal", &journal);
        }
        read_all(&arena, random, &mut server)
    });
}

fn tables(file: &Connection) -> Vec<String> {
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' \
               ORDER BY name";
    let mut statement = file.prepare(sql).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

#[test]
fn hostile_results_files() {
    let arena = Arena::new();
    let recorded = recorded(&arena);
    let mut server = Pages::start_in(&arena.lab, &arena.path(""), &[]);
    campaign("hostile_results_files", Tries { short: 10, full: 1000 }, |random| {
        let Recorded { experiment, bytes } = random.pick(&recorded);
        place(&arena, experiment, bytes);
        let file = Connection::open(arena.path("results/t.steelbench")).unwrap();
        file.execute_batch("PRAGMA foreign_keys = off; PRAGMA ignore_check_constraints = on")
            .unwrap();
        let tables = tables(&file);
        for _ in 0..=random.below(4) {
            let table = random.pick(&tables);
            // SQLite itself may refuse the statement: then nothing is attacked.
            if random.below(3) == 0 {
                let _ = file.execute_batch(&random.pick(DEFINITIONS).replace("TABLE_", table));
                continue;
            }
            let columns = format!("SELECT name FROM pragma_table_info('{table}')");
            let mut statement = file.prepare(&columns).unwrap();
            let columns: Vec<String> = statement
                .query_map([], |row| row.get(0))
                .unwrap()
                .collect::<Result<_, _>>()
                .unwrap();
            if !columns.is_empty() {
                let (column, value) = (random.pick(&columns), random.pick(VALUES));
                let some = if random.below(2) == 0 { "" } else { " WHERE rowid % 2 = 0" };
                let _ =
                    file.execute_batch(&format!("UPDATE {table} SET \"{column}\" = {value}{some}"));
            }
        }
        drop(file);
        read_all(&arena, random, &mut server)
    });
}
