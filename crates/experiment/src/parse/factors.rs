//! Factors and their levels, plain and linked.

use super::sections::{Values, manual_steps};
use super::{list, lookup};
use crate::document::{Content, Entry, Node};
use crate::error::Errors;
use crate::experiment::{Factor, FactorLevel};
use crate::file_settings::LEVEL;
use crate::human;
use crate::nearest::unknown_name;
use crate::setting::Known;
use std::ops::Range;

/// All factors: those of `[factors]` in their order, then those made of `[[level]]`s.
pub fn read(root: &Node, known: &Known, errors: &mut Errors<'_>) -> Vec<Factor> {
    let mut factors = Vec::new();
    for entry in root.get("factors").map(|entry| entry.node.entries()).unwrap_or_default() {
        factors.extend(plain_factor(entry, known, errors));
    }
    for node in list(root, "level") {
        linked_level(node, known, &mut factors, errors);
    }
    check_shared_settings(root, &factors, errors);
    factors
}

fn plain_factor(entry: &Entry, known: &Known, errors: &mut Errors<'_>) -> Option<Factor> {
    let path = &entry.key;
    let setting = lookup(known, path, &entry.key_span, errors)?;
    let Content::List(nodes) = &entry.node.content else {
        errors.add(&entry.node.span, path, "a factor is a list of levels, as in [1, 2, 4]");
        return None;
    };
    if nodes.is_empty() {
        errors.add(&entry.node.span, path, "a factor needs at least one level");
    }
    let mut levels: Vec<FactorLevel> = Vec::new();
    for node in nodes {
        match human::read(setting.kind, node) {
            Err(message) => errors.add(&node.span, path, message),
            Ok(value) => {
                let set = vec![(path.clone(), value)];
                if levels.iter().any(|level| level.set == set) {
                    errors.add(
                        &node.span,
                        path,
                        format!("the level `{}` is given twice", human::label(node)),
                    );
                }
                levels.push(FactorLevel { label: human::label(node), set });
            }
        }
    }
    Some(Factor { name: path.clone(), levels, hard_to_change: false, manual: None })
}

fn linked_level(node: &Node, known: &Known, factors: &mut Vec<Factor>, errors: &mut Errors<'_>) {
    let names: Vec<&str> = LEVEL.iter().filter_map(|setting| setting.path.strip_prefix("level.")).collect();
    for entry in
        node.entries().iter().filter(|entry| entry.key != "set" && !names.contains(&entry.key.as_str()))
    {
        errors.add(&entry.key_span, "level", unknown_name("setting", &entry.key, &["factor", "name", "set"]));
    }
    let mut text = |key: &str| {
        let Some(entry) = node.get(key) else {
            errors.add(&node.span, "level", format!("{key} is missing"));
            return None;
        };
        let label = human::label(&entry.node);
        if label.is_empty() {
            errors.add(&entry.node.span, "level", format!("{key} is empty"));
        }
        Some(label)
    };
    let (Some(factor), Some(label)) = (text("factor"), text("name")) else { return };
    let set = level_settings(node, known, errors);
    let position = factors.iter().position(|known| known.name == factor).unwrap_or_else(|| {
        factors.push(Factor {
            name: factor.clone(),
            levels: Vec::new(),
            hard_to_change: false,
            manual: None,
        });
        factors.len() - 1
    });
    let levels = &mut factors[position].levels;
    if levels.iter().any(|level| level.label == label) {
        errors.add(&node.span, "level", format!("factor `{factor}` has two levels with the name `{label}`"));
    }
    levels.push(FactorLevel { label, set });
}

fn level_settings(node: &Node, known: &Known, errors: &mut Errors<'_>) -> Vec<(String, crate::Value)> {
    let mut set = Vec::new();
    for entry in node.get("set").map(|entry| entry.node.entries()).unwrap_or_default() {
        // `set.target.data_files = 1` and `set = { "target.data_files" = 1 }` mean the same.
        let leaves = match entry.node.content {
            Content::Table(_) => entry.node.leaves(&entry.key),
            _ => vec![crate::document::Leaf {
                path: entry.key.clone(),
                key_span: entry.key_span.clone(),
                node: &entry.node,
            }],
        };
        for leaf in leaves {
            let Some(setting) = lookup(known, &leaf.path, &leaf.key_span, errors) else { continue };
            match human::read(setting.kind, leaf.node) {
                Ok(value) => set.push((leaf.path, value)),
                Err(message) => errors.add(&leaf.node.span, &leaf.path, message),
            }
        }
    }
    set
}

/// Two factors must not set the same thing.
fn check_shared_settings(root: &Node, factors: &[Factor], errors: &mut Errors<'_>) {
    for (i, factor) in factors.iter().enumerate() {
        for other in &factors[..i] {
            let paths = |factor: &Factor| -> Vec<String> {
                factor.levels.iter().flat_map(|level| &level.set).map(|(path, _)| path.clone()).collect()
            };
            let theirs = paths(other);
            if let Some(path) = paths(factor).iter().find(|path| theirs.contains(path)) {
                let message = format!("both factor `{}` and factor `{}` set {path}", other.name, factor.name);
                errors.add(&place_of(root, &factor.name), path, message);
            }
        }
    }
}

/// Where a factor stands: its key in `[factors]`, or its first `[[level]]`.
pub fn place_of(root: &Node, factor: &str) -> Range<usize> {
    let plain =
        root.get("factors").and_then(|entry| entry.node.get(factor)).map(|entry| entry.key_span.clone());
    let linked = || {
        let named =
            |node: &&Node| node.get("factor").is_some_and(|entry| human::label(&entry.node) == factor);
        list(root, "level").iter().find(named).map(|node| node.span.clone())
    };
    plain.or_else(linked).unwrap_or(0..0)
}

/// Marks the factors that `[order]` and `[[manual]]` name.
pub fn mark_hard_to_change(root: &Node, core: &Values, factors: &mut [Factor], errors: &mut Errors<'_>) {
    let names: Vec<String> = factors.iter().map(|factor| factor.name.clone()).collect();
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    let listed = root.get("order").and_then(|entry| entry.node.get("hard_to_change"));
    for name in core.texts("order.hard_to_change") {
        if let Some(factor) = factors.iter_mut().find(|factor| factor.name == name) {
            factor.hard_to_change = true;
        } else {
            let span = listed.map_or(0..0, |entry| entry.node.span.clone());
            errors.add(&span, "order.hard_to_change", unknown_name("factor", &name, &known));
        }
    }
    for (name, text, span) in manual_steps(root, errors) {
        match factors.iter_mut().find(|factor| factor.name == name) {
            Some(factor) => {
                factor.hard_to_change = true;
                factor.manual = Some(text);
            }
            None => errors.add(&span, "manual.factor", unknown_name("factor", &name, &known)),
        }
    }
}
