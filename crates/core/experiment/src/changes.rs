//! Differences between two versions of an experiment file, and whether a run can continue with the
//! new one.

use crate::common::{ENGINE, PROBE};
use crate::file::{
    BLOCKS, BLOCKS_MAX, BLOCKS_MIN, BLOCKS_UNTIL, HARD_TO_CHANGE, SEED, SETTINGS, SETUPS,
};
use crate::{
    Blocks, Catalog, Declaration, Experiment, Factor, FileErrors, Kind, Repeats, Volume, parse,
};
use observations::FileRecord;
use std::collections::BTreeSet;

/// Compared as parts of configurations, of `repeats.blocks` or of the order that follows from it.
const NOT_COMPARED: [&str; 7] = [
    ENGINE.path(),
    PROBE.path(),
    BLOCKS_MIN.path(),
    BLOCKS_MAX.path(),
    BLOCKS_UNTIL.path(),
    SETUPS.path(),
    HARD_TO_CHANGE.path(),
];

/// The differences of a new version of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// Differences that recorded trials do not depend on: `repeats.blocks: 5 -> 7`.
    pub harmless: Vec<String>,
    /// Differences that make recorded trials incomparable with new ones.
    pub incompatible: Vec<String>,
    /// Differences that cannot be judged.
    pub unknown: Vec<String>,
}

impl Changes {
    /// Returns whether a run of the old version can continue with the new one.
    pub fn resumable(&self) -> bool {
        self.incompatible.is_empty()
    }

    /// Adds what differs in the files that the experiment names, as they were recorded and as they
    /// are. A version that kept no files leaves it open.
    pub fn of_files(&mut self, old: &[FileRecord], new: &[FileRecord]) {
        let in_other = |others: &[FileRecord], file_record: &FileRecord| {
            others
                .iter()
                .find(|entry| {
                    (&entry.named_by, &entry.path) == (&file_record.named_by, &file_record.path)
                })
                .cloned()
        };
        for is in new {
            let (path, named_by) = (&is.path, &is.named_by);
            match in_other(old, is) {
                Some(was) if was.sha256 != is.sha256 => {
                    let same = was
                        .content
                        .lines()
                        .zip(is.content.lines())
                        .take_while(|(was, is)| was == is);
                    let from = match same.count() {
                        // Only the hash of data files is kept.
                        _ if was.content.is_empty() || is.content.is_empty() => String::new(),
                        same => format!(" from line {} on", same + 1),
                    };
                    self.incompatible.push(format!("{named_by}: {path} differs{from}"));
                }
                Some(_) => {}
                None => self.unknown.push(format!(
                    "{named_by}: {path} may have changed since the run began: its content was \
                     not recorded"
                )),
            }
        }
        let gone = old.iter().filter(|was| in_other(new, was).is_none());
        self.incompatible
            .extend(gone.map(|was| format!("{}: {} was removed", was.named_by, was.path)));
    }
}

/// Describes the relevant changes between two versions of a file; those that prevent resuming
/// first.
///
/// # Errors
/// The errors of the version that cannot be read, of the old one first.
pub fn describe(
    old_source: &str,
    new_source: &str,
    catalog: &Catalog,
) -> Result<Vec<String>, FileErrors> {
    let Changes { harmless, mut incompatible, .. } =
        changes(&parse(old_source, catalog)?, &parse(new_source, catalog)?, catalog);
    incompatible.extend(harmless);
    Ok(incompatible)
}

