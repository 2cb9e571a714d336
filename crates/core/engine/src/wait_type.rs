//! An engine's wait types: one table with name, class and meaning. `cargo xtask docs` writes them
//! to `docs/reference/wait-types.md`.

use observations::WaitClass;

/// A wait type of an engine, or all those whose names fit a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitType {
    /// The engine's own name, or a pattern in which one `*` stands for any text. Upper and lower
    /// case are not distinguished: some names changed theirs between versions of an engine.
    pub name: &'static str,
    /// The class.
    pub class: WaitClass,
    /// Meaning of the wait. The sentence begins with "The session was ...".
    pub meaning: &'static str,
    /// The group of benign waits that it belongs to.
    pub benign: Option<BenignGroup>,
}

/// Wait types of background tasks that say nothing about a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BenignGroup {
    /// The name.
    pub name: &'static str,
    /// True if it is left out by default.
    pub is_filtered: bool,
}

impl WaitType {
    /// A wait type that is not benign.
    pub const fn new(name: &'static str, class: WaitClass, meaning: &'static str) -> Self {
        Self { name, class, meaning, benign: None }
    }

    /// Returns whether it is a pattern for several wait types.
    pub fn is_pattern(&self) -> bool {
        self.name.contains('*')
    }

    /// Returns whether it matches the wait type of this name.
    pub fn fits(&self, name: &str) -> bool {
        let Some((prefix, suffix)) = self.name.split_once('*') else {
            return self.name.eq_ignore_ascii_case(name);
        };
        let (start, end) = (name.get(..prefix.len()), name.len().checked_sub(suffix.len()));
        let end = end.filter(|end| *end >= prefix.len()).and_then(|end| name.get(end..));
        start.is_some_and(|start| start.eq_ignore_ascii_case(prefix))
            && end.is_some_and(|end| end.eq_ignore_ascii_case(suffix))
    }

    /// The first wait type of a table that fits a name.
    pub fn find(table: &'static [Self], name: &str) -> Option<&'static Self> {
        table.iter().find(|wait_type| wait_type.fits(name))
    }

    /// The class that a table gives to a name.
    pub fn class_of(table: &'static [Self], name: &str) -> WaitClass {
        Self::find(table, name).map_or(WaitClass::Other, |wait_type| wait_type.class)
    }

    /// Returns whether a wait type is left out: by its group's default, unless it or its group is
    /// switched.
    ///
    /// It is for the waits of a whole server. The waits of our own sessions are never left out.
    pub fn is_benign(table: &'static [Self], name: &str, switched: &[(&str, bool)]) -> bool {
        let Some(group) = Self::find(table, name).and_then(|found| found.benign) else {
            return false;
        };
        let switch =
            |what: &str| switched.iter().find(|(known, _)| *known == what).map(|(_, is)| *is);
        switch(name).or_else(|| switch(group.name)).unwrap_or(group.is_filtered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_needs_room_for_both_of_its_ends() {
        let fits = |name, event: &str| WaitType::new(name, WaitClass::Other, "").fits(event);
        assert!(fits("IO:*Read", "IO:Read") && fits("IO:*Read", "io:SLRUread"));
        assert!(
            !fits("IO:*Read", "IO:Rea")
                && !fits("ABA*ABA", "ABA")
                && !fits("IO:WAL*", "IO:DataFileRead")
        );
    }
}
