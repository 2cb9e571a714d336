//! Tables of one's own: SQL and dumps that are run once, and that every trial begins with.

use crate::common::{Exit, Lab, end, signal, wait_until};
use crate::servers;
use crate::servers::by_url::{Server, bindirs};
use crate::servers::{causes, installed};
use postgres::server::Installation;
use rusqlite::Connection;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const SCHEMA: &str = "-- Items; a comment with :rows in it.\nCREATE TABLE :\"name\" (id INTEGER \
                      PRIMARY KEY, note TEXT);\n\nINSERT INTO items\n  SELECT value, :'note' || ' \
                      :rows'\n  FROM (WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value \
                      + 1 FROM n WHERE value < :rows) SELECT value FROM n) AS numbers;\n";

/// A script that fails unless the table has exactly `rows` rows, and inserts one more.
fn script(rows: u32) -> String {
    format!(
        "SELECT count(*) AS n FROM items \\gset\n\\if :n <> {rows}\nSELECT * FROM \
         other_number_of_rows;\n\\endif\nINSERT INTO items VALUES (1000000, 'new');\n"
    )
}

fn file(target: &str, more: &str) -> String {
    format!(
        "[experiment]\nname = \"t\"\n[target]\n{target}\n[workload]\nprobe = \"script\"\nscript = \
         \"r.sql\"\nconnections = 1\ntransactions = 1\nprotocol = \"simple\"\n[repeats]\nblocks = \
         2\n{more}"
    )
}

fn lab(target: &str, more: &str, rows: u32) -> Lab {
    let lab = servers::lab(&file(target, more));
    lab.write("schema.sql", SCHEMA);
    lab.write("r.sql", &script(rows));
    lab
}

/// `run e.toml` with a cache of its own.
fn run(lab: &Lab, arguments: &[&str], code: i32) -> Exit {
    let mut run = lab.command(&[&["run", "e.toml"], arguments].concat());
    Exit::from(run.env("XDG_CACHE_HOME", lab.path("cache")).output().unwrap()).expect(code)
}

const SQLITE: &str = "engine = \"sqlite\"\nsetup.sql = \"schema.sql\"\nsetup.variables = { rows = \
                      10, name = \"items\", note = \"it's\" }";

