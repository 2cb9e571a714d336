//! Conditions: what follows WHERE and ON.

use super::block::Reader;
use super::model::{Block, ColumnName, Condition, Operand, Other};
use inspection::sql_tree::{Comparison, Node, is_parameter, operators};
use work::sql::{Kind, Syntax, Token};

/// Words in expressions that are not columns. Types follow `::` or AS.
const NOT_COLUMNS: &str = "null true false and or not any all some array row case when then else \
                           end as collate escape current_date current_timestamp current_time \
                           localtimestamp from distinct is exists";

/// Types before a literal, and units of time behind one: elsewhere they may be columns.
const TYPES: &str = "interval date time timestamp timestamptz binary";
const UNITS: &str = "year quarter month week day hour minute second";

/// Returns true for a word that names no column in its place.
fn is_keyword(nodes: &[Node<'_>], at: usize) -> bool {
    let (node, next) = (&nodes[at], nodes.get(at + 1));
    let before = at.checked_sub(1).map(|at| &nodes[at]);
    let precedes = |words: &str| next.is_some_and(|next| next.is(words));
    let follows = |words: &str| before.is_some_and(|before| before.is(words));
    node.is(NOT_COLUMNS)
        || node.is(TYPES) && (next.is_some_and(Node::is_value) || precedes("with without"))
        || node.is(UNITS) && (before.is_some_and(Node::is_value) || precedes("from"))
        || node.is("at") && precedes("time")
        || node.is("time") && follows("at with without")
        || node.is("zone") && follows("time")
}

/// A comparison sign or word, its place and its length in nodes.
struct Sign {
    at: usize,
    length: usize,
    comparison: Comparison,
    is_negated: bool,
}

impl Reader {
    /// Adds the conditions of a clause.
    pub(super) fn conditions(&mut self, nodes: &[Node<'_>]) {
        let branches = nodes.split(|node| node.is("or xor"));
        if branches.clone().count() > 1 {
            match branches.map(|branch| self.inner(branch).only_condition()).collect() {
                Some(all) => self.block.alternatives.push(all),
                None => self.block.has_others = true,
            }
            return;
        }
        let (mut start, mut between) = (0, false);
        for (at, node) in nodes.iter().enumerate() {
            between |= node.is("between");
            if node.is("and") {
                if !between {
                    self.conjunct(&nodes[start..at]);
                    start = at + 1;
                }
                between = false;
            }
        }
        self.conjunct(&nodes[start..]);
    }

    /// The conditions of a part by itself.
    fn inner(&self, nodes: &[Node<'_>]) -> Block {
        let mut inner = Self::new(self.syntax);
        inner.conditions(nodes);
        inner.block
    }

    fn conjunct(&mut self, nodes: &[Node<'_>]) {
        match nodes {
            [] => {}
            [Node::Group(inner)] if !nodes[0].is_query() => self.conditions(inner),
            [first, Node::Group(_)] if first.is("exists") => {}
            [not, exists, Node::Group(_)] if not.is("not") && exists.is("exists") => {}
            [not, rest @ ..] if not.is("not") => {
                let inner = self.inner(rest);
                let is_column = matches!(rest, [_] | [_, _, _]) && inner.conditions.len() == 1;
                let negated = inner.conditions.into_iter().map(|condition| Condition {
                    comparison: match condition.comparison {
                        Comparison::Equal if is_column && condition.other == Other::Value(None) => {
                            Comparison::Equal
                        }
                        Comparison::In if condition.other == Other::Query => Comparison::NotIn,
                        _ => Comparison::Other,
                    },
                    ..condition
                });
                self.block.conditions.extend(negated);
                self.block.has_others |= !inner.alternatives.is_empty() || inner.has_others;
            }
            _ => match self.comparison(nodes) {
                Some(found) => self.block.conditions.extend(found),
                None => self.block.has_others = true,
            },
        }
    }

    fn sign(&self, nodes: &[Node<'_>]) -> Option<Sign> {
        nodes.iter().enumerate().find_map(|(at, node)| {
            if node.is("is") {
                let is_null = nodes.get(at + 1).is_some_and(|next| next.is("null"));
                let comparison = if is_null { Comparison::Null } else { Comparison::Other };
                return Some(Sign { at, length: nodes.len() - at, comparison, is_negated: false });
            }
            let text = node.token()?.text;
            let mut known = operators(self.syntax);
            let (_, comparison) = known.find(|(known, _)| text.eq_ignore_ascii_case(known))?;
            let is_negated = at > 0 && nodes[at - 1].is("not");
            let before = usize::from(is_negated);
            Some(Sign { at: at - before, length: 1 + before, comparison, is_negated })
        })
    }

    /// The comparisons that a condition makes: several of rows, one of other values.
    fn comparison(&self, nodes: &[Node<'_>]) -> Option<Vec<Condition>> {
        let Some(Sign { at, length, comparison, is_negated }) = self.sign(nodes) else {
            // A column that is true or false.
            let operand = self.operand(nodes).filter(|operand| operand.is_plain)?;
            let (comparison, other) = (Comparison::Equal, Other::Value(None));
            return Some(vec![Condition { operand, comparison, other }]);
        };
        let (left, right) = (&nodes[..at], &nodes[at + length..]);
        if let [Node::Group(columns)] = left
            && comparison != Comparison::Null
            && columns.iter().any(|node| node.is_sign(","))
        {
            return self.rows(columns, if is_negated { Comparison::Other } else { comparison });
        }
        let is_any = right.first().is_some_and(|first| first.is("any some"));
        let right = if is_any { &right[1..] } else { right };
        let comparison = match comparison {
            Comparison::In if is_negated => Comparison::NotIn,
            _ if is_negated => Comparison::Other,
            Comparison::Equal if is_any => Comparison::In,
            known => known,
        };
        if let Some(operand) = self.operand(left) {
            return Some(vec![Condition { operand, comparison, other: self.other(right) }]);
        }
        // The column is on the right.
        let Other::Operand(operand) = self.other(right) else { return None };
        let is_element = comparison == Comparison::In;
        let comparison = if is_element { Comparison::Element } else { comparison };
        Some(vec![Condition { operand, comparison, other: self.other(left) }])
    }

    /// `(a, b) = (1, 2)`: each column; of another comparison the first.
    fn rows(&self, columns: &[Node<'_>], comparison: Comparison) -> Option<Vec<Condition>> {
        let comparison = match comparison {
            Comparison::Equal | Comparison::In | Comparison::Range => comparison,
            _ => Comparison::Other,
        };
        let number = if comparison == Comparison::Range { 1 } else { usize::MAX };
        let parts = columns.split(|node| node.is_sign(",")).take(number);
        let conditions = parts.map(|part| {
            let operand = self.operand(part)?;
            Some(Condition { operand, comparison, other: Other::Value(None) })
        });
        conditions.collect()
    }

    fn other(&self, nodes: &[Node<'_>]) -> Other {
        if nodes.iter().any(Node::is_query) {
            return Other::Query;
        }
        if let Some(operand) = self.operand(nodes) {
            return Other::Operand(operand);
        }
        Other::Value(match nodes {
            [Node::Token(token)] if matches!(token.kind, Kind::Literal | Kind::Number) => {
                Some(token.text.to_owned())
            }
            _ => None,
        })
    }

    /// A side of a comparison; `None` of a value.
    pub(super) fn operand(&self, nodes: &[Node<'_>]) -> Option<Operand> {
        let mut found = Operand::default();
        let inner = match nodes {
            [Node::Group(inner)] if !nodes[0].is_query() => inner.as_slice(),
            nodes => nodes,
        };
        self.collect(inner, &mut found);
        let first = found.columns.first()?;
        let is_name = inner.len() == 1 || self.dotted(inner, 0).1 == inner.len();
        found.is_plain = is_name && found.columns.len() == 1;
        if found.is_plain {
            found.text.clone_from(&first.name);
        }
        Some(found)
    }

    /// Adds columns and text of an expression.
    fn collect(&self, nodes: &[Node<'_>], out: &mut Operand) {
        let mut at = 0;
        while at < nodes.len() {
            at = match &nodes[at] {
                Node::Token(token) => self.token(nodes, at, token, out),
                node if node.is_query() => {
                    out.text.push_str("(...)");
                    out.has_parameter = true;
                    at + 1
                }
                Node::Group(inner) => {
                    out.text.push('(');
                    self.collect(inner, out);
                    out.text.push(')');
                    at + 1
                }
            };
        }
    }

    /// Adds a token, of a name all of it; returns what follows.
    fn token(&self, nodes: &[Node<'_>], at: usize, token: &Token<'_>, out: &mut Operand) -> usize {
        let node = &nodes[at];
        out.has_parameter |= is_parameter(token)
            || node.is_sign("?") && self.syntax != Syntax::Postgres
            || node.is_sign(":") && self.syntax == Syntax::Sqlite;
        let is_call = matches!(nodes.get(at + 1), Some(Node::Group(_)));
        let follows_cast = at > 0 && (nodes[at - 1].is_sign(":") || nodes[at - 1].is("as"));
        if !node.is_name() || is_call || follows_cast || is_keyword(nodes, at) {
            push(out, token.text);
            return at + 1;
        }
        let (mut names, next) = self.dotted(nodes, at);
        let last = nodes[next - 1].token().map_or("", |token| token.text);
        push(out, if self.syntax == Syntax::MariaDb { last.trim_matches('`') } else { last });
        let name = names.pop().unwrap_or_default();
        // What parentheses follow is a function with its schema.
        if !matches!(nodes.get(next), Some(Node::Group(_))) {
            out.columns.push(ColumnName { qualifier: names.pop(), name });
        }
        next
    }
}

/// Adds a token, with a space between two words.
fn push(out: &mut Operand, token: &str) {
    let is_word = |c: char| c.is_alphanumeric() || "_$\"'`".contains(c);
    if out.text.ends_with(is_word) && token.starts_with(is_word) {
        out.text.push(' ');
    }
    out.text.push_str(token);
}
