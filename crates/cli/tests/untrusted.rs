//! Untrusted files (`run --untrusted`): they reach their trials and nothing else of the machine.

use crate::common::{Exit, Lab, skipped};
use rusqlite::Connection;
use std::os::unix::fs::symlink;
use std::process::Command;

/// An experiment that runs the statements of two files.
fn scripted(target: &str) -> String {
    format!(
        "[experiment]\nname = \"t\"\n[target]\n{target}\nsetup.sql = \"s.sql\"\n[workload]\nprobe \
         = \"script\"\nscript = \"r.sql\"\nconnections = 1\ntransactions = 1\nprotocol = \
         \"simple\"\n[repeats]\nblocks = 1\n"
    )
}

const TABLE: &str = "CREATE TABLE items (id INTEGER PRIMARY KEY, note TEXT);\n";
const QUERY: &str = "SELECT count(*) FROM items;\n";

/// A lab with a database of the user's, whose table has a row.
fn lab(target: &str) -> Lab {
    let lab = Lab::with(&scripted(target));
    lab.write("s.sql", TABLE);
    lab.write("r.sql", QUERY);
    let user = Connection::open(lab.path("user.db")).unwrap();
    user.execute_batch("CREATE TABLE t (x); INSERT INTO t VALUES (1)").unwrap();
    lab
}

fn rows_of_user(lab: &Lab) -> i64 {
    let user = Connection::open(lab.path("user.db")).unwrap();
    user.query_row("SELECT count(*) FROM t", [], |row| row.get(0)).unwrap()
}

/// Runs a statement as set-up and as load; both have to fail with this.
fn refuses(lab: &Lab, library: Option<&str>, statement: &str, message: &str) {
    let statement = statement.replace("{lab}", &lab.path("").display().to_string());
    for (setup, load) in [(statement.as_str(), QUERY), (TABLE, statement.as_str())] {
        lab.write("s.sql", &format!("{setup}\n"));
        lab.write("r.sql", &format!("{load}\n"));
        let mut run = lab.command(&["run", "e.toml", "--untrusted", "--fresh"]);
        run.env("XDG_CACHE_HOME", lab.path("cache"));
        library.map(|library| run.env("STEELBENCH_DUCKDB_LIB", library));
        let ended = Exit::from(run.output().unwrap());
        assert_eq!(ended.code, Some(1), "{statement}: {ended:#?}");
        assert!(ended.stderr.contains(message), "{statement}: {ended:#?}");
    }
}

#[test]
fn statements_on_sqlite_reach_no_other_file() {
    let lab = lab("engine = \"sqlite\"");
    let refused = "authoriz";
    for statement in [
        "ATTACH '{lab}user.db' AS u; DELETE FROM u.t;",
        "ATTACH 'file:{lab}user.db?mode=rwc' AS u;",
        "ATTACH '{lab}' || 'user.db' AS u;",
        "ATTACH '{lab}new.db' AS n;",
        "ATTACH '../user.db' AS u;",
        "VACUUM INTO '{lab}new.db';",
        "VACUUM main INTO 'file:{lab}new.db';",
        "PRAGMA temp_store_directory = '{lab}';",
        "PRAGMA writable_schema = ON;",
        "pragma main.Writable_Schema = 1;",
        "SELECT load_extension('{lab}x.so');",
        "SELECT fts3_tokenizer('simple', x'00');",
    ] {
        refuses(&lab, None, statement, refused);
    }
    assert_eq!(rows_of_user(&lab), 1);
    assert!(!lab.path("new.db").exists());
    // The files of the trial and of its own statements are as always.
    let memory = "ATTACH ':memory:' AS m;\nCREATE TABLE m.x (y);\nDETACH m;\n";
    lab.write("s.sql", &format!("{TABLE}PRAGMA foreign_keys = ON;\nVACUUM;\n{memory}"));
    lab.write("r.sql", "PRAGMA integrity_check;\nINSERT INTO items VALUES (1, 'x');\n");
    lab.run_with(&["--untrusted", "--fresh"], 0);
    // Without the option the file may do what its user may.
    lab.write("r.sql", "ATTACH 'user.db' AS u;\nDELETE FROM u.t;\n");
    lab.run_with(&["--fresh"], 0);
    assert_eq!(rows_of_user(&lab), 0);
}

