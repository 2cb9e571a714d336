//! The picture of a report in README.

use super::Failure;
use super::program::Program;
use crate::process::{output, root, succeed};
use std::path::PathBuf;
use std::process::Command;

const EXPERIMENT: &str = "experiments/random-insert-data-files.toml";
const PICTURE: &str = "docs/images/report.png";
const BYTES_MAX: u64 = 150 << 10;
/// Width and height of the page, which is drawn at three quarters of its size.
const WINDOW: &str = "--window-size=1000,1220";
const SCALE: &str = "--force-device-scale-factor=0.75";

/// Runs README's experiment and replaces the picture of its report; without a browser this is
/// skipped with the reason.
pub fn take(program: &Program) -> Result<(), Failure> {
    let Some(browser) =
        ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|name| {
            Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success())
        })
    else {
        println!("SKIPPED: no picture is taken: chromium is not installed");
        return Ok(());
    };
    let folder =
        tempfile::tempdir().map_err(|cause| Failure::File { path: std::env::temp_dir(), cause })?;
    let results = folder.path().join("report.steelbench");
    let mut run = program.command();
    succeed(run.arg("run").arg(root().join(EXPERIMENT)).arg("--results").arg(&results))
        .map_err(Failure::Process)?;
    let picture = folder.path().join("report.png");
    let mut shot = Command::new(browser);
    // Figures are drawn by scripts, which get ten seconds of virtual time.
    shot.args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"])
        .args(["--virtual-time-budget=10000", WINDOW, SCALE])
        .arg(format!("--screenshot={}", picture.display()))
        .arg(format!("file://{}", results.with_extension("html").display()));
    output(&mut shot).map_err(Failure::Process)?;
    replace(&picture, root().join(PICTURE))
}

fn replace(taken: &PathBuf, path: PathBuf) -> Result<(), Failure> {
    let bytes =
        taken.metadata().map_err(|cause| Failure::File { path: taken.clone(), cause })?.len();
    if bytes > BYTES_MAX {
        return Err(Failure::LargePicture { bytes, most: BYTES_MAX });
    }
    std::fs::copy(taken, &path).map_err(|cause| Failure::File { path, cause })?;
    Ok(())
}
