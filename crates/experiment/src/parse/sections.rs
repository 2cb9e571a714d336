//! The sections with one value a key, and the volumes.

use super::{list, lookup};
use crate::Value;
use crate::document::{Content, Node};
use crate::error::Errors;
use crate::experiment::{Blocks, Factor, Hooks, Limits, Repeats, Volume};
use crate::file_settings::{MANUAL, OBSERVE, SETTINGS, VOLUME};
use crate::human;
use crate::nearest::unknown_name;
use crate::setting::{Catalog, Known, Setting};
use std::collections::BTreeMap;
use std::ops::Range;

/// Values by path, defaults filled in.
#[derive(Debug, Default)]
pub struct Values(pub BTreeMap<String, Value>);

impl Values {
    pub fn text(&self, path: &str) -> Option<String> {
        match self.0.get(path) {
            Some(Value::Text(text)) => Some(text.clone()),
            _ => None,
        }
    }

    fn number(&self, path: &str) -> Option<f64> {
        self.0.get(path).and_then(Value::as_f64)
    }

    fn integer(&self, path: &str) -> Option<u64> {
        match self.0.get(path) {
            Some(Value::Integer(integer)) => u64::try_from(*integer).ok(),
            _ => None,
        }
    }

    pub fn texts(&self, path: &str) -> Vec<String> {
        match self.0.get(path) {
            Some(Value::Text(text)) => vec![text.clone()],
            Some(Value::List(values)) => values.iter().map(ToString::to_string).collect(),
            _ => Vec::new(),
        }
    }
}

/// The names that `target.engine` or `workload.probe` takes in any configuration.
fn names(root: &Node, section: &str, key: &str) -> Vec<(String, Range<usize>)> {
    let path = format!("{section}.{key}");
    let mut nodes: Vec<&Node> = Vec::new();
    nodes.extend(root.get(section).and_then(|entry| entry.node.get(key)).map(|entry| &entry.node));
    if let Some(Content::List(levels)) =
        root.get("factors").and_then(|entry| entry.node.get(&path)).map(|entry| &entry.node.content)
    {
        nodes.extend(levels);
    }
    for level in list(root, "level") {
        nodes.extend(level.get("set").and_then(|set| set.node.get(&path)).map(|entry| &entry.node));
    }
    let text = |node: &&Node| match &node.content {
        Content::Text(text) => Some((text.clone(), node.span.clone())),
        _ => None,
    };
    nodes.iter().filter_map(text).collect()
}

/// The settings that this file may use: those of its engines and probes.
pub fn known_settings(root: &Node, catalog: &Catalog, errors: &mut Errors<'_>) -> Known {
    let mut known = Known::default();
    known.add(OBSERVE);
    let sections = [("target", "engine", &catalog.engines), ("workload", "probe", &catalog.probes)];
    for (section, key, owners) in sections {
        let path = format!("{section}.{key}");
        let given = names(root, section, key);
        let all: Vec<&str> = owners.iter().map(|(name, _)| *name).collect();
        if given.is_empty() {
            let span = root.get(section).map_or(0..0, |entry| entry.key_span.clone());
            errors.add(&span, &path, format!("missing; known are {}", all.join(", ")));
        }
        for (name, span) in given {
            match owners.iter().find(|(owner, _)| *owner == name) {
                Some((_, settings)) => known.add(settings),
                None => errors.add(&span, &path, unknown_name(key, &name, &all)),
            }
        }
        known.add(SETTINGS.iter().find(|setting| setting.path == path).map_or(&[], std::slice::from_ref));
    }
    known
}

