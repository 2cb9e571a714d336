//! Lists of tables, with the conditions of their joins.

use super::block::Reader;
use super::model::{ColumnName, Condition, Operand, Other, Source};
use inspection::sql_tree::{Comparison, Node, plain};
use work::sql::{Kind, Token};

/// Words between two tables.
const JOINS: &str = "join inner left right full outer cross natural straight_join asof lateral";

/// Words that may follow a table and are not its other name.
const AFTER: &str = "on using use force ignore tablesample partition with set indexed not for";

impl Reader {
    /// Adds the tables of a list, and the conditions of its joins.
    pub(super) fn sources(&mut self, nodes: &[Node<'_>]) {
        let mut at = 0;
        while at < nodes.len() {
            let node = &nodes[at];
            if node.is("on") {
                let end = end_of_condition(nodes, at + 1);
                self.conditions(&nodes[at + 1..end]);
                at = end;
            } else if node.is("using") {
                if let Some(columns) = nodes.get(at + 1).and_then(Node::group) {
                    self.using(columns);
                }
                at += 2;
            } else if node.is_query() {
                at = alias(nodes, at + 1).1;
            } else if let Some(group) = node.group() {
                self.sources(group);
                at += 1;
            } else if node.is_name() && !node.is(JOINS) && !node.is("only") {
                at = self.source(nodes, at);
            } else {
                at += 1;
            }
        }
    }

    /// Adds the table that begins here; returns where it ends.
    fn source(&mut self, nodes: &[Node<'_>], from: usize) -> usize {
        let (mut names, at) = self.dotted(nodes, from);
        // A function that returns rows.
        let is_function = matches!(nodes.get(at), Some(Node::Group(_)));
        let (alias, end) = alias(nodes, at);
        if let Some(name) = names.pop()
            && !is_function
        {
            let alias = alias.map(|token| plain(token, self.syntax));
            self.block.sources.push(Source { schema: names.pop(), name, alias });
        }
        end
    }

    /// The columns that the last two tables have in common.
    fn using(&mut self, columns: &[Node<'_>]) {
        let [.., left, right] = self.block.sources.as_slice() else { return };
        let sides = [left, right].map(|source| source.alias.as_ref().unwrap_or(&source.name));
        let names = columns.iter().filter_map(Node::token).filter(|token| token.kind != Kind::Sign);
        let conditions = names.map(|token| {
            let name = plain(token, self.syntax);
            let [left, right] = sides.map(|side| Operand {
                columns: vec![ColumnName { qualifier: Some(side.clone()), name: name.clone() }],
                text: name.clone(),
                is_plain: true,
                has_parameter: false,
            });
            let (comparison, other) = (Comparison::Equal, Other::Operand(left));
            Condition { operand: right, comparison, other }
        });
        let conditions: Vec<Condition> = conditions.collect();
        self.block.conditions.extend(conditions);
    }
}

/// The other name of what ends here, and where it ends.
fn alias<'n, 'a>(nodes: &'n [Node<'a>], at: usize) -> (Option<&'n Token<'a>>, usize) {
    let at = at + usize::from(nodes.get(at).is_some_and(|node| node.is("as")));
    let next = nodes.get(at).filter(|node| node.is_name() && !node.is(JOINS) && !node.is(AFTER));
    let alias = next.and_then(Node::token);
    (alias, at + usize::from(alias.is_some()))
}

/// The end of the condition that begins here: the next join.
fn end_of_condition(nodes: &[Node<'_>], from: usize) -> usize {
    let mut ends = (from..nodes.len()).filter(|at| {
        let is_function = matches!(nodes.get(at + 1), Some(Node::Group(_)));
        (nodes[*at].is(JOINS) && !is_function) || nodes[*at].is_sign(",")
    });
    ends.next().unwrap_or(nodes.len())
}
