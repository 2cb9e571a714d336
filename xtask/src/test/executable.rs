//! An executable of tests: its identity, its run and its result.

use super::lane::Lane;
use super::stuck;
use crate::process::output;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

/// Longer than any process takes on a busy machine with two processors: one that takes longer waits
/// for what never comes.
const TIME_MAX: Duration = Duration::from_mins(20);

/// An executable that cargo has built.
#[derive(Debug, PartialEq)]
pub struct Executable {
    /// The arguments by which `cargo test` selects it.
    pub name: String,
    path: PathBuf,
    /// Where it is run: the folder of its package, as cargo does it.
    folder: PathBuf,
    /// The tests that this process runs; all without any.
    tests: Vec<String>,
}

impl Executable {
    /// From a line of cargo's messages; `None` where it tells of something else.
    pub fn from_message(line: &str) -> Option<Self> {
        let message: Value = serde_json::from_str(line).ok()?;
        let path = message["executable"].as_str().filter(|_| message["profile"]["test"] == true)?;
        let folder = Path::new(message["manifest_path"].as_str()?).parent()?;
        let package = package_name(message["package_id"].as_str()?)?;
        let (kind, name) =
            (message["target"]["kind"][0].as_str()?, message["target"]["name"].as_str()?);
        let target = if kind == "lib" { "--lib".into() } else { format!("--{kind} {name}") };
        let name = format!("-p {package} {target}");
        Some(Self { name, path: path.into(), folder: folder.into(), tests: Vec::new() })
    }

    /// Divides an executable of integration tests into a process for each module: many change what
    /// belongs to their process (limits, signals, processor time, what it leaves behind).
    /// `filters` are the arguments of the executable; a module without a selected test has no
    /// process.
    pub fn processes(self, lane: &Lane, filters: &[String]) -> Result<Vec<Self>, String> {
        if !self.name.contains(" --test ") {
            return Ok(vec![self]);
        }
        // Why a test is ignored is in the unstable format alone.
        let mut list = Command::new(&self.path);
        list.args(["--list", "--format", "json", "-Z", "unstable-options"]).args(filters);
        list.env("RUSTC_BOOTSTRAP", "1").current_dir(&self.folder);
        let mut modules: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for test in output(&mut list)?.lines().filter_map(Test::from_line) {
            let is_run = test.ignored.is_none_or(|reason| lane.has(&reason));
            if is_run || filters.iter().any(is_about_ignored) {
                let module = test.name.split_once("::").map_or("", |(module, _)| module);
                modules.entry(module.to_owned()).or_default().push(test.name);
            }
        }
        Ok(modules
            .into_iter()
            .map(|(module, tests)| Self {
                name: if module.is_empty() {
                    self.name.clone()
                } else {
                    format!("{} {module}::", self.name)
                },
                path: self.path.clone(),
                folder: self.folder.clone(),
                tests,
            })
            .collect())
    }

    /// Returns the number of tests, as far as they were listed.
    pub fn tests(&self) -> usize {
        self.tests.len()
    }

    #[cfg(test)]
    pub fn with_tests(name: &str, tests: usize) -> Self {
        let (path, folder) = (PathBuf::new(), PathBuf::new());
        Self { name: name.to_owned(), path, folder, tests: vec![String::new(); tests] }
    }

    fn command(&self, arguments: &[String]) -> Command {
        let mut command = Command::new(&self.path);
        command.args(arguments).current_dir(&self.folder);
        if !self.tests.is_empty() {
            // Whole names in place of the parts by which they were selected.
            command.args(&self.tests).args((!arguments.iter().any(is_exact)).then_some("--exact"));
            if !arguments.iter().any(is_about_ignored) {
                command.arg("--include-ignored");
            }
        }
        command
    }

    /// Runs it to its end. Its output goes to a file in `folder`: a server that it has left behind
    /// would keep a pipe open.
    pub fn run(
        &self,
        arguments: &[String],
        environment: &[(&str, String)],
        folder: &Path,
    ) -> RunResult {
        let begun = Instant::now();
        let path = folder
            .join(self.name.trim_start_matches('-').replace(" --", "-").replace(' ', "-") + ".txt");
        let run = || -> std::io::Result<(ExitStatus, Vec<u8>)> {
            let mut output = File::create(&path)?;
            let mut command = self.command(arguments);
            command.envs(environment.iter().cloned()).stdout(output.try_clone()?);
            let mut child = command.stderr(output.try_clone()?).spawn()?;
            // Who names tests, such as those of a campaign, is there to end them.
            let is_named = arguments.iter().any(|argument| !argument.starts_with('-'));
            let at_most = if is_named { Duration::MAX } else { TIME_MAX };
            let status = stuck::end_within(&mut child, at_most, &mut output)?;
            Ok((status, std::fs::read(&path)?))
        };
        let (is_well, output) = match run() {
            Ok((status, output)) => {
                let output = String::from_utf8_lossy(&output).into_owned();
                (
                    status.success(),
                    if status.success() { output } else { format!("{output}{status}\n") },
                )
            }
            Err(error) => (false, format!("cannot be run: {error}\n")),
        };
        RunResult {
            name: self.name.clone(),
            is_well,
            is_repeated: false,
            output,
            took: begun.elapsed(),
        }
    }
}

