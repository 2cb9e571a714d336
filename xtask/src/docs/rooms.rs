//! The picture of the rooms in ARCHITECTURE.md, from the crates of the workspace.

use super::reference::wrapped;
use crate::markdown::Page;
use crate::process::{read, root};
use crate::tidy::workspace::{Crate, Tier, Workspace, tracked};
use std::fmt::Write as _;

const BEGIN: &str = "```text\n";
const END: &str = "```\n";
const ROOMS: [(&str, Tier); 7] = [
    ("cli", Tier::Cli),
    ("tools", Tier::Tools),
    ("studies", Tier::Studies),
    ("designs", Tier::Designs),
    ("inspection", Tier::Inspection),
    ("engines", Tier::Engines),
    ("core", Tier::Core),
];

/// The page with the picture as the workspace is now.
pub fn page() -> Result<Page, String> {
    let name = "ARCHITECTURE.md".to_owned();
    let page = read(&root().join(&name))?;
    let parts =
        page.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?)));
    let (before, (_, after)) = parts.ok_or("ARCHITECTURE.md has no picture to replace")?;
    let files = tracked()?;
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let picture = picture(&Workspace::read(&files)?);
    Ok(Page { name, text: format!("{before}{BEGIN}{picture}{END}{after}") })
}

/// A line for each room and layer: a crate uses those of lines below its own. The crate in the
/// folder of a guest follows the guest in brackets.
fn picture(workspace: &Workspace) -> String {
    let mut text = String::new();
    for (mut room, tier) in ROOMS {
        let crates = || workspace.crates.iter().filter(|package| package.tier == tier);
        let highest = crates().map(|package| workspace.height(package)).max().unwrap_or(0);
        for height in (0..=highest).rev() {
            let layer = crates()
                .filter(|package| package.guest().is_none() && workspace.height(package) == height);
            let names: Vec<String> = layer.map(|package| with_parts(workspace, package)).collect();
            // Blanks would not survive the wrapping.
            let line = wrapped(&" ".repeat(11), &format!("{room:~<10} {}", names.join(" ")));
            let _ = writeln!(text, "{}", line.replace('~', " "));
            room = "";
        }
    }
    text
}

/// The name of a crate, with the crates in its folder.
fn with_parts(workspace: &Workspace, package: &Crate) -> String {
    let parts = workspace.crates.iter().filter(|part| part.guest() == Some(&package.folder));
    let parts: Vec<&str> = parts.map(|part| part.name.as_str()).collect();
    if parts.is_empty() {
        return package.name.clone();
    }
    format!("{} ({})", package.name, parts.join(" "))
}