/// Compares two versions of an experiment. Comments and layout do not count, and extensions may
/// follow those that there were.
pub fn changes(old: &Experiment, new: &Experiment, catalog: &Catalog) -> Changes {
    let (mut harmless, mut incompatible) = (Vec::new(), Vec::new());
    if !new.stages.starts_with(&old.stages) {
        let kinds = |experiment: &Experiment| {
            let kinds = experiment.stages.iter().map(|stage| stage.kind.as_str());
            kinds.collect::<Vec<_>>().join(", ")
        };
        let shown = |experiment: &Experiment| {
            let blocks = experiment.repeats.blocks.max();
            if experiment.stages.is_empty() {
                "none".to_owned()
            } else {
                format!("{} after {blocks} blocks", kinds(experiment))
            }
        };
        incompatible.push(format!("extensions: {} -> {}", shown(old), shown(new)));
        return Changes { harmless, incompatible, unknown: Vec::new() };
    }
    let before_added = without_added(old, new);
    let new = before_added.as_ref().unwrap_or(new);
    let at = SETTINGS.iter().position(|setting| setting.path.starts_with("hooks."));
    let (first, rest) = SETTINGS.split_at(at.unwrap_or_default());
    let analyses = catalog.analysis_sections.iter().flat_map(|analysis| analysis.section.settings);
    let settings = first.iter().chain(catalog.designs.settings).chain(rest).chain(analyses);
    for setting in settings.filter(|setting| !NOT_COMPARED.contains(&setting.path)) {
        let surrounds_trials =
            ["hooks.", "design."].iter().any(|section| setting.path.starts_with(section))
                || setting.path == SEED.path();
        let differences = if surrounds_trials { &mut incompatible } else { &mut harmless };
        note(differences, setting.path, &shown(setting, old), &shown(setting, new));
    }
    note(&mut harmless, "report.baseline", &baseline(old), &baseline(new));
    let volumes =
        in_both("volume", &old.volumes, &new.volumes, |text| &text.name, &mut incompatible);
    for (_, before, _, volume) in volumes {
        for (key, value) in VOLUME {
            let what = format!("volume {}: {key}", volume.name);
            note(&mut incompatible, &what, &value(before), &value(volume));
        }
    }
    compare_setups(&old.repeats, &new.repeats, &mut harmless, &mut incompatible);
    note(&mut incompatible, "order.hard_to_change", &order(old), &order(new));
    let before = incompatible.len();
    let factors =
        in_both("factor", &old.factors, &new.factors, |text| &text.name, &mut incompatible);
    for (was_at, before, is_at, factor) in factors {
        compare_levels(before, factor, was_at == is_at, &mut incompatible);
    }
    // Configurations of different factors have nothing to be compared by.
    if incompatible.len() == before {
        compare_configurations(old, new, &mut incompatible);
    }
    Changes { harmless, incompatible, unknown: Vec::new() }
}

/// The new version without the extensions that the old one lacks; `None` where it has no others.
fn without_added(old: &Experiment, new: &Experiment) -> Option<Experiment> {
    if new.stages.len() == old.stages.len() {
        return None;
    }
    let mut without = new.clone();
    without.configurations.truncate(new.stages[old.stages.len()].configurations.start);
    // They add levels behind those of the file.
    for (was, is) in old.factors.iter().zip(&mut without.factors) {
        let is_added = is.levels.len() > was.levels.len() && was.levels.len() >= 2;
        if is_added && was.name == is.name {
            is.levels.truncate(was.levels.len());
        }
    }
    without.stages.truncate(old.stages.len());
    Some(without)
}

type Shown = fn(&Volume) -> String;

/// Compared fields of a volume.
const VOLUME: [(&str, Shown); 5] = [
    ("path", |volume| quoted(Some(&volume.path))),
    ("prepare", |volume| quoted(volume.prepare.as_ref())),
    ("cleanup", |volume| quoted(volume.cleanup.as_ref())),
    ("throttle", |volume| optional(volume.throttle)),
    ("hook_timeout", |volume| format!("{} s", volume.hook_timeout_s)),
];

fn note(differences: &mut Vec<String>, what: &str, old: &str, new: &str) {
    if old != new {
        differences.push(format!("{what}: {old} -> {new}"));
    }
}

fn optional(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "none".into(), |value| value.to_string())
}

fn quoted(text: Option<&String>) -> String {
    optional(text.map(|text| format!("\"{text}\"")))
}

/// A setting of the file itself, or its default.
fn shown(setting: &Declaration, experiment: &Experiment) -> String {
    if setting.path == BLOCKS.path() {
        return match experiment.repeats.blocks {
            Blocks::Fixed(blocks) => blocks.to_string(),
            Blocks::Adaptive { min, max, until } => {
                format!("{min} to {max} until {} %", until * 100.0)
            }
        };
    }
    let value = experiment
        .settings
        .get(setting.path)
        .cloned()
        .or_else(|| setting.kind.read_text(setting.default?).ok());
    optional(value.map(|value| match setting.kind {
        Kind::Duration | Kind::PositiveDuration => format!("{value} s"),
        Kind::Size { .. } => format!("{value} B"),
        Kind::Text => format!("\"{value}\""),
        _ => value.to_string(),
    }))
}

