//! Documents that name files of the tree.

use super::workspace::Workspace;
use crate::process::root;
use std::path::PathBuf;

/// Documents that name files of the tree.
const GUIDES: [&str; 2] = ["ARCHITECTURE.md", "CONTRIBUTING.md"];

/// Wrong statements of the guides about files.
pub fn check(workspace: &Workspace) -> Vec<String> {
    GUIDES.into_iter().flat_map(|name| check_guide(name, workspace)).collect()
}

/// Checks the files that a document names: they exist, and a line that begins with a file and a
/// colon names in backticks parts of its text.
fn check_guide(name: &str, workspace: &Workspace) -> Vec<String> {
    let text = std::fs::read_to_string(root().join(name)).unwrap_or_default();
    let mut wrong = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let quoted: Vec<&str> = line.split('`').skip(1).step_by(2).collect();
        // A row of a table: paths without a crate are in that of the first column.
        let folder = quoted.first().filter(|_| line.starts_with("| `"));
        for path in &quoted {
            let is_missing = places(path, folder.copied(), workspace)
                .is_some_and(|mut places| !places.any(|place| place.exists()));
            if is_missing {
                wrong.push(format!("{name}:{}: {path} does not exist", number + 1));
            }
        }
        let Some((path, what)) = line.strip_prefix("- `").and_then(|line| line.split_once("`: "))
        else {
            continue;
        };
        let Ok(file) = std::fs::read_to_string(root().join(path)) else { continue };
        for part in what
            .split('`')
            .skip(1)
            .step_by(2)
            .filter(|part| !part.contains('/') && !file.contains(part))
        {
            wrong.push(format!("{name}:{}: {part} is not in {path}", number + 1));
        }
    }
    wrong
}

/// Places of a path that a document names: from the root, or from a crate, with or without its
/// `src`, up to the placeholder of a name. `None` unless it is a path of this tree.
fn places(
    path: &str,
    folder: Option<&str>,
    workspace: &Workspace,
) -> Option<impl Iterator<Item = PathBuf>> {
    let path = path.split("NAME").next().unwrap_or_default();
    let (first, rest) = path.split_once('/')?;
    let of_crate = workspace.crates.iter().find(|package| {
        package.name == first
            || package.folder.rsplit('/').next().is_some_and(|folder| folder == first)
    });
    let is_ours = of_crate.is_some() || ["crates", "docs", "experiments", "src"].contains(&first);
    let of_crate = root().join(of_crate.map_or("", |package| &package.folder));
    let in_folder = root().join(folder.unwrap_or_default()).join(path);
    is_ours.then(|| {
        [root().join(path), of_crate.join("src").join(rest), of_crate.join(rest), in_folder]
            .into_iter()
    })
}
