//! Questions of `check` to the engines of an experiment: whether they accept its statements, and
//! whether servers start with its settings.

use crate::common;
use crate::common::{Exit, Lab};
use crate::servers;
use crate::servers::by_url::{OWNER, Server, bindirs};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

const SCRIPT: &str = "\\set a random(1, 9)\nBEGIN;\nSELECT abalance FROM pgbench_accounts\n  WHERE \
                      aid = :a;\nUPDATE pgbench_accounts SET abalance = :a WHERE aid = :a;\nEND;\n";
/// Has a column that does not exist, in the second line of its statement.
const WRONG: &str = "\\set a random(1, 9)\nBEGIN;\nSELECT abalance\n  , nope FROM \
                     pgbench_accounts WHERE aid = :a;\nEND;\n";

fn file(target: &str, workload: &str) -> String {
    format!(
        "[experiment]\nname = \"t\"\n[target]\n{target}\n[workload]\nprobe = \"script\"\nscript = \
         \"r.sql\"\nconnections = 1\ntransactions = 1\n{workload}\n[repeats]\nblocks = 1\n"
    )
}

fn check(lab: &Lab, arguments: &[&str], code: i32) -> Exit {
    lab.steelbench(&[&["check", "e.toml"], arguments].concat()).expect(code)
}

/// The tables are made as the run would make them; nothing is left of them.
fn statements_are_prepared(target: &str) {
    let lab = servers::lab(&file(target, "initialize = true"));
    lab.write("r.sql", WRONG);
    let refused = check(&lab, &[], 2);
    assert!(refused.stderr.contains("r.sql:4:5: "), "{refused:#?}");
    assert!(refused.stderr.contains("nope"), "{refused:#?}");
    lab.write("r.sql", SCRIPT);
    check(&lab, &[], 0).shows("note: 2 statements prepared");
    let json: serde_json::Value =
        serde_json::from_str(&check(&lab, &["--json"], 0).stdout).unwrap();
    assert_eq!(json["notes"], serde_json::json!(["2 statements prepared"]));
    let entries = std::fs::read_dir(lab.path("")).unwrap().flatten();
    let mut left: Vec<_> = entries.map(|entry| entry.file_name()).collect();
    left.sort();
    assert_eq!(left, ["e.toml", "r.sql"], "{target}");
}

#[test]
fn statements_are_prepared_on_sqlite() {
    statements_are_prepared("engine = \"sqlite\"");
}

#[test]
fn statements_are_prepared_on_duckdb() {
    if servers::installed::duckdb_libraries().is_empty() {
        return common::skipped("DuckDB is not installed");
    }
    for library in servers::installed::duckdb_libraries().into_iter().flatten() {
        statements_are_prepared(&format!("engine = \"duckdb\"\nlibrary = \"{library}\""));
    }
}

#[test]
fn statements_are_prepared_on_postgres() {
    if servers::installed::installations().is_empty() {
        return common::skipped("PostgreSQL is not installed");
    }
    statements_are_prepared("engine = \"postgres\"");
}

#[test]
fn statements_are_prepared_on_mariadb() {
    if servers::installed::mariadb_installations().is_empty() {
        return common::skipped("MariaDB is not installed");
    }
    statements_are_prepared("engine = \"mariadb\"");
}

/// Tables of one's own are made by the set-up; what a script makes itself is not there before.
#[test]
fn tables_of_the_set_up_are_there_and_those_of_the_script_may_be() {
    let lab = Lab::with(&file("engine = \"sqlite\"\nsetup.sql = \"schema.sql\"", ""));
    lab.write("schema.sql", "CREATE TABLE items (id INTEGER PRIMARY KEY, note TEXT);\n");
    lab.write("r.sql", "SELECT note FROM items;\nSELECT title FROM items;\n");
    let refused = check(&lab, &[], 2);
    assert!(refused.stderr.contains("r.sql:2:8: no such column: title"), "{refused:#?}");
    for script in [
        "CREATE TEMP TABLE own (title TEXT);\nSELECT title FROM own;\nDROP TABLE own;\n",
        "\\set a 1\n\\if :a = 2\nSELECT title FROM own;\n\\endif\nSELECT note FROM items;\n",
    ] {
        lab.write("r.sql", script);
        check(&lab, &[], 0).shows("no such table: own (perhaps not in the run");
    }
    lab.write("schema.sql", "CREATE TABLE items (id INTEGER;\n");
    lab.write("r.sql", "SELECT note FROM items;\n");
    check(&lab, &[], 0).shows("not ready yet: ").shows("schema.sql");
}

