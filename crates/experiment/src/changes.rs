//! What differs between two versions of an experiment file, and whether a run can go on with the
//! new one.

use crate::common::{ENGINE, PROBE};
use crate::file::{BLOCKS, BLOCKS_MAX, BLOCKS_MIN, BLOCKS_UNTIL, HARD_TO_CHANGE, SEED, SETTINGS};
use crate::{Blocks, Catalog, Declaration, Experiment, Factor, FileErrors, Kind, Volume, human, parse};
use std::collections::BTreeSet;

/// Compared as parts of configurations, of `repeats.blocks` or of the order that follows from it.
const NOT_COMPARED: [&str; 6] = [
    ENGINE.path(),
    PROBE.path(),
    BLOCKS_MIN.path(),
    BLOCKS_MAX.path(),
    BLOCKS_UNTIL.path(),
    HARD_TO_CHANGE.path(),
];

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

/// What changed between two versions of a file that matters, for people: what forbids to go on first.
///
/// # Errors
/// Those of the version that cannot be read, the old one first.
pub fn describe(old_source: &str, new_source: &str, catalog: &Catalog) -> Result<Vec<String>, FileErrors> {
    let Changes { harmless, mut incompatible } =
        changes(&parse(old_source, catalog)?, &parse(new_source, catalog)?);
    incompatible.extend(harmless);
    Ok(incompatible)
}

/// Compares two versions of an experiment. Comments and layout do not count.
pub fn changes(old: &Experiment, new: &Experiment) -> Changes {
    let (mut harmless, mut incompatible) = (Differences::default(), Differences::default());
    let compared = SETTINGS.iter().filter(|setting| !NOT_COMPARED.contains(&setting.path));
    for Declaration { path, kind, .. } in compared {
        let value = |experiment: &Experiment| {
            if *path == BLOCKS.path() {
                blocks(experiment.repeats.blocks)
            } else {
                shown(*kind, experiment, path)
            }
        };
        let surrounds_trials = path.starts_with("hooks.") || *path == SEED.path();
        let differences = if surrounds_trials { &mut incompatible } else { &mut harmless };
        differences.note(path, &value(old), &value(new));
    }
    harmless.note("report.baseline", &baseline(old), &baseline(new));
    compare_volumes(&old.volumes, &new.volumes, &mut incompatible);
    incompatible.note("order.hard_to_change", &order(old), &order(new));
    let before = incompatible.0.len();
    compare_factors(&old.factors, &new.factors, &mut incompatible);
    // Configurations of different factors have nothing to be compared by.
    if incompatible.0.len() == before {
        compare_configurations(old, new, &mut incompatible);
    }
    Changes { harmless: harmless.0, incompatible: incompatible.0 }
}

/// Sentences of what differs.
#[derive(Default)]
struct Differences(Vec<String>);

impl Differences {
    fn note(&mut self, what: &str, old: &str, new: &str) {
        if old != new {
            self.0.push(format!("{what}: {old} -> {new}"));
        }
    }

    fn text(&mut self, what: &str, old: Option<&String>, new: Option<&String>) {
        let quoted = |text: Option<&String>| optional(text.map(|text| format!("\"{text}\"")));
        self.note(what, &quoted(old), &quoted(new));
    }
}

fn optional(text: Option<String>) -> String {
    text.unwrap_or_else(|| "none".into())
}

/// A setting of the file itself, or its default.
fn shown(kind: Kind, experiment: &Experiment, path: &str) -> String {
    let declaration = SETTINGS.iter().find(|setting| setting.path == path);
    let default = || human::read_default(kind, declaration?.default?);
    let value = experiment.settings.get(path).cloned().or_else(default);
    optional(value.map(|value| match kind {
        Kind::Duration | Kind::PositiveDuration => format!("{value} s"),
        Kind::Size { .. } => format!("{value} B"),
        Kind::Text => format!("\"{value}\""),
        _ => value.to_string(),
    }))
}

fn blocks(blocks: Blocks) -> String {
    match blocks {
        Blocks::Fixed(blocks) => blocks.to_string(),
        Blocks::Adaptive { min, max, until } => format!("{min} to {max} until {} %", until * 100.0),
    }
}

fn baseline(experiment: &Experiment) -> String {
    optional(experiment.baseline.map(|position| experiment.configurations[position].label()))
}

