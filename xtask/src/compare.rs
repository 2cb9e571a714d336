//! Comparing what two builds of the program say of the same recordings, by a script.

use crate::process::{in_root, root, target};

/// Compares all outputs of two programs on results files: `OLD NEW FILE...`.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let mut script = in_root("sh");
    script.arg(root().join("xtask/compare/compare.sh")).args(arguments).env("TARGET", target());
    script.current_dir(std::env::current_dir().map_err(|error| error.to_string())?);
    let status = script.status().map_err(|error| format!("sh: {error}"))?;
    if status.success() { Ok(()) } else { Err("the programs differ".into()) }
}
