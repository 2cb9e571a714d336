//! The crates of the workspace, from their folders and manifests.

use super::source::without_tests;
use crate::process::{output, read, root};
use std::path::Path;
use std::process::Command;

/// The room that a crate is in. Arrows point from an upper one to a lower one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    Cli,
    Tools,
    Studies,
    Designs,
    Inspection,
    Engines,
    Core,
    /// Beside the rooms: developer commands and what tests share.
    Aside,
}

/// A crate.
#[derive(Debug)]
pub struct Crate {
    pub name: String,
    /// From the root of the workspace.
    pub folder: String,
    pub tier: Tier,
    /// The crates of the workspace that it depends on, without those of its tests.
    pub uses: Vec<String>,
    /// The source without tests.
    pub sources: Vec<Source>,
}

/// A file of source.
#[derive(Debug)]
pub struct Source {
    /// From the folder `src` of its crate.
    pub path: String,
    /// Without its tests.
    pub text: String,
}

#[derive(Debug)]
pub struct Workspace {
    pub crates: Vec<Crate>,
}

/// The files of the repository.
pub fn tracked() -> Result<Vec<String>, String> {
    let files = output(Command::new("git").arg("ls-files").current_dir(root()))?;
    Ok(files.lines().filter(|file| root().join(file).exists()).map(str::to_owned).collect())
}

impl Crate {
    /// The folder of the guest that this is a part of: the crate of its data plane.
    pub fn guest(&self) -> Option<&str> {
        let (folder, _) = self.folder.rsplit_once('/')?;
        (self.folder.split('/').count() == 4).then_some(folder)
    }
}

impl Workspace {
    /// Reads the crates among these files of the tree.
    pub fn read(files: &[&str]) -> Result<Self, String> {
        let mut crates = Vec::new();
        for file in files {
            let Some(folder) = file.strip_suffix("/Cargo.toml") else { continue };
            let Some(tier) = tier(folder) else { continue };
            let manifest = read(&root().join(file))?;
            let name = manifest.lines().find_map(|line| line.strip_prefix("name = "));
            let name = name.unwrap_or_default().trim_matches('"').to_owned();
            let sources = sources(folder, files)?;
            crates.push(Crate {
                name,
                folder: folder.into(),
                tier,
                uses: dependencies(&manifest),
                sources,
            });
        }
        let names: Vec<String> = crates.iter().map(|package| package.name.clone()).collect();
        for package in &mut crates {
            package.uses.retain(|used| names.contains(used));
        }
        Ok(Self { crates })
    }

    pub fn named(&self, name: &str) -> Option<&Crate> {
        self.crates.iter().find(|package| package.name == name)
    }

    /// The length of the longest chain of dependencies of a crate within its room, without crates
    /// of guests.
    pub fn height(&self, package: &Crate) -> usize {
        let used = package.uses.iter().filter_map(|name| self.named(name));
        let used = used.filter(|used| used.tier == package.tier && used.guest().is_none());
        used.map(|used| 1 + self.height(used)).max().unwrap_or(0)
    }
}

/// The room of a crate's folder, also of one in a guest's folder; `None` of a package outside of
/// the workspace.
fn tier(folder: &str) -> Option<Tier> {
    Some(match folder.split('/').collect::<Vec<_>>()[..] {
        ["crates", "cli"] => Tier::Cli,
        ["crates", "designs"] | ["crates", "designs", _] => Tier::Designs,
        ["crates", "tools", _] | ["crates", "tools", _, _] => Tier::Tools,
        ["crates", "studies", _] | ["crates", "studies", _, _] => Tier::Studies,
        ["crates", "inspection"] => Tier::Inspection,
        ["crates", "engines", _] | ["crates", "engines", _, _] => Tier::Engines,
        ["crates", "core", _] => Tier::Core,
        ["crates", _] | ["xtask"] => Tier::Aside,
        _ => return None,
    })
}

/// The names in the section of normal dependencies.
fn dependencies(manifest: &str) -> Vec<String> {
    let section = manifest.split("[dependencies]\n").nth(1).unwrap_or_default();
    let section = section.split("\n[").next().unwrap_or_default();
    section
        .lines()
        .filter_map(|line| Some(line.split(['.', ' ', '=']).next()?.to_owned()))
        .collect()
}

fn sources(folder: &str, files: &[&str]) -> Result<Vec<Source>, String> {
    let mut sources = Vec::new();
    for file in files {
        let path = file.strip_prefix(folder).and_then(|rest| rest.strip_prefix("/src/"));
        let Some(path) = path
            .filter(|path| Path::new(path).extension().is_some_and(|extension| extension == "rs"))
        else {
            continue;
        };
        let is_test = path == "tests.rs" || path.ends_with("/tests.rs") || path.contains("tests/");
        if !is_test {
            sources.push(Source {
                path: path.into(),
                text: without_tests(&read(&root().join(file))?).into(),
            });
        }
    }
    Ok(sources)
}
