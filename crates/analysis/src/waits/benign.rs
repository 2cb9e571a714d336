//! Waits of a server's background tasks that say nothing about a load.

use std::collections::BTreeSet;

/// A versioned list of benign wait types of one engine, in groups that can be switched.
///
/// It is for waits of a whole server; the waits of our own sessions are never filtered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BenignList {
    version: String,
    groups: Vec<Group>,
    kept: BTreeSet<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Group {
    name: String,
    filtered: bool,
    wait_types: BTreeSet<String>,
}

impl BenignList {
    /// SQL Server's list.
    pub fn sql_server() -> Self {
        Self::read(include_str!("../../data/benign_sql_server.txt"))
    }

    /// Reads the form of the data files: `version X`, then `group NAME on|off` and one wait type a
    /// line; `#` starts a comment.
    fn read(text: &str) -> Self {
        let mut list = Self { version: String::new(), groups: Vec::new(), kept: BTreeSet::new() };
        for line in text.lines().map(|line| line.split('#').next().unwrap_or_default()) {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[..] {
                ["version", version] => version.clone_into(&mut list.version),
                ["group", name, state] => list.groups.push(Group {
                    name: name.to_owned(),
                    filtered: state == "on",
                    wait_types: BTreeSet::new(),
                }),
                [wait_type] => {
                    if let Some(group) = list.groups.last_mut() {
                        group.wait_types.insert(wait_type.to_owned());
                    }
                }
                _ => {}
            }
        }
        list
    }

    /// Version of the list, a date.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Names of the groups and whether each is filtered.
    pub fn groups(&self) -> impl Iterator<Item = (&str, bool)> {
        self.groups.iter().map(|group| (group.name.as_str(), group.filtered))
    }

    /// Switches a group; false when there is no such group.
    pub fn switch_group(&mut self, name: &str, filtered: bool) -> bool {
        let group = self.groups.iter_mut().find(|group| group.name == name);
        group.map(|group| group.filtered = filtered).is_some()
    }

    /// Keeps one wait type in the table whatever its group says.
    pub fn keep(&mut self, wait_type: &str) {
        self.kept.insert(wait_type.to_owned());
    }

    /// Whether a wait type is filtered.
    pub fn contains(&self, wait_type: &str) -> bool {
        let listed = |group: &Group| group.filtered && group.wait_types.contains(wait_type);
        !self.kept.contains(wait_type) && self.groups.iter().any(listed)
    }
}

#[cfg(test)]
mod tests {
    use super::BenignList;

    #[test]
    fn lists_each_name_once_and_can_be_switched() {
        let mut list = BenignList::sql_server();
        let names: Vec<_> = list.groups.iter().flat_map(|g| &g.wait_types).collect();
        let unique: std::collections::BTreeSet<_> = names.iter().collect();
        assert_eq!((names.len(), unique.len()), (LISTED, LISTED));
        assert_eq!(list.version(), "2026-03-21");
        assert!(list.contains("LAZYWRITER_SLEEP") && list.contains("HADR_WORK_QUEUE"));
        assert!(!list.contains("PAGELATCH_UP") && !list.contains("CXCONSUMER"));
        assert!(list.switch_group("availability", false) && list.switch_group("parallelism", true));
        assert!(!list.switch_group("nothing", true));
        assert!(!list.contains("HADR_WORK_QUEUE") && list.contains("CXCONSUMER"));
        list.keep("LAZYWRITER_SLEEP");
        assert!(!list.contains("LAZYWRITER_SLEEP"));
    }

    /// As counted in the source of the list.
    const LISTED: usize = 80;
}