/// The connections of a session that has its data files attached.
#[test]
fn loads_on_sqlite_run_when_confined() {
    let file = "[experiment]\nname = \"t\"\n[target]\nengine = \"sqlite\"\ndata_files = \
                3\n[workload]\nprobe = \"insert\"\nconnections = 2\nrows = \
                40\nrows_per_transaction = 5\n[factors]\n\"target.open\" = [\"separate\", \
                \"attached\"]\n\"target.cache\" = [\"warm\", \"cold\"]\n[repeats]\nblocks = 1\n";
    let lab = Lab::with(file);
    lab.run_with(&["--untrusted"], 0);
    assert_eq!(lab.rows("t", "SELECT DISTINCT work_amount FROM trials"), ["40"]);
}

fn libraries() -> Vec<String> {
    let listed = std::env::var("STEELBENCH_TEST_DUCKDB_LIBS").unwrap_or_default();
    let all: Vec<String> =
        listed.split(':').filter(|path| !path.is_empty()).map(str::to_owned).collect();
    if all.is_empty() {
        skipped("STEELBENCH_TEST_DUCKDB_LIBS names no libduckdb");
    }
    all
}

#[test]
fn statements_on_duckdb_reach_no_other_file() {
    for library in libraries() {
        let lab = lab("engine = \"duckdb\"");
        lab.write("in.csv", "a\n1\n");
        let (disabled, locked) = ("disabled", "the configuration has been locked");
        for (statement, message) in [
            ("COPY (SELECT 1) TO '{lab}new.csv';", disabled),
            ("EXPORT DATABASE '{lab}new';", disabled),
            ("SELECT * FROM read_csv('/etc/passwd');", disabled),
            ("SELECT * FROM read_text('{lab}in.csv');", disabled),
            ("SELECT * FROM 'in.csv';", disabled),
            ("SELECT * FROM glob('/etc/*');", disabled),
            ("ATTACH '{lab}new.duckdb' AS n;", disabled),
            ("INSTALL httpfs;", disabled),
            ("LOAD '{lab}x.so';", disabled),
            ("CREATE PERSISTENT SECRET s (TYPE http, BEARER_TOKEN 'x');", disabled),
            ("SET enable_external_access = true;", locked),
            ("SET allowed_directories = ['/'];", locked),
            ("PRAGMA profiling_output = '{lab}new.json';", locked),
        ] {
            refuses(&lab, Some(&library), statement, message);
        }
        let names = |name: &str| lab.path(name).exists();
        assert!(!names("new.csv") && !names("new") && !names("new.duckdb") && !names("new.json"));
    }
}

/// Data sets, Parquet files, caches and degrees of parallelism on the agent's own library.
#[test]
fn loads_on_duckdb_run_when_confined() {
    let scans = "probe = \"scan\"\nrows = 20000\nscans = \
                 1\n[factors]\n\"workload.degree\" = [1, 2]\n\"target.cache\" = [\"warm\", \
                 \"cold\"]\n";
    let inserts = "probe = \"insert\"\nconnections = 2\nrows = 400\nrows_per_transaction = \
                   50\n[factors]\n\"workload.method\" = [\"statements\", \"copy\"]\n";
    for library in libraries() {
        for workload in [scans, inserts] {
            let lab = Lab::with(&format!(
                "[experiment]\nname = \"t\"\n[target]\nengine = \"duckdb\"\nsettings = {{ \
                 preserve_insertion_order = false }}\n[workload]\n{workload}[repeats]\nblocks = 1\n"
            ));
            let mut run = lab.command(&["run", "e.toml", "--untrusted"]);
            run.env("STEELBENCH_DUCKDB_LIB", &library).env("XDG_CACHE_HOME", lab.path("cache"));
            Exit::from(run.output().unwrap()).expect(0);
        }
    }
}

