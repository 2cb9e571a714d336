//! Tools of the packing in addition to those of the tests, installed where they are missing.

use super::failure::Failure;
use super::options::Options;
use crate::process::{cargo, succeed, target};
use crate::tools::{self, install_packages};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Python packages: a C compiler for C libraries of any version, cargo with it, and a validator of
/// bills of materials.
const PYTHON_PACKAGES: [&str; 3] =
    ["ziglang==0.17.1", "cargo-zigbuild==0.24.1", "cyclonedx-python-lib[json-validation]==11.12.0"];

/// Crates whose programs write packages.
const CRATES: [&str; 2] = ["cargo-deb@3.8.0", "cargo-generate-rpm@0.21.1"];

/// The crate whose program checks licences and origins of crates.
const CRATE_OF_CHECKS: &str = "cargo-deny@0.20.2";

/// Programs of the checks, and the packages of the system that have them.
const CHECKERS: [(&str, &str); 4] =
    [("xz", "xz-utils"), ("lintian", "lintian"), ("rpm", "rpm"), ("mmdebstrap", "mmdebstrap")];

#[derive(Debug)]
pub struct Tools {
    /// The search path with all of them.
    pub path: OsString,
    pub python: PathBuf,
}

impl Tools {
    /// Returns whether a program is among them or on the system.
    pub fn has(&self, program: &str) -> bool {
        tools::is_on_path(&self.path, program)
    }
}

pub fn install(options: &Options) -> Result<Tools, Failure> {
    let folder = target().join("dist-tools");
    let python = folder.join("python");
    install_python(&python)?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = [python.join("bin"), folder.join("bin")];
    let all = folders.into_iter().chain(std::env::split_paths(&path));
    let tools = Tools {
        path: std::env::join_paths(all).unwrap_or(path),
        python: python.join("bin/python3"),
    };
    let crates = CRATES.into_iter().chain(options.checks.then_some(CRATE_OF_CHECKS));
    for package in crates {
        if !tools.has(package.split('@').next().unwrap_or(package)) {
            install_crate(package, &folder)?;
        }
    }
    let missing: Vec<&str> = CHECKERS
        .into_iter()
        .filter(|(program, _)| (options.checks || *program == "xz") && !is_on_path(program))
        .map(|(_, package)| package)
        .collect();
    if !missing.is_empty()
        && let Err(error) = install_packages(&missing)
    {
        println!("some checks will be SKIPPED: {error}");
    }
    Ok(tools)
}

/// Returns whether a program can be started by its name.
pub fn is_on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    tools::is_on_path(&path, program)
}

fn install_python(folder: &Path) -> Result<(), Failure> {
    let marker = folder.join(format!("installed-{}", PYTHON_PACKAGES.join("-")));
    if marker.exists() {
        return Ok(());
    }
    succeed(Command::new("python3").args(["-m", "venv"]).arg(folder)).map_err(Failure::Process)?;
    let mut pip = Command::new(folder.join("bin/pip"));
    pip.args(["install", "--quiet", "--disable-pip-version-check"]).args(PYTHON_PACKAGES);
    succeed(&mut pip).map_err(Failure::Process)?;
    super::failure::write(&marker, "")
}

/// Builds a program from its crate, little optimised: it runs once.
fn install_crate(package: &str, folder: &Path) -> Result<(), Failure> {
    let mut install = cargo(&["install", "--quiet", "--locked", package, "--root"]);
    install
        .arg(folder)
        .arg("--target-dir")
        .arg(folder.join("build"))
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1")
        .env("CARGO_PROFILE_RELEASE_LTO", "false")
        .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16");
    succeed(&mut install).map_err(Failure::Process)
}
