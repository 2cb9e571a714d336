//! `steelbench doctor`: abilities of this machine as its user has them.

use crate::common::{Exit, Lab, on_screen, skipped};
use serde_json::Value;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// The checks that `doctor --json` prints under a command line of the shell.
fn doctor(before: &str, change: impl Fn(&mut Command)) -> Value {
    let lab = Lab::new();
    // Where another user can start it, wherever the source is.
    let folder = tempfile::Builder::new().permissions(Permissions::from_mode(0o755)).tempdir();
    let folder = folder.unwrap();
    let program = folder.path().join("steelbench");
    // By a process of its own: a file that we hold open to write cannot be started by a test beside
    // this one.
    let copied = Command::new("cp").arg(lab.command(&[]).get_program()).arg(&program).status();
    assert!(copied.unwrap().success());
    let mut shell = Command::new("sh");
    shell
        .arg("-c")
        .arg(format!("{before} exec \"$0\" doctor --json"))
        .arg(program)
        .current_dir("/");
    change(&mut shell);
    let ended = Exit::from(shell.output().unwrap()).expect(0);
    serde_json::from_str(&ended.stdout).unwrap()
}

fn check<'a>(page: &'a Value, part: &str, name: &str) -> &'a Value {
    let found = page[part].as_array().unwrap().iter().find(|check| check["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {page}"))
}

#[test]
fn engines_are_listed_with_their_versions() {
    on_screen(&Lab::new(), &["doctor"]);
    let page = doctor("", |_| {});
    let sqlite = check(&page, "engines", "sqlite");
    assert_eq!(sqlite["state"], "ready");
    assert!(sqlite["found"].as_str().unwrap().contains(rusqlite::version()), "{sqlite}");
    let names: Vec<&str> = page["engines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|array| array["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["sqlite", "duckdb", "postgres", "mariadb", "sqlserver", "files"]);
    for array in page["engines"].as_array().unwrap() {
        let is_ready = array["state"] == "ready";
        assert!(is_ready || array["found"].as_str().unwrap().len() > 20, "{array}");
    }
}

#[test]
fn a_limit_is_found_with_its_remedy() {
    let files = |before: &str| doctor(before, |_| {});
    let low = files("ulimit -n 512;");
    let limited = check(&low, "machine", "open files");
    assert_eq!((&limited["state"], &limited["found"]), (&"limited".into(), &"at most 512".into()));
    assert!(limited["remedy"].as_str().unwrap().contains("ulimit -n"), "{limited}");
}

#[test]
fn another_user_learns_what_root_has_more() {
    // SAFETY: it only returns a number.
    if unsafe { libc::geteuid() } != 0 {
        return skipped("only root starts programs as another user");
    }
    let as_root = doctor("", |_| {});
    let as_nobody = doctor("", |shell| {
        shell.gid(65534).uid(65534);
    });
    let state = |page: &Value, name: &str| check(page, "machine", name)["state"].clone();
    assert_eq!(
        (state(&as_root, "user"), state(&as_nobody, "user")),
        ("ready".into(), "limited".into())
    );
    assert_eq!(state(&as_nobody, "I/O limits"), "missing");
    for array in as_nobody["machine"].as_array().unwrap() {
        assert_eq!(array["state"] == "ready", array["remedy"].is_null(), "{array}");
    }
}