/// An experiment on a private server, on your server, on files, of commands.
#[test]
fn settings_that_reach_more_than_the_trials_are_refused() {
    let lab = lab("engine = \"sqlite\"");
    symlink("/etc/passwd", lab.path("link.sql")).unwrap();
    let volume = format!("[[volume]]\nname = \"v\"\npath = \"{}\"\n", lab.path("").display());
    let sqlite = scripted("engine = \"sqlite\"");
    let with = |from: &str, to: &str| sqlite.replace(from, to);
    let engine = |target: &str| with("engine = \"sqlite\"\nsetup.sql = \"s.sql\"", target);
    let reach = "can reach programs, libraries and files of this machine";
    let server = "the experiment starts servers or clients";
    let outside = "names a file outside of the experiment's folder";
    let url = "target.url is not a plain URL of a server";
    for (file, cause) in [
        (format!("{sqlite}[hooks]\nbefore_run = \"true\"\n"), "the experiment has hooks"),
        (format!("{sqlite}{volume}"), "volume v is a folder of this machine"),
        (with("s.sql", "/etc/passwd"), outside),
        (with("s.sql", "../s.sql"), outside),
        (with("s.sql", "link.sql"), outside),
        (with("\"r.sql\"", "[\"r.sql\", \"a/../../r.sql\"]"), outside),
        (engine("engine = \"duckdb\"\nlibrary = \"./x.so\""), reach),
        (engine("engine = \"duckdb\"\nlibrary = \"x.so\""), reach),
        (engine("engine = \"duckdb\"\nsettings.temp_directory = \"/tmp\""), reach),
        (engine("engine = \"duckdb\"\nsettings.profiling_output = \"/tmp/x\""), reach),
        (engine("engine = \"postgres\""), server),
        (engine("engine = \"postgres\"\nbindir = \"/tmp\""), reach),
        (engine("engine = \"postgres\"\nurl = \"host=h passfile=/etc/passwd\""), url),
        (engine("engine = \"postgres\"\nurl = \"postgres://h/?sslkey=/etc/passwd\""), url),
        (
            engine(
                "engine = \"postgres\"\nurl = \"postgres://h/\"\nallow_server_settings = \
                 true\nallow_restart = \"true\"",
            ),
            "target.allow_restart",
        ),
        (
            format!(
                "{}[background]\naction = \"backup\"\n",
                engine("engine = \"postgres\"\nurl = \"postgres://h/\"")
            ),
            server,
        ),
        (
            format!("{sqlite}[background]\naction = \"command\"\ncommand = \"true\"\n"),
            "the experiment has commands",
        ),
    ] {
        lab.write("e.toml", &file);
        for command in ["run", "check"] {
            let ended = lab.steelbench(&[command, "e.toml", "--untrusted"]).expect(2);
            ended.says(cause).says("which --untrusted refuses");
        }
    }
    lab.write(
        "e.toml",
        "[experiment]\nname = \"t\"\n[target]\nengine = \"none\"\n[workload]\nprobe = \
         \"command\"\ncommand = \"true\"\n[repeats]\nblocks = 1\n",
    );
    lab.run_with(&["--untrusted"], 2).says("the experiment has commands");
    assert!(!lab.path("results").exists());
}

/// Loading a library runs its code.
#[test]
fn an_untrusted_library_is_not_loaded() {
    let lab = lab("engine = \"duckdb\"\nlibrary = \"./evil.so\"");
    let code = "#include <stdio.h>\n__attribute__((constructor)) static void run(void) { \
                fclose(fopen(\"executed\", \"w\")); }\n";
    lab.write("evil.c", code);
    let mut build = Command::new("cc");
    let build = build.args(["-shared", "-fPIC", "-o", "evil.so", "evil.c"]);
    if !build.current_dir(lab.path("")).status().is_ok_and(|status| status.success()) {
        return skipped("cc cannot build a library");
    }
    for command in ["run", "check"] {
        lab.steelbench(&[command, "e.toml", "--untrusted"]).expect(2).says("target.library");
    }
    assert!(!lab.path("executed").exists());
    // The trap is real.
    lab.steelbench(&["run", "e.toml"]);
    assert!(lab.path("executed").exists());
}
