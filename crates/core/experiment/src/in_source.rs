//! Parts of a recorded experiment file, as far as they can be read.

use crate::design::{DESIGN_KIND, EXTENSION, GRID};
use crate::document::Node;
use crate::{Declaration, FromValue, Setting, Value, human};
use std::collections::BTreeMap;

/// The kind of the design that the text of an experiment file selects; a grid where it cannot be
/// read.
pub fn design_kind(source: &str) -> String {
    let root = Node::parse(source).ok();
    let name = root.as_ref().and_then(|root| root.at(DESIGN_KIND)?.text());
    name.unwrap_or(GRID).to_owned()
}

/// The value of a setting in the text of an experiment file, or its default.
pub fn value_in_source<T: FromValue>(source: &str, setting: Setting<T>) -> T {
    let root = Node::parse(source).ok();
    let value =
        root.as_ref().and_then(|root| setting.declaration.kind.read(root.at(setting.path())?).ok());
    let values = value.map(|value| (setting.path().to_owned(), value));
    setting.value_in(&values.into_iter().collect())
}

/// The values of each `[[extension]]` in the text of an experiment file, as far as they are
/// declared.
pub fn extensions_in_source(
    source: &str,
    declared: &[Declaration],
) -> Vec<BTreeMap<String, Value>> {
    let Ok(root) = Node::parse(source) else { return Vec::new() };
    let values = |node: &Node| {
        let known = declared.iter().filter_map(|setting| {
            let key = setting.path.strip_prefix(EXTENSION)?.strip_prefix('.')?;
            let value = setting.kind.read(node.value(key)?).ok()?;
            Some((setting.path.to_owned(), value))
        });
        known.collect()
    };
    root.tables(EXTENSION).iter().map(values).collect()
}

/// The factors of `[factors]` in the text of an experiment file, each with the labels of its
/// levels.
pub fn factors_in_source(source: &str) -> Vec<(String, Vec<String>)> {
    let Ok(root) = Node::parse(source) else { return Vec::new() };
    let factors = root.leaves_of("factors", "").into_iter();
    factors
        .map(|leaf| (leaf.path, leaf.node.elements().iter().map(human::label).collect()))
        .collect()
}