/// Where a command makes a volume only in the run, its configurations are asked elsewhere.
#[test]
fn configurations_on_volumes_are_asked() {
    let volumes = "[factors]\n\"target.volume\" = [\"there\", \"made\"]\n[[volume]]\nname = \
                   \"there\"\npath = \"there\"\n[[volume]]\nname = \"made\"\npath = \
                   \"made\"\nprepare = \"mkdir made\"\n";
    let target = "engine = \"sqlite\"\nsetup.sql = \"schema.sql\"";
    let lab = Lab::with(&(file(target, "") + volumes));
    std::fs::create_dir(lab.path("there")).unwrap();
    lab.write("schema.sql", "CREATE TABLE items (id INTEGER PRIMARY KEY, note TEXT);\n");
    lab.write("r.sql", "SELECT title FROM items;\n");
    check(&lab, &[], 2).says("r.sql:1:8: no such column: title");
    lab.write("r.sql", "SELECT note FROM items;\n");
    check(&lab, &[], 0).shows("note: 2 statements prepared");
    assert_eq!(std::fs::read_dir(lab.path("there")).unwrap().count(), 0);
    assert!(!lab.path("made").exists());
}

/// Your server is asked about the tables that it has, and nothing is created there.
#[test]
fn statements_are_prepared_on_a_postgres_server_by_url() {
    let Some(bin) = bindirs().pop() else {
        return common::skipped("PostgreSQL is not installed");
    };
    let server = Server::start(&bin, "host all all 127.0.0.1/32 trust", &[]);
    server.connect().batch("CREATE TABLE items (id int PRIMARY KEY, note text)").unwrap();
    let target = format!(
        "engine = \"postgres\"\nurl = \"host=127.0.0.1 port={} user={OWNER} dbname=postgres\"",
        server.port
    );
    let lab = Lab::with(&file(&target, ""));
    lab.write("r.sql", "\\set a 1\nSELECT note, nope FROM items WHERE id = :a;\n");
    let refused = check(&lab, &[], 2);
    assert!(refused.stderr.contains("r.sql:2:14: "), "{refused:#?}");
    lab.write("r.sql", "\\set a 1\nINSERT INTO items VALUES (:a, 'x');\nSELECT 1;\n");
    check(&lab, &[], 0).shows("note: 2 statements prepared");
    let count = |sql: &str| server.connect().cell(sql).unwrap();
    assert_eq!(count("SELECT count(*) FROM items").as_deref(), Some("0"));
    let schemas = "SELECT count(*) FROM pg_namespace WHERE nspname = 'steelbench'";
    assert_eq!(count(schemas).as_deref(), Some("0"));
    // Tables that the run would create there.
    for more in ["initialize = true", "[target.setup]\nsql = \"schema.sql\""] {
        lab.write("schema.sql", "CREATE TABLE t (a int);\n");
        lab.write("e.toml", &file(&target, more));
        check(&lab, &[], 0)
            .shows("statements were not prepared: the run creates their tables on your server");
    }
}

#[test]
fn statements_are_prepared_on_a_mariadb_server_by_url() {
    let Some(server) = servers::mariadb::Server::start(&[]) else { return };
    server
        .connect()
        .run("CREATE DATABASE app; CREATE TABLE app.items (id int PRIMARY KEY, note text)")
        .unwrap();
    let lab = Lab::with(&file(
        &format!("engine = \"mariadb\"\nurl = \"{}\"", server.url("root")),
        "protocol = \"simple\"",
    ));
    lab.write("r.sql", "SELECT note, nope FROM app.items WHERE id = 1;\n");
    let refused = check(&lab, &[], 2);
    assert!(refused.stderr.contains("r.sql:1:14: "), "{refused:#?}");
    lab.write("r.sql", "SELECT note FROM app.items WHERE id = 1;\n");
    check(&lab, &[], 0).shows("note: 1 statement prepared");
}

