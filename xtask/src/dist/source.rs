//! Checks of the source of a release: licences and origins of crates, known vulnerabilities, and
//! the oldest Rust that builds it.

use super::failure::{self, Failure};
use super::tools::Tools;
use crate::process::{cargo, output, root, target};
use std::process::Command;

/// The message of cargo-deny where it cannot download its list of vulnerabilities.
const UNREACHABLE: &str = "failed to fetch advisory database";

/// Makes all checks; prints those that were passed and those that this machine cannot make.
pub fn check(tools: &Tools, features: &str) -> Result<(), Failure> {
    let deny = |arguments: &[&str]| {
        let mut deny = cargo(&["deny"]);
        deny.args(arguments).current_dir(root()).env("PATH", &tools.path);
        output(&mut deny)
    };
    deny(&["--offline", "check", "licenses", "bans", "sources"]).map_err(Failure::Process)?;
    println!("passed: licences and origins of all crates");
    match deny(&["check", "advisories"]) {
        Ok(_) => println!("passed: no crate has a known vulnerability"),
        Err(cause) if cause.contains(UNREACHABLE) => {
            println!("SKIPPED: known vulnerabilities: their list cannot be downloaded");
        }
        Err(cause) => return Err(Failure::Process(cause)),
    }
    check_oldest_rust(features)
}

/// Compiles the program by the oldest Rust that the manifest promises.
fn check_oldest_rust(features: &str) -> Result<(), Failure> {
    let manifest = root().join("Cargo.toml");
    let text = failure::read(&manifest)?;
    let version = text
        .lines()
        .find_map(|line| Some(line.strip_prefix("rust-version = \"")?.trim_end_matches('"')))
        .ok_or(Failure::Text { path: manifest, looks: "rust-version = \"1.2\"" })?;
    let mut compile = Command::new("rustup");
    compile.args(["run", version, "cargo", "check", "--quiet", "--locked", "--package"]);
    compile.args(["steelbench", "--features", features, "--target-dir"]);
    compile.arg(target().join("dist/oldest-rust")).current_dir(root());
    // Those of the cargo that runs this would be used in place of the other's.
    compile.env_remove("CARGO").env_remove("RUSTC").env_remove("RUSTUP_TOOLCHAIN");
    let mut known = Command::new("rustup");
    if let Err(cause) = output(known.args(["run", version, "rustc", "--version"])) {
        let cause = cause.lines().last().unwrap_or_default().trim();
        println!("SKIPPED: Rust {version}: `rustup toolchain install {version}` ({cause})");
        return Ok(());
    }
    output(&mut compile).map_err(Failure::Process)?;
    println!("passed: Rust {version} compiles it");
    Ok(())
}
