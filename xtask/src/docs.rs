//! The book in `docs`: generated pages, the picture in README, checks against the program.

mod book;
mod command_lines;
mod picture;
mod program;
mod reference;
mod rooms;
mod transcripts;

use crate::markdown::pages;
use crate::process::root;
use program::Program;
use std::path::PathBuf;

/// A step that could not be made.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The text names the program and its output.
    #[error("{0}")]
    Process(String),
    #[error("{}: {cause}", path.display())]
    File { path: PathBuf, cause: std::io::Error },
    #[error("`steelbench schema` printed something else: {0}")]
    Schema(#[from] serde_json::Error),
    #[error("the picture has {bytes} bytes, more than {most}")]
    LargePicture { bytes: u64, most: u64 },
    #[error("README.md or ARCHITECTURE.md has no lines of output to replace")]
    NoExcerpt,
    #[error("{} is out of date: run `cargo xtask docs`", path.display())]
    Stale { path: PathBuf },
    #[error("not as the program:\n  {}", .0.join("\n  "))]
    CommandLines(Vec<String>),
}

/// Writes and checks the book; see the help of xtask for `arguments`.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments[..] {
        [] => write(),
        ["--check"] => return check(),
        ["--picture"] => write().and_then(|()| picture::take(&Program::build_optimised()?)),
        _ => return Err("usage: cargo xtask docs [--check | --picture]".into()),
    };
    result.map_err(|failure| failure.to_string())
}

/// Checks that generated pages, and command lines and screens in pages, agree with the program.
pub fn check() -> Result<(), String> {
    let check = || {
        let program = Program::build()?;
        for page in reference::pages(&program)? {
            let path = root().join(&page.name);
            if std::fs::read_to_string(&path).ok().as_ref() != Some(&page.text) {
                return Err(Failure::Stale { path });
            }
        }
        check_pages(&program)
    };
    check().map_err(|failure| failure.to_string())
}

fn write() -> Result<(), Failure> {
    let program = Program::build()?;
    for page in reference::pages(&program)? {
        let path = root().join(&page.name);
        let folder = path.parent().map_or_else(root, PathBuf::from);
        std::fs::create_dir_all(&folder)
            .and_then(|()| std::fs::write(&path, &page.text))
            .map_err(|cause| Failure::File { path, cause })?;
    }
    check_pages(&program)?;
    book::build()
}

/// Checks what is written by hand.
fn check_pages(program: &Program) -> Result<(), Failure> {
    let commands = program.commands()?;
    let pages = pages().map_err(Failure::Process)?;
    let mut wrong: Vec<String> = Vec::new();
    for page in pages.iter().filter(|page| !page.is_generated()) {
        wrong.extend(command_lines::check(page, &commands));
        wrong.extend(transcripts::check(page, program)?);
    }
    if wrong.is_empty() { Ok(()) } else { Err(Failure::CommandLines(wrong)) }
}
