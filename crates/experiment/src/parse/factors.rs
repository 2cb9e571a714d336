//! Factors and their levels, plain and linked.

use super::sections::read_item;
use super::{leaves, list, lookup, read_as};
use crate::document::{Content, Leaf, Node};
use crate::error::{Errors, Fault};
use crate::experiment::{Factor, FactorLevel};
use crate::file::{HARD_TO_CHANGE, LEVEL, LEVEL_FACTOR, LEVEL_NAME, MANUAL, MANUAL_FACTOR, MANUAL_TEXT};
use crate::setting::Known;
use crate::{Value, human};
use std::collections::{BTreeMap, HashSet};

/// All factors: those of `[factors]` in their order, then those made of `[[level]]`s.
pub fn read(root: &Node, known: &Known, errors: &mut Errors) -> Vec<Factor> {
    let mut factors: Vec<Factor> = Vec::new();
    let mut varied = BTreeMap::new();
    for leaf in leaves(root.value("factors"), "") {
        if varied.insert(leaf.path.clone(), leaf.path.clone()).is_some() {
            errors.add(&leaf.key_span, &leaf.path, "this setting is varied twice");
        } else {
            factors.push(plain_factor(&leaf, known, errors));
        }
    }
    let plain = factors.len();
    for node in list(root, "level") {
        linked_level(node, known, plain, &mut factors, &mut varied, errors);
    }
    factors
}

fn new_factor(name: String) -> Factor {
    Factor { name, levels: Vec::new(), hard_to_change: false, manual: None }
}

fn plain_factor(leaf: &Leaf<'_>, known: &Known, errors: &mut Errors) -> Factor {
    let path = leaf.path.as_str();
    let settings = lookup(known, leaf, errors);
    match &leaf.node.content {
        Content::List(nodes) if nodes.is_empty() => {
            errors.add(&leaf.node.span, path, "the factor is empty; it needs at least one level");
        }
        Content::List(_) => {}
        _ => errors.add(&leaf.node.span, path, "a factor is a list of levels, as in [1, 2, 4]"),
    }
    let mut factor = new_factor(path.into());
    let (mut labels, mut values) = (HashSet::new(), HashSet::new());
    for node in leaf.node.elements() {
        let label = human::label(node);
        let value = read_as(&settings, node);
        // `320000` and "320k" are the same level; so, to a reader, are 1 and "1".
        let new_value =
            value.as_ref().ok().is_none_or(|value| values.insert(value.to_json()) || settings.is_empty());
        let new_label = labels.insert(label.clone());
        if !(new_value && new_label) {
            errors.add(&node.span, path, format!("the level `{label}` is given twice"));
        }
        let set = match value {
            Ok(value) => vec![(path.to_owned(), value)],
            Err(fault) => {
                errors.add(&node.span, path, fault);
                Vec::new()
            }
        };
        factor.levels.push(FactorLevel { label, set });
    }
    factor
}

/// Adds a level to its factor, which is new with its first level. `varied` says which factor sets
/// which setting; the first `plain` factors are those of `[factors]`.
fn linked_level(
    node: &Node,
    known: &Known,
    plain: usize,
    factors: &mut Vec<Factor>,
    varied: &mut BTreeMap<String, String>,
    errors: &mut Errors,
) {
    let values = read_item(node, "level", LEVEL, &["factor", "name"], &["set"], errors);
    let (name, Some(label)) = (LEVEL_FACTOR.of(&values), LEVEL_NAME.of(&values)) else { return };
    if name.is_empty() {
        return;
    }
    let label = label.to_string();
    let span = |key: &str| node.value(key).map_or(0..0, |node| node.span.clone());
    if label.trim().is_empty() {
        errors.add(&span("name"), LEVEL_NAME.path(), "the text is empty");
    }
    let position = factors.iter().position(|factor| factor.name == name).unwrap_or_else(|| {
        factors.push(new_factor(name.clone()));
        factors.len() - 1
    });
    if position < plain {
        let message = format!(
            "`{name}` has its levels in [factors]; give the linked levels a factor name of their own"
        );
        errors.add(&span("factor"), LEVEL_FACTOR.path(), message);
        return;
    }
    let set = linked_settings(node, &name, known, varied, errors);
    let levels = &mut factors[position].levels;
    if levels.iter().any(|level| level.label == label) {
        errors.add(
            &span("name"),
            LEVEL_NAME.path(),
            format!("factor `{name}` has two levels with the name `{label}`"),
        );
    }
    levels.push(FactorLevel { label, set });
}