fn baseline(experiment: &Experiment) -> String {
    optional(experiment.baseline.map(|position| experiment.configurations[position].label()))
}

fn order(experiment: &Experiment) -> String {
    let names: Vec<&str> = experiment
        .hard_to_change
        .iter()
        .map(|factor| experiment.factors[*factor].name.as_str())
        .collect();
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

/// More set-ups may follow those that were done, but no block moves to another one.
fn compare_setups(
    old: &Repeats,
    new: &Repeats,
    harmless: &mut Vec<String>,
    incompatible: &mut Vec<String>,
) {
    let both = 1..=old.blocks.max().min(new.blocks.max());
    let moved = both.into_iter().find(|block| old.setup(*block) != new.setup(*block));
    match moved {
        Some(block) => incompatible.push(format!(
            "repeats.setups: block {block} would move from set-up {} to set-up {}",
            old.setup(block),
            new.setup(block)
        )),
        None => note(harmless, SETUPS.path(), &old.setups.to_string(), &new.setups.to_string()),
    }
}

/// Notes what is gone and what is new; returns what is in both versions, with the positions.
fn in_both<'a, T>(
    what: &str,
    old: &'a [T],
    new: &'a [T],
    name: fn(&T) -> &String,
    differences: &mut Vec<String>,
) -> Vec<(usize, &'a T, usize, &'a T)> {
    let position = |of: &[T], item: &T| of.iter().position(|entry| name(entry) == name(item));
    for gone in old.iter().filter(|entry| position(new, entry).is_none()) {
        differences.push(format!("{what} {} was removed", name(gone)));
    }
    let mut both = Vec::new();
    for (at, item) in new.iter().enumerate() {
        match position(old, item) {
            Some(before) => both.push((before, &old[before], at, item)),
            None => differences.push(format!("{what} {} was added", name(item))),
        }
    }
    both
}

fn compare_levels(old: &Factor, new: &Factor, same_position: bool, differences: &mut Vec<String>) {
    let labels =
        |factor: &Factor| factor.levels.iter().map(|level| level.label.clone()).collect::<Vec<_>>();
    let (had, has) = (labels(old), labels(new));
    let name = &new.name;
    let mut same = true;
    for (what, of, from) in [("added", &has, &had), ("removed", &had, &has)] {
        let others: Vec<&str> =
            of.iter().filter(|label| !from.contains(label)).map(String::as_str).collect();
        if !others.is_empty() {
            differences.push(format!("factor {name}: levels {what} {}", others.join(", ")));
            same = false;
        }
    }
    let manual = |factor: &Factor| quoted(factor.manual.as_ref());
    note(differences, &format!("factor {name}: manual step"), &manual(old), &manual(new));
    if same && (had != has || !same_position) {
        differences.push(format!("factor {name}: order changed"));
    } else if same && old.levels != new.levels {
        let differs = old.levels.iter().zip(&new.levels).filter(|(old, new)| old != new);
        let labels: Vec<&str> = differs.map(|(_, new)| new.label.as_str()).collect();
        differences.push(format!("factor {name}: settings changed in level {}", labels.join(", ")));
    }
}

/// Settings of `[target]`, `[workload]` and `[observe]`, and exclusions, as they arrive in the
/// configurations. A setting that differs in many configurations is said once.
fn compare_configurations(old: &Experiment, new: &Experiment, differences: &mut Vec<String>) {
    let mut lines = BTreeSet::new();
    for configuration in &new.configurations {
        let Some(before) = old.configurations.iter().find(|old| old.levels == configuration.levels)
        else {
            differences
                .push(format!("configuration {} is no longer excluded", configuration.label()));
            continue;
        };
        for path in before.settings.keys().chain(configuration.settings.keys()) {
            let (had, has) = (before.value(path), configuration.value(path));
            if had != has {
                lines.insert(format!("{path}: {} -> {}", optional(had), optional(has)));
            }
        }
    }
    for configuration in &old.configurations {
        if !new.configurations.iter().any(|new| new.levels == configuration.levels) {
            differences.push(format!("configuration {} is now excluded", configuration.label()));
        }
    }
    differences.extend(lines);
}
