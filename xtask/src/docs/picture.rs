//! The picture of a report in README, and the lines of its output below.

use super::program::Program;
use crate::process::{output, read, root, write};
use std::path::Path;
use std::process::Command;

/// A ready experiment.
const EXPERIMENT: &str = "random-insert-data-files";
const PICTURE: &str = "docs/images/report.png";
const BYTES_MAX: u64 = 150 << 10;
/// The first view, drawn at three quarters of its size.
const WINDOW: &str = "--window-size=1400,900";
const SCALE: &str = "--force-device-scale-factor=0.75";

/// The text before the lines of output in README, and the one after them.
const BEFORE: &str = " answers:\n\n";
const AFTER: &str = "\n\nYou write ";

/// Runs README's experiment, and replaces the picture of its report and the lines of its output;
/// without a browser this is skipped with the reason.
pub fn take(program: &Program) -> Result<(), String> {
    let Some(browser) =
        ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|name| {
            Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success())
        })
    else {
        println!("SKIPPED: no picture is taken: chromium is not installed");
        return Ok(());
    };
    let file = root().join(format!("experiments/{EXPERIMENT}.toml"));
    let shown = program.show(EXPERIMENT, &read(&file)?)?;
    let picture = shown.page.with_extension("png");
    let mut shot = Command::new(browser);
    // Figures are drawn by scripts, which get ten seconds of virtual time.
    shot.args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"])
        .args(["--virtual-time-budget=10000", WINDOW, SCALE])
        .arg(format!("--screenshot={}", picture.display()))
        .arg(format!("file://{}", shown.page.display()));
    output(&mut shot)?;
    replace(&picture, &root().join(PICTURE))?;
    let path = root().join("README.md");
    let text = with_excerpt(&read(&path)?, &excerpt(&shown.screen));
    write(&path, &text.ok_or("README.md has no lines of output to replace")?)
}

/// The screen as a block of code.
fn excerpt(screen: &str) -> String {
    let lines = screen.lines().map(|line| format!("    {line}").trim_end().to_owned());
    lines.collect::<Vec<_>>().join("\n")
}

fn with_excerpt(readme: &str, excerpt: &str) -> Option<String> {
    let (before, rest) = readme.split_once(BEFORE)?;
    let (_, after) = rest.split_once(AFTER)?;
    Some(format!("{before}{BEFORE}{excerpt}{AFTER}{after}"))
}

fn replace(taken: &Path, path: &Path) -> Result<(), String> {
    let bytes = taken.metadata().map_err(|error| format!("{}: {error}", taken.display()))?.len();
    if bytes > BYTES_MAX {
        return Err(format!("the picture has {bytes} bytes, more than {BYTES_MAX}"));
    }
    std::fs::copy(taken, path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{excerpt, with_excerpt};

    #[test]
    fn the_screen_replaces_the_one_in_readme() {
        let excerpt = excerpt("first\n\nb is faster.\n");
        assert_eq!(excerpt, "    first\n\n    b is faster.");
        let readme = "`run` answers:\n\n    old\n\n    lines\n\nYou write a file.\n";
        let replaced = format!("`run` answers:\n\n{excerpt}\n\nYou write a file.\n");
        assert_eq!(with_excerpt(readme, &excerpt), Some(replaced));
    }
}
