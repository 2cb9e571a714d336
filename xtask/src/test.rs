//! Installs what the tests need, runs them all, and says what was skipped.

mod durations;
mod executable;
mod lane;
mod stuck;

use crate::process::{cargo, target};
use crate::tools::install_tools;
use durations::Durations;
use executable::{Executable, RunResult};
use lane::Lane;
use std::fs::Permissions;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use testing::block_disk::BlockDisk;

/// Prefix of a test's message on a prerequisite that cannot be installed here: the kernel was built
/// without it, or the machine was started without a capability.
const CANNOT_BE_HERE: &str = "SKIPPED, cannot be here:";
/// Folder of the processes' outputs, in cargo's target folder.
const OUTPUTS: &str = "test-output";
/// Failed processes that are run once more alone, at most: more of them did not fail for lack of
/// processors.
const REPEATED_MAX: usize = 6;
/// Processes that the table of the slowest ones has.
const SLOWEST: usize = 20;

/// Runs the tests of a lane. `arguments` are `--all` or nothing, then those of `cargo test`: what
/// is built, then after `--` what the executables are given.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let in_ci = std::env::var_os("CI").is_some();
    let (lane, arguments) = Lane::from_arguments(arguments);
    let is_whole = arguments.is_empty();
    let (selection, filters) = selection_and_given(&arguments);
    // The driver of SQL Server is built with headers that are installed here.
    let mut environment = install_tools(in_ci)?.to_vec();
    lane.adapt(&mut environment);
    let test_folder = test_folder()?;
    environment.push(("TMPDIR", test_folder.folder.path().display().to_string()));
    let templates = test_folder.folder.path().join("templates");
    std::fs::create_dir(&templates).map_err(|error| format!("{}: {error}", templates.display()))?;
    environment.push(("STEELBENCH_TEST_TEMPLATES", templates.display().to_string()));
    // The program's templates and data sets are made once for all tests, in the folder that tests
    // of the program name.
    environment.push(("XDG_CACHE_HOME", target().join("tmp/cache").display().to_string()));
    let durations = Durations::read(lane.name());
    let arguments = [vec!["--show-output".to_owned()], filters.clone()].concat();
    let selection = [vec!["--all-features".to_owned()], selection].concat();
    let mut executables = build(&selection, &lane, &filters)?;
    durations.order(&mut executables);
    let mut ended = run_side_by_side(&executables, &arguments, &environment)?;
    repeat_failed(&mut ended, |name| {
        let executable = executables.iter().find(|executable| executable.name == name)?;
        Some(executable.run(&arguments, &environment, &target().join(OUTPUTS)))
    });
    durations.record(&ended)?;
    conclude(ended, in_ci)?;
    if is_whole {
        crate::docs::check()?;
    }
    if is_whole && lane.is_all {
        pack()?;
        crate::script::detach(&[])?;
    }
    crate::tidy::run(&[])
}

/// Packs the program of the tests, and checks the packages.
fn pack() -> Result<(), String> {
    let program = target().join("debug/steelbench").display().to_string();
    crate::script::dist(&["--check".to_owned(), "--binary".to_owned(), program])
}

/// Bytes of the file system of tests, of which only what they use takes space.
const TEST_DISK_BYTES: u64 = 32 << 30;

/// The folder in which tests make their files.
struct TestFolder {
    /// Unmounted before the folder is removed.
    _disk: Option<BlockDisk>,
    folder: tempfile::TempDir,
}

/// Makes the folder of tests; removed at the end, with what killed processes have left. Servers of
/// other accounts work in it.
///
/// Tests make and remove thousands of files at a time. A disk whose file system is mounted with
/// `discard` may take tens of milliseconds for each removal: the folder is then a file system of
/// its own without that option, where this user may mount one. ext4 without a journal keeps away
/// from what has been removed shortly before, and searches for long unless each folder is in a
/// place of its own (chattr(1), attribute T).
fn test_folder() -> Result<TestFolder, String> {
    let failed = |error| format!("a folder for the files of tests: {error}");
    let folder = tempfile::Builder::new().prefix("sb").tempdir().map_err(failed)?;
    let disk = if is_discarding(folder.path()) {
        let make = ["mkfs.ext4", "-q", "-F", "-i", "32768", "-O", "^has_journal"];
        BlockDisk::make(folder.path(), TEST_DISK_BYTES, &make)?
    } else {
        None
    };
    std::fs::set_permissions(folder.path(), Permissions::from_mode(0o1777)).map_err(failed)?;
    // Other file systems do not have it, and do not need it.
    let _ = Command::new("chattr").arg("+T").arg(folder.path()).stderr(Stdio::null()).status();
    Ok(TestFolder { _disk: disk, folder })
}

