//! Installs what the tests need, runs them all, and says what was skipped.

use crate::process::cargo;
use crate::tools::install_tools;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// How a test begins its word on what no installation brings here: the kernel was built without it, or whoever started
/// this machine has taken a right away from root.
const CANNOT_BE_HERE: &str = "SKIPPED, cannot be here:";

/// Runs all tests; `arguments` go to `cargo test`.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let environment = install_tools(std::env::var_os("CI").is_some())?;
    let mut test = cargo(&["test", "--workspace", "--all-features", "--no-fail-fast"]);
    test.args(arguments);
    if !arguments.iter().any(|argument| argument == "--") {
        test.arg("--");
    }
    let skipped = stream(test.arg("--show-output").envs(environment))?;
    for line in &skipped {
        println!("{line}");
    }
    if arguments.is_empty() {
        // The build that users get first. With the whole workspace, so that only two crates differ.
        stream(&mut cargo(&["test", "--workspace", "--test", "main_job"]))?;
    }
    let avoidable = skipped.iter().filter(|line| !line.contains(CANNOT_BE_HERE)).count();
    if avoidable > 0 && std::env::var_os("CI").is_some() {
        return Err(format!("{avoidable} checks were skipped, which CI does not allow"));
    }
    crate::tidy::run()
}

/// The variable that names a SQL Server.
const SQL_SERVER: &str = "STEELBENCH_MSSQL_URL";

/// Runs the tests of an engine that need a server of the user's.
pub fn live(engines: &[String]) -> Result<(), String> {
    if engines != ["mssql"] {
        return Err("usage: cargo xtask test-live mssql".into());
    }
    if std::env::var_os(SQL_SERVER).is_none() {
        return Err(format!("{SQL_SERVER} names no server: mssql://user@host/database, the password in SQLCMDPASSWORD"));
    }
    let arguments =
        ["test", "--package", "steelbench", "--features", "full", "--test", "sqlserver", "live", "--", "--nocapture"];
    let status = cargo(&arguments).status().map_err(|error| format!("cargo: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("the server is not as documented: {status}")) }
}

/// Shows what the tests print, without the output of those that passed, and returns the lines
/// that say SKIPPED.
fn stream(test: &mut Command) -> Result<Vec<String>, String> {
    let mut child = test.stdout(Stdio::piped()).spawn().map_err(|error| format!("{test:?}: {error}"))?;
    let (mut skipped, mut passed_output) = (Vec::new(), false);
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).lines() {
            let line = line.map_err(|error| format!("reading the tests' output: {error}"))?;
            match line.as_str() {
                "successes:" => passed_output = true,
                "failures:" => passed_output = false,
                other if other.starts_with("test result:") => passed_output = false,
                _ => {}
            }
            if line.contains("SKIPPED") {
                skipped.push(line.trim().to_owned());
            }
            if !passed_output {
                println!("{line}");
            }
        }
    }
    let status = child.wait().map_err(|error| format!("{test:?}: {error}"))?;
    if status.success() { Ok(skipped) } else { Err(format!("tests failed: {status}")) }
}
