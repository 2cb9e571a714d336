//! Engines, studies and tools that can be taken out: tried by a script in a copy of the workspace.

use crate::process::{in_root, root, target};

/// Builds the program without each of these guests; without names, without each of all.
pub fn run(names: &[String]) -> Result<(), String> {
    let mut script = in_root("sh");
    script.arg("xtask/detach/detach.sh").args(names);
    script.env("ROOT", root()).env("TARGET", target());
    let status = script.status().map_err(|error| format!("sh: {error}"))?;
    if status.success() { Ok(()) } else { Err("the program needs one of its guests".into()) }
}
