//! Rules about the tree that neither rustfmt nor clippy knows.

mod circles;
mod edges;
mod files;
mod guides;
mod language;
mod lids;
mod links;
mod listed;
mod modules;
mod names;
mod page_prose;
mod prose;
mod rust_version;
mod sizes;
mod source;
pub mod workspace;

use crate::process::{output, root};
use lids::{History, Lids};
use std::process::Command;
use workspace::Workspace;

/// Checks the whole tree and names everything that is wrong. With `--sizes` it also prints the size
/// and lid of each room, and why lids rose since a revision.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let (shows_sizes, since) = match arguments {
        [] => (false, None),
        [option] if option == "--sizes" => (true, None),
        [option, since] if option == "--sizes" => (true, Some(since)),
        _ => return Err("usage: cargo xtask tidy [--sizes [SINCE]]".into()),
    };
    let files = workspace::tracked()?;
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let workspace = Workspace::read(&files)?;
    let mut all = Command::new("git");
    all.args(["ls-files", "--cached", "--others", "--exclude-standard"]).current_dir(root());
    let mut wrong: Vec<String> = files.iter().flat_map(|file| files::check(file)).collect();
    wrong.extend(files::strangers(output(&mut all)?.lines()));
    wrong.extend(edges::check(&workspace));
    wrong.extend(circles::check(&workspace));
    wrong.extend(guides::check(&workspace));
    wrong.extend(listed::check(&files));
    wrong.extend(files.iter().flat_map(|file| language::check(file)));
    wrong.extend(files.iter().flat_map(|file| names::check(file)));
    let pages = crate::markdown::pages()?;
    let (rooms, lids) = (sizes::rooms(&workspace, &files, &pages), Lids::read(&root())?);
    wrong.extend(sizes::check(&rooms, &lids));
    match History::read(&root()).and_then(|history| history.check(&root(), &lids)) {
        Ok(risen) => wrong.extend(risen),
        Err(reason) => println!("lids are not compared with earlier ones: {reason}"),
    }
    wrong.extend(pages.iter().flat_map(page_prose::check));
    wrong.extend(links::check(&pages));
    wrong.extend(rust_version::check()?);
    if shows_sizes {
        sizes::print(&rooms, &lids);
        let history = match since {
            Some(since) => History::since(&root(), since),
            None => History::read(&root()),
        };
        history?.print();
    }
    if wrong.is_empty() { Ok(()) } else { Err(format!("not tidy:\n  {}", wrong.join("\n  "))) }
}
