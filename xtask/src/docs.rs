//! The book in `docs`: generated pages, the picture in README, checks against the program.

mod book;
mod command_lines;
mod picture;
mod program;
mod reference;
mod rooms;
mod transcripts;

use crate::markdown::pages;
use crate::process::{self, read, root};
use program::Program;

/// Writes and checks the book; see the help of xtask for `arguments`.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        [] => write(),
        ["--check"] => check(),
        ["--picture"] => write().and_then(|()| picture::take(&Program::build_optimised()?)),
        _ => Err("usage: cargo xtask docs [--check | --picture]".into()),
    }
}

/// Checks that generated pages, and command lines and screens in pages, agree with the program.
pub fn check() -> Result<(), String> {
    let program = Program::build()?;
    for page in reference::pages(&program)? {
        if read(&root().join(&page.name)).ok().as_ref() != Some(&page.text) {
            return Err(format!("{} is out of date: run `cargo xtask docs`", page.name));
        }
    }
    check_pages(&program)
}

fn write() -> Result<(), String> {
    let program = Program::build()?;
    for page in reference::pages(&program)? {
        process::write(&root().join(&page.name), &page.text)?;
    }
    check_pages(&program)?;
    book::build()
}

/// Checks what is written by hand.
fn check_pages(program: &Program) -> Result<(), String> {
    let commands = program.commands()?;
    let mut wrong: Vec<String> = Vec::new();
    for page in pages()?.iter().filter(|page| !page.is_generated()) {
        wrong.extend(command_lines::check(page, &commands));
        wrong.extend(transcripts::check(page, program)?);
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(format!("not as the program:\n  {}", wrong.join("\n  ")))
    }
}
