//! From the text of a file to an [`Experiment`]: sections, then factors, then configurations.
//!
//! What is wrong does not stop the reading: a level or factor that cannot be read keeps its position
//! and name, so that what refers to it is judged as if it were right, and all errors come at once.

mod factors;
mod repeats;
mod sections;
mod volumes;

use crate::document::{Content, Leaf, Node};
use crate::error::{Errors, Fault, FileErrors};
use crate::expand;
use crate::experiment::Experiment;
use crate::file::SECTIONS;
use crate::setting::{Catalog, Known};
use crate::{Declaration, Value, human};
use std::collections::BTreeMap;
use std::ops::Range;

/// Reads an experiment file.
///
/// # Errors
/// Everything that is wrong in the file, each with its position; a syntax error alone.
pub fn parse(source: &str, catalog: &Catalog) -> Result<Experiment, FileErrors> {
    let root = Node::parse(source).map_err(|(span, fault)| FileErrors::one(source, &span, fault))?;
    let mut errors = Errors::new();
    check_sections(&root, &mut errors);
    let known = sections::known_settings(&root, catalog, &mut errors);
    let base = sections::base_settings(&root, &known, &mut errors);
    let core = sections::core_settings(&root, &mut errors);
    let mut factors = factors::read(&root, &known, &mut errors);
    let mut hard_to_change = factors::mark_hard_to_change(&root, &mut factors, &mut errors);
    let volumes = volumes::read(&root, &known, &mut errors);
    volumes::mark_hard_to_change(&volumes, &mut factors, &mut hard_to_change);
    let repeats = repeats::read(&root, &core, &mut errors);
    let configurations = expand::configurations(&root, &base, &factors, &known, catalog, &mut errors);
    let baseline = expand::baseline(&root, &factors, &configurations, &known, &mut errors);
    repeats::check_number_of_trials(&root, repeats, configurations.len(), &mut errors);
    let experiment = Experiment {
        name: sections::name(&root, &core, &mut errors),
        configurations,
        baseline,
        volumes,
        repeats,
        hard_to_change,
        source: source.into(),
        spans: spans(&root),
        settings: core,
        factors,
    };
    errors.into_result(source, experiment)
}

fn check_sections(root: &Node, errors: &mut Errors) {
    let known: Vec<&str> = SECTIONS.iter().map(|(name, _)| *name).collect();
    for entry in root.entries() {
        let name = entry.key.as_str();
        if !known.contains(&name) {
            errors.add(&entry.key_span, "", Fault::unknown("section", name, &known));
            continue;
        }
        let several = ["level", "exclude", "volume", "manual"].contains(&name);
        let brackets = if several { format!("[[{name}]]") } else { format!("[{name}]") };
        match (&entry.node.content, several) {
            (Content::Table(_), false) => {}
            (Content::List(nodes), true) => {
                for node in nodes.iter().filter(|node| !matches!(node.content, Content::Table(_))) {
                    errors.add(
                        &node.span,
                        name,
                        format!("{} where a table should be; write {brackets}", node.kind()),
                    );
                }
            }
            _ => errors.add(&entry.key_span, name, format!("this is a section: write {brackets}")),
        }
    }
}

/// Where each setting stands, for objections of engines and probes; of a section, where it begins.
pub(crate) fn spans(root: &Node) -> BTreeMap<String, Range<usize>> {
    let mut spans = BTreeMap::new();
    for section in ["target", "workload", "observe"] {
        if let Some(entry) = root.get(section) {
            spans.insert(section.into(), entry.key_span.clone());
            let leaves = entry.node.leaves(section);
            spans.extend(leaves.into_iter().map(|leaf| (leaf.path, leaf.node.span.clone())));
        }
    }
    // A setting that is varied is discussed where its levels stand.
    let varied = leaves(root.value("factors"), "");
    let linked = list(root, "level").iter().rev().flat_map(|level| leaves(level.value("set"), ""));
    spans.extend(varied.into_iter().chain(linked).map(|leaf| (leaf.path, leaf.node.span.clone())));
    spans
}

/// The tables of a `[[section]]`.
fn list<'a>(root: &'a Node, section: &str) -> &'a [Node] {
    match root.value(section).map(|node| &node.content) {
        Some(Content::List(nodes)) => nodes,
        _ => &[],
    }
}

/// All values of a table by dotted path; none of a table that is not there.
fn leaves<'a>(table: Option<&'a Node>, path: &str) -> Vec<Leaf<'a>> {
    table.map(|node| node.leaves(path)).unwrap_or_default()
}

/// The settings that a key may mean, of different engines; if there is none, an error.
fn lookup(known: &Known, leaf: &Leaf<'_>, errors: &mut Errors) -> Vec<&'static Declaration> {
    let path = leaf.path.as_str();
    let found = known.find(path);
    if found.is_empty() && !known.is_open(path) {
        if known.is_table(path) {
            errors.add(&leaf.node.span, path, "this is a table: write { name = value }");
        } else {
            errors.add(&leaf.key_span, path, Fault::unknown("setting", path, &known.paths(path)));
        }
    }
    found
}

/// Reads a value as the first of these settings that accepts it.
fn read_as(settings: &[&'static Declaration], node: &Node) -> Result<Value, Fault> {
    let mut faults = Vec::new();
    for setting in settings {
        match human::read(setting.kind, node) {
            Ok(value) => return Ok(value),
            Err(fault) => faults.push(fault),
        }
    }
    // Without settings there has been an error already, at the key.
    faults.into_iter().next().map_or(Ok(Value::Bool(false)), Err)
}
