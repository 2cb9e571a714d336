//! How large each part of the project is, and its lid.

use super::lids::Lids;
use super::source::code_lines;
use super::workspace::{Tier, Workspace};
use crate::markdown::Page;
use crate::process::root;
use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::path::Path;

/// A part of the project.
#[derive(Debug, Clone)]
pub struct Room {
    name: String,
    size: usize,
    unit: Unit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    /// Lines that are neither blank nor a comment.
    Lines,
    Words,
    Crates,
    Packages,
}

impl Unit {
    /// A lid is a multiple of this.
    fn step(self) -> usize {
        match self {
            Self::Lines | Self::Words => 100,
            Self::Packages => 10,
            Self::Crates => 5,
        }
    }
}

impl Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lines => "lines of code",
            Self::Words => "words",
            Self::Crates => "crates",
            Self::Packages => "packages",
        })
    }
}

impl Room {
    /// Returns the smallest lid that the room fits under.
    fn lid_min(&self) -> usize {
        self.size.next_multiple_of(self.unit.step())
    }

    /// Returns the largest lid: 10 % above the size, or the next round number for a small room.
    fn lid_max(&self) -> usize {
        let step = self.unit.step();
        self.lid_min().max(self.size * 11 / 10 / step * step)
    }

    /// Returns a lid with space for the next changes.
    fn lid_proposed(&self) -> usize {
        let roomy = (self.size * 21 / 20).next_multiple_of(self.unit.step());
        roomy.min(self.lid_max())
    }
}

/// Measures the rooms with code in the order of the tree, then what concerns the whole project.
/// `files` are those of the tree.
pub fn rooms(workspace: &Workspace, files: &[&str], pages: &[Page]) -> Vec<Room> {
    let mut lines: BTreeMap<String, usize> = BTreeMap::new();
    for member in &workspace.crates {
        let code: usize = member.sources.iter().map(|source| code_lines(&source.text)).sum();
        *lines.entry(room_of(member.tier, &member.folder)).or_default() += code;
    }
    let program = lines.values().sum();
    let rust: usize = files
        .iter()
        .filter(|file| Path::new(file).extension().is_some_and(|extension| extension == "rs"))
        .map(|file| code_lines(&std::fs::read_to_string(root().join(file)).unwrap_or_default()))
        .sum();
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).unwrap_or_default();
    let packages = lock.lines().filter(|line| *line == "[[package]]").count();
    let pages = pages.iter().filter(|page| !page.is_generated());
    let words = pages.map(|page| page.text.split_whitespace().count()).sum();
    let whole = [
        ("all", program, Unit::Lines),
        // Tests, and what only they use: examples, and the server in place of SQL Server.
        ("tests", rust - program, Unit::Lines),
        ("docs", words, Unit::Words),
        ("crates", workspace.crates.len(), Unit::Crates),
        ("packages", packages, Unit::Packages),
    ];
    let rooms = lines.into_iter().map(|(name, size)| Room { name, size, unit: Unit::Lines });
    let whole = whole.map(|(name, size, unit)| Room { name: name.into(), size, unit });
    rooms.chain(whole).collect()
}

/// The room that a crate is part of: all of core, xtask with what tests share, or itself.
fn room_of(tier: Tier, folder: &str) -> String {
    match tier {
        Tier::Core => "core",
        Tier::Aside => "xtask",
        _ => folder.strip_prefix("crates/").unwrap_or(folder),
    }
    .into()
}

/// Compares rooms with their lids.
pub fn check(rooms: &[Room], lids: &Lids) -> Vec<String> {
    let mut wrong = Vec::new();
    for room in rooms {
        let Room { name, size, unit } = room;
        let Some(lid) = lids.lid(name) else {
            wrong.push(format!("{name}: no lid; one for it: {}", room.lid_proposed()));
            continue;
        };
        if *size > lid {
            wrong.push(format!("{name}: {size} {unit}, more than {lid}"));
        } else if lid % unit.step() != 0 {
            wrong.push(format!("{name}: the lid {lid} is not a multiple of {}", unit.step()));
        } else if lid > room.lid_max() {
            wrong.push(format!(
                "{name}: {size} {unit}, and a lid of {lid}: lower it to {}",
                room.lid_proposed()
            ));
        }
    }
    let is_room = |name: &str| rooms.iter().any(|room| room.name == name);
    let left = lids.names().filter(|name| !is_room(name));
    wrong.extend(left.map(|name| format!("{name}: a lid without a room: remove it")));
    wrong
}

/// Prints rooms with their lids.
pub fn print(rooms: &[Room], lids: &Lids) {
    println!("{:<24}{:>8}{:>8}", "", "size", "lid");
    for Room { name, size, unit } in rooms {
        let lid = lids.lid(name).map_or_else(String::new, |lid| lid.to_string());
        println!("{name:<24}{size:>8}{lid:>8}  {unit}");
    }
}

#[cfg(test)]
mod tests {
    use super::{Room, Unit, check};
    use crate::tidy::lids::Lids;

    fn wrong(size: usize, unit: Unit, lid: usize) -> Vec<String> {
        let lids = Lids::parse(&format!("room {lid}\n"));
        check(&[Room { name: "room".into(), size, unit }], &lids.expect("a lid"))
    }

    #[test]
    fn a_lid_is_round_and_near_the_size() {
        let none: [&str; 0] = [];
        assert_eq!(wrong(5_000, Unit::Lines, 5_000), none);
        assert_eq!(wrong(5_000, Unit::Lines, 5_500), none);
        assert_eq!(
            wrong(5_000, Unit::Lines, 5_600),
            ["room: 5000 lines of code, and a lid of 5600: lower it to 5300"]
        );
        assert_eq!(
            wrong(5_000, Unit::Lines, 5_210),
            ["room: the lid 5210 is not a multiple of 100"]
        );
        assert_eq!(wrong(5_001, Unit::Lines, 5_000), ["room: 5001 lines of code, more than 5000"]);
        // The next round number, although it is more than 10 % above.
        assert_eq!(wrong(420, Unit::Lines, 500), none);
        assert_eq!(wrong(65, Unit::Crates, 70), none);
        assert_eq!(
            wrong(65, Unit::Crates, 75),
            ["room: 65 crates, and a lid of 75: lower it to 70"]
        );
        assert_eq!(wrong(486, Unit::Packages, 530), none);
    }

    #[test]
    fn rooms_and_lids_match() {
        let lids = Lids::parse("old 300\n").expect("a lid");
        let room = Room { name: "new".into(), size: 110, unit: Unit::Words };
        assert_eq!(
            check(&[room], &lids),
            ["new: no lid; one for it: 200", "old: a lid without a room: remove it"]
        );
    }
}
