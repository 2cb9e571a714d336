//! Settings by which commits may be lost after a crash. Engines state these settings; speed that
//! was bought with them is not a gain of the same work.

use crate::settings::engine;
use crate::{FactorEffect, Summary, wording};
use experiment::DurabilityRule;
use observations::ConfigurationRecord;

impl Summary<'_> {
    /// The settings by which commits of a configuration may be lost: `synchronous=off`.
    pub(crate) fn weakened(&self, configuration: usize) -> Vec<String> {
        let configuration = &self.recording.configurations[configuration];
        let rules = self.rules(configuration).iter();
        let weakened =
            rules.filter_map(|rule| Some((rule.path, rule.weakened(&configuration.settings)?)));
        weakened.map(|(path, value)| format!("{}={value}", wording::short_name(path))).collect()
    }

    fn rules(&self, configuration: &ConfigurationRecord) -> &'static [DurabilityRule] {
        let engine = engine(configuration).unwrap_or_default();
        let rules = self.durability.iter().find(|(known, _)| *known == engine);
        rules.map_or(&[], |(_, rules)| rules)
    }

    /// The configurations of a level, and by which settings all of them weaken durability.
    fn weakened_level(&self, effect: &FactorEffect, level: &str) -> Vec<String> {
        let rows = self.recording.configurations.iter().enumerate();
        let rows = rows.filter(|(_, row)| row.level(&effect.factor) == Some(level));
        let all = rows.map(|(at, _)| self.weakened(at));
        all.reduce(|a, b| a.into_iter().filter(|setting| b.contains(setting)).collect())
            .unwrap_or_default()
    }

    /// The levels of a factor that weaken durability, where levels differ in it; empty otherwise.
    /// ` With synchronous=off, commits may be lost after a crash.`
    pub(crate) fn durability_of_levels(&self, effect: &FactorEffect) -> String {
        let name = wording::short_name(&effect.factor);
        let of_level: Vec<(&str, Vec<String>)> = effect
            .levels
            .iter()
            .filter(|level| level.trials > 0)
            .map(|level| (level.level.as_str(), self.weakened_level(effect, &level.level)))
            .collect();
        let everywhere =
            |text: &String| of_level.iter().all(|(_, weakened)| weakened.contains(text));
        let weaker: Vec<String> = of_level
            .iter()
            .filter_map(|(level, weakened)| {
                let specific: Vec<&str> = weakened
                    .iter()
                    .filter(|setting| !everywhere(setting))
                    .map(String::as_str)
                    .collect();
                let level = format!("{name}={level}");
                match specific[..] {
                    [] => None,
                    [only] if only == level => Some(level),
                    _ => Some(format!("{level} ({})", specific.join(", "))),
                }
            })
            .collect();
        if weaker.is_empty() {
            return String::new();
        }
        format!(" With {}, {MAY_BE_LOST}.", wording::list(&weaker))
    }

    /// The settings that weaken durability against another configuration, by position; empty
    /// without any.
    pub fn durability_against(&self, from: usize, to: usize) -> String {
        let before = self.weakened(from);
        let mut more = self.weakened(to);
        more.retain(|setting| !before.contains(setting));
        if more.is_empty() {
            return String::new();
        }
        format!(" With {}, {MAY_BE_LOST}.", wording::list(&more))
    }

    /// Unequal durability between engines, else settings that weaken all that was measured; `None`
    /// where the factors tell it.
    pub(crate) fn durability_caveat(&self) -> Option<String> {
        let all: Vec<(&str, Vec<String>)> = self
            .configurations
            .iter()
            .filter(|row| row.done > 0)
            .filter_map(|row| {
                let engine = engine(&self.recording.configurations[row.index])?;
                Some((engine, self.weakened(row.index)))
            })
            .collect();
        let mut engines: Vec<(&str, &Vec<String>)> = Vec::new();
        for (name, weakened) in &all {
            if engines.iter().all(|(known, _)| known != name) {
                engines.push((name, weakened));
            }
        }
        // Within an engine it is the factor that differs.
        let are_alike = engines.iter().all(|(name, weakened)| {
            all.iter().filter(|(engine, _)| engine == name).all(|(_, other)| &other == weakened)
        });
        if !are_alike {
            return None;
        }
        let (weak, strong): (Vec<_>, Vec<_>) =
            engines.into_iter().partition(|(_, weakened)| !weakened.is_empty());
        let named = weak.iter().map(|(engine, by)| format!("{engine} ({})", by.join(", ")));
        let named = wording::list(&named.collect::<Vec<_>>());
        match (weak.is_empty(), strong.is_empty()) {
            (true, _) => None,
            (false, true) => Some(format!("In every configuration {MAY_BE_LOST}: {named}.")),
            (false, false) => {
                let strong: Vec<String> =
                    strong.iter().map(|(engine, _)| (*engine).to_owned()).collect();
                let verb = if strong.len() == 1 { "keeps" } else { "keep" };
                Some(format!(
                    "Durability is unequal between engines: with {named} {MAY_BE_LOST}; {} {verb} \
                     every commit. Set target.durability to apply one to all.",
                    wording::list(&strong)
                ))
            }
        }
    }
}

const MAY_BE_LOST: &str = "commits may be lost after a crash";
