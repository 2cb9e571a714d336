//! Settings by which a crash can lose commits or tear pages. Engines state these settings; speed
//! that was bought with them is not a gain of the same work.

use crate::settings::engine;
use crate::{FactorEffect, Summary, wording};
use experiment::{DurabilityRule, Risk};
use observations::ConfigurationRecord;

/// A setting that weakens durability.
#[derive(Clone, PartialEq)]
struct Weakened {
    /// `synchronous=off`
    setting: String,
    risk: Risk,
}

/// The effect of a crash with these settings.
fn consequence<'w>(weakened: impl IntoIterator<Item = &'w Weakened>) -> &'static str {
    let risks = weakened.into_iter().map(|weakened| weakened.risk);
    match risks.reduce(|a, b| if a == b { a } else { Risk::Both }) {
        Some(Risk::Pages) => "pages may be torn after a crash",
        Some(Risk::Both) => "commits may be lost and pages torn after a crash",
        _ => "commits may be lost after a crash",
    }
}

fn listed<'w>(weakened: impl IntoIterator<Item = &'w Weakened>) -> Vec<String> {
    weakened.into_iter().map(|weakened| weakened.setting.clone()).collect()
}

impl Summary<'_> {
    /// The settings that weaken the durability of a configuration.
    fn weakened(&self, configuration: usize) -> Vec<Weakened> {
        let configuration = &self.recording.configurations[configuration];
        let rules = self.rules(configuration).iter();
        let weakened = rules.filter_map(|rule| {
            let value = rule.weakened(&configuration.settings)?;
            let setting = format!("{}={value}", wording::short_name(rule.path));
            Some(Weakened { setting, risk: rule.risk })
        });
        weakened.collect()
    }

    fn rules(&self, configuration: &ConfigurationRecord) -> &'static [DurabilityRule] {
        let engine = engine(configuration).unwrap_or_default();
        let rules = self.durability.iter().find(|(known, _)| *known == engine);
        rules.map_or(&[], |(_, rules)| rules)
    }

    /// The configurations of a level, and by which settings all of them weaken durability.
    fn weakened_level(&self, effect: &FactorEffect, level: &str) -> Vec<Weakened> {
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
        let of_level: Vec<(&str, Vec<Weakened>)> = effect
            .levels
            .iter()
            .filter(|level| level.trials > 0)
            .map(|level| (level.level.as_str(), self.weakened_level(effect, &level.level)))
            .collect();
        let everywhere =
            |setting: &Weakened| of_level.iter().all(|(_, weakened)| weakened.contains(setting));
        let specific: Vec<(String, Vec<&Weakened>)> = of_level
            .iter()
            .map(|(level, weakened)| {
                let specific = weakened.iter().filter(|setting| !everywhere(setting));
                (format!("{name}={level}"), specific.collect::<Vec<_>>())
            })
            .filter(|(_, specific)| !specific.is_empty())
            .collect();
        let weaker: Vec<String> = specific
            .iter()
            .map(|(level, specific)| match specific[..] {
                [only] if only.setting == *level => level.clone(),
                _ => format!("{level} ({})", listed(specific.iter().copied()).join(", ")),
            })
            .collect();
        if weaker.is_empty() {
            return String::new();
        }
        let all = specific.iter().flat_map(|(_, specific)| specific.iter().copied());
        format!(" With {}, {}.", wording::list(&weaker), consequence(all))
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
        format!(" With {}, {}.", wording::list(&listed(&more)), consequence(&more))
    }

    /// Unequal durability between engines, else settings that weaken all that was measured; `None`
    /// where the factors tell it.
    pub(crate) fn durability_caveat(&self) -> Option<String> {
        let all: Vec<(&str, Vec<Weakened>)> = self
            .configurations
            .iter()
            .filter(|row| row.done > 0)
            .filter_map(|row| {
                let engine = engine(&self.recording.configurations[row.index])?;
                Some((engine, self.weakened(row.index)))
            })
            .collect();
        let mut engines: Vec<(&str, &Vec<Weakened>)> = Vec::new();
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
        let may = consequence(weak.iter().flat_map(|(_, by)| by.iter()));
        let named =
            weak.iter().map(|(engine, by)| format!("{engine} ({})", listed(*by).join(", ")));
        let named = wording::list(&named.collect::<Vec<_>>());
        match (weak.is_empty(), strong.is_empty()) {
            (true, _) => None,
            (false, true) => Some(format!("In every configuration {may}: {named}.")),
            (false, false) => {
                let strong: Vec<String> =
                    strong.iter().map(|(engine, _)| (*engine).to_owned()).collect();
                let verb = if strong.len() == 1 { "keeps" } else { "keep" };
                Some(format!(
                    "Durability is unequal between engines: with {named} {may}; {} {verb} every \
                     commit. Set target.durability to apply one to all.",
                    wording::list(&strong)
                ))
            }
        }
    }
}
