//! Packages for strangers: archives, `.deb` and `.rpm` for an old C library, with their checks. The
//! work is that of other programs, which a script calls.

use crate::process::{in_root, root, target};

/// Builds and packs; see the help of xtask for `arguments`.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let mut script = in_root("sh");
    script.arg("xtask/dist/dist.sh").args(arguments);
    script.env("ROOT", root()).env("TARGET", target()).env("VERSION", env!("CARGO_PKG_VERSION"));
    let status = script.status().map_err(|error| format!("sh: {error}"))?;
    if status.success() { Ok(()) } else { Err("nothing is ready to be handed out".into()) }
}
