//! Clauses of a SELECT, UPDATE or DELETE.

use super::conditions::{conditions, operand};
use super::model::{Block, Sorting};
use super::sources::sources;
use super::tree::{Node, split};
use sql::Syntax;

/// Words that begin a clause, at the top of a block.
const CLAUSES: [&str; 13] = [
    "from",
    "where",
    "group",
    "having",
    "window",
    "order",
    "limit",
    "offset",
    "fetch",
    "for",
    "returning",
    "set",
    "using",
];

/// Functions that put rows together.
const GATHERING: [&str; 17] = [
    "count",
    "sum",
    "min",
    "max",
    "avg",
    "array_agg",
    "string_agg",
    "group_concat",
    "json_agg",
    "jsonb_agg",
    "bool_and",
    "bool_or",
    "every",
    "stddev",
    "variance",
    "total",
    "json_arrayagg",
];

const VERBS: [&str; 3] = ["select", "update", "delete"];

/// Reads a statement, and the queries in it.
pub fn read(nodes: &[Node<'_>], syntax: Syntax, is_top: bool, out: &mut Vec<Block>) {
    let first = nodes.iter().position(|node| node.is(&VERBS));
    if let Some(at) = first {
        let parts = split(&nodes[at..], |node| node.is(&["union", "except", "intersect"]));
        let is_one = parts.len() == 1;
        for part in parts {
            let part = match part.first() {
                Some(first) if first.is(&["all"]) => &part[1..],
                _ => part,
            };
            let mut block = block(part, syntax);
            block.is_top = is_top && is_one;
            block.gathers |= !is_one;
            out.push(block);
        }
    }
    queries_in(nodes, syntax, is_top && first.is_none(), out);
}

/// Reads the queries in parentheses.
fn queries_in(nodes: &[Node<'_>], syntax: Syntax, is_top: bool, out: &mut Vec<Block>) {
    for group in nodes.iter().filter_map(Node::group) {
        if group.first().is_some_and(|first| first.is(&["select", "with"])) {
            read(group, syntax, is_top && nodes.len() == 1, out);
        } else {
            queries_in(group, syntax, is_top && nodes.len() == 1, out);
        }
    }
}

/// A clause: its word, and what follows it.
struct Clause<'n, 'a> {
    word: &'n Node<'a>,
    body: &'n [Node<'a>],
}

fn clauses<'n, 'a>(nodes: &'n [Node<'a>]) -> (&'n [Node<'a>], Vec<Clause<'n, 'a>>) {
    let mut starts: Vec<usize> = Vec::new();
    for (at, node) in nodes.iter().enumerate().skip(1) {
        // `IS DISTINCT FROM`, `FOR ORDER BY` of an index hint, `JOIN ... USING`.
        let before = &nodes[at - 1];
        let next = nodes.get(at + 1);
        let is_part = (node.is(&["from"]) && before.is(&["distinct"]) && starts.len() > 1)
            || (node.is(&["using"]) && matches!(next, Some(Node::Group(_))))
            || (node.is(&["group", "order"]) && next.is_none_or(|node| !node.is(&["by"])));
        let is_word = node.is(&CLAUSES) && !is_part;
        if is_word {
            starts.push(at);
        }
    }
    let head = &nodes[..starts.first().copied().unwrap_or(nodes.len())];
    let found = starts
        .iter()
        .enumerate()
        .map(|(number, start)| Clause {
            word: &nodes[*start],
            body: &nodes[start + 1..starts.get(number + 1).copied().unwrap_or(nodes.len())],
        })
        .collect();
    (head, found)
}

fn block(nodes: &[Node<'_>], syntax: Syntax) -> Block {
    let mut block = Block::default();
    let (head, clauses) = clauses(nodes);
    let is_select = head.first().is_some_and(|verb| verb.is(&["select"]));
    if is_select {
        block.gathers = gathers(head);
    } else if head.first().is_some_and(|verb| verb.is(&["update"])) {
        sources(&head[1..], syntax, &mut block);
    }
    for Clause { word, body } in clauses {
        if word.is(&["from", "using"]) {
            sources(body, syntax, &mut block);
        } else if word.is(&["where"]) {
            conditions(body, syntax, &mut block);
        } else if word.is(&["group", "having"]) {
            block.gathers = true;
        } else if word.is(&["order"]) {
            block.order = order(&body[1.min(body.len())..], syntax);
        } else if word.is(&["limit", "fetch"]) {
            block.is_limited = !body.first().is_some_and(|first| first.is(&["all", "null"]));
            block.has_offset |= body.iter().any(|node| node.is_sign(","));
        } else if word.is(&["offset"]) {
            block.has_offset = true;
        }
    }
    if is_select {
        extreme(head, syntax, &mut block);
    }
    block
}

/// Returns true for a list of columns that puts rows together.
fn gathers(nodes: &[Node<'_>]) -> bool {
    nodes.iter().enumerate().any(|(at, node)| {
        let is_call = matches!(nodes.get(at + 1), Some(Node::Group(_)));
        let is_window = nodes.get(at + 2).is_some_and(|next| next.is(&["over"]));
        node.is(&["distinct"])
            || (is_call && !is_window && node.is(&GATHERING))
            || node.group().is_some_and(|group| !node.is_query() && gathers(group))
    })
}

/// `SELECT max(a) FROM t` is the first row by `a`.
fn extreme(head: &[Node<'_>], syntax: Syntax, block: &mut Block) {
    let [_, function, Node::Group(argument)] = head else { return };
    if !function.is(&["min", "max"]) || !block.order.is_empty() || block.sources.len() != 1 {
        return;
    }
    let found = operand(argument, syntax).filter(|operand| operand.is_plain);
    if let Some(operand) = found {
        block.order = vec![Sorting { operand, descending: function.is(&["max"]) }];
        (block.is_limited, block.gathers) = (true, false);
    }
}

/// The order, unless a part of it is not of columns.
fn order(nodes: &[Node<'_>], syntax: Syntax) -> Vec<Sorting> {
    let parts = split(nodes, |node| node.is_sign(","));
    let sortings = parts.into_iter().map(|part| {
        let end = part.iter().position(|node| node.is(&["asc", "desc", "nulls", "using"]));
        let descending = part.iter().any(|node| node.is(&["desc"]));
        let operand = operand(&part[..end.unwrap_or(part.len())], syntax)?;
        Some(Sorting { operand, descending })
    });
    sortings.collect::<Option<_>>().unwrap_or_default()
}