/// The settings of a linked level. `set.target.data_files = 1` and
/// `set = { "target.data_files" = 1 }` mean the same.
fn linked_settings(
    level: &Node,
    factor: &str,
    known: &Known,
    varied: &mut BTreeMap<String, String>,
    errors: &mut Errors,
) -> Vec<(String, Value)> {
    let mut set: Vec<(String, Value)> = Vec::new();
    let Some(table) = level.value("set") else { return set };
    if !matches!(table.content, Content::Table(_)) {
        errors.add(
            &table.span,
            "level.set",
            "write settings by their dotted paths, as { \"target.data_files\" = 2 }",
        );
    }
    for leaf in table.leaves("") {
        let settings = lookup(known, &leaf, errors);
        let owner = varied.entry(leaf.path.clone()).or_insert_with(|| factor.to_owned());
        if owner != factor {
            let message = format!(
                "factor `{owner}` and factor `{factor}` both set this; one setting belongs to one factor"
            );
            errors.add(&leaf.key_span, &leaf.path, message);
        }
        if set.iter().any(|(path, _)| *path == leaf.path) {
            errors.add(&leaf.key_span, &leaf.path, "this setting is given twice");
        }
        match read_as(&settings, leaf.node) {
            Ok(value) => set.push((leaf.path, value)),
            Err(fault) => errors.add(&leaf.node.span, &leaf.path, fault),
        }
    }
    set
}

/// Marks the factors that `[order]` and `[[manual]]` name. Returns their positions, the one that
/// changes most seldom first: a person is slower than any command, so a manual step goes first
/// unless the list says otherwise.
pub fn mark_hard_to_change(root: &Node, factors: &mut [Factor], errors: &mut Errors) -> Vec<usize> {
    let names: Vec<String> = factors.iter().map(|factor| factor.name.clone()).collect();
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut listed = Vec::new();
    let order = root.value("order").and_then(|node| node.value("hard_to_change"));
    for node in order.map(Node::elements).unwrap_or_default() {
        let Content::Text(name) = &node.content else { continue };
        match known.iter().position(|known| *known == name.as_str()) {
            None => errors.add(&node.span, HARD_TO_CHANGE.path(), Fault::unknown("factor", name, &known)),
            Some(factor) if listed.contains(&factor) => {
                errors.add(&node.span, HARD_TO_CHANGE.path(), format!("`{name}` is given twice"));
            }
            Some(factor) => listed.push(factor),
        }
    }
    let mut manual = Vec::new();
    for node in list(root, "manual") {
        let values = read_item(node, "manual", MANUAL, &["factor", "text"], &[], errors);
        let name = MANUAL_FACTOR.of(&values);
        if name.is_empty() {
            continue;
        }
        let span = node.value("factor").map_or(0..0, |node| node.span.clone());
        match known.iter().position(|known| *known == name.as_str()) {
            None => errors.add(&span, MANUAL_FACTOR.path(), Fault::unknown("factor", &name, &known)),
            Some(factor) if factors[factor].manual.is_some() => {
                errors.add(&span, MANUAL_FACTOR.path(), format!("there are two manual steps for `{name}`"));
            }
            Some(factor) => {
                factors[factor].manual = Some(MANUAL_TEXT.of(&values));
                manual.push(factor);
            }
        }
    }
    manual.retain(|factor| !listed.contains(factor));
    manual.extend(listed);
    for factor in &manual {
        factors[*factor].hard_to_change = true;
    }
    manual
}
