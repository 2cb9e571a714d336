//! From factors to configurations: the product of the levels, less what is excluded.

use crate::document::{Content, Node};
use crate::error::Errors;
use crate::experiment::Factor;
use crate::file_settings::OBSERVE;
use crate::human;
use crate::nearest::unknown_name;
use crate::setting::{Catalog, Known};
use crate::{Configuration, Level, Value};
use std::collections::BTreeMap;

/// More configurations than this are a mistake: at a second each, five blocks take half a day.
const CONFIGURATIONS_MAX: usize = 10_000;

/// Conditions on levels: factor position and the labels that match.
type Condition = Vec<(usize, Vec<String>)>;

/// All configurations that are not excluded.
pub fn configurations(
    root: &Node,
    base: &BTreeMap<String, Value>,
    factors: &[Factor],
    catalog: &Catalog,
    errors: &mut Errors<'_>,
) -> Vec<Configuration> {
    let product =
        factors.iter().try_fold(1_usize, |product, factor| product.checked_mul(factor.levels.len()));
    if product.is_none_or(|product| product > CONFIGURATIONS_MAX) {
        let levels: Vec<String> = factors.iter().map(|factor| factor.levels.len().to_string()).collect();
        let number = product.map_or_else(|| "too many to count".into(), |product| product.to_string());
        let span = root.get("factors").map_or(0..0, |entry| entry.key_span.clone());
        errors.add(
            &span,
            "factors",
            format!(
                "{} = {number} configurations; at most {CONFIGURATIONS_MAX} are possible: use fewer factors or levels",
                levels.join(" x ")
            ),
        );
        return Vec::new();
    }
    let excluded = exclusions(root, factors, errors);
    let mut used = vec![false; excluded.len()];
    let mut kept = Vec::new();
    for number in 0..product.unwrap_or(0) {
        let levels = levels_of(number, factors);
        let matching: Vec<usize> =
            (0..excluded.len()).filter(|rule| matches(&excluded[*rule], factors, &levels)).collect();
        for rule in &matching {
            used[*rule] = true;
        }
        if matching.is_empty() {
            kept.push(configuration(base, factors, &levels, catalog));
        }
    }
    report_useless(root, &used, kept.is_empty() && !factors.is_empty(), errors);
    kept
}

fn report_useless(root: &Node, used: &[bool], all_excluded: bool, errors: &mut Errors<'_>) {
    let Some(Content::List(rules)) = root.get("exclude").map(|entry| &entry.node.content) else { return };
    for (rule, used) in rules.iter().zip(used) {
        if !used {
            errors.add(&rule.span, "exclude", "this excludes nothing");
        } else if all_excluded {
            errors.add(&rule.span, "exclude", "nothing is left: every configuration is excluded");
        }
    }
}

/// The position of each factor's level in configuration `number`, the last factor fastest.
fn levels_of(mut number: usize, factors: &[Factor]) -> Vec<usize> {
    let mut levels = vec![0; factors.len()];
    for (position, factor) in factors.iter().enumerate().rev() {
        levels[position] = number % factor.levels.len();
        number /= factor.levels.len();
    }
    levels
}

fn matches(condition: &Condition, factors: &[Factor], levels: &[usize]) -> bool {
    condition.iter().all(|(factor, labels)| labels.contains(&factors[*factor].levels[levels[*factor]].label))
}

fn configuration(
    base: &BTreeMap<String, Value>,
    factors: &[Factor],
    levels: &[usize],
    catalog: &Catalog,
) -> Configuration {
    let mut settings = base.clone();
    let chosen = factors.iter().zip(levels).map(|(factor, level)| (factor, &factor.levels[*level]));
    let mut labels = Vec::with_capacity(factors.len());
    for (factor, level) in chosen {
        settings.extend(level.set.iter().cloned());
        labels.push(Level { factor: factor.name.clone(), label: level.label.clone() });
    }
    let own = own_settings(&settings, catalog);
    settings.retain(|path, _| {
        ["target.engine", "workload.probe"].contains(&path.as_str()) || own.find(path).is_some()
    });
    for setting in own.with_default() {
        let default = setting.default.and_then(|default| human::read_default(setting.kind, default));
        if let Some(default) = default {
            settings.entry(setting.path.into()).or_insert(default);
        }
    }
    Configuration { levels: labels, settings }
}

