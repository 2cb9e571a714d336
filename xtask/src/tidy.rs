//! Rules about the tree that neither rustfmt nor clippy knows.

mod circles;
mod edges;
mod files;
mod guides;
mod language;
mod links;
mod listed;
mod modules;
mod page_prose;
mod prose;
mod rust_version;
mod sizes;
mod source;
mod workspace;

use crate::process::{output, root};
use std::process::Command;
use workspace::Workspace;

/// Checks the whole tree and names everything that is wrong. With `--sizes` it also prints how much
/// of its budget each crate uses.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let shows_sizes = match arguments {
        [] => false,
        [option] if option == "--sizes" => true,
        _ => return Err("usage: cargo xtask tidy [--sizes]".into()),
    };
    let files = output(Command::new("git").arg("ls-files").current_dir(root()))?;
    let files: Vec<&str> = files.lines().filter(|file| root().join(file).exists()).collect();
    let workspace = Workspace::read(&files)?;
    let mut all = Command::new("git");
    all.args(["ls-files", "--cached", "--others", "--exclude-standard"]).current_dir(root());
    let mut wrong: Vec<String> = files.iter().flat_map(|file| files::check(file)).collect();
    wrong.extend(files::strangers(output(&mut all)?.lines()));
    wrong.extend(edges::check(&workspace));
    wrong.extend(circles::check(&workspace));
    let rooms = sizes::rooms(&workspace);
    wrong.extend(sizes::check(&rooms));
    wrong.extend(guides::check(&workspace));
    wrong.extend(listed::check(&files));
    wrong.extend(files.iter().flat_map(|file| language::check(file)));
    let pages = crate::markdown::pages()?;
    wrong.extend(pages.iter().flat_map(page_prose::check));
    wrong.extend(links::check(&pages));
    wrong.extend(rust_version::check()?);
    if shows_sizes {
        sizes::print(&rooms);
    }
    if wrong.is_empty() { Ok(()) } else { Err(format!("not tidy:\n  {}", wrong.join("\n  "))) }
}
