//! The origin of the binary, for `--version --json`: the commit and the target.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-env-changed=STEELBENCH_COMMIT");
    println!("cargo::rustc-env=STEELBENCH_TARGET={}", env::var("TARGET").unwrap_or_default());
    println!("cargo::rustc-env=STEELBENCH_COMMIT={}", commit());
}

/// The commit that packagers give, or that the working tree has. A debug build has none, so that a
/// commit does not make developers compile again.
fn commit() -> String {
    const UNKNOWN: &str = "unknown";
    if let Ok(commit) = env::var("STEELBENCH_COMMIT") {
        return commit;
    }
    if env::var("PROFILE").is_ok_and(|profile| profile == "debug") {
        return UNKNOWN.into();
    }
    println!("cargo::rerun-if-changed=../../.git/HEAD");
    let output = Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).output();
    let hash = output.ok().filter(|output| output.status.success());
    hash.and_then(|output| String::from_utf8(output.stdout).ok())
        .map_or_else(|| UNKNOWN.into(), |hash| hash.trim().to_owned())
}
