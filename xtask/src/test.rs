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
    // The binary under test of the end-to-end tests, and all tests.
    let mut test = cargo(&["test", "--workspace", "--no-fail-fast"]);
    test.args(arguments);
    if !arguments.iter().any(|argument| argument == "--") {
        test.arg("--");
    }
    let skipped = stream(test.arg("--show-output").envs(environment))?;
    for line in &skipped {
        println!("{line}");
    }
    let avoidable = skipped.iter().filter(|line| !line.contains(CANNOT_BE_HERE)).count();
    if avoidable > 0 && std::env::var_os("CI").is_some() {
        return Err(format!("{avoidable} checks were skipped, which CI does not allow"));
    }
    crate::tidy::run()
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
