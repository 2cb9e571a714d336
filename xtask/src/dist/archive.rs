//! The archive for systems without `.deb` and `.rpm`, and the sums of all files.

use super::content::Content;
use super::failure::{self, Failure};
use super::release::Release;
use crate::process::{output, succeed};
use std::path::Path;
use std::process::Command;

/// Writes the content of `usr` as `.tar.xz`: the same bytes for the same content.
pub fn write(release: &Release, content: &Content, archive: &Path) -> Result<(), Failure> {
    let name = format!("{}-{}", release.name(), content.target.triple());
    let tar = archive.with_extension("");
    let mut pack = Command::new("tar");
    pack.args(["--create", "--format=gnu", "--sort=name", "--owner=0", "--group=0"])
        .args(["--numeric-owner", "--mode=u+rw,go=rX", &format!("--mtime=@{}", release.epoch)])
        .args([&format!("--transform=s,^usr,{name},"), "--directory"])
        .arg(&content.root)
        .arg("--file")
        .arg(&tar)
        .arg("usr");
    succeed(&mut pack).map_err(Failure::Process)?;
    // The bytes depend on the number of threads.
    let mut compress = Command::new("xz");
    succeed(compress.args(["--force", "--threads=1"]).arg(&tar)).map_err(Failure::Process)
}

/// Writes the sums of files in a folder, for `sha256sum --check`.
pub fn write_sums(folder: &Path, files: &[String]) -> Result<(), Failure> {
    let mut sum = Command::new("sha256sum");
    let sums = output(sum.args(files).current_dir(folder)).map_err(Failure::Process)?;
    failure::write(&folder.join("SHA256SUMS"), sums)
}

/// Returns the SHA-256 sum of a file.
pub fn sum(file: &Path) -> Result<String, Failure> {
    let sums = output(Command::new("sha256sum").arg(file)).map_err(Failure::Process)?;
    Ok(sums.split_whitespace().next().unwrap_or_default().to_owned())
}
