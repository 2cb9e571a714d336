//! The promise that a committed transaction survives a crash, alike for every engine: an engine
//! states which of its settings weaken it, and which values [`DURABILITY`] stands for.

use crate::error::Fault;
use crate::{Value, choice, settings};
use std::collections::BTreeMap;

choice! {
    /// Survival of commits in a crash.
    pub enum Durability {
        /// No commit is lost.
        Full = "full",
        /// The last commits may be lost.
        Relaxed = "relaxed",
    }
}

settings! {
    /// Durability of commits, alike for every engine: full (no commit is lost in a crash) or
    /// relaxed (the last ones may be). Sets the engine's own settings; default: those of the
    /// engine.
    pub DURABILITY: Option<Durability> =
        "target.durability", Durability::KIND => Durability, Shown "\"full\"";
}

/// The effect of a crash where a setting weakens durability.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Risk {
    /// The last commits are lost.
    Commits,
    /// Pages are written in part: the database may not be readable.
    Pages,
    /// Either.
    Both,
}

/// An engine's setting that weakens durability.
#[derive(Debug, Clone, Copy)]
pub struct DurabilityRule {
    /// The dotted path.
    pub path: &'static str,
    /// The effect of a crash with other values than those below.
    pub risk: Risk,
    /// The values with which nothing is lost, in lower case; every other one weakens. A switch is
    /// `on` or `off`.
    pub keeps: &'static [&'static str],
    /// The value for [`Durability::Full`] and for [`Durability::Relaxed`]; `None` leaves it alone.
    pub applied: [Option<&'static str>; 2],
}

impl DurabilityRule {
    /// Returns the value by which these settings weaken durability; `None` where they do not. A
    /// setting that is not given has a default that keeps commits.
    pub fn weakened<'s>(&self, settings: &'s BTreeMap<String, Value>) -> Option<&'s Value> {
        settings.get(self.path).filter(|value| !self.keeps.contains(&spelled(value).as_str()))
    }

    /// Gives the setting the value that these settings ask for.
    ///
    /// # Errors
    /// Says what contradicts it.
    pub(crate) fn apply(&self, settings: &mut BTreeMap<String, Value>) -> Result<(), Fault> {
        let Some(value_in) = DURABILITY.value_in(settings) else { return Ok(()) };
        let weakens = self.weakened(settings).is_some();
        let applied = self.applied[usize::from(value_in == Durability::Relaxed)];
        let contradicts = match value_in {
            Durability::Full => weakens,
            Durability::Relaxed => {
                !weakens && applied.is_some() && settings.contains_key(self.path)
            }
        };
        if contradicts {
            let message = format!(
                "{} = {} contradicts durability = \"{}\"; give one of them",
                self.path,
                settings[self.path],
                value_in.name()
            );
            return Err(message.into());
        }
        if let Some(value) = applied {
            let number = value.parse().ok().map(Value::Integer);
            let value = number.unwrap_or_else(|| value.into());
            settings.entry(self.path.to_owned()).or_insert(value);
        }
        Ok(())
    }
}

/// A value in lower case; the spellings of a switch are `on` and `off`.
fn spelled(value: &Value) -> String {
    match value.to_string().to_lowercase().as_str() {
        "true" | "yes" => "on".to_owned(),
        "false" | "no" => "off".to_owned(),
        other => other.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYNC: DurabilityRule = DurabilityRule {
        path: "target.settings.sync",
        risk: Risk::Commits,
        keeps: &["on", "1"],
        applied: [Some("on"), Some("off")],
    };
    const PAGES: DurabilityRule = DurabilityRule {
        path: "target.settings.pages",
        risk: Risk::Pages,
        keeps: &["on"],
        applied: [None; 2],
    };

    fn settings(values: &[(&str, Value)]) -> BTreeMap<String, Value> {
        values.iter().map(|(path, value)| ((*path).to_owned(), value.clone())).collect()
    }

    #[test]
    fn switches_weaken_in_any_spelling() {
        for (value, weakens) in [
            (Value::Bool(false), true),
            (Value::Text("OFF".into()), true),
            (Value::Integer(0), true),
            (Value::Integer(1), false),
            (Value::Bool(true), false),
            (Value::Text("On".into()), false),
        ] {
            let settings = settings(&[(SYNC.path, value)]);
            assert_eq!(SYNC.weakened(&settings).is_some(), weakens, "{settings:?}");
        }
        assert_eq!(SYNC.weakened(&BTreeMap::new()), None);
    }

    #[test]
    fn durability_sets_what_is_not_given_and_refuses_contradictions() {
        let engine = |name: &str| (DURABILITY.path(), Value::Text(name.into()));
        let mut full = settings(&[engine("full")]);
        SYNC.apply(&mut full).unwrap();
        PAGES.apply(&mut full).unwrap();
        assert_eq!(full.get(SYNC.path), Some(&Value::Text("on".into())));
        assert_eq!(full.get(PAGES.path), None);
        let mut relaxed = settings(&[engine("relaxed")]);
        SYNC.apply(&mut relaxed).unwrap();
        assert_eq!(relaxed.get(SYNC.path), Some(&Value::Text("off".into())));
        for (name, path, value) in
            [("full", SYNC.path, false), ("full", PAGES.path, false), ("relaxed", SYNC.path, true)]
        {
            let mut settings = settings(&[engine(name), (path, Value::Bool(value))]);
            let of_either = [SYNC, PAGES].map(|rule| rule.apply(&mut settings).is_err());
            assert!(of_either.contains(&true), "{name} {path} {value}");
        }
        let mut settings = settings(&[engine("relaxed"), (PAGES.path, Value::Bool(true))]);
        assert!(PAGES.apply(&mut settings).is_ok());
    }
}