/// The settings of the configuration's own engine and probe.
fn own_settings(settings: &BTreeMap<String, Value>, catalog: &Catalog) -> Known {
    let mut own = Known::default();
    own.add(OBSERVE);
    for (path, owners) in [("target.engine", &catalog.engines), ("workload.probe", &catalog.probes)] {
        let name = settings.get(path).map(ToString::to_string).unwrap_or_default();
        own.add(owners.iter().find(|(owner, _)| *owner == name).map_or(&[], |(_, settings)| settings));
    }
    own
}

fn exclusions(root: &Node, factors: &[Factor], errors: &mut Errors<'_>) -> Vec<Condition> {
    let Some(Content::List(rules)) = root.get("exclude").map(|entry| &entry.node.content) else {
        return Vec::new();
    };
    rules.iter().map(|rule| condition(rule, "exclude", factors, errors)).collect()
}

/// Reads `{ factor = level or [levels], ... }`.
fn condition(node: &Node, section: &str, factors: &[Factor], errors: &mut Errors<'_>) -> Condition {
    let known: Vec<&str> = factors.iter().map(|factor| factor.name.as_str()).collect();
    let mut condition = Condition::new();
    for entry in node.entries() {
        let Some(position) = factors.iter().position(|factor| factor.name == entry.key) else {
            errors.add(&entry.key_span, section, unknown_name("factor", &entry.key, &known));
            continue;
        };
        let wanted: Vec<&Node> = match &entry.node.content {
            Content::List(nodes) if !is_level(&factors[position], &entry.node) => nodes.iter().collect(),
            _ => vec![&entry.node],
        };
        let labels: Vec<&str> = factors[position].levels.iter().map(|level| level.label.as_str()).collect();
        let mut given = Vec::new();
        for node in wanted {
            let label = human::label(node);
            if !labels.contains(&label.as_str()) {
                errors.add(
                    &node.span,
                    section,
                    unknown_name(&format!("level of {}", entry.key), &label, &labels),
                );
            }
            given.push(label);
        }
        condition.push((position, given));
    }
    condition
}

/// Whether a list is itself a level (of a factor whose levels are lists).
fn is_level(factor: &Factor, node: &Node) -> bool {
    factor.levels.iter().any(|level| level.label == human::label(node) && label_is_list(node))
}

fn label_is_list(node: &Node) -> bool {
    matches!(&node.content, Content::List(nodes) if nodes.len() > 1)
}

/// The configuration that `report.baseline` names: of factors that it does not name, the first
/// level. Without a baseline: the first configuration, when there is anything to compare.
pub fn baseline(
    root: &Node,
    factors: &[Factor],
    configurations: &[Configuration],
    errors: &mut Errors<'_>,
) -> Option<usize> {
    let entry = root.get("report").and_then(|entry| entry.node.get("baseline"));
    let Some(entry) = entry else { return (configurations.len() > 1).then_some(0) };
    let condition = condition(&entry.node, "report.baseline", factors, errors);
    let several = condition.iter().find(|(_, labels)| labels.len() != 1);
    if let Some((factor, _)) = several {
        errors.add(
            &entry.node.span,
            "report.baseline",
            format!("one level of {} is the baseline, not several", factors[*factor].name),
        );
        return None;
    }
    let wanted = |position: usize, factor: &Factor| {
        let named = condition.iter().find(|(named, _)| *named == position);
        named.map_or_else(
            || factor.levels.first().map(|level| level.label.clone()),
            |(_, labels)| labels.first().cloned(),
        )
    };
    let labels: Vec<Option<String>> =
        factors.iter().enumerate().map(|(position, factor)| wanted(position, factor)).collect();
    let is_baseline = |configuration: &Configuration| {
        configuration.levels.iter().zip(&labels).all(|(level, label)| Some(&level.label) == label.as_ref())
    };
    let position = configurations.iter().position(is_baseline);
    if position.is_none() && errors.none() {
        errors.add(&entry.node.span, "report.baseline", "this configuration is excluded, or does not exist");
    }
    position
}

#[cfg(test)]
mod tests {
    use super::levels_of;
    use crate::experiment::{Factor, FactorLevel};

    #[test]
    fn the_last_factor_is_the_fastest() {
        let factor = |count: usize| Factor {
            name: count.to_string(),
            levels: vec![FactorLevel { label: String::new(), set: Vec::new() }; count],
            hard_to_change: false,
            manual: None,
        };
        let factors = [factor(2), factor(3)];
        let all: Vec<Vec<usize>> = (0..6).map(|number| levels_of(number, &factors)).collect();
        assert_eq!(all, [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]);
    }
}
