//! EXPLAIN (FORMAT XML): its elements become the documents that JSON has.

use plans::{DEPTH_MAX, PlanError};
use roxmltree::{Document, Node};
use serde_json::{Map, Value};

const FORMAT: &str = "XML of EXPLAIN";
/// Elements that hold a list.
const LISTS: [&str; 5] = ["Plans", "Workers", "Triggers", "Target-Tables", "Group-Keys"];

/// The documents of `<explain>`, which begins in line `first`.
///
/// # Errors
/// [`PlanError::Damaged`] with the line that is not well-formed.
pub fn read(text: &str, first: usize) -> Result<Vec<Value>, PlanError> {
    let damaged = |line: usize, cause: String| PlanError::Damaged {
        format: FORMAT,
        cause: format!("line {}: {cause}", first + line.max(1) - 1),
    };
    let document = Document::parse(text)
        .map_err(|error| damaged(error.pos().row as usize, error.to_string()))?;
    let queries = document.root_element().children().filter(|node| is(node, "Query"));
    let queries = queries.map(|query| value(query, 0)).collect::<Result<Vec<_>, _>>()?;
    if queries.is_empty() {
        return Err(damaged(1, "it has no query".into()));
    }
    Ok(queries)
}

/// Names are compared without the namespace of the format.
fn is(node: &Node, name: &str) -> bool {
    node.tag_name().name() == name
}

fn value(node: Node, depth: usize) -> Result<Value, PlanError> {
    if depth > 2 * DEPTH_MAX {
        return Err(PlanError::TooDeep(DEPTH_MAX));
    }
    let mut elements = node.children().filter(Node::is_element).peekable();
    let name = node.tag_name().name();
    let is_list = LISTS.contains(&name);
    if elements.peek().is_none() {
        return Ok(if is_list { Value::Null } else { node.text().unwrap_or_default().into() });
    }
    let is_list = is_list || elements.peek().is_some_and(|first| is(first, "Item"));
    if is_list {
        return elements
            .map(|element| value(element, depth + 1))
            .collect::<Result<Vec<_>, _>>()
            .map(Into::into);
    }
    let members =
        elements.map(|element| Ok((key(element.tag_name().name()), value(element, depth + 1)?)));
    members.collect::<Result<Map<_, _>, _>>().map(Into::into)
}

/// Names of elements have a hyphen for each character that they must not have.
fn key(name: &str) -> String {
    match name {
        "One-Time-Filter" => "One-Time Filter".into(),
        // The server names the first groups of a sort after the sort.
        "Full-sort-Groups" | "Incremental-Sort-Groups" => "Full-sort Groups".into(),
        "Pre-sorted-Groups" => "Pre-sorted Groups".into(),
        name => name.replace('-', " "),
    }
}