fn order(experiment: &Experiment) -> String {
    let names: Vec<&str> =
        experiment.hard_to_change.iter().map(|factor| experiment.factors[*factor].name.as_str()).collect();
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

fn compare_volumes(old: &[Volume], new: &[Volume], differences: &mut Differences) {
    let find = |volumes: &[Volume], name: &str| volumes.iter().find(|volume| volume.name == name).cloned();
    for volume in old.iter().filter(|volume| find(new, &volume.name).is_none()) {
        differences.0.push(format!("volume {} is gone", volume.name));
    }
    for volume in new {
        let Some(before) = find(old, &volume.name) else {
            differences.0.push(format!("volume {} is new", volume.name));
            continue;
        };
        let key = |key: &str| format!("volume {}: {key}", volume.name);
        differences.text(&key("path"), Some(&before.path), Some(&volume.path));
        differences.text(&key("prepare"), before.prepare.as_ref(), volume.prepare.as_ref());
        differences.text(&key("cleanup"), before.cleanup.as_ref(), volume.cleanup.as_ref());
        let throttle = |volume: &Volume| optional(volume.throttle.map(|throttle| throttle.to_string()));
        differences.note(&key("throttle"), &throttle(&before), &throttle(volume));
        let timeout = |volume: &Volume| format!("{} s", volume.hook_timeout_s);
        differences.note(&key("hook_timeout"), &timeout(&before), &timeout(volume));
    }
}

fn compare_factors(old: &[Factor], new: &[Factor], differences: &mut Differences) {
    let find = |factors: &[Factor], name: &str| factors.iter().position(|factor| factor.name == name);
    for factor in old.iter().filter(|factor| find(new, &factor.name).is_none()) {
        differences.0.push(format!("factor {} is gone", factor.name));
    }
    for (position, factor) in new.iter().enumerate() {
        let Some(before) = find(old, &factor.name) else {
            differences.0.push(format!("factor {} is new", factor.name));
            continue;
        };
        compare_levels(&old[before], factor, before == position, differences);
    }
}

fn compare_levels(old: &Factor, new: &Factor, same_position: bool, differences: &mut Differences) {
    let labels = |factor: &Factor| factor.levels.iter().map(|level| level.label.clone()).collect::<Vec<_>>();
    let (had, has) = (labels(old), labels(new));
    let missing = |from: &[String], of: &[String]| -> String {
        of.iter().filter(|label| !from.contains(label)).cloned().collect::<Vec<_>>().join(", ")
    };
    let (added, removed) = (missing(&had, &has), missing(&has, &had));
    let name = &new.name;
    if !added.is_empty() {
        differences.0.push(format!("factor {name}: levels added {added}"));
    }
    if !removed.is_empty() {
        differences.0.push(format!("factor {name}: levels removed {removed}"));
    }
    differences.text(&format!("factor {name}: manual step"), old.manual.as_ref(), new.manual.as_ref());
    if !(added.is_empty() && removed.is_empty()) {
        return;
    }
    if had != has || !same_position {
        differences.0.push(format!("factor {name}: in another order"));
    } else if old.levels != new.levels {
        let differs = old.levels.iter().zip(&new.levels).filter(|(old, new)| old != new);
        let labels: Vec<&str> = differs.map(|(_, new)| new.label.as_str()).collect();
        differences.0.push(format!("factor {name}: other settings in level {}", labels.join(", ")));
    }
}

/// Settings of `[target]`, `[workload]` and `[observe]`, and exclusions, as they arrive in the
/// configurations. A setting that differs in many configurations is said once.
fn compare_configurations(old: &Experiment, new: &Experiment, differences: &mut Differences) {
    let mut lines = BTreeSet::new();
    for configuration in &new.configurations {
        let Some(before) = old.configurations.iter().find(|old| old.levels == configuration.levels) else {
            differences.0.push(format!("configuration {} was excluded before", configuration.label()));
            continue;
        };
        for path in before.settings.keys().chain(configuration.settings.keys()) {
            let (had, has) = (before.value(path), configuration.value(path));
            if had != has {
                let shown = |value: Option<&crate::Value>| optional(value.map(ToString::to_string));
                lines.insert(format!("{path}: {} -> {}", shown(had), shown(has)));
            }
        }
    }
    for configuration in &old.configurations {
        if !new.configurations.iter().any(|new| new.levels == configuration.levels) {
            differences.0.push(format!("configuration {} is excluded now", configuration.label()));
        }
    }
    differences.0.extend(lines);
}
