//! The release to pack: version, commit and its date.

use super::failure::Failure;
use super::variant::Variant;
use crate::process::{output, root};
use std::path::PathBuf;
use std::process::Command;

/// The commit of the working tree as a release.
#[derive(Debug)]
pub struct Release {
    pub version: String,
    pub variant: Variant,
    /// Twelve digits of its hash.
    pub commit: String,
    /// Seconds since 1970 of the commit: the date of everything in the packages.
    pub epoch: String,
    /// That date as changelogs of Debian have it.
    pub date: String,
    /// That date as ISO 8601 has it.
    pub timestamp: String,
    /// Where the sources of the crates are.
    pub cargo_home: PathBuf,
}

impl Release {
    pub fn read(variant: Variant) -> Result<Self, Failure> {
        let git = |format: &str| {
            let mut git = Command::new("git");
            git.args(["log", "-1", "--date=format-local:%Y-%m-%dT%H:%M:%SZ", format]);
            let text = output(git.current_dir(root()).env("TZ", "UTC"));
            text.map(|text| text.trim().to_owned()).map_err(Failure::Process)
        };
        let hash = git("--format=%H")?;
        let home = std::env::var_os("HOME").unwrap_or_default();
        let cargo_home = std::env::var_os("CARGO_HOME")
            .map_or_else(|| PathBuf::from(home).join(".cargo"), PathBuf::from);
        Ok(Self {
            version: env!("CARGO_PKG_VERSION").into(),
            variant,
            commit: hash.chars().take(12).collect(),
            epoch: git("--format=%ct")?,
            date: git("--format=%cD")?,
            timestamp: git("--format=%cd")?,
            cargo_home,
        })
    }

    /// Returns its name with the package, such as `steelbench-0.1.0`.
    pub fn name(&self) -> String {
        format!("{}-{}", self.variant.package(), self.version)
    }
}
