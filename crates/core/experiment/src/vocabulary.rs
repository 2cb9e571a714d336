//! The settings that a file may use, and how its tables are read.

use crate::document::Node;
use crate::error::{Errors, Fault};
use crate::{Declaration, Value};
use std::collections::BTreeMap;

/// Values by path.
pub(crate) type Values = BTreeMap<String, Value>;

/// The settings that a file, or one configuration of it, may use.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary {
    pub settings: Vec<&'static Declaration>,
}

impl Vocabulary {
    /// Adds settings; of two with the same path the first one is explained to people.
    pub fn add(&mut self, settings: &'static [Declaration]) {
        self.settings.extend(settings);
    }

    /// The settings of this path, of different engines; exact ones go before those with `*`.
    pub fn find(&self, path: &str) -> Vec<&'static Declaration> {
        let exact: Vec<_> =
            self.settings.iter().copied().filter(|setting| setting.path == path).collect();
        if !exact.is_empty() {
            return exact;
        }
        self.settings.iter().copied().filter(|setting| covers(setting, path)).collect()
    }

    /// Returns whether a setting has this path.
    pub fn has(&self, path: &str) -> bool {
        self.settings.iter().any(|setting| setting.path == path || covers(setting, path))
    }

    /// Returns whether settings lie below this path.
    pub fn is_table(&self, path: &str) -> bool {
        self.settings.iter().any(|setting| {
            let known = setting.path;
            let mut known = known.split('.');
            path.split('.')
                .all(|part| known.next().is_some_and(|pattern| pattern == part || pattern == "*"))
                && known.next().is_some()
        })
    }

    /// The paths to suggest for a mistyped one: those of its section, and all if there is no such
    /// section.
    pub fn paths(&self, mistyped: &str) -> Vec<&'static str> {
        let section = |path: &str| path.split_once('.').map(|(section, _)| section.to_owned());
        let mut paths: Vec<&str> = Vec::new();
        for setting in &self.settings {
            if !paths.contains(&setting.path) {
                paths.push(setting.path);
            }
        }
        let same: Vec<&str> =
            paths.iter().copied().filter(|path| section(path) == section(mistyped)).collect();
        // A setting of another section may have been meant all the same.
        let found_elsewhere =
            crate::nearest(mistyped, &same).is_none() && crate::nearest(mistyped, &paths).is_some();
        if same.is_empty() || found_elsewhere { paths } else { same }
    }

    /// The settings that have a default.
    pub fn with_default(&self) -> impl Iterator<Item = &'static Declaration> {
        self.settings.iter().copied().filter(|setting| setting.default.is_some())
    }
}

/// Returns whether a setting with `*` covers this path. A last `*` may cover a name with dots.
fn covers(setting: &Declaration, path: &str) -> bool {
    let Some((before, after)) = setting.path.split_once('*') else { return false };
    let name = path.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
    name.is_some_and(|name| !name.is_empty() && (after.is_empty() || !name.contains('.')))
}

/// The values of one table of a `[[section]]`, of which some must be given. Keys in `also` are
/// read elsewhere.
pub(crate) fn read_item(
    errors: &mut Errors,
    node: &Node,
    section: &str,
    settings: &[Declaration],
    needed: &[&str],
    also: &[&str],
) -> Values {
    let mut values = Values::default();
    if node.is_table() {
        read_table(errors, node, section, settings, also, &mut values);
        for key in needed.iter().filter(|key| node.get(key).is_none()) {
            errors.add(&node.span, section, format!("{key} is missing"));
        }
    }
    values
}

/// Reads a table with one value a key.
pub(crate) fn read_table(
    errors: &mut Errors,
    node: &Node,
    section: &str,
    settings: &[Declaration],
    also: &[&str],
    values: &mut Values,
) {
    let prefix = format!("{section}.");
    for leaf in node.leaves(section) {
        let key = leaf.path.strip_prefix(&prefix).unwrap_or(&leaf.path);
        if also.contains(&key.split('.').next().unwrap_or(key)) {
            continue;
        }
        if let Some(setting) = settings.iter().find(|setting| setting.path == leaf.path) {
            match setting.kind.read(leaf.node) {
                Ok(value) => drop(values.insert(leaf.path, value)),
                Err(fault) => errors.add(&leaf.node.span, &leaf.path, fault),
            }
            continue;
        }
        let known = settings.iter().filter_map(|setting| setting.path.strip_prefix(&prefix));
        let known: Vec<&str> = known.chain(also.iter().copied()).collect();
        let below = format!("{key}.");
        let parts: Vec<&str> =
            known.iter().filter_map(|known| known.strip_prefix(&below)).collect();
        if parts.is_empty() {
            errors.add(&leaf.key_span, section, Fault::unknown("setting", key, &known));
        } else {
            let message = format!("this is a table: write {{ {} = ... }}", parts.join(" = ..., "));
            errors.add(
                &leaf.node.span,
                &leaf.path,
                Fault::with_help(message, "at least one of them"),
            );
        }
    }
}

/// Reads a value as the first of these settings that accepts it.
///
/// # Errors
/// When none does.
pub fn read_as(settings: &[&Declaration], node: &Node) -> Result<Value, Fault> {
    let mut first_fault = None;
    for setting in settings {
        match setting.kind.read(node) {
            Ok(value) => return Ok(value),
            Err(fault) => drop(first_fault.get_or_insert(fault)),
        }
    }
    // Without settings there has been an error already, at the key.
    first_fault.map_or(Ok(Value::Bool(false)), Err)
}
