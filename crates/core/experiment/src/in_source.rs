//! Parts of a recorded experiment file, as far as they can be read.

use crate::design_file::{DESIGN_KIND, GRID};
use crate::document::Node;
use crate::{FromValue, Setting};

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
