//! Elements and attributes of ShowPlan.

use crate::plans::Object;
use roxmltree::Node;

/// The elements in an element, in their order, without what is in those of the given names.
pub fn parts<'a, 'b>(node: Node<'a, 'b>, closed: &[&str]) -> Vec<Node<'a, 'b>> {
    let mut found = Vec::new();
    let mut next: Vec<Node> = node.children().rev().filter(Node::is_element).collect();
    while let Some(node) = next.pop() {
        found.push(node);
        if !closed.contains(&node.tag_name().name()) {
            next.extend(node.children().rev().filter(Node::is_element));
        }
    }
    found
}

pub fn object(node: Node) -> Object {
    let name = |attribute| node.attribute(attribute).map(unquoted).unwrap_or_default();
    Object {
        database: name("Database"),
        schema: name("Schema"),
        table: name("Table"),
        index: node.attribute("Index").map(unquoted),
    }
}

/// `[Order Details]` without its brackets.
pub fn unquoted(name: &str) -> String {
    let inner = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
    inner.map_or_else(|| name.to_owned(), |inner| inner.replace("]]", "]"))
}

pub fn is(node: Node, name: &str) -> bool {
    node.tag_name().name() == name
}

pub fn child<'a, 'b>(node: Node<'a, 'b>, name: &str) -> Option<Node<'a, 'b>> {
    node.children().find(|child| is(*child, name))
}

/// Elements in the list of this name.
pub fn children<'a, 'b: 'a>(
    node: Node<'a, 'b>,
    list: &str,
    name: &'static str,
) -> impl Iterator<Item = Node<'a, 'b>> {
    child(node, list)
        .into_iter()
        .flat_map(|list| list.children())
        .filter(move |node| is(*node, name))
}

/// Numbers of plans are written as in the United States, whatever the locale of the server and of
/// the reader.
pub fn number(node: Node, name: &str) -> Option<f64> {
    node.attribute(name)?.trim().parse::<f64>().ok().filter(|value| value.is_finite())
}

pub fn flag(node: Node, name: &str) -> bool {
    matches!(node.attribute(name), Some("1" | "true"))
}
