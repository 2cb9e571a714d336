//! Tries whether engines, studies, tools and designs can be taken out: in a copy of the workspace,
//! the folder of each goes with the lines of the registry and of the manifests that name it.

use crate::process::{cargo, root, target};
use std::fs;
use std::path::{Path, PathBuf};

/// Rooms whose folders can be taken out.
const ROOMS: [&str; 4] = ["engines", "studies", "tools", "designs"];
/// Folders in these rooms that others are built on.
const SHARED: [&str; 2] = ["engines/servers", "engines/helpers"];
/// Files whose lines name what the binary consists of.
const LISTS: [&str; 4] = [
    "Cargo.toml",
    "crates/cli/Cargo.toml",
    "crates/cli/src/commands.rs",
    "crates/cli/src/registry.rs",
];
/// The beginning of a list in one line.
const LIST: &str = "= &[";
/// Members of the workspace that the binary does not contain; those use many guests.
const ASIDE: [&str; 2] = ["\"crates/testing\", ", ", \"xtask\""];

/// Takes out each guest by itself; without names all of them.
pub fn run(names: &[String]) -> Result<(), String> {
    let guests = guests()?;
    let unknown = names.iter().find(|name| !guests.iter().any(|guest| guest.name() == **name));
    if let Some(unknown) = unknown {
        let known: Vec<&str> = guests.iter().map(Guest::name).collect();
        return Err(format!("no guest {unknown}; there are {}", known.join(", ")));
    }
    let chosen = guests
        .iter()
        .filter(|guest| names.is_empty() || names.iter().any(|name| name == guest.name()));
    let copy = Copy::make()?;
    let mut attached = Vec::new();
    for guest in chosen {
        let result = copy.without(guest)?;
        println!("{} {}", if result { "detached" } else { "ATTACHED" }, guest.folder);
        attached.extend((!result).then_some(guest.name()));
    }
    if attached.is_empty() {
        return Ok(());
    }
    Err(format!("the binary does not build without {}", attached.join(", ")))
}

/// A folder that can be taken out.
struct Guest {
    /// Relative to the root.
    folder: String,
}

impl Guest {
    fn name(&self) -> &str {
        self.folder.rsplit('/').next().unwrap_or_default()
    }

    /// A line of a manifest or of the registry without what names it; `None`: it names nothing
    /// else.
    fn removed_from(&self, line: &str) -> Option<String> {
        if !self.is_named(line) {
            return Some(line.to_owned());
        }
        let (before, list) = line.split_once(LIST)?;
        let (list, after) = list.rsplit_once(']')?;
        let kept: Vec<&str> = list.split(", ").filter(|item| !self.is_named(item)).collect();
        Some(format!("{before}{LIST}{}]{after}", kept.join(", ")))
    }

    /// Returns true if a line of a manifest or of the registry names it.
    fn is_named(&self, line: &str) -> bool {
        let name = self.name();
        let path = line.find(&format!("{name}::")).is_some_and(|at| !is_word_before(line, at));
        let line = line.trim_start();
        let key = line.strip_prefix(name).is_some_and(|rest| rest.starts_with([' ', '.']));
        path || key
            || line.starts_with(&format!("package.{name}."))
            || line.contains(&format!("\"{name}/"))
    }
}

fn is_word_before(line: &str, at: usize) -> bool {
    line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':')
}

