//! The sections with one value a key.

use super::{leaves, list, lookup, read_as};
use crate::Value;
use crate::document::{Content, Node};
use crate::error::{Errors, Fault};
use crate::file::{NAME, OBSERVE, SETTINGS};
use crate::human;
use crate::setting::{Catalog, Declaration, Known};
use std::collections::BTreeMap;

/// Longest name of an experiment: with an ending it has to be the name of a file.
const NAME_LENGTH_MAX: usize = 100;

/// Values by path.
pub type Values = BTreeMap<String, Value>;

/// The values that `target.engine` or `workload.probe` takes in any configuration.
fn owners<'a>(root: &'a Node, section: &str, path: &str) -> Vec<&'a Node> {
    let mut nodes = Vec::new();
    let given = leaves(root.value(section), section);
    nodes.extend(given.iter().filter(|leaf| leaf.path == path).map(|leaf| leaf.node));
    let varied = leaves(root.value("factors"), "");
    nodes.extend(varied.iter().filter(|leaf| leaf.path == path).flat_map(|leaf| leaf.node.elements()));
    for level in list(root, "level") {
        let set = leaves(level.value("set"), "");
        nodes.extend(set.iter().filter(|leaf| leaf.path == path).map(|leaf| leaf.node));
    }
    nodes
}

/// The settings that this file may use: those of its engines and probes.
pub fn known_settings(root: &Node, catalog: &Catalog, errors: &mut Errors) -> Known {
    let mut known = Known::default();
    known.add(OBSERVE);
    let sections = [("target", "engine", &catalog.engines), ("workload", "probe", &catalog.probes)];
    for (section, key, all) in sections {
        let path = format!("{section}.{key}");
        let given = owners(root, section, &path);
        let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
        if given.is_empty() {
            let span = root.get(section).map_or(0..0, |entry| entry.key_span.clone());
            errors.add(&span, &path, Fault::with_help("missing", format!("known: {}", names.join(", "))));
            known.open(section);
        }
        for node in given {
            // Whatever else is no text is complained about where the setting is read.
            let Content::Text(name) = &node.content else {
                known.open(section);
                continue;
            };
            if let Some((_, settings)) = all.iter().find(|(owner, _)| *owner == name.as_str()) {
                known.add(settings);
            } else {
                errors.add(&node.span, &path, Fault::unknown(key, name, &names));
                known.open(section);
            }
        }
        known.add(SETTINGS.iter().find(|setting| setting.path == path).map_or(&[], std::slice::from_ref));
    }
    known
}

/// The values that `[target]`, `[workload]` and `[observe]` give.
pub fn base_settings(root: &Node, known: &Known, errors: &mut Errors) -> Values {
    let mut values = Values::new();
    for section in ["target", "workload", "observe"] {
        for leaf in leaves(root.value(section), section) {
            let empty_table = matches!(leaf.node.content, Content::Table(_)) && known.is_table(&leaf.path);
            if empty_table {
                continue;
            }
            let settings = lookup(known, &leaf, errors);
            match read_as(&settings, leaf.node) {
                Err(fault) => errors.add(&leaf.node.span, &leaf.path, fault),
                Ok(value) => {
                    if values.insert(leaf.path.clone(), value).is_some() {
                        errors.add(&leaf.key_span, &leaf.path, "this setting is given twice");
                    }
                }
            }
        }
    }
    values
}

/// The values that all other sections with one value a key give.
pub fn core_settings(root: &Node, errors: &mut Errors) -> Values {
    let mut values = Values::default();
    for section in ["experiment", "hooks", "order", "repeats", "limits"] {
        if let Some(node) = root.value(section) {
            read_table(node, section, SETTINGS, &[], &mut values, errors);
        }
    }
    for entry in root.value("report").map(Node::entries).unwrap_or_default() {
        if entry.key != "baseline" {
            errors.add(&entry.key_span, "report", Fault::unknown("setting", &entry.key, &["baseline"]));
        }
    }
    values
}

/// The values of one table of a `[[section]]`, of which some must be given. Keys in `besides` are
/// read elsewhere.
pub fn read_item(
    node: &Node,
    section: &str,
    settings: &'static [Declaration],
    needed: &[&str],
    besides: &[&str],
    errors: &mut Errors,
) -> Values {
    let mut values = Values::default();
    if !matches!(node.content, Content::Table(_)) {
        return values;
    }
    read_table(node, section, settings, besides, &mut values, errors);
    for key in needed.iter().filter(|key| node.get(key).is_none()) {
        errors.add(&node.span, section, format!("{key} is missing"));
    }
    values
}

fn read_table(
    node: &Node,
    section: &str,
    settings: &'static [Declaration],
    besides: &[&str],
    values: &mut Values,
    errors: &mut Errors,
) {
    let prefix = format!("{section}.");
    for leaf in node.leaves(section) {
        let key = leaf.path.strip_prefix(&prefix).unwrap_or(&leaf.path);
        if besides.contains(&key.split('.').next().unwrap_or(key)) {
            continue;
        }
        let Some(setting) = settings.iter().find(|setting| setting.path == leaf.path) else {
            let known: Vec<&str> = settings
                .iter()
                .filter_map(|setting| setting.path.strip_prefix(&prefix))
                .chain(besides.iter().copied())
                .collect();
            let below = format!("{key}.");
            let parts: Vec<&str> = known.iter().filter_map(|known| known.strip_prefix(&below)).collect();
            if parts.is_empty() {
                errors.add(&leaf.key_span, section, Fault::unknown("setting", key, &known));
            } else {
                let message = format!("this is a table: write {{ {} = ... }}", parts.join(" = ..., "));
                errors.add(&leaf.node.span, &leaf.path, Fault::with_help(message, "at least one of them"));
            }
            continue;
        };
        match human::read(setting.kind, leaf.node) {
            Ok(value) => drop(values.insert(leaf.path, value)),
            Err(fault) => errors.add(&leaf.node.span, &leaf.path, fault),
        }
    }
}

/// The name of the experiment, which is also the name of a file.
pub fn name(root: &Node, core: &Values, errors: &mut Errors) -> String {
    let section = root.get("experiment");
    let given = section.and_then(|entry| entry.node.get("name"));
    let Some(given) = given else {
        let span = section.map_or(0..0, |entry| entry.key_span.clone());
        errors.add(&span, "experiment.name", "missing; give the experiment a name");
        return String::new();
    };
    let name = NAME.of(core);
    // No capitals: there are file systems that do not tell them from small letters.
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.');
    if !name.chars().all(allowed) || name.starts_with(['.', '-']) || name.len() > NAME_LENGTH_MAX {
        let message = format!(
            "`{name}` cannot be the name of a file; allowed are small letters, digits, `-`, `_` and `.`, \
             a letter, digit or `_` first, at most {NAME_LENGTH_MAX}"
        );
        errors.add(&given.node.span, "experiment.name", message);
    }
    name
}
