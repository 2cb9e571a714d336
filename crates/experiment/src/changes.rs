//! What differs between two versions of an experiment file, and whether a run can go on with the
//! new one.

use crate::{Blocks, Experiment, Factor};

/// The differences of a new version of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// Differences that recorded trials do not depend on: `repeats.blocks: 5 -> 7`.
    pub harmless: Vec<String>,
    /// Differences that make recorded trials incomparable with new ones.
    pub incompatible: Vec<String>,
}

impl Changes {
    /// Whether a run that was begun with the old version can go on with the new one.
    pub fn resumable(&self) -> bool {
        self.incompatible.is_empty()
    }
}

/// Compares two versions of an experiment. Comments and layout do not count.
pub fn changes(old: &Experiment, new: &Experiment) -> Changes {
    let mut changes = Changes::default();
    let harmless = &mut changes.harmless;
    let optional = |text: &Option<String>| text.clone().unwrap_or_else(|| "none".into());
    note(harmless, "experiment.question", &optional(&old.question), &optional(&new.question));
    note(harmless, "experiment.description", &optional(&old.description), &optional(&new.description));
    note(harmless, "experiment.response", &optional(&old.response), &optional(&new.response));
    note(harmless, "repeats.blocks", &shown(old.repeats.blocks), &shown(new.repeats.blocks));
    note(harmless, "repeats.retries", &old.repeats.retries.to_string(), &new.repeats.retries.to_string());
    note(harmless, "limits", &format!("{:?}", old.limits), &format!("{:?}", new.limits));
    note(harmless, "report.baseline", &baseline(old), &baseline(new));
    let incompatible = &mut changes.incompatible;
    note(incompatible, "experiment.name", &old.name, &new.name);
    note(incompatible, "repeats.seed", &old.repeats.seed.to_string(), &new.repeats.seed.to_string());
    note(incompatible, "hooks", &format!("{:?}", old.hooks), &format!("{:?}", new.hooks));
    note(incompatible, "volumes", &format!("{:?}", old.volumes), &format!("{:?}", new.volumes));
    compare_factors(&old.factors, &new.factors, incompatible);
    compare_settings(old, new, incompatible);
    // The plan keeps room for the largest number of blocks in each group.
    if new.factors.iter().any(|factor| factor.hard_to_change)
        && old.repeats.blocks.max() != new.repeats.blocks.max()
    {
        incompatible.push(
            "repeats.blocks: with hard-to-change factors the number of blocks decides the order".into(),
        );
    }
    changes
}

fn note(list: &mut Vec<String>, what: &str, old: &str, new: &str) {
    if old != new {
        list.push(format!("{what}: {old} -> {new}"));
    }
}

fn shown(blocks: Blocks) -> String {
    match blocks {
        Blocks::Fixed(blocks) => blocks.to_string(),
        Blocks::Adaptive { min, max, until } => format!("{min} to {max} until {} %", until * 100.0),
    }
}

fn baseline(experiment: &Experiment) -> String {
    experiment.baseline.map_or_else(|| "none".into(), |position| experiment.configurations[position].label())
}

fn compare_factors(old: &[Factor], new: &[Factor], list: &mut Vec<String>) {
    let find = |factors: &[Factor], name: &str| factors.iter().position(|factor| factor.name == name);
    for factor in old.iter().filter(|factor| find(new, &factor.name).is_none()) {
        list.push(format!("factor {} is gone", factor.name));
    }
    for (position, factor) in new.iter().enumerate() {
        let Some(before) = find(old, &factor.name) else {
            list.push(format!("factor {} is new", factor.name));
            continue;
        };
        let labels =
            |factor: &Factor| factor.levels.iter().map(|level| level.label.clone()).collect::<Vec<_>>();
        let (had, has) = (labels(&old[before]), labels(factor));
        let missing = |from: &[String], of: &[String]| -> Vec<String> {
            of.iter().filter(|label| !from.contains(label)).cloned().collect()
        };
        let (added, removed) = (missing(&had, &has), missing(&has, &had));
        if !added.is_empty() {
            list.push(format!("factor {}: levels added: {}", factor.name, added.join(", ")));
        }
        if !removed.is_empty() {
            list.push(format!("factor {}: levels removed: {}", factor.name, removed.join(", ")));
        }
        let same_levels = added.is_empty() && removed.is_empty();
        if same_levels && had != has || before != position {
            list.push(format!("factor {}: in another order", factor.name));
        } else if same_levels && old[before] != *factor {
            list.push(format!("factor {}: its levels or manual step mean something else", factor.name));
        }
    }
}

/// Settings of `[target]`, `[workload]` and `[observe]`, and exclusions, as they arrive in the
/// configurations.
fn compare_settings(old: &Experiment, new: &Experiment, list: &mut Vec<String>) {
    if !list.is_empty() {
        return;
    }
    for configuration in &new.configurations {
        let Some(before) = old.configurations.iter().find(|old| old.levels == configuration.levels) else {
            list.push(format!("configuration {} was excluded before", configuration.label()));
            continue;
        };
        let paths = before.settings.keys().chain(configuration.settings.keys());
        for path in paths {
            let value = |settings: &std::collections::BTreeMap<String, crate::Value>| {
                settings.get(path).map_or_else(|| "none".into(), ToString::to_string)
            };
            let line = format!("{path}: {} -> {}", value(&before.settings), value(&configuration.settings));
            if before.settings.get(path) != configuration.settings.get(path) && !list.contains(&line) {
                list.push(line);
            }
        }
    }
    for configuration in &old.configurations {
        if !new.configurations.iter().any(|new| new.levels == configuration.levels) {
            list.push(format!("configuration {} is excluded now", configuration.label()));
        }
    }
}