/// Returns true if the file system of a folder is mounted with `discard`.
fn is_discarding(folder: &Path) -> bool {
    let mut find = Command::new("findmnt");
    let found = find.args(["--noheadings", "--output", "OPTIONS", "--target"]).arg(folder);
    let found = found.output().map(|found| found.stdout).unwrap_or_default();
    String::from_utf8_lossy(&found).trim().split(',').any(|option| option == "discard")
}

/// The variable that names a SQL Server.
const SQL_SERVER: &str = "STEELBENCH_MSSQL_URL";

/// Runs the tests of an engine that need a server of the user's.
pub fn live(engines: &[String]) -> Result<(), String> {
    if engines != ["mssql"] {
        return Err("usage: cargo xtask test-live mssql".into());
    }
    if std::env::var_os(SQL_SERVER).is_none() {
        return Err(format!(
            "{SQL_SERVER} names no server: mssql://user@host/database, the password in \
             SQLCMDPASSWORD"
        ));
    }
    // One test after the other: they share the server.
    let runs = [
        ["steelbench", "all", "sqlserver::live"],
        ["sqlserver", "all", "sqlserver::"],
        ["sqlserver", "all", "live::"],
        ["steelbench", "all", "contract::"],
    ];
    for [package, test, name] in runs {
        let arguments = [
            "test",
            "--package",
            package,
            "--features",
            "steelbench/sqlserver,testing/integration",
            "--test",
            test,
            name,
            "--",
        ];
        let options = ["--nocapture", "--test-threads=1"];
        let mut command = cargo(&arguments);
        let status = command.args(options).status().map_err(|error| format!("cargo: {error}"))?;
        if !status.success() {
            return Err(format!("the server is not as documented: {status}"));
        }
    }
    Ok(())
}

/// Splits arguments into cargo's selection and those of the executables: those after `--`, and
/// names of tests.
fn selection_and_given(arguments: &[String]) -> (Vec<String>, Vec<String>) {
    let end = arguments.iter().position(|argument| argument == "--").unwrap_or(arguments.len());
    let (mut selection, mut filters) = (Vec::new(), Vec::new());
    for (at, argument) in arguments[..end].iter().enumerate() {
        // What follows an option may be its value.
        let is_name = ![Some(at), at.checked_sub(1)]
            .into_iter()
            .flatten()
            .any(|at| arguments[at].starts_with('-'));
        if is_name { &mut filters } else { &mut selection }.push(argument.clone());
    }
    filters.extend(arguments.iter().skip(end + 1).cloned());
    (selection, filters)
}

/// Builds what `cargo test` with these arguments runs, and divides it into processes.
fn build(arguments: &[String], lane: &Lane, filters: &[String]) -> Result<Vec<Executable>, String> {
    let mut build =
        cargo(&["test", "--workspace", "--no-run", "--message-format=json-render-diagnostics"]);
    let mut child = build
        .args(arguments)
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{build:?}: {error}"))?;
    let mut executables = Vec::new();
    for line in child.stdout.take().into_iter().flat_map(|stdout| BufReader::new(stdout).lines()) {
        let line = line.map_err(|error| format!("reading what cargo has built: {error}"))?;
        executables.extend(Executable::from_message(&line));
    }
    let status = child.wait().map_err(|error| format!("{build:?}: {error}"))?;
    if !status.success() {
        return Err(format!("the tests were not built: {status}"));
    }
    let mut processes = Vec::new();
    for executable in executables {
        processes.extend(executable.processes(lane, filters)?);
    }
    Ok(processes)
}

/// Runs executables side by side, one more than there are processors: many wait for servers, timers
/// and disks. The output of each is printed when it ends.
fn run_side_by_side(
    executables: &[Executable],
    arguments: &[String],
    environment: &[(&str, String)],
) -> Result<Vec<RunResult>, String> {
    let folder = target().join(OUTPUTS);
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let lanes = std::thread::available_parallelism().map_or(1, usize::from) + 1;
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..lanes {
            let (sender, next, folder) = (sender.clone(), &next, &folder);
            let started = std::thread::Builder::new().spawn_scoped(scope, move || {
                while let Some(executable) = executables.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if sender.send(executable.run(arguments, environment, folder)).is_err() {
                        break;
                    }
                }
            });
            started.map_err(|error| format!("a thread could not be started: {error}"))?;
        }
        drop(sender);
        Ok(receiver.into_iter().inspect(RunResult::print).collect())
    })
}

