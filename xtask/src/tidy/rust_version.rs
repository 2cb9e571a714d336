//! The oldest Rust that the workspace says it builds with: no crate needs a newer one.

use crate::process::{cargo, output, root};
use serde_json::Value;

const README: &str = "README.md";

/// Compares the version in the manifest with those of all crates and with README.
pub fn check() -> Result<Vec<String>, String> {
    let target = output(std::process::Command::new("rustc").args(["--print", "host-tuple"]))?;
    let mut metadata = cargo(&["metadata", "--format-version", "1", "--locked"]);
    metadata.args(["--all-features", "--filter-platform", target.trim()]);
    let metadata: Value = serde_json::from_str(&output(&mut metadata)?)
        .map_err(|error| format!("cargo metadata: {error}"))?;
    let crates: Vec<Crate<'_>> =
        metadata["packages"].as_array().into_iter().flatten().filter_map(Crate::read).collect();
    let mut wrong = compare(&crates);
    let readme = std::fs::read_to_string(root().join(README)).unwrap_or_default();
    if let Some(package) = crates.iter().find(|package| package.is_ours)
        && !readme.contains(&format!("Rust {}.{} or newer", package.version[0], package.version[1]))
    {
        wrong.push(format!("{README}: it names another Rust than {}", package.text));
    }
    Ok(wrong)
}

/// A crate that says which Rust it needs.
struct Crate<'a> {
    name: &'a str,
    text: &'a str,
    /// Major and minor.
    version: [u32; 2],
    is_ours: bool,
}

impl<'a> Crate<'a> {
    fn read(package: &'a Value) -> Option<Self> {
        let text = package["rust_version"].as_str()?;
        let mut numbers = text.split('.').map(str::parse);
        Some(Self {
            name: package["name"].as_str()?,
            text,
            version: [numbers.next()?.ok()?, numbers.next()?.ok()?],
            is_ours: package["source"].is_null(),
        })
    }
}

fn compare(crates: &[Crate<'_>]) -> Vec<String> {
    let version =
        crates.iter().filter(|package| package.is_ours).map(|package| package.version).min();
    let newer = crates.iter().filter(|package| !package.is_ours && Some(package.version) > version);
    newer
        .map(|package| {
            format!("Cargo.toml: {} needs rust-version {} or newer", package.name, package.text)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Crate, compare};
    use serde_json::json;

    #[test]
    fn crates_that_need_a_newer_rust_are_found() {
        let packages = [("own", "1.89", json!(null)), ("old", "1.9.1", json!("registry"))];
        let newer = ("new", "1.100", json!("registry"));
        let packages = packages.into_iter().chain([newer]).map(|(name, version, source)| {
            json!({"name": name, "rust_version": version, "source": source})
        });
        let packages: Vec<_> = packages.collect();
        let crates: Vec<Crate<'_>> = packages.iter().filter_map(Crate::read).collect();
        assert_eq!(compare(&crates), ["Cargo.toml: new needs rust-version 1.100 or newer"]);
    }
}