/// The values that `[target]`, `[workload]` and `[observe]` give.
pub fn base_settings(root: &Node, known: &Known, errors: &mut Errors<'_>) -> BTreeMap<String, Value> {
    let mut values = BTreeMap::new();
    for section in ["target", "workload", "observe"] {
        let leaves = root.get(section).map(|entry| entry.node.leaves(section)).unwrap_or_default();
        for leaf in leaves {
            let Some(setting) = lookup(known, &leaf.path, &leaf.key_span, errors) else { continue };
            match human::read(setting.kind, leaf.node) {
                Ok(value) => drop(values.insert(leaf.path, value)),
                Err(message) => errors.add(&leaf.node.span, &leaf.path, message),
            }
        }
    }
    values
}

/// The values of all other sections with one value a key.
pub fn core_settings(root: &Node, errors: &mut Errors<'_>) -> Values {
    let mut values = Values::default();
    for section in ["experiment", "hooks", "order", "repeats", "limits"] {
        let node = root.get(section).map(|entry| &entry.node);
        read_table(node, section, SETTINGS, &mut values, errors);
    }
    for setting in SETTINGS {
        let default = setting.default.and_then(|default| human::read_default(setting.kind, default));
        if let Some(default) = default {
            values.0.entry(setting.path.into()).or_insert(default);
        }
    }
    if let Some(entry) = root.get("report") {
        for entry in entry.node.entries().iter().filter(|entry| entry.key != "baseline") {
            errors.add(&entry.key_span, "report", unknown_name("setting", &entry.key, &["baseline"]));
        }
    }
    values
}

fn read_table(
    node: Option<&Node>,
    section: &str,
    settings: &'static [Setting],
    values: &mut Values,
    errors: &mut Errors<'_>,
) {
    let mut known = Known::default();
    known.add(settings);
    for leaf in node.map(|node| node.leaves(section)).unwrap_or_default() {
        match settings.iter().find(|setting| setting.path == leaf.path) {
            None => {
                let prefix = format!("{section}.");
                let names: Vec<&str> =
                    settings.iter().filter_map(|setting| setting.path.strip_prefix(&prefix)).collect();
                let name = leaf.path.strip_prefix(&prefix).unwrap_or(&leaf.path);
                errors.add(&leaf.key_span, section, unknown_name("setting", name, &names));
            }
            Some(setting) => match human::read(setting.kind, leaf.node) {
                Ok(value) => drop(values.0.insert(leaf.path, value)),
                Err(message) => errors.add(&leaf.node.span, &leaf.path, message),
            },
        }
    }
}

/// The name of the experiment, which is also the name of a file.
pub fn name(root: &Node, core: &Values, errors: &mut Errors<'_>) -> String {
    let section = root.get("experiment");
    let Some(name) = core.text("experiment.name") else {
        let span = section.map_or(0..0, |entry| entry.key_span.clone());
        if section.and_then(|entry| entry.node.get("name")).is_none() {
            errors.add(&span, "experiment.name", "missing; give the experiment a name");
        }
        return String::new();
    };
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if !name.chars().all(allowed) || name.starts_with('.') || name.len() > 100 {
        let span =
            section.and_then(|entry| entry.node.get("name")).map_or(0..0, |entry| entry.node.span.clone());
        errors.add(
            &span,
            "experiment.name",
            format!("`{name}` cannot be the name of a file; allowed are letters, digits, `-`, `_` and `.`, at most 100"),
        );
    }
    name
}

pub fn hooks(core: &Values) -> Hooks {
    Hooks {
        before_run: core.text("hooks.before_run"),
        after_run: core.text("hooks.after_run"),
        before_trial: core.text("hooks.before_trial"),
        after_trial: core.text("hooks.after_trial"),
        timeout_s: core.number("hooks.timeout").unwrap_or(600.0),
    }
}

pub fn limits(core: &Values) -> Limits {
    Limits {
        trial_time_s: core.number("limits.trial_time").unwrap_or(3600.0),
        run_time_s: core.number("limits.run_time"),
        disk_space_bytes: core.integer("limits.disk_space"),
    }
}

