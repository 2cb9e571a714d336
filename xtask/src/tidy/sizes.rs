//! Budgets: lines of code without tests, comments and blanks.

use super::source::code_lines;
use super::workspace::{Tier, Workspace};

/// A part with a budget: core as a whole, or a crate.
#[derive(Debug)]
pub struct Room {
    name: String,
    lines: usize,
    /// `None`: no budget.
    lines_max: Option<usize>,
}

/// All of core.
const CORE_MAX: usize = 27_000;

/// Budgets other than those of their tier: engines with waits, queries and survey, and what design
/// gives more.
const LARGER: [(&str, usize); 11] = [
    ("background", 1_615),
    ("decision_support", 1_890),
    ("disk", 4_000),
    ("mariadb", 5_000),
    ("optimizer", 3_600),
    ("order_entry", 3_420),
    ("postgres", 5_000),
    ("queries", 6_460),
    ("script", 2_500),
    ("sqlite", 5_000),
    ("sqlserver", 5_000),
];

/// Rooms that are over their budget, with the lines that they may have until they are divided. No
/// room joins this list.
const UNTIL_SMALLER: [(&str, usize); 10] = [
    ("core", 59_165),
    ("engines/duckdb", 3_382),
    ("engines/mariadb", 9_075),
    ("engines/postgres", 12_560),
    ("engines/servers", 3_660),
    ("engines/sqlserver", 6_785),
    ("studies/command", 2_420),
    ("studies/script", 3_400),
    ("studies/sort_order", 2_030),
    ("studies/sync", 1_660),
];

/// Core, then every other crate, in the order of the tree.
pub fn rooms(workspace: &Workspace) -> Vec<Room> {
    let mut core = Room { name: "core".into(), lines: 0, lines_max: Some(CORE_MAX) };
    let mut rooms = Vec::new();
    for one in &workspace.crates {
        let lines = one.sources.iter().map(|source| code_lines(&source.text)).sum();
        let larger = LARGER.iter().find(|(name, _)| *name == one.name).map(|(_, lines)| *lines);
        let lines_max = match one.tier {
            Tier::Core => {
                core.lines += lines;
                None
            }
            Tier::Engines => larger.or(Some(2_500)),
            Tier::Studies => larger.or(Some(1_200)),
            Tier::Tools => larger.or(Some(3_000)),
            Tier::Cli | Tier::Aside => None,
        };
        let name = one.folder.strip_prefix("crates/").unwrap_or(&one.folder);
        rooms.push(Room { name: name.into(), lines, lines_max });
    }
    rooms.insert(0, core);
    rooms
}

pub fn check(rooms: &[Room]) -> Vec<String> {
    let mut wrong = Vec::new();
    for Room { name, lines, lines_max } in rooms {
        let Some(budget) = *lines_max else { continue };
        let until = UNTIL_SMALLER.iter().find(|(room, _)| room == name).map(|(_, lines)| *lines);
        let most = until.unwrap_or(budget);
        if *lines > most {
            wrong.push(format!("{name}: {lines} lines of code, more than {most}"));
        }
        if until.is_some() && *lines <= budget {
            wrong.push(format!("{name} is in its budget: remove it from tidy/sizes.rs"));
        }
    }
    wrong
}

pub fn print(rooms: &[Room]) {
    println!("{:<24}{:>8}{:>8}  lines of code", "", "lines", "budget");
    for Room { name, lines, lines_max } in rooms {
        let budget = lines_max.map_or_else(String::new, |lines| lines.to_string());
        println!("{name:<24}{lines:>8}{budget:>8}");
    }
}
