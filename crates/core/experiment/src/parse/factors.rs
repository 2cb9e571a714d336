//! Factors and their levels, plain and linked; and what names levels: exclusions and the baseline.

use super::FileReader;
use crate::Value;
use crate::configuration::names_volume;
use crate::document::{Content, Leaf, Node};
use crate::error::Fault;
use crate::experiment::{Factor, FactorLevel, Volume};
use crate::file::{
    HARD_TO_CHANGE, LEVEL, LEVEL_FACTOR, LEVEL_IF_INSTALLED, LEVEL_NAME, MANUAL, MANUAL_FACTOR,
    MANUAL_TEXT,
};
use crate::sections::SectionReader;
use crate::vocabulary::{read_as, read_item};
use std::collections::{BTreeMap, HashSet};

/// Levels by factor, both as positions; at least one level each.
pub type Condition = BTreeMap<usize, Vec<usize>>;

impl FileReader<'_> {
    /// All factors: those of `[factors]` in their order, then those made of `[[level]]`s.
    pub fn factors(&mut self) -> Vec<Factor> {
        let mut factors: Vec<Factor> = Vec::new();
        // Which factor sets which setting.
        let mut varied = BTreeMap::new();
        for leaf in self.root.leaves_of("factors", "") {
            if varied.insert(leaf.path.clone(), leaf.path.clone()).is_some() {
                self.errors.add(&leaf.key_span, &leaf.path, "this setting is varied twice");
            } else {
                factors.push(self.plain_factor(&leaf));
            }
        }
        let plain = factors.len();
        for node in self.root.tables("level") {
            self.linked_level(node, plain, &mut factors, &mut varied);
        }
        factors
    }

    fn plain_factor(&mut self, leaf: &Leaf<'_>) -> Factor {
        let path = leaf.path.as_str();
        let settings = self.lookup(leaf);
        match &leaf.node.content {
            Content::List(nodes) if nodes.is_empty() => {
                self.errors.add(&leaf.node.span, path, "the factor needs at least one level");
            }
            Content::List(_) => {}
            _ => self.errors.add(
                &leaf.node.span,
                path,
                "a factor is a list of levels, as in [1, 2, 4]",
            ),
        }
        let mut factor = Factor { name: path.into(), ..Factor::default() };
        let (mut labels, mut values) = (HashSet::new(), HashSet::new());
        for node in leaf.node.elements() {
            let label = node.label();
            let value = read_as(&settings, node);
            // `320000` and "320k" are the same level; so, to a reader, are 1 and "1".
            let new_value = value
                .as_ref()
                .ok()
                .is_none_or(|value| values.insert(value.to_json()) || settings.is_empty());
            let new_label = labels.insert(label.clone());
            if !(new_value && new_label) {
                self.errors.add(&node.span, path, format!("the level `{label}` is given twice"));
            }
            let value = value.map_err(|fault| self.errors.add(&node.span, path, fault));
            let set = value.into_iter().map(|value| (path.to_owned(), value)).collect();
            factor.levels.push(FactorLevel { label, set, if_installed: false });
        }
        factor
    }

    /// Adds a level to its factor, which is new with its first level. `varied` says which factor
    /// sets which setting; the first `plain` factors are those of `[factors]`.
    fn linked_level(
        &mut self,
        node: &Node,
        plain: usize,
        factors: &mut Vec<Factor>,
        varied: &mut BTreeMap<String, String>,
    ) {
        let values =
            read_item(&mut self.errors, node, "level", LEVEL, &["factor", "name"], &["set"]);
        let (name, Some(label)) = (LEVEL_FACTOR.value_in(&values), LEVEL_NAME.value_in(&values))
        else {
            return;
        };
        if name.is_empty() {
            return;
        }
        let label = label.to_string();
        if label.trim().is_empty() {
            self.errors.add(&node.span_at("name"), LEVEL_NAME.path(), "the text is empty");
        }
        let position = factors.iter().position(|factor| factor.name == name).unwrap_or_else(|| {
            factors.push(Factor { name: name.clone(), ..Factor::default() });
            factors.len() - 1
        });
        if position < plain {
            let message = format!(
                "`{name}` has its levels in [factors]; use another factor name for the linked \
                 levels"
            );
            self.errors.add(&node.span_at("factor"), LEVEL_FACTOR.path(), message);
            return;
        }
        let set = self.linked_settings(node, &name, varied);
        let levels = &mut factors[position].levels;
        if levels.iter().any(|level| level.label == label) {
            let message = format!("factor `{name}` has two levels named `{label}`");
            self.errors.add(&node.span_at("name"), LEVEL_NAME.path(), message);
        }
        levels.push(FactorLevel { label, set, if_installed: LEVEL_IF_INSTALLED.value_in(&values) });
    }

    /// The settings of a linked level. `set.target.data_files = 1` and
    /// `set = { "target.data_files" = 1 }` mean the same.
    fn linked_settings(
        &mut self,
        level: &Node,
        factor: &str,
        varied: &mut BTreeMap<String, String>,
    ) -> Vec<(String, Value)> {
        let mut set: Vec<(String, Value)> = Vec::new();
        let Some(table) = level.value("set") else { return set };
        if !table.is_table() {
            let message = "write settings by their dotted paths, as { \"target.data_files\" = 2 }";
            self.errors.add(&table.span, "level.set", message);
        }
        for leaf in table.leaves("") {
            let value = self.value(&leaf);
            let owner = varied.entry(leaf.path.clone()).or_insert_with(|| factor.to_owned());
            if owner != factor {
                let message = format!(
                    "factors `{owner}` and `{factor}` both set this; a setting can belong to one \
                     factor only"
                );
                self.errors.add(&leaf.key_span, &leaf.path, message);
            }
            if set.iter().any(|(path, _)| *path == leaf.path) {
                self.errors.add(&leaf.key_span, &leaf.path, "this setting is given twice");
            }
            set.extend(value.map(|value| (leaf.path, value)));
        }
        set
    }

    /// Marks the factors that are hard to change. Returns their positions, the one that changes
    /// most seldom first: a person is slower than any command, so a manual step goes first
    /// unless `order.hard_to_change` lists it. A factor that chooses between volumes comes last
    /// when a command prepares or cleans one of them: a drive is formatted as
    /// seldom as possible.
    pub fn hard_to_change(&mut self, factors: &mut [Factor], volumes: &[Volume]) -> Vec<usize> {
        let names: Vec<String> = factors.iter().map(|factor| factor.name.clone()).collect();
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        let position = |name: &str| known.iter().position(|known| *known == name);
        let mut listed = Vec::new();
        for node in self.root.at(HARD_TO_CHANGE.path()).map(Node::elements).unwrap_or_default() {
            let Content::Text(name) = &node.content else { continue };
            let fault = match position(name) {
                None => Fault::unknown("factor", name, &known),
                Some(factor) if listed.contains(&factor) => {
                    format!("`{name}` is given twice").into()
                }
                Some(factor) => {
                    listed.push(factor);
                    continue;
                }
            };
            self.errors.add(&node.span, HARD_TO_CHANGE.path(), fault);
        }
        let mut hard = Vec::new();
        for node in self.root.tables("manual") {
            let values =
                read_item(&mut self.errors, node, "manual", MANUAL, &["factor", "text"], &[]);
            let name = MANUAL_FACTOR.value_in(&values);
            let fault = match position(&name) {
                _ if name.is_empty() => continue,
                None => Fault::unknown("factor", &name, &known),
                Some(factor) if factors[factor].manual.is_some() => {
                    format!("two manual steps for `{name}`").into()
                }
                Some(factor) => {
                    factors[factor].manual = Some(MANUAL_TEXT.value_in(&values));
                    hard.push(factor);
                    continue;
                }
            };
            self.errors.add(&node.span_at("factor"), MANUAL_FACTOR.path(), fault);
        }
        hard.retain(|factor| !listed.contains(factor));
        hard.extend(listed);
        let drives = (0..factors.len()).filter(|position| {
            let mut set = factors[*position].levels.iter().flat_map(|level| &level.set);
            set.any(|(path, value)| {
                names_volume(path)
                    && value.elements().iter().any(|name| {
                        let volume = volumes.iter().find(|volume| volume.name == name.to_string());
                        volume.is_some_and(|volume| {
                            volume.prepare.is_some() || volume.cleanup.is_some()
                        })
                    })
            })
        });
        let drives: Vec<usize> = drives.filter(|position| !hard.contains(position)).collect();
        hard.extend(drives);
        for factor in &hard {
            factors[*factor].hard_to_change = true;
        }
        hard
    }

    /// Reads `{ factor = level, ... }`: the levels that a table names for each factor; `None` after
    /// an error.
    pub fn condition(
        &mut self,
        table: &Node,
        section: &str,
        factors: &[Factor],
    ) -> Option<Condition> {
        if !table.is_table() {
            let message = "write factors with their levels, as { \"target.data_files\" = 1 }";
            self.errors.add(&table.span, section, message);
            return None;
        }
        let names: Vec<&str> = factors.iter().map(|factor| factor.name.as_str()).collect();
        let mut condition = Some(Condition::new());
        for leaf in table.leaves("") {
            let position = names.iter().position(|name| *name == leaf.path);
            if position.is_none() {
                self.errors.add(
                    &leaf.key_span,
                    section,
                    Fault::unknown("factor", &leaf.path, &names),
                );
            }
            let levels =
                position.and_then(|at| Some((at, self.levels(leaf.node, section, &factors[at])?)));
            // One error is enough for there to be no condition; the others are found all the same.
            condition = condition.zip(levels).map(|(mut condition, (position, levels))| {
                condition.insert(position, levels);
                condition
            });
        }
        condition
    }

    /// A level, or a list of them; a list can also be itself a level, of volumes for one.
    fn levels(&mut self, node: &Node, section: &str, factor: &Factor) -> Option<Vec<usize>> {
        if let Some(position) = self.position_of(node, factor) {
            return Some(vec![position]);
        }
        if node.elements().is_empty() {
            let message = format!("no level of {}; give at least one", factor.name);
            self.errors.add(&node.span, section, message);
            return None;
        }
        let labels: Vec<&str> = factor.levels.iter().map(|level| level.label.as_str()).collect();
        let mut levels = Vec::new();
        for node in node.elements() {
            let position = self.position_of(node, factor);
            if position.is_none() {
                let what = format!("level of {}", factor.name);
                self.errors.add(&node.span, section, Fault::unknown(&what, &node.label(), &labels));
            }
            levels.push(position);
        }
        levels.into_iter().collect()
    }

    /// The level that is written or means the same: 320000 is "320k".
    fn position_of(&self, node: &Node, factor: &Factor) -> Option<usize> {
        let label = node.label();
        let same_label = factor.levels.iter().position(|level| level.label == label);
        same_label.or_else(|| {
            let settings = self.vocabulary.find(&factor.name);
            let value = settings.iter().find_map(|setting| setting.kind.read(node).ok())?;
            factor
                .levels
                .iter()
                .position(|level| matches!(&level.set[..], [(_, only)] if *only == value))
        })
    }
}