/// Runs again, alone, what has failed beside other processes: tests with real servers compete there
/// for processors. What passes now is named in the end, and counts as passed.
fn repeat_failed(ended: &mut [RunResult], run: impl Fn(&str) -> Option<RunResult>) {
    if ended.iter().filter(|process| !process.is_well).count() > REPEATED_MAX {
        return;
    }
    for failed in ended.iter_mut().filter(|process| !process.is_well) {
        println!("\n     Running {} again, alone", failed.name);
        if let Some(repeated) = run(&failed.name) {
            repeated.print();
            *failed = RunResult { is_repeated: true, ..repeated };
        }
    }
}

/// Prints the table of the slowest, what was skipped and what failed; an error when a test failed,
/// or was skipped where that is not allowed.
fn conclude(mut ended: Vec<RunResult>, in_ci: bool) -> Result<(), String> {
    ended.sort_by_key(|process| std::cmp::Reverse(process.took));
    println!("\nThe slowest of {} processes, in seconds:", ended.len());
    for RunResult { name, took, .. } in ended.iter().take(SLOWEST) {
        println!("{:>8.1}  {name}", took.as_secs_f64());
    }
    let skipped: Vec<&str> = ended.iter().flat_map(RunResult::skipped).collect();
    for line in &skipped {
        println!("{line}");
    }
    for process in ended.iter().filter(|process| process.is_repeated && process.is_well) {
        println!("UNSTEADY, failed beside other processes and passed alone: {}", process.name);
    }
    let failed: Vec<&str> = ended
        .iter()
        .filter(|process| !process.is_well)
        .map(|process| process.name.as_str())
        .collect();
    if !failed.is_empty() {
        return Err(format!("tests failed in\n    {}", failed.join("\n    ")));
    }
    let avoidable = skipped.iter().filter(|line| !line.contains(CANNOT_BE_HERE)).count();
    if avoidable > 0 && in_ci {
        return Err(format!("{avoidable} checks were skipped, which CI does not allow"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{RunResult, conclude, repeat_failed, selection_and_given};
    use std::cell::Cell;
    use std::time::Duration;

    fn ended(name: &str, is_well: bool) -> RunResult {
        RunResult {
            name: name.to_owned(),
            is_well,
            is_repeated: false,
            output: String::new(),
            took: Duration::ZERO,
        }
    }

    /// Processes of which the first `failed` fail; alone, only `first` fails again.
    fn repeated(failed: usize) -> (Vec<RunResult>, usize) {
        let names: Vec<String> = (0..10).map(|n| n.to_string()).collect();
        let mut all: Vec<RunResult> =
            names.iter().enumerate().map(|(n, name)| ended(name, n >= failed)).collect();
        let runs = Cell::new(0);
        repeat_failed(&mut all, |name| {
            runs.set(runs.get() + 1);
            Some(ended(name, name != "0"))
        });
        (all, runs.get())
    }

    #[test]
    fn what_fails_twice_has_failed_and_what_passes_alone_is_named() {
        let (all, runs) = repeated(3);
        assert_eq!(runs, 3);
        assert!(!all[0].is_well && all[1..].iter().all(|process| process.is_well));
        assert_eq!(all.iter().filter(|process| process.is_repeated).count(), 3);
        assert_eq!(conclude(all, false), Err("tests failed in\n    0".to_owned()));
        // Seven do not fail for lack of processors.
        let (all, runs) = repeated(7);
        assert_eq!((runs, all.iter().filter(|process| !process.is_well).count()), (0, 7));
    }

    #[test]
    fn names_of_tests_go_to_the_executables() {
        let split = |line: &str| {
            let arguments: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            let (selection, filters) = selection_and_given(&arguments);
            (selection.join(" "), filters.join(" "))
        };
        let both = |selection: &str, text: &str| (selection.to_owned(), text.to_owned());
        assert_eq!(split(""), both("", ""));
        assert_eq!(split("kills"), both("", "kills"));
        assert_eq!(
            split("--test attack --test means kills"),
            both("--test attack --test means", "kills")
        );
        assert_eq!(split("--test attack -- --skip kills"), both("--test attack", "--skip kills"));
    }
}
