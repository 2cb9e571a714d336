use observations::{ConfigurationRecord, Recording};
use serde::Serialize;

/// A configuration of one run and the same one of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Match {
    /// Position in the first run.
    pub from: usize,
    /// Position in the second run.
    pub to: usize,
    /// What they have in common.
    pub by: MatchedBy,
}

/// What makes two configurations of different runs the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MatchedBy {
    /// All settings, defaults included.
    Settings,
    /// The levels of all factors; another setting differs.
    Levels,
}

/// Each configuration of the first run with the one of the second that has the same settings, else the same
/// levels. Each belongs to one match at most.
pub(crate) fn matching(from: &Recording, to: &Recording) -> Vec<Match> {
    let mut matches: Vec<Match> = Vec::new();
    let ways = [
        (MatchedBy::Settings, same_settings as fn(&ConfigurationRecord, &ConfigurationRecord) -> bool),
        (MatchedBy::Levels, same_levels),
    ];
    for (by, same) in ways {
        for (at, own) in from.configurations.iter().enumerate() {
            let free = |other: &usize| matches.iter().all(|it| it.from != at && it.to != *other);
            let mut others =
                (0..to.configurations.len()).filter(|other| same(own, &to.configurations[*other]));
            if let Some(other) = others.find(free) {
                matches.push(Match { from: at, to: other, by });
            }
        }
    }
    matches.sort_by_key(|it| it.from);
    matches
}

fn same_settings(a: &ConfigurationRecord, b: &ConfigurationRecord) -> bool {
    a.key == b.key
}

/// In any order: a file may name its factors in another one.
fn same_levels(a: &ConfigurationRecord, b: &ConfigurationRecord) -> bool {
    a.levels.len() == b.levels.len() && a.levels.iter().all(|level| b.levels.contains(level))
}
