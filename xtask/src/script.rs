//! Commands whose work is that of other programs, which a script calls.

use crate::process::{in_root, root, target};

/// Runs the script of this name (`xtask/NAME/NAME.sh`) in the current folder: arguments may name
/// files of it. A failure says what it means.
fn run(name: &str, arguments: &[String], failure: &str) -> Result<(), String> {
    let mut script = in_root("sh");
    script.arg(root().join(format!("xtask/{name}/{name}.sh"))).args(arguments);
    script.current_dir(std::env::current_dir().map_err(|error| error.to_string())?);
    script.env("ROOT", root()).env("TARGET", target()).env("VERSION", env!("CARGO_PKG_VERSION"));
    let status = script.status().map_err(|error| format!("sh: {error}"))?;
    if status.success() { Ok(()) } else { Err(failure.into()) }
}

/// Compares all outputs of two programs on results files: `OLD NEW FILE...`.
pub fn compare(arguments: &[String]) -> Result<(), String> {
    run("compare", arguments, "the programs differ")
}

/// Builds the program without each of these guests; without names, without each of all.
pub fn detach(names: &[String]) -> Result<(), String> {
    run("detach", names, "the program needs one of its guests")
}

/// Packs for strangers: archives, `.deb` and `.rpm` for an old C library, with their checks.
pub fn dist(arguments: &[String]) -> Result<(), String> {
    run("dist", arguments, "nothing is ready to be handed out")
}
