//! From the text of a file to an [`Experiment`]: sections, then factors, then configurations.

mod factors;
mod sections;

use crate::document::{Content, Node};
use crate::error::{Errors, FileErrors};
use crate::expand;
use crate::experiment::Experiment;
use crate::file_settings::SECTIONS;
use crate::nearest::unknown_name;
use crate::setting::{Catalog, Known};
use std::collections::BTreeMap;
use std::ops::Range;

/// Reads an experiment file.
///
/// # Errors
/// Everything that is wrong in the file, each with its place; a syntax error alone.
pub fn parse(source: &str, catalog: &Catalog) -> Result<Experiment, FileErrors> {
    let root = Node::parse(source).map_err(|error| FileErrors { errors: vec![error] })?;
    let mut errors = Errors::of(source);
    check_sections(&root, &mut errors);
    let known = sections::known_settings(&root, catalog, &mut errors);
    let base = sections::base_settings(&root, &known, &mut errors);
    let core = sections::core_settings(&root, &mut errors);
    let mut factors = factors::read(&root, &known, &mut errors);
    let volumes = sections::volumes(&root, &mut errors);
    factors::mark_hard_to_change(&root, &core, &mut factors, &mut errors);
    sections::check_volume_names(&volumes, &base, &factors, &root, &mut errors);
    let repeats = sections::repeats(&root, &core, &mut errors);
    let configurations = if errors.none() {
        expand::configurations(&root, &base, &factors, catalog, &mut errors)
    } else {
        Vec::new()
    };
    let baseline = expand::baseline(&root, &factors, &configurations, &mut errors);
    let experiment = Experiment {
        name: sections::name(&root, &core, &mut errors),
        question: core.text("experiment.question"),
        description: core.text("experiment.description"),
        response: core.text("experiment.response"),
        configurations,
        baseline,
        volumes,
        hooks: sections::hooks(&core),
        repeats,
        limits: sections::limits(&core),
        source: source.into(),
        places: places(&root),
        factors,
    };
    errors.into_result(experiment)
}

fn check_sections(root: &Node, errors: &mut Errors<'_>) {
    let known: Vec<&str> = SECTIONS.iter().map(|(name, _)| *name).collect();
    for entry in root.entries() {
        let name = entry.key.as_str();
        if !known.contains(&name) {
            errors.add(&entry.key_span, "", unknown_name("section", name, &known));
            continue;
        }
        let list = ["level", "exclude", "volume", "manual"].contains(&name);
        match (&entry.node.content, list) {
            (Content::Table(_), false) => {}
            (Content::List(nodes), true) => {
                for node in nodes.iter().filter(|node| !matches!(node.content, Content::Table(_))) {
                    errors.add(
                        &node.span,
                        name,
                        format!("{} where a table should be; write [[{name}]]", node.kind()),
                    );
                }
            }
            (_, several) => {
                let brackets = if several { format!("[[{name}]]") } else { format!("[{name}]") };
                errors.add(&entry.key_span, name, format!("this is a section: write {brackets}"));
            }
        }
    }
}

/// The place of each setting for objections of engines and probes; of a section, where it begins.
fn places(root: &Node) -> BTreeMap<String, Range<usize>> {
    let mut places = BTreeMap::new();
    for section in ["target", "workload", "observe"] {
        if let Some(entry) = root.get(section) {
            places.insert(section.into(), entry.key_span.clone());
            let leaves = entry.node.leaves(section);
            places.extend(leaves.iter().map(|leaf| (leaf.path.clone(), leaf.node.span.clone())));
        }
    }
    // A setting that is varied is discussed where its levels stand.
    let varied = root.get("factors").map(|entry| entry.node.entries()).unwrap_or_default();
    places.extend(varied.iter().map(|entry| (entry.key.clone(), entry.node.span.clone())));
    for node in list(root, "level") {
        for setting in node.get("set").map(|entry| entry.node.entries()).unwrap_or_default() {
            places.insert(setting.key.clone(), setting.node.span.clone());
        }
    }
    places
}

/// The tables of a `[[section]]`.
fn list<'a>(root: &'a Node, section: &str) -> &'a [Node] {
    match root.get(section).map(|entry| &entry.node.content) {
        Some(Content::List(nodes)) => nodes,
        _ => &[],
    }
}

/// The setting of this path, and if there is none, an error that names the nearest.
fn lookup<'a>(
    known: &'a Known,
    path: &str,
    span: &Range<usize>,
    errors: &mut Errors<'_>,
) -> Option<&'a crate::Setting> {
    let found = known.find(path);
    if found.is_none() {
        errors.add(span, path, unknown_name("setting", path, &known.paths()));
    }
    found
}