fn templates(lab: &Lab) -> Vec<PathBuf> {
    let entries =
        std::fs::read_dir(lab.path("cache/steelbench/sqlite")).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

#[test]
fn every_trial_on_sqlite_begins_with_what_the_file_made_once() {
    let lab = lab(SQLITE, "", 10);
    run(&lab, &[], 0);
    assert_eq!(lab.rows("t", "SELECT status, transactions FROM trials"), ["done|1", "done|1"]);
    let [made] = &templates(&lab)[..] else { panic!("{:?}", templates(&lab)) };
    let note = "SELECT note FROM items WHERE id = 10";
    let note: String =
        Connection::open(made).unwrap().query_row(note, [], |row| row.get(0)).unwrap();
    assert_eq!(note, "it's :rows");
    // Other variables are other tables, and the same ones are not made again.
    let made_at = made.metadata().unwrap().created().unwrap();
    run(&lab, &["--fresh"], 0);
    assert_eq!(made.metadata().unwrap().created().unwrap(), made_at);
    lab.write("e.toml", &file(&SQLITE.replace("rows = 10", "rows = 20"), ""));
    lab.write("r.sql", &script(20));
    run(&lab, &["--fresh"], 0);
    assert_eq!(templates(&lab).len(), 2);
    assert_eq!(lab.work_folders(), Vec::<PathBuf>::new());
}

/// A database file, SQL, and a Parquet file beside the SQL, which is read again when it changes.
#[test]
fn tables_on_duckdb_come_from_a_database_sql_and_parquet() {
    let Some(library) = testing::installed::duckdb_libraries().pop().flatten() else { return };
    let duckdb = format!("engine = \"duckdb\"\nlibrary = \"{library}\"\n");
    let target = format!("{duckdb}setup.sql = \"schema.sql\"\nsetup.variables = {{ rows = 10 }}");
    let lab = lab(&target, "", 15);
    let export = |rows: u32| {
        let script = format!(
            "import pyarrow as a, pyarrow.parquet as p; p.write_table(a.table({{'id': \
             list(range(100, 100 + {rows}))}}), 'more.parquet', compression='zstd')"
        );
        let mut python = Command::new("python3");
        python.args(["-c", &script]).current_dir(lab.path("."));
        python.output().is_ok_and(|output| output.status.success())
    };
    if !export(5) {
        println!("SKIPPED: python3 with pyarrow is not installed");
        return;
    }
    lab.write(
        "schema.sql",
        "CREATE TABLE items AS SELECT n::int AS id, ('x' || n::text)[1:2] AS note FROM (SELECT \
         unnest(range(:rows)) AS n);\nINSERT INTO items SELECT id, 'more' FROM \
         read_parquet('more.parquet');\n",
    );
    run(&lab, &[], 0);
    assert_eq!(lab.rows("t", "SELECT status, transactions FROM trials"), ["done|1", "done|1"]);
    assert!(export(8));
    lab.write("r.sql", &script(18));
    run(&lab, &["--fresh"], 0);
    // What was made is a database file, and so is a dump.
    let made = std::fs::read_dir(lab.path("cache/steelbench/duckdb")).unwrap().flatten();
    let made: Vec<PathBuf> = made.map(|entry| entry.path()).collect();
    assert_eq!(made.len(), 2, "{made:?}");
    let latest = made.iter().max_by_key(|path| path.metadata().unwrap().modified().unwrap());
    std::fs::copy(latest.unwrap(), lab.path("own.duckdb")).unwrap();
    lab.write("e.toml", &file(&format!("{duckdb}setup.dump = \"own.duckdb\""), ""));
    run(&lab, &["--fresh"], 0);
    lab.write("schema.sql", "SELECT * FROM nowhere;\n");
    lab.write("e.toml", &file(&format!("{duckdb}setup.sql = \"schema.sql\""), ""));
    run(&lab, &["--fresh"], 1).says("schema.sql").says("nowhere");
    assert_eq!(lab.work_folders(), Vec::<PathBuf>::new());
}

#[test]
fn files_and_variables_are_levels_and_kept_with_the_run() {
    let factor =
        "[factors]\n\"target.setup.sql\" = [\"schema.sql\", [\"schema.sql\", \"index.sql\"]]\n";
    let target = SQLITE.replace("setup.sql = \"schema.sql\"\n", "");
    let lab = lab(&target, factor, 10);
    lab.write("index.sql", "CREATE INDEX notes ON items (note);\n");
    let uses = "EXPLAIN QUERY PLAN SELECT * FROM items WHERE note = 'x';";
    lab.write("r.sql", &(script(10) + uses));
    run(&lab, &[], 0);
    assert_eq!(lab.rows("t", "SELECT count(DISTINCT key) FROM configurations"), ["2"]);
    assert_eq!(templates(&lab).len(), 2);
    let kept =
        "SELECT path, length(content) FROM files WHERE named_by = 'target.setup.sql' ORDER BY path";
    assert_eq!(lab.rows("t", kept), ["index.sql|36", &format!("schema.sql|{}", SCHEMA.len())]);
    // The paths count from the folder of the experiment file.
    let other = tempfile::tempdir().unwrap();
    let check = |lab: &Lab| {
        let mut check = lab.command(&["check"]);
        Exit::from(check.arg(lab.path("e.toml")).current_dir(other.path()).output().unwrap())
    };
    check(&lab).expect(0);
    std::fs::remove_file(lab.path("index.sql")).unwrap();
    check(&lab)
        .expect(2)
        .says("index.sql: No such file")
        .says("start at the experiment file's folder");
}

#[test]
fn a_file_that_changes_is_told_and_stops_a_run() {
    let lab = lab(SQLITE, "[hooks]\nbefore_trial = \"echo 'SELECT 1;' >> schema.sql\"\n", 10);
    run(&lab, &[], 1).says(
        "schema.sql: it has changed since the run started; restore the \
                            original file",
    );
    lab.write("schema.sql", &SCHEMA.replace("items (", "items("));
    lab.write("e.toml", &file(SQLITE, ""));
    run(&lab, &["--fresh"], 0);
    lab.write("schema.sql", &SCHEMA.replace("id INTEGER", "id  INTEGER"));
    run(&lab, &[], 2).says("target.setup.sql: schema.sql differs from line 2 on");
    run(&lab, &["--fresh"], 0);
    let compared = lab.steelbench(&["compare", "@2", "@3", "--in", "t"]).expect(0);
    compared.shows("target.setup.sql.schema.sql");
}

#[test]
fn what_is_wrong_in_a_file_is_told_with_line_and_statement() {
    let lab = lab(SQLITE, "", 10);
    for (sql, text) in [
        (
            "CREATE TABLE items (id INTEGER);\n\n-- x\nINSERT INTO\n  itms VALUES (1);\n",
            &["schema.sql:4: no such table: itms", "INSERT INTO"][..],
        ),
        ("SELECT :missing;\n", &["schema.sql:1: variable `missing` is not set"]),
        ("BEGIN;\nCREATE TABLE items (id INTEGER);\n", &["it ends inside an open transaction"]),
        (
            "CREATE TABLE items (id INTEGER);\nCREATE TRIGGER t AFTER INSERT ON items BEGIN\n  \
             DELETE FROM items;\nEND;\nSELECT x;\n",
            &["schema.sql:5: no such column: x"],
        ),
    ] {
        lab.write("schema.sql", sql);
        run(&lab, &["--fresh"], 1);
        let causes = lab.rows("t", "SELECT cause FROM trials ORDER BY id DESC LIMIT 1");
        for text in text {
            assert!(causes[0].contains(text), "{causes:?}");
        }
        assert_eq!(templates(&lab), Vec::<PathBuf>::new());
    }
    lab.write("e.toml", &file(&SQLITE.replace("rows =", "\"ro ws\" ="), ""));
    run(&lab, &[], 2).says("`ro ws` is not a valid variable name");
}

#[test]
fn a_database_file_and_sql_are_restored_and_take_the_settings_of_files() {
    let lab =
        lab("engine = \"sqlite\"\nsetup.dump = \"prod.sqlite\"\nsettings.page_size = 8192", "", 3);
    let prod = Connection::open(lab.path("prod.sqlite")).unwrap();
    prod.execute_batch(
        "PRAGMA journal_mode = wal; CREATE TABLE items (id INTEGER PRIMARY KEY, note TEXT); \
         INSERT INTO items VALUES (1, 'a'), (2, 'b'), (3, 'c')",
    )
    .unwrap();
    // What is in its log would be missing.
    run(&lab, &[], 2)
        .says("prod.sqlite-wal contains changes that are not yet in the database file");
    drop(prod);
    run(&lab, &[], 0);
    assert_eq!(
        lab.rows("t", "SELECT named_by, path, content FROM files LIMIT 1"),
        ["workload.script|r.sql|".to_owned() + &script(3)]
    );
    let kept =
        "SELECT path, length(sha256), content FROM files WHERE named_by = 'target.setup.dump'";
    assert_eq!(lab.rows("t", kept), ["prod.sqlite|64|"]);
    lab.write(
        "prod.sql",
        "BEGIN TRANSACTION;\nCREATE TABLE items (id INTEGER, note TEXT);\nINSERT INTO items \
         VALUES(1,'a;\n:b');\nCOMMIT;\n",
    );
    lab.write(
        "e.toml",
        &file("engine = \"sqlite\"\nsetup.dump = \"prod.sql\"\nsetup.sql = \"more.sql\"", ""),
    );
    lab.write("more.sql", "INSERT INTO items SELECT 2, note FROM items WHERE note = 'a;\n:b'");
    lab.write("r.sql", &script(2));
    run(&lab, &["--fresh"], 0);
}

#[test]
fn psql_fills_a_private_server_once_and_every_trial_begins_with_a_copy() {
    for installation in installed::installations() {
        let version = installation.version.major;
        let target = format!(
            "engine = \"postgres\"\nversion = {version}\nsettings.fsync = false\nsetup.variables \
             = {{ rows = 10, name = \"items\" }}"
        );
        let factor = "[factors]\n\"target.setup.sql\" = [\"schema.sql\", [\"schema.sql\", \
                      \"sub/index.sql\"]]\n";
        let lab = lab(&target, factor, 10);
        std::fs::create_dir(lab.path("sub")).unwrap();
        // Makes the files of each test another template, and counts how often it is made.
        let made = format!("\\! echo made >> {}\n", lab.path("made").display());
        let schema = "CREATE TABLE :\"name\" (id int, note text);\n\\copy items from 'items.csv' \
                      csv\nSELECT count(*) = :rows AS ok FROM items \\gset\n\\if \
                      :ok\n\\else\nSELECT wrong;\n\\endif\n";
        lab.write("schema.sql", &(schema.to_owned() + &made));
        lab.write("sub/index.sql", &format!("\\ir more.sql\n{made}"));
        lab.write("sub/more.sql", "CREATE INDEX ON items (id);\n");
        let rows = |rows: u32| {
            (1..=rows).map(|row| format!("{row},x")).collect::<Vec<_>>().join("\n") + "\n"
        };
        lab.write("items.csv", &rows(10));
        run(&lab, &[], 0);
        assert_eq!(lab.rows("t", "SELECT status, count(*) FROM trials"), ["done|4"]);
        run(&lab, &["--fresh"], 0);
        // The first level one file, the second one two.
        assert_eq!(lab.read("made").lines().count(), 3, "{version}");
        let kept =
            "SELECT DISTINCT path FROM files WHERE named_by = 'target.setup.sql' ORDER BY path";
        assert_eq!(
            lab.rows("t", kept),
            ["items.csv", "schema.sql", "sub/index.sql", "sub/more.sql"]
        );
        // Data that \copy reads counts as the file that names it.
        lab.write("items.csv", &rows(11));
        run(&lab, &[], 2).says("target.setup.sql: items.csv differs from line 11 on");
        run(&lab, &["--fresh"], 1);
        let causes = causes(&lab);
        for text in [
            "running schema.sql: psql ended with exit status: 3",
            "psql:schema.sql:6: ERROR:",
            "SELECT wrong",
        ] {
            assert!(causes[0].contains(text), "{causes:?}");
        }
        servers::nothing_is_left(&lab);
    }
}

fn dump(installation: &Installation, lab: &Lab, arguments: &[&str]) {
    dump_by(installation, installation, lab, arguments);
}

/// Dumps a table of one version by the `pg_dump` of another one.
fn dump_by(programs: &Installation, installation: &Installation, lab: &Lab, arguments: &[&str]) {
    let (bin, folder) = (&programs.bindir, lab.path("server"));
    let cluster = installed::running(installed::options(installation, &folder));
    let mut client = cluster.connect().unwrap();
    client
        .batch(
            "CREATE ROLE app; CREATE TABLE items (id int, note text); ALTER TABLE items OWNER TO \
             app; INSERT INTO items VALUES (1, 'a'), (2, 'b')",
        )
        .unwrap();
    let socket = installed::private(&folder).unwrap().1;
    let socket = socket.to_string();
    let dumped = Command::new(bin.join("pg_dump"))
        .args(["-d", &socket])
        .args(arguments)
        .current_dir(lab.path(""))
        .output()
        .unwrap();
    assert!(dumped.status.success(), "{}", String::from_utf8_lossy(&dumped.stderr));
}

#[test]
fn every_format_of_pg_dump_is_restored() {
    for installation in installed::installations() {
        let version = installation.version.major;
        let target = format!(
            "engine = \"postgres\"\nversion = {version}\nsettings.fsync = false\nsetup.sql = \
             \"more.sql\"\nsetup.dump = "
        );
        let lab = lab("", "", 3);
        lab.write(
            "more.sql",
            &format!("INSERT INTO items VALUES (3, '{}');\n", lab.path("").display()),
        );
        for (name, arguments) in [
            ("prod.dump", &["-Fc"][..]),
            ("prod.tar", &["-Ft"]),
            ("prod.folder", &["-Fd"]),
            ("prod.sql", &["-Fp", "--no-owner"]),
        ] {
            std::fs::create_dir(lab.path("server")).unwrap();
            dump(&installation, &lab, &[arguments, &["-f", name]].concat());
            std::fs::remove_dir_all(lab.path("server")).unwrap();
            lab.write("e.toml", &file(&format!("{target}\"{name}\""), ""));
            run(&lab, &["--fresh"], 0);
        }
        assert_eq!(lab.rows("t", "SELECT status, count(*) FROM trials"), ["done|8"]);
        lab.write("prod.gz", "\u{1f}");
        std::fs::write(lab.path("prod.gz"), [0x1f, 0x8b, 8, 0]).unwrap();
        lab.write("e.toml", &file(&format!("{target}\"prod.gz\""), ""));
        run(&lab, &[], 2).says("prod.gz: it is compressed; decompress it first");
    }
}

/// Scripts and archives of a later `pg_dump` begin with settings that older servers do not know.
#[test]
fn dumps_by_a_later_pg_dump_are_restored_on_the_version_of_their_server() {
    let all = installed::installations();
    let Some(newest) = all.iter().max_by_key(|installation| installation.version) else { return };
    for installation in all.iter().filter(|older| older.version.major < newest.version.major) {
        let lab = lab("", "", 2);
        for (name, format) in [("prod.dump", "-Fc"), ("prod.folder", "-Fd"), ("prod.sql", "-Fp")] {
            let folder = lab.path("server");
            std::fs::create_dir(&folder).unwrap();
            dump_by(newest, installation, &lab, &[format, "--no-owner", "-f", name]);
            std::fs::remove_dir_all(&folder).unwrap();
            let target = format!("engine = \"postgres\"\nsetup.dump = \"{name}\"");
            lab.write("e.toml", &file(&target, ""));
            run(&lab, &["--fresh"], 0);
            let version = lab.rows("t", "SELECT json FROM environments ORDER BY run DESC LIMIT 1");
            assert!(version[0].contains(&installation.version.to_string()), "{version:?}");
        }
    }
}

#[test]
fn filling_a_server_ends_when_the_run_does() {
    for installation in installed::installations() {
        let version = installation.version.major;
        let target =
            format!("engine = \"postgres\"\nversion = {version}\nsetup.sql = \"schema.sql\"");
        for (sent, code) in [(libc::SIGINT, Some(130)), (libc::SIGKILL, None)] {
            let lab = lab(&target, "", 10);
            lab.write("schema.sql", "\\! echo x > made\nSELECT pg_sleep(600);\n");
            let child = lab.start();
            wait_until("psql runs the file", || lab.path("made").exists());
            signal(&child, sent);
            assert_eq!(end(child).code, code);
            wait_until("psql has ended", || servers::processes(&lab).is_empty());
        }
    }
}

#[test]
fn the_program_that_is_missing_is_named() {
    for installation in installed::installations() {
        let bin = tempfile::tempdir().unwrap();
        for name in ["postgres", "initdb"] {
            let (real, here) = (installation.bindir.join(name), bin.path().join(name));
            std::fs::write(&here, format!("#!/bin/sh\nexec {} \"$@\"\n", real.display())).unwrap();
            std::fs::set_permissions(&here, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let target = format!(
            "engine = \"postgres\"\nbindir = \"{}\"\nsetup.sql = \"schema.sql\"",
            bin.path().display()
        );
        let lab = lab(&target, "", 10);
        let mut check = lab.command(&["check", "e.toml"]);
        let check =
            check.env("PATH", lab.path("")).env_remove("STEELBENCH_PG_BINDIRS").output().unwrap();
        let says = |path: &Path| format!("looking for psql: it is neither in {}", path.display());
        Exit::from(check).expect(2).says("target.setup.sql: schema.sql: ").says(&says(bin.path()));
    }
}

#[test]
fn on_a_server_by_url_tables_are_made_in_databases_of_ours() {
    for bin in bindirs() {
        let server = Server::start(&bin, "local all app trust\n", &[]);
        let mut client = server.connect();
        client.batch("CREATE ROLE app LOGIN").unwrap();
        client.batch("CREATE DATABASE prod").unwrap();
        let target = format!(
            "engine = \"postgres\"\nurl = \"host={} port={} user=app dbname=prod\"\nsetup.sql = \
             \"schema.sql\"\nsetup.variables = {{ rows = 10, name = \"items\", note = \"x\" }}",
            server.folder().display(),
            server.port
        );
        let lab = lab(&target, "", 10);
        lab.write(
            "schema.sql",
            &format!("{SCHEMA}\\! echo made >> {}\n", lab.path("made").display()),
        );
        run(&lab, &[], 1).says("ALTER ROLE app CREATEDB");
        client.batch("ALTER ROLE app CREATEDB").unwrap();
        run(&lab, &["--fresh"], 0);
        // Each trial began with a copy, and all that was made is gone.
        assert_eq!(lab.rows("t", "SELECT status, count(*) FROM trials"), ["done|2"]);
        assert_eq!(lab.read("made").lines().count(), 1);
        let mut databases = || -> Vec<String> {
            let sql = "SELECT datname FROM pg_database WHERE datname !~ '^(postgres|template.)$' \
                       ORDER BY 1";
            client.query(sql, &[]).unwrap().iter().map(|row| row.text(0)).collect()
        };
        assert_eq!(databases(), ["prod"]);
        lab.write("r.sql", "SELECT pg_sleep(600);\n");
        let child = lab.start_with(&["run", "e.toml", "--fresh"]);
        servers::await_load(&server.config());
        signal(&child, libc::SIGKILL);
        end(child);
        assert_eq!(databases().len(), 3, "{:?}", databases());
        lab.write("r.sql", &script(10));
        run(&lab, &["--fresh"], 0).says("an earlier run did not end properly: dropped on");
        assert_eq!(databases(), ["prod"]);
        assert_eq!(lab.work_folders(), Vec::<PathBuf>::new());
    }
}

/// A run that makes the cache large names the command that clears it; later ones do not.
#[test]
fn a_cache_that_a_run_makes_large_is_announced() {
    let lab = lab(SQLITE, "", 10);
    let run = |least: &str| {
        let mut run = lab.command(&["run", "e.toml", "--fresh"]);
        run.env("XDG_CACHE_HOME", lab.path("cache"));
        run.env("STEELBENCH_CACHE_ANNOUNCED_BYTES", least);
        Exit::from(run.output().unwrap()).expect(0).stderr
    };
    let says = format!("`rm -r {}` removes them", lab.path("cache/steelbench/sqlite").display());
    let first = run("1000");
    assert!(first.contains(&says), "{first}");
    assert!(!run("1000").contains(&says));
    std::fs::remove_dir_all(lab.path("cache/steelbench/sqlite")).unwrap();
    assert!(!run("1000000000").contains(&says));
}

/// While a program reads the files of a set-up, the run says how far it has come.
#[test]
fn the_progress_of_a_set_up_is_announced() {
    if installed::installations().is_empty() {
        return crate::common::skipped("PostgreSQL is not installed");
    }
    let lab = lab("engine = \"postgres\"\nsetup.sql = \"schema.sql\"", "", 0);
    let (go, rest) = (lab.path("go"), "-- more to read\n".repeat(100_000));
    lab.write(
        "schema.sql",
        &format!(
            "CREATE TABLE items (id int, note text);\n\\! while [ ! -e {} ]; do sleep 0.05; \
             done\n{rest}",
            go.display()
        ),
    );
    let mut run = lab.command(&["run", "e.toml", "--json"]);
    run.env("XDG_CACHE_HOME", lab.path("cache")).stdout(Stdio::piped());
    let mut child = run.spawn().unwrap();
    let mut events = Vec::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap) {
        if line.contains("preparing postgres: schema.sql, 0 % read") {
            lab.write("go", "");
        }
        events.push(line);
    }
    assert_eq!(child.wait().unwrap().code(), Some(0), "{events:?}");
    assert!(lab.path("go").exists(), "{events:?}");
}

/// SQLite reads the files of a set-up in our own process: an endless statement is announced, and
/// the run can be stopped in it.
#[test]
fn the_progress_of_a_set_up_in_our_process_is_announced() {
    let lab = lab("engine = \"sqlite\"\nsetup.sql = \"schema.sql\"", "", 0);
    let endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)\n\
                   SELECT count(*) FROM n;\n";
    lab.write("schema.sql", &format!("{endless}{}", "-- more to read\n".repeat(100_000)));
    let mut run = lab.command(&["run", "e.toml", "--json"]);
    run.env("XDG_CACHE_HOME", lab.path("cache")).stdout(Stdio::piped());
    let mut child = run.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.contains("preparing sqlite: schema.sql, 0 % read")));
    signal(&child, libc::SIGINT);
    let rest: Vec<String> = lines.collect();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest:?}");
}