/// Settings that a server accepts one by one and with which it does not start.
#[test]
fn a_server_is_started_with_the_settings_of_the_file() {
    let text = "[experiment]\nname = \"t\"\n[target]\nengine = \"ENGINE\"\nsettings = { SETTINGS \
                   }\n[workload]\nprobe = \"insert\"\nconnections = 1\nrows = \
                   10\nrows_per_transaction = 1\n[repeats]\nblocks = 1\n";
    let of = |engine: &str, settings: &str| {
        let lab = servers::lab(&text.replace("ENGINE", engine).replace("SETTINGS", settings));
        check(&lab, &[], 0).stdout
    };
    if servers::installed::installations().is_empty() {
        common::skipped("PostgreSQL is not installed");
    } else {
        let levels = "wal_level = \"minimal\" }\n[factors]\n\"target.settings.max_wal_senders\" \
                      = [0, 5]\n\"target.settings.work_mem\" = [\"1MB\", \"2MB\"]\n#";
        let shown = of("postgres", levels);
        // Each level is tried once: the wrong one with the first of the others.
        let not_ready: Vec<&str> =
            shown.lines().filter(|line| line.contains("not ready")).collect();
        assert_eq!(not_ready.len(), 1, "{shown}");
        assert!(not_ready[0].contains("max_wal_senders=5 work_mem=1MB: "), "{shown}");
        assert!(not_ready[0].contains("wal_level"), "{shown}");
        // Where the kernel promises any amount of memory, the server starts.
        let promises = std::fs::read_to_string("/proc/sys/vm/overcommit_memory").unwrap();
        let shown = of("postgres", "shared_buffers = \"999GB\"");
        let is_refused = shown.contains("not ready yet: ") && shown.contains("memory");
        assert!(is_refused || promises.trim() == "1", "{shown}");
    }
    if servers::installed::mariadb_installations().is_empty() {
        common::skipped("MariaDB is not installed");
    } else {
        let shown = of("mariadb", "innodb_page_size = \"5000\"");
        assert!(shown.contains("not ready yet: "), "{shown}");
    }
}

/// A clone below the home of root, as in containers.
#[test]
fn servers_of_root_run_from_a_folder_that_their_user_cannot_enter() {
    if !common::is_root() {
        return common::skipped("a user of its own for servers needs root");
    }
    let installed = [
        ("postgres", servers::installed::installations().is_empty()),
        ("mariadb", servers::installed::mariadb_installations().is_empty()),
    ];
    for (engine, is_missing) in installed {
        if is_missing {
            common::skipped(&format!("{engine} is not installed"));
            continue;
        }
        let lab = servers::lab("");
        let closed = lab.path("closed");
        std::fs::create_dir(&closed).unwrap();
        std::fs::set_permissions(&closed, Permissions::from_mode(0o700)).unwrap();
        lab.write(
            "closed/e.toml",
            &format!(
                "[experiment]\nname = \"t\"\n[target]\nengine = \"{engine}\"\n[workload]\nprobe \
                 = \"insert\"\nconnections = 1\nrows = 10\nrows_per_transaction = \
                 1\n[repeats]\nblocks = 1\n"
            ),
        );
        let place = lab.path("").canonicalize().unwrap().display().to_string();
        let place = place.trim_end_matches('/');
        let says = format!("{engine}: files of its servers are in {place}: the server's user");
        let ended = |command: &[&str]| {
            let mut command = lab.command(command);
            command.env("XDG_CACHE_HOME", lab.path("cache")).current_dir(&closed);
            Exit::from(command.output().unwrap()).expect(0)
        };
        ended(&["check", "e.toml"]).shows(&says);
        ended(&["run", "e.toml", "--full"]).says(&says).shows("1 trial done");
        let left = std::fs::read_dir(lab.path("")).unwrap().flatten();
        let mut left: Vec<_> = left.map(|entry| entry.file_name()).collect();
        left.sort();
        assert_eq!(left, ["cache", "closed", "e.toml"]);
    }
}