/// Result of an executable.
#[derive(Debug)]
pub struct RunResult {
    /// That of the executable.
    pub name: String,
    /// No test failed.
    pub is_well: bool,
    /// It failed beside other processes, and this is its second run, alone.
    pub is_repeated: bool,
    /// All that it has printed.
    pub output: String,
    /// From its start to its end.
    pub took: Duration,
}

impl RunResult {
    /// Prints what it has printed, without the output of the tests that passed.
    pub fn print(&self) {
        println!("\n     Ran {} in {:.1} s", self.name, self.took.as_secs_f64());
        for line in without_output_of_passed(&self.output) {
            println!("{line}");
        }
    }

    /// The lines that say SKIPPED.
    pub fn skipped(&self) -> impl Iterator<Item = &str> {
        self.output.lines().filter(|line| line.contains("SKIPPED")).map(str::trim)
    }
}

/// A test of an executable.
struct Test {
    name: String,
    /// The reason why it is ignored.
    ignored: Option<String>,
}

impl Test {
    /// From a line of the list; `None` where it describes something else.
    fn from_line(line: &str) -> Option<Self> {
        let message: Value = serde_json::from_str(line).ok()?;
        let name = message["name"].as_str().filter(|_| message["type"] == "test")?;
        let ignored = message["ignore_message"].as_str().filter(|_| message["ignore"] == true);
        Some(Self { name: name.to_owned(), ignored: ignored.map(str::to_owned) })
    }
}

fn is_exact(argument: &String) -> bool {
    argument == "--exact"
}

/// Returns true for arguments by which a developer decides on ignored tests.
fn is_about_ignored(argument: impl AsRef<str>) -> bool {
    ["--ignored", "--include-ignored"].contains(&argument.as_ref())
}

/// From the identity of a package: `URL#NAME@VERSION`, or `URL#VERSION` where the URL ends with the
/// name.
fn package_name(id: &str) -> Option<&str> {
    let (url, rest) = id.split_once('#')?;
    rest.split_once('@').map(|(name, _)| name).or_else(|| url.rsplit('/').next())
}

fn without_output_of_passed(output: &str) -> impl Iterator<Item = &str> {
    let mut is_passed = false;
    output.lines().filter(move |line| {
        match *line {
            "successes:" => is_passed = true,
            "failures:" => is_passed = false,
            other if other.starts_with("test result:") => is_passed = false,
            _ => {}
        }
        !is_passed
    })
}

#[cfg(test)]
mod tests {
    use super::{Executable, Test, package_name, without_output_of_passed};
    use serde_json::json;

    #[test]
    fn an_executable_is_known_from_the_message_of_cargo() {
        let message = |kind: &str, name: &str, is_test: bool| {
            json!({"reason": "compiler-artifact", "manifest_path": "/w/crates/disk/Cargo.toml",
                "package_id": "path+file:///w/crates/disk#0.1.0",
                "target": {"kind": [kind], "name": name}, "profile": {"test": is_test},
                "executable": "/w/target/x"})
            .to_string()
        };
        let name = |line: &str| Executable::from_message(line).map(|executable| executable.name);
        assert_eq!(name(&message("test", "disk", true)).as_deref(), Some("-p disk --test disk"));
        assert_eq!(name(&message("lib", "disk", true)).as_deref(), Some("-p disk --lib"));
        assert_eq!(name(&message("bin", "disk", false)), None, "built for the tests, but none");
        assert_eq!(name("{\"reason\":\"build-finished\",\"success\":true}"), None);
        assert_eq!(name("not JSON"), None);
    }

    #[test]
    fn a_test_is_listed_with_the_reason_why_it_is_ignored() {
        let line = |ignore: bool, reason: &str| {
            json!({"type": "test", "event": "discovered", "name": "a::b", "ignore": ignore,
                "ignore_message": reason})
            .to_string()
        };
        let test = Test::from_line(&line(true, "lane all: long")).unwrap();
        assert_eq!((test.name.as_str(), test.ignored.as_deref()), ("a::b", Some("lane all: long")));
        assert_eq!(Test::from_line(&line(false, "")).unwrap().ignored, None);
        assert!(Test::from_line("{\"type\": \"suite\", \"event\": \"discovery\"}").is_none());
    }

    #[test]
    fn a_package_need_not_have_the_name_of_its_folder() {
        assert_eq!(package_name("path+file:///w/crates/engine#engines@0.1.0"), Some("engines"));
        assert_eq!(package_name("path+file:///w/crates/store#0.1.0"), Some("store"));
        assert_eq!(package_name("nothing"), None);
    }

    #[test]
    fn what_passed_tests_print_is_left_out() {
        let output = "running 2 tests\ntest a ... ok\n\nsuccesses:\n---- a stdout \
                      ----\nchatter\n\nfailures:\n---- b stdout ----\npanicked\ntest result: \
                      FAILED\n";
        let shown: Vec<&str> = without_output_of_passed(output).collect();
        assert_eq!(
            shown,
            [
                "running 2 tests",
                "test a ... ok",
                "",
                "failures:",
                "---- b stdout ----",
                "panicked",
                "test result: FAILED"
            ]
        );
    }
}