pub fn repeats(root: &Node, core: &Values, errors: &mut Errors<'_>) -> Repeats {
    let parts = ["min", "max", "until"].map(|part| core.number(&format!("repeats.blocks.{part}")));
    let fixed = core.integer("repeats.blocks").unwrap_or(5) as u32;
    let blocks = match parts {
        [None, None, None] => Blocks::Fixed(fixed),
        [Some(min), Some(max), Some(until)] if min <= max && until > 0.0 => {
            Blocks::Adaptive { min: min as u32, max: max as u32, until }
        }
        _ => {
            let table = root.get("repeats").and_then(|entry| entry.node.get("blocks"));
            let span = table.map_or(0..0, |entry| entry.node.span.clone());
            errors.add(
                &span,
                "repeats.blocks",
                "adaptive repeats need min, max (not smaller than min) and until (above 0), as in { min = 3, max = 20, until = \"2%\" }",
            );
            Blocks::Fixed(fixed)
        }
    };
    Repeats {
        blocks,
        seed: core.integer("repeats.seed").unwrap_or(1),
        retries: core.integer("repeats.retries").unwrap_or(0) as u32,
    }
}

/// The values of one table of a `[[section]]`, of which some must be given.
fn read_item(
    node: &Node,
    section: &str,
    settings: &'static [Setting],
    needed: &[&str],
    errors: &mut Errors<'_>,
) -> Values {
    let mut values = Values::default();
    read_table(Some(node), section, settings, &mut values, errors);
    for key in needed {
        if node.get(key).is_none() {
            errors.add(&node.span, section, format!("{key} is missing"));
        }
    }
    values
}

pub fn volumes(root: &Node, errors: &mut Errors<'_>) -> Vec<Volume> {
    let mut volumes: Vec<Volume> = Vec::new();
    for node in list(root, "volume") {
        let values = read_item(node, "volume", VOLUME, &["name", "path"], errors);
        let volume = Volume {
            name: values.text("volume.name").unwrap_or_default(),
            path: values.text("volume.path").unwrap_or_default(),
            prepare: values.text("volume.prepare"),
            cleanup: values.text("volume.cleanup"),
        };
        if volumes.iter().any(|other| other.name == volume.name) {
            errors.add(
                &node.span,
                "volume",
                format!("there are two volumes with the name `{}`", volume.name),
            );
        }
        volumes.push(volume);
    }
    volumes
}

/// Factor names and texts of the manual steps, with their places.
pub fn manual_steps(root: &Node, errors: &mut Errors<'_>) -> Vec<(String, String, Range<usize>)> {
    let read = |node: &Node| {
        let values = read_item(node, "manual", MANUAL, &["factor", "text"], errors);
        Some((
            values.text("manual.factor")?,
            values.text("manual.text")?,
            node.get("factor")?.node.span.clone(),
        ))
    };
    list(root, "manual").iter().filter_map(read).collect()
}

/// Every volume that a setting or level names must be declared.
pub fn check_volume_names(
    volumes: &[Volume],
    base: &BTreeMap<String, Value>,
    factors: &[Factor],
    root: &Node,
    errors: &mut Errors<'_>,
) {
    let known: Vec<&str> = volumes.iter().map(|volume| volume.name.as_str()).collect();
    let is_volume = |path: &str| path.starts_with("target.") && path.ends_with("volume");
    let levels = factors.iter().flat_map(|factor| &factor.levels).flat_map(|level| &level.set);
    let given = base.iter().chain(levels.map(|(path, value)| (path, value)));
    for (path, value) in given.filter(|(path, _)| is_volume(path)) {
        let names = match value {
            Value::List(values) => values.iter().map(ToString::to_string).collect(),
            other => vec![other.to_string()],
        };
        for name in names.iter().filter(|name| !known.contains(&name.as_str())) {
            let places = super::places(root);
            let span = places.get(path).cloned().unwrap_or(0..0);
            let message = if known.is_empty() {
                format!("volume `{name}` is not declared; add a [[volume]] with its name and path")
            } else {
                unknown_name("volume", name, &known)
            };
            errors.add(&span, path, message);
        }
    }
}