fn guests() -> Result<Vec<Guest>, String> {
    let mut guests = Vec::new();
    for room in ROOMS {
        let Ok(entries) = fs::read_dir(root().join("crates").join(room)) else { continue };
        for entry in entries {
            let entry = entry.map_err(|error| format!("crates/{room}: {error}"))?;
            let place = format!("{room}/{}", entry.file_name().display());
            if !SHARED.contains(&&*place) {
                guests.push(Guest { folder: format!("crates/{place}") });
            }
        }
    }
    guests.sort_by(|a, b| a.folder.cmp(&b.folder));
    Ok(guests)
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// A manifest without what only tests and developers have.
fn without_tests(manifest: &str) -> String {
    let mut kept = String::new();
    let mut is_kept = true;
    for line in manifest.lines() {
        if line.starts_with('[') {
            is_kept = !["[dev-dependencies", "[[test", "[[bench", "[[example"]
                .iter()
                .any(|section| line.starts_with(section));
        }
        if is_kept {
            kept += line;
            kept.push('\n');
        }
    }
    ASIDE.iter().fold(kept, |kept, member| kept.replace(member, ""))
}

/// A copy of the workspace, without tests and what only they use.
struct Copy {
    root: PathBuf,
}

impl Copy {
    fn make() -> Result<Self, String> {
        let copy = Self { root: target().join("detach/workspace") };
        let _ = fs::remove_dir_all(&copy.root);
        for file in
            crate::tidy::workspace::tracked()?.iter().filter(|file| !file.contains("/tests/"))
        {
            let bytes = read(&root().join(file))?;
            match std::str::from_utf8(&bytes) {
                Ok(manifest) if file.ends_with("Cargo.toml") => {
                    copy.write(file, without_tests(manifest).as_bytes())?;
                }
                _ => copy.write(file, &bytes)?,
            }
        }
        Ok(copy)
    }

    fn write(&self, file: &str, bytes: &[u8]) -> Result<(), String> {
        let path = self.root.join(file);
        let failed = |error| format!("{}: {error}", path.display());
        path.parent().map_or(Ok(()), fs::create_dir_all).map_err(failed)?;
        fs::write(&path, bytes).map_err(failed)
    }

    /// Returns whether the binary builds without a guest.
    fn without(&self, guest: &Guest) -> Result<bool, String> {
        let lists: Vec<Vec<u8>> =
            LISTS.iter().map(|file| read(&self.root.join(file))).collect::<Result<_, _>>()?;
        for (file, bytes) in LISTS.iter().zip(&lists) {
            let text = String::from_utf8_lossy(bytes);
            let lines = text.lines().filter_map(|line| guest.removed_from(line));
            self.write(file, lines.collect::<Vec<_>>().join("\n").as_bytes())?;
        }
        let folder = self.root.join(&guest.folder);
        let away = self.root.join("away");
        let moved = |error| format!("{}: {error}", folder.display());
        fs::rename(&folder, &away).map_err(moved)?;
        let status = cargo(&["check", "--quiet", "--package", "steelbench"])
            .current_dir(&self.root)
            .env("CARGO_TARGET_DIR", target())
            .status()
            .map_err(|error| format!("cargo: {error}"))?;
        fs::rename(&away, &folder).map_err(moved)?;
        for (file, bytes) in LISTS.iter().zip(&lists) {
            self.write(file, bytes)?;
        }
        Ok(status.success())
    }
}

#[cfg(test)]
mod tests {
    use super::{Guest, without_tests};

    #[test]
    fn lines_that_name_a_guest_go() {
        let guest = Guest { folder: "crates/tools/plan".into() };
        for line in [
            "plan = { path = \"crates/tools/plan\" }",
            "plan.workspace = true",
            "package.plan.opt-level = 3",
            "    Command::new::<plan::Plan>(Servers),",
            "driver = [\"plan/driver\"]",
        ] {
            assert_eq!(guest.removed_from(line), None, "{line}");
        }
        for line in [
            "plans.workspace = true",
            "    Command::new::<explain_plan::Plan>(Servers),",
            "    analysis::plan::STUDY,",
            "package.planner.opt-level = 3",
        ] {
            assert_eq!(guest.removed_from(line).as_deref(), Some(line));
        }
        let removed = guest.removed_from("const ALL: &[&dyn Tool] = &[&plan::A, &waits::B];");
        assert_eq!(removed.as_deref(), Some("const ALL: &[&dyn Tool] = &[&waits::B];"));
    }

    #[test]
    fn a_manifest_loses_its_tests() {
        let manifest = "[package]\nname = \"a\"\n[dev-dependencies]\nb = \"1\"\n[lints]\nc = 1";
        assert_eq!(without_tests(manifest), "[package]\nname = \"a\"\n[lints]\nc = 1\n");
    }
}
