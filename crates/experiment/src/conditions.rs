//! `{ factor = level, ... }`: what exclusions and the baseline are made of.

use crate::document::{Content, Node};
use crate::error::{Errors, Fault};
use crate::experiment::Factor;
use crate::human;
use crate::setting::Known;
use std::collections::BTreeMap;

/// Levels by factor, both as positions; at least one level each.
pub type Condition = BTreeMap<usize, Vec<usize>>;

/// Reads the levels that a table names for each factor; `None` after an error.
pub fn read(
    table: &Node,
    section: &str,
    factors: &[Factor],
    known: &Known,
    errors: &mut Errors,
) -> Option<Condition> {
    if !matches!(table.content, Content::Table(_)) {
        errors.add(&table.span, section, "write factors with their levels, as { \"target.data_files\" = 1 }");
        return None;
    }
    let names: Vec<&str> = factors.iter().map(|factor| factor.name.as_str()).collect();
    let mut condition = Some(Condition::new());
    for leaf in table.leaves("") {
        let Some(position) = names.iter().position(|name| *name == leaf.path) else {
            errors.add(&leaf.key_span, section, Fault::unknown("factor", &leaf.path, &names));
            condition = None;
            continue;
        };
        let levels = levels(leaf.node, section, &factors[position], known, errors);
        condition = match (condition, levels) {
            (Some(mut condition), Some(levels)) => {
                condition.insert(position, levels);
                Some(condition)
            }
            _ => None,
        };
    }
    condition
}

/// One level, or a list of them; a list can also be itself a level, of volumes for one.
fn levels(
    node: &Node,
    section: &str,
    factor: &Factor,
    known: &Known,
    errors: &mut Errors,
) -> Option<Vec<usize>> {
    if let Some(position) = position_of(node, factor, known) {
        return Some(vec![position]);
    }
    if node.elements().is_empty() {
        errors.add(&node.span, section, format!("no level of {}; give at least one", factor.name));
        return None;
    }
    let labels: Vec<&str> = factor.levels.iter().map(|level| level.label.as_str()).collect();
    let mut levels = Vec::new();
    for node in node.elements() {
        if let Some(position) = position_of(node, factor, known) {
            levels.push(position);
        } else {
            let what = format!("level of {}", factor.name);
            errors.add(&node.span, section, Fault::unknown(&what, &human::label(node), &labels));
        }
    }
    (levels.len() == node.elements().len()).then_some(levels)
}

/// The level that is written or means the same: 320000 is "320k".
fn position_of(node: &Node, factor: &Factor, known: &Known) -> Option<usize> {
    let label = human::label(node);
    let same_label = factor.levels.iter().position(|level| level.label == label);
    same_label.or_else(|| {
        let settings = known.find(&factor.name);
        let value = settings.iter().find_map(|setting| human::read(setting.kind, node).ok())?;
        factor.levels.iter().position(|level| matches!(&level.set[..], [(_, only)] if *only == value))
    })
}
