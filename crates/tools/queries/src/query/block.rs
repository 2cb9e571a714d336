//! Clauses of a SELECT, UPDATE or DELETE.

use super::model::{Block, Sorting};
use inspection::sql_tree::{Node, name_end, plain};
use work::sql::Syntax;

/// Words that begin a clause, at the top of a block.
const CLAUSES: &str =
    "from where group having window order limit offset fetch for returning set using";

/// Functions that put rows together.
const GATHERING: &str = "count sum min max avg array_agg string_agg group_concat json_agg \
                         jsonb_agg bool_and bool_or every stddev variance total json_arrayagg";

/// Reads a statement, and the queries in it: what is in parentheses is one by its first word.
pub fn read(
    nodes: &[Node<'_>],
    syntax: Syntax,
    is_query: bool,
    is_top: bool,
    out: &mut Vec<Block>,
) {
    let verb = nodes.iter().position(|node| is_query && node.is("select update delete"));
    if let Some(at) = verb {
        let parts = nodes[at..].split(|node| node.is("union except intersect"));
        let is_one = parts.clone().count() == 1;
        for part in parts {
            let is_all = part.first().is_some_and(|first| first.is("all"));
            let mut block = Reader::new(syntax).block(&part[usize::from(is_all)..]);
            block.is_top = is_top && is_one;
            block.gathers |= !is_one;
            out.push(block);
        }
    }
    let is_top = is_top && verb.is_none() && nodes.len() == 1;
    for group in nodes.iter().filter_map(Node::group) {
        let is_query = group.first().is_some_and(|first| first.is("select with"));
        read(group, syntax, is_query, is_top, out);
    }
}

/// Reads the clauses of a block.
pub(super) struct Reader {
    pub(super) syntax: Syntax,
    pub(super) block: Block,
}

impl Reader {
    pub(super) fn new(syntax: Syntax) -> Self {
        Self { syntax, block: Block::default() }
    }

    fn block(mut self, nodes: &[Node<'_>]) -> Block {
        let starts = (1..nodes.len()).filter(|at| begins_clause(nodes, *at));
        let starts: Vec<usize> = starts.chain([nodes.len()]).collect();
        let head = &nodes[..starts[0]];
        let is_select = head.first().is_some_and(|verb| verb.is("select"));
        if is_select {
            self.block.gathers = gathers(head);
        } else if head.first().is_some_and(|verb| verb.is("update")) {
            self.sources(&head[1..]);
        }
        for clause in starts.windows(2).map(|ends| &nodes[ends[0]..ends[1]]) {
            self.clause(&clause[0], &clause[1..]);
        }
        if is_select {
            self.extreme(head);
        }
        self.block
    }

    fn clause(&mut self, word: &Node<'_>, body: &[Node<'_>]) {
        if word.is("from using") {
            self.sources(body);
        } else if word.is("where") {
            self.conditions(body);
        } else if word.is("group having") {
            self.block.gathers = true;
        } else if word.is("order") {
            self.block.order = self.order(&body[1.min(body.len())..]);
        } else if word.is("limit fetch") {
            self.block.is_limited = !body.first().is_some_and(|first| first.is("all null"));
            self.block.has_offset |= body.iter().any(|node| node.is_sign(","));
        } else if word.is("offset") {
            self.block.has_offset = true;
        }
    }

    /// `SELECT max(a) FROM t` is the first row by `a`.
    fn extreme(&mut self, head: &[Node<'_>]) {
        let [_, function, Node::Group(argument)] = head else { return };
        let block = &self.block;
        if !function.is("min max") || !block.order.is_empty() || block.sources.len() != 1 {
            return;
        }
        if let Some(operand) = self.operand(argument).filter(|operand| operand.is_plain) {
            self.block.order = vec![Sorting { operand, descending: function.is("max") }];
            (self.block.is_limited, self.block.gathers) = (true, false);
        }
    }

    /// The order, unless a part of it is not of columns.
    fn order(&self, nodes: &[Node<'_>]) -> Vec<Sorting> {
        let sortings = nodes.split(|node| node.is_sign(",")).map(|part| {
            let end = part.iter().position(|node| node.is("asc desc nulls using"));
            let descending = part.iter().any(|node| node.is("desc"));
            let operand = self.operand(&part[..end.unwrap_or(part.len())])?;
            Some(Sorting { operand, descending })
        });
        sortings.collect::<Option<_>>().unwrap_or_default()
    }

    /// The parts of the name that begins here, and where it ends.
    pub(super) fn dotted(&self, nodes: &[Node<'_>], from: usize) -> (Vec<String>, usize) {
        let end = name_end(nodes, from);
        let parts = nodes[from..end].iter().step_by(2).filter_map(Node::token);
        (parts.map(|token| plain(token, self.syntax)).collect(), end)
    }
}

/// Returns true for the word of a clause; `IS DISTINCT FROM`, `FOR ORDER BY` of an index hint and
/// `JOIN ... USING` have such words within one.
fn begins_clause(nodes: &[Node<'_>], at: usize) -> bool {
    let (node, next) = (&nodes[at], nodes.get(at + 1));
    let is_distinct = at > 1 && nodes[at - 1].is("distinct") && nodes[at - 2].is("is not");
    let is_part = node.is("from") && is_distinct
        || node.is("using") && matches!(next, Some(Node::Group(_)))
        || node.is("group order") && !next.is_some_and(|next| next.is("by"));
    node.is(CLAUSES) && !is_part
}

/// Returns true for a list of columns that puts rows together.
fn gathers(nodes: &[Node<'_>]) -> bool {
    nodes.iter().enumerate().any(|(at, node)| {
        let is_call = matches!(nodes.get(at + 1), Some(Node::Group(_)));
        let is_window = nodes.get(at + 2).is_some_and(|next| next.is("over"));
        node.is("distinct")
            || (is_call && !is_window && node.is(GATHERING))
            || node.group().is_some_and(|group| !node.is_query() && gathers(group))
    })
}
