//! Installs what the tests need, runs them all, and says what was skipped.

use crate::process::{cargo, root, succeed, target};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Independent readers that the tests compare us with, as Python packages: Parquet files and
/// JSON Schemas.
const PYTHON_PACKAGES: [&str; 2] = ["pyarrow", "jsonschema"];

/// Runs all tests; `arguments` go to `cargo test`.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let path = match install_python() {
        Ok(tools) => prepend(&tools),
        Err(error) if std::env::var_os("CI").is_some() => return Err(error),
        Err(error) => {
            eprintln!("the checks against Python packages will be SKIPPED: {error}");
            std::env::var("PATH").unwrap_or_default()
        }
    };
    // The binary under test of the end-to-end tests, and all tests.
    let mut test = cargo(&["test", "--workspace", "--no-fail-fast"]);
    test.args(arguments);
    if !arguments.iter().any(|argument| argument == "--") {
        test.arg("--");
    }
    let skipped = stream(test.arg("--show-output").env("PATH", path))?;
    for line in &skipped {
        println!("{line}");
    }
    if !skipped.is_empty() && std::env::var_os("CI").is_some() {
        return Err(format!("{} checks were skipped, which CI does not allow", skipped.len()));
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

/// A virtual environment in the target folder with the packages; returns its folder of programs.
fn install_python() -> Result<PathBuf, String> {
    let folder = target().join("test-tools");
    let programs = folder.join("bin");
    let marker = folder.join(format!("installed-{}", PYTHON_PACKAGES.join("-")));
    if marker.exists() {
        return Ok(programs);
    }
    if create_environment(&folder).is_err() {
        install_system_package("python3-venv")?;
        create_environment(&folder)?;
    }
    let mut pip = Command::new(programs.join("pip"));
    succeed(pip.args(["install", "--quiet", "--disable-pip-version-check"]).args(PYTHON_PACKAGES))?;
    std::fs::write(&marker, "").map_err(|error| format!("{}: {error}", marker.display()))?;
    Ok(programs)
}

fn create_environment(folder: &Path) -> Result<(), String> {
    succeed(Command::new("python3").args(["-m", "venv"]).arg(folder).current_dir(root()))
}

/// Installs a package of the system where we may (root, on a system with apt).
fn install_system_package(name: &str) -> Result<(), String> {
    succeed(Command::new("apt-get").args(["update", "-qq"]))?;
    succeed(Command::new("apt-get").args(["install", "-y", "-qq", name]))
}

fn prepend(folder: &Path) -> String {
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default())
}
