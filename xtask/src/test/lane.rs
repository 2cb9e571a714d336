//! The tests that a run of the suite has: the gate, which every change passes, or all.

use crate::process::{output, root};
use std::collections::BTreeSet;
use std::process::Command;

/// The option of `cargo xtask test` that selects all tests.
const ALL: &str = "--all";
/// The variable that tells tests the lane, and its value in the lane of all tests: campaigns have
/// more tries there.
const LANE: &str = "STEELBENCH_TEST_LANE";
/// The beginning of the reason why the gate ignores a test.
const REASON: &str = "lane all: ";
/// In such a reason, this and the name of an engine: a change in the engine's folder has the gate
/// run the test too.
const VERSIONS_OF: &str = "versions of ";
/// Folders with those of engines, relative to the root.
const ENGINES: [&str; 2] = ["crates/engines", "crates/inspection"];
/// Variables that list versions of an engine's server or library, the one for the gate first.
const VERSIONS: [(&str, &str); 2] =
    [("postgres", "STEELBENCH_TEST_PG_BINDIRS"), ("duckdb", "STEELBENCH_TEST_DUCKDB_LIBS")];
/// The folder that all engines with servers share.
const OF_ALL_SERVERS: &str = "servers";
/// The branch that changes go to.
const MAIN: &str = "origin/main";

/// The tests of a run.
#[derive(Debug, Default)]
pub struct Lane {
    pub is_all: bool,
    /// Folders of engines with changes since the branch left main.
    changed: BTreeSet<String>,
}

impl Lane {
    /// Splits the lane's option from other arguments.
    pub fn from_arguments(arguments: &[String]) -> (Self, Vec<String>) {
        let rest: Vec<String> =
            arguments.iter().filter(|argument| *argument != ALL).cloned().collect();
        let is_all = rest.len() < arguments.len();
        (Self { is_all, changed: changed_engines().unwrap_or_default() }, rest)
    }

    /// The lane's name in names of files.
    pub fn name(&self) -> &'static str {
        if self.is_all { "all" } else { "gate" }
    }

    /// Returns true if a test that is ignored for this reason runs. Other reasons belong to parts
    /// of tests, which the tests run themselves, and to what is run by hand.
    pub fn has(&self, reason: &str) -> bool {
        let Some(reason) = reason.strip_prefix(REASON) else { return false };
        self.is_all
            || reason.strip_prefix(VERSIONS_OF).is_some_and(|engine| self.has_versions_of(engine))
    }

    /// Returns true if further versions of an engine are tested.
    fn has_versions_of(&self, engine: &str) -> bool {
        let is_changed = |folder: &str| self.changed.contains(folder);
        self.is_all || is_changed(engine) || is_changed(OF_ALL_SERVERS)
    }

    /// Adapts the variables of tests: which versions they find, and how many tries they make.
    pub fn adapt(&self, environment: &mut Vec<(&'static str, String)>) {
        for (engine, variable) in VERSIONS {
            if self.has_versions_of(engine) {
                continue;
            }
            for (_, list) in environment.iter_mut().filter(|(name, _)| *name == variable) {
                list.truncate(list.find(':').unwrap_or(list.len()));
            }
        }
        if self.is_all {
            environment.push((LANE, self.name().to_owned()));
        }
    }
}

/// Returns the folders of engines that differ from the last commit on main, or, on main, from the
/// commit before.
fn changed_engines() -> Result<BTreeSet<String>, String> {
    let git = |arguments: &[&str]| {
        let printed = output(Command::new("git").current_dir(root()).args(arguments))?;
        Ok::<_, String>(printed.trim().to_owned())
    };
    let head = git(&["rev-parse", "HEAD"])?;
    let left = git(&["merge-base", "HEAD", MAIN]).unwrap_or_else(|_| head.clone());
    let base = if left == head { "HEAD^".to_owned() } else { left };
    let files = git(&[&["diff", "--name-only", &base, "--"], &ENGINES[..]].concat())?;
    Ok(files.lines().filter_map(folder_of_engine).map(str::to_owned).collect())
}

fn folder_of_engine(file: &str) -> Option<&str> {
    match file.split('/').collect::<Vec<_>>()[..] {
        ["crates", "engines", engine, ..] | ["crates", "inspection", _, engine, _, ..] => {
            Some(engine)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Lane, folder_of_engine};

    fn gate(changed: &[&str]) -> Lane {
        Lane { is_all: false, changed: changed.iter().map(|name| (*name).to_owned()).collect() }
    }

    #[test]
    fn the_gate_has_versions_of_changed_engines() {
        let (all, helper) = (Lane { is_all: true, ..Lane::default() }, "part of the next test");
        assert!(all.has("lane all: 20 s") && !all.has(helper) && !all.has(""));
        let versions = "lane all: versions of mariadb";
        assert!(!gate(&["postgres"]).has(versions) && !gate(&["mariadb"]).has("lane all: 20 s"));
        assert!(gate(&["mariadb"]).has(versions) && gate(&["servers"]).has(versions));
        assert_eq!(folder_of_engine("crates/engines/mariadb/src/lib.rs"), Some("mariadb"));
        let reader = "crates/inspection/src/mariadb/statement_log.rs";
        assert_eq!(folder_of_engine(reader), Some("mariadb"));
        assert_eq!(folder_of_engine("crates/inspection/src/lib.rs"), None);
        assert_eq!(folder_of_engine("crates/cli/tests/mysql.rs"), None);
    }

    #[test]
    fn the_gate_lists_the_first_version() {
        let listed = |lane: &Lane| {
            let lists = ["STEELBENCH_TEST_PG_BINDIRS", "STEELBENCH_TEST_DUCKDB_LIBS", "PATH"];
            let mut variables = lists.map(|name| (name, "a:b".to_owned())).to_vec();
            lane.adapt(&mut variables);
            variables.into_iter().map(|(_, value)| value).collect::<Vec<_>>()
        };
        assert_eq!(listed(&gate(&[])), ["a", "a", "a:b"]);
        assert_eq!(listed(&gate(&["duckdb"])), ["a", "a:b", "a:b"]);
        assert_eq!(listed(&Lane { is_all: true, ..Lane::default() }), ["a:b", "a:b", "a:b", "all"]);
    }
}
