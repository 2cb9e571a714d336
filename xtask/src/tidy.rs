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
mod sizes;
mod source;
mod workspace;

use crate::process::{output, root};
use std::process::Command;
use workspace::Workspace;

/// Checks the whole tree and names everything that is wrong. With `--sizes` it also prints how much
/// of its budget each crate uses, with `--language` all places where the text is not plain.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let option = match arguments {
        [] => "",
        [option] if ["--sizes", "--language"].contains(&option.as_str()) => option,
        _ => return Err("usage: cargo xtask tidy [--sizes | --language]".into()),
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
    let text = language::read(&files);
    wrong.extend(language::check(&text));
    let pages = crate::markdown::pages()?;
    wrong.extend(pages.iter().flat_map(page_prose::check));
    wrong.extend(links::check(&pages));
    match option {
        "--sizes" => sizes::print(&rooms),
        "--language" => language::print(&text),
        _ => {}
    }
    if wrong.is_empty() { Ok(()) } else { Err(format!("not tidy:\n  {}", wrong.join("\n  "))) }
}
