//! Lists of tables, with the conditions of their joins.

use super::conditions::conditions;
use super::model::{Block, ColumnName, Comparison, Condition, Operand, Other, Source};
use super::tree::{Node, plain};
use sql::{Kind, Syntax};

/// Words between two tables.
const JOINS: [&str; 11] = [
    "join",
    "inner",
    "left",
    "right",
    "full",
    "outer",
    "cross",
    "natural",
    "straight_join",
    "asof",
    "lateral",
];

/// Words that may follow a table and are not its other name.
const AFTER: [&str; 12] = [
    "on",
    "using",
    "use",
    "force",
    "ignore",
    "tablesample",
    "partition",
    "with",
    "set",
    "indexed",
    "not",
    "for",
];

/// Adds the tables of a list, and the conditions of its joins.
pub fn sources(nodes: &[Node<'_>], syntax: Syntax, block: &mut Block) {
    let mut at = 0;
    while at < nodes.len() {
        let node = &nodes[at];
        if node.is(&["on"]) {
            let end = end_of_condition(nodes, at + 1);
            conditions(&nodes[at + 1..end], syntax, block);
            at = end;
        } else if node.is(&["using"]) {
            if let Some(columns) = nodes.get(at + 1).and_then(Node::group) {
                using(columns, syntax, block);
            }
            at += 2;
        } else if node.is(&JOINS) || node.is(&["only"]) || node.is_sign(",") {
            at += 1;
        } else if let Some(group) = node.group() {
            at += 1;
            if !node.is_query() {
                sources(group, syntax, block);
            } else if nodes.get(at).is_some_and(|next| next.is(&["as"])) {
                at += 2;
            } else if nodes.get(at).is_some_and(|next| next.is_name() && !ends_table(next)) {
                at += 1;
            }
        } else if node.is_name() {
            at = source(nodes, at, syntax, block);
        } else {
            at += 1;
        }
    }
}

fn ends_table(node: &Node<'_>) -> bool {
    node.is(&JOINS) || node.is(&AFTER)
}

/// The end of the condition that begins here: the next join.
fn end_of_condition(nodes: &[Node<'_>], from: usize) -> usize {
    (from..nodes.len())
        .find(|at| {
            let is_function = matches!(nodes.get(at + 1), Some(Node::Group(_)));
            (nodes[*at].is(&JOINS) && !is_function) || nodes[*at].is_sign(",")
        })
        .unwrap_or(nodes.len())
}

/// Adds the table that begins here; returns where it ends.
fn source(nodes: &[Node<'_>], from: usize, syntax: Syntax, block: &mut Block) -> usize {
    let mut names = Vec::new();
    let mut at = from;
    while let Some(token) = nodes.get(at).filter(|node| node.is_name()).and_then(Node::token) {
        names.push(plain(token, syntax));
        at += 1;
        if !nodes.get(at).is_some_and(|node| node.is_sign(".")) {
            break;
        }
        at += 1;
    }
    // A function that returns rows.
    let is_function = matches!(nodes.get(at), Some(Node::Group(_)));
    let mut alias = None;
    if nodes.get(at).is_some_and(|node| node.is(&["as"])) {
        at += 1;
    }
    if let Some(token) =
        nodes.get(at).filter(|node| node.is_name() && !ends_table(node)).and_then(Node::token)
    {
        alias = Some(plain(token, syntax));
        at += 1;
    }
    if let Some(name) = names.pop()
        && !is_function
    {
        block.sources.push(Source { schema: names.pop(), name, alias });
    }
    at.max(from + 1)
}

/// The columns that the last two tables have in common.
fn using(columns: &[Node<'_>], syntax: Syntax, block: &mut Block) {
    let [.., left, right] = block.sources.as_slice() else { return };
    let name_of = |source: &Source| Some(source.alias.clone().unwrap_or(source.name.clone()));
    let sides = [name_of(left), name_of(right)];
    for token in columns.iter().filter_map(Node::token).filter(|token| token.kind != Kind::Sign) {
        let name = plain(token, syntax);
        let [left, right] = sides.clone().map(|qualifier| Operand {
            columns: vec![ColumnName { qualifier, name: name.clone() }],
            text: name.clone(),
            is_plain: true,
            has_parameter: false,
        });
        block.conditions.push(Condition {
            operand: right,
            comparison: Comparison::Equal,
            other: Other::Operand(left),
        });
    }
}
