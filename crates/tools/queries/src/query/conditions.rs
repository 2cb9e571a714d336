//! Conditions: what follows WHERE and ON.

use super::model::{Block, ColumnName, Comparison, Condition, Operand, Other};
use super::tree::{Node, is_parameter, plain, split};
use sql::{Kind, Syntax, Token};

/// Words in expressions that are not columns. Types follow `::` or AS.
#[rustfmt::skip]
const NOT_COLUMNS: [&str; 27] = [
    "null", "true", "false", "and", "or", "not", "any", "all", "some", "array", "row", "case",
    "when", "then", "else", "end", "as", "collate", "escape", "current_date", "current_timestamp",
    "current_time", "localtimestamp", "from", "distinct", "is", "exists",
];

/// Types before a literal, and units of time behind one: elsewhere they may be columns.
const TYPES: [&str; 6] = ["interval", "date", "time", "timestamp", "timestamptz", "binary"];
const UNITS: [&str; 8] = ["year", "quarter", "month", "week", "day", "hour", "minute", "second"];

/// Returns true for a word that names no column in its place.
fn is_keyword(nodes: &[Node<'_>], at: usize) -> bool {
    let is_value = |node: &Node<'_>| {
        node.is_sign("?")
            || node.token().is_some_and(|token| {
                matches!(token.kind, Kind::Literal | Kind::Number) || is_parameter(token)
            })
    };
    let next = |distance: usize| nodes.get(at + distance);
    let before = at.checked_sub(1).map(|at| &nodes[at]);
    nodes[at].is(&NOT_COLUMNS)
        || (nodes[at].is(&TYPES)
            && next(1).is_some_and(|node| is_value(node) || node.is(&["with", "without"])))
        || (nodes[at].is(&UNITS)
            && (next(1).is_some_and(|node| node.is(&["from"])) || before.is_some_and(is_value)))
        || (nodes[at].is(&["at"]) && next(1).is_some_and(|node| node.is(&["time"])))
        || (nodes[at].is(&["time"])
            && before.is_some_and(|node| node.is(&["at", "with", "without"])))
        || (nodes[at].is(&["zone"]) && before.is_some_and(|node| node.is(&["time"])))
}

/// Signs that compare, the longest first.
const SIGNS: [(&str, Comparison); 14] = [
    ("<=>", Comparison::Equal),
    ("==", Comparison::Equal),
    ("<>", Comparison::Other),
    ("!=", Comparison::Other),
    ("!~", Comparison::Other),
    ("<=", Comparison::Range),
    (">=", Comparison::Range),
    ("~~", Comparison::Like),
    ("~", Comparison::Other),
    ("=", Comparison::Equal),
    ("<@", Comparison::Other),
    ("<<", Comparison::Other),
    ("<", Comparison::Range),
    (">", Comparison::Range),
];

/// Operators of documents, arrays, ranges and texts that an inverted index serves.
const CONTAINS: [&str; 7] = ["@>", "@@", "&&", "?|", "?&", "@?", "?"];

/// Adds the conditions of a clause.
pub fn conditions(nodes: &[Node<'_>], syntax: Syntax, block: &mut Block) {
    let branches = split(nodes, |node| node.is(&["or", "xor"]));
    if branches.len() > 1 {
        let mut all = Vec::new();
        for branch in branches {
            let mut inner = Block::default();
            conditions(branch, syntax, &mut inner);
            let is_simple = inner.conditions.len() == 1 && inner.alternatives.is_empty();
            let Some(condition) = inner.conditions.pop().filter(|_| is_simple && !inner.has_others)
            else {
                block.has_others = true;
                return;
            };
            all.push(condition);
        }
        block.alternatives.push(all);
        return;
    }
    let mut start = 0;
    let mut between = false;
    for (at, node) in nodes.iter().enumerate() {
        between |= node.is(&["between"]);
        if node.is(&["and"]) {
            if !between {
                conjunct(&nodes[start..at], syntax, block);
                start = at + 1;
            }
            between = false;
        }
    }
    conjunct(&nodes[start..], syntax, block);
}

fn conjunct(nodes: &[Node<'_>], syntax: Syntax, block: &mut Block) {
    match nodes {
        [] => {}
        [Node::Group(inner)] if !nodes[0].is_query() => conditions(inner, syntax, block),
        [first, Node::Group(_)] if first.is(&["exists"]) => {}
        [not, exists, Node::Group(_)] if not.is(&["not"]) && exists.is(&["exists"]) => {}
        [not, rest @ ..] if not.is(&["not"]) => {
            let mut inner = Block::default();
            conditions(rest, syntax, &mut inner);
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
            block.conditions.extend(negated);
            block.has_others |= !inner.alternatives.is_empty() || inner.has_others;
        }
        _ => match comparison(nodes, syntax) {
            Some(found) => block.conditions.extend(found),
            None => block.has_others = true,
        },
    }
}

/// A comparison sign or word, its place and its length in nodes.
struct Sign {
    at: usize,
    length: usize,
    comparison: Comparison,
    is_negated: bool,
}

fn sign(nodes: &[Node<'_>], syntax: Syntax) -> Option<Sign> {
    let mut at = 0;
    while at < nodes.len() {
        let is_negated = at > 0 && nodes[at - 1].is(&["not"]);
        let place = if is_negated { at - 1 } else { at };
        let word = |comparison, length| {
            let length = length + usize::from(is_negated);
            Some(Sign { at: place, length, comparison, is_negated })
        };
        match &nodes[at] {
            node if node.is(&["in"]) => return word(Comparison::In, 1),
            node if node.is(&["like"]) => return word(Comparison::Like, 1),
            node if node.is(&["ilike"]) => return word(Comparison::LikeAnyCase, 1),
            node if node.is(&["between"]) => return word(Comparison::Range, 1),
            node if node.is(&["regexp", "rlike", "similar", "glob", "match", "overlaps"]) => {
                return word(Comparison::Other, 1);
            }
            node if node.is(&["is"]) => {
                let is_null = matches!(nodes.get(at + 1), Some(next) if next.is(&["null"]));
                let comparison = if is_null { Comparison::Null } else { Comparison::Other };
                return word(comparison, nodes.len() - at);
            }
            Node::Token(token) if token.kind == Kind::Sign => {
                let run = run(nodes, at);
                if let Some((text, comparison)) = operator(&run, syntax) {
                    let length = text.len();
                    return Some(Sign { at, length, comparison, is_negated: false });
                }
                at += run.len().max(1);
            }
            _ => at += 1,
        }
    }
    None
}

/// The signs that follow each other without a space.
fn run(nodes: &[Node<'_>], from: usize) -> String {
    let mut text = String::new();
    let mut end = None;
    for token in nodes[from..].iter().map_while(Node::token) {
        let joins = end.is_none_or(|end| end == token.at);
        if token.kind != Kind::Sign || !joins || ".,:;".contains(token.text) {
            break;
        }
        text.push_str(token.text);
        end = Some(token.end());
    }
    text
}

fn operator(run: &str, syntax: Syntax) -> Option<(String, Comparison)> {
    let contains = CONTAINS.iter().find(|known| run.starts_with(**known));
    if let Some(operator) = contains
        && syntax == Syntax::Postgres
    {
        return Some(((*operator).to_owned(), Comparison::Contains((*operator).to_owned())));
    }
    let (text, comparison) = SIGNS.iter().find(|(text, _)| run.starts_with(text))?;
    Some(((*text).to_owned(), comparison.clone()))
}

/// The comparisons that a condition makes: several of rows, one of other values.
fn comparison(nodes: &[Node<'_>], syntax: Syntax) -> Option<Vec<Condition>> {
    let Some(Sign { at, length, comparison, is_negated }) = sign(nodes, syntax) else {
        // A column that is true or false.
        let operand = operand(nodes, syntax).filter(|operand| operand.is_plain)?;
        let other = Other::Value(None);
        return Some(vec![Condition { operand, comparison: Comparison::Equal, other }]);
    };
    let (left, right) = (&nodes[..at], &nodes[(at + length).min(nodes.len())..]);
    if let ([Node::Group(columns)], true) = (left, comparison != Comparison::Null) {
        let parts = split(columns, |node| node.is_sign(","));
        if parts.len() > 1 {
            return rows(&parts, &comparison, is_negated, syntax);
        }
    }
    let is_any = right.first().is_some_and(|first| first.is(&["any", "some"]));
    let right = if is_any { &right[1..] } else { right };
    let (mut operand_of, mut other) = (operand(left, syntax), other(right, syntax));
    let mut comparison = match comparison {
        Comparison::In if is_negated => Comparison::NotIn,
        _ if is_negated => Comparison::Other,
        Comparison::Equal if is_any => Comparison::In,
        known => known,
    };
    if operand_of.is_none() {
        // The column is on the right.
        let Other::Operand(right) = other else { return None };
        other = self::other(left, syntax);
        if comparison == Comparison::In {
            comparison = Comparison::Element;
        }
        operand_of = Some(right);
    }
    Some(vec![Condition { operand: operand_of?, comparison, other }])
}

/// `(a, b) = (1, 2)`: each column; of another comparison the first.
fn rows(
    parts: &[&[Node<'_>]],
    comparison: &Comparison,
    is_negated: bool,
    syntax: Syntax,
) -> Option<Vec<Condition>> {
    let compared = match comparison {
        _ if is_negated => Comparison::Other,
        Comparison::Equal | Comparison::In => comparison.clone(),
        Comparison::Range => Comparison::Range,
        _ => Comparison::Other,
    };
    let number = if compared == Comparison::Range { 1 } else { parts.len() };
    parts[..number]
        .iter()
        .map(|part| {
            let operand = operand(part, syntax)?;
            Some(Condition { operand, comparison: compared.clone(), other: Other::Value(None) })
        })
        .collect()
}

fn other(nodes: &[Node<'_>], syntax: Syntax) -> Other {
    if nodes.iter().any(Node::is_query) {
        return Other::Query;
    }
    if let Some(operand) = operand(nodes, syntax) {
        return Other::Operand(operand);
    }
    let literal = match nodes {
        [Node::Token(token)] if matches!(token.kind, Kind::Literal | Kind::Number) => {
            Some(token.text.to_owned())
        }
        _ => None,
    };
    Other::Value(literal)
}

/// A side of a comparison; `None` of a value.
pub fn operand(nodes: &[Node<'_>], syntax: Syntax) -> Option<Operand> {
    let mut found = Operand::default();
    let inner = match nodes {
        [Node::Group(inner)] if !nodes[0].is_query() => inner.as_slice(),
        nodes => nodes,
    };
    collect(inner, syntax, &mut found);
    if found.columns.is_empty() {
        return None;
    }
    let qualified = inner.len() == 3 && inner[1].is_sign(".") && inner[2].is_name();
    let deep = inner.len() == 5 && inner[3].is_sign(".") && inner[4].is_name();
    found.is_plain = (inner.len() == 1 || qualified || deep) && found.columns.len() == 1;
    if found.is_plain {
        found.text.clone_from(&found.columns[0].name);
    }
    Some(found)
}

/// Adds columns and text of an expression.
fn collect(nodes: &[Node<'_>], syntax: Syntax, out: &mut Operand) {
    let mut at = 0;
    while at < nodes.len() {
        match &nodes[at] {
            Node::Group(_) if nodes[at].is_query() => {
                out.text.push_str("(...)");
                out.has_parameter = true;
                at += 1;
            }
            Node::Group(inner) => {
                out.text.push('(');
                collect(inner, syntax, out);
                out.text.push(')');
                at += 1;
            }
            Node::Token(token) => at = token_of(nodes, at, token, syntax, out),
        }
    }
}

fn token_of(
    nodes: &[Node<'_>],
    at: usize,
    token: &Token<'_>,
    syntax: Syntax,
    out: &mut Operand,
) -> usize {
    let is_sign = token.kind == Kind::Sign;
    let is_placeholder = is_sign && token.text == "?" && syntax != Syntax::Postgres;
    out.has_parameter |= is_placeholder
        || is_parameter(token)
        || (is_sign && token.text == ":" && syntax == Syntax::Sqlite);
    let is_call = matches!(nodes.get(at + 1), Some(Node::Group(_)));
    let follows_cast = at > 0 && (nodes[at - 1].is_sign(":") || nodes[at - 1].is(&["as"]));
    let is_value = token.kind == Kind::Word && is_keyword(nodes, at);
    if !nodes[at].is_name() || is_call || follows_cast || is_value {
        push(out, token.text);
        return at + 1;
    }
    let mut names = vec![plain(token, syntax)];
    let mut next = at + 1;
    while nodes.get(next).is_some_and(|node| node.is_sign(".")) {
        let Some(part) = nodes.get(next + 1).filter(|node| node.is_name()).and_then(Node::token)
        else {
            break;
        };
        names.push(plain(part, syntax));
        next += 2;
    }
    let last = nodes[next - 1].token().map_or("", |token| token.text);
    push(out, if syntax == Syntax::MariaDb { last.trim_matches('`') } else { last });
    let name = names.pop().unwrap_or_default();
    // A function with its schema.
    if matches!(nodes.get(next), Some(Node::Group(_))) {
        return next;
    }
    out.columns.push(ColumnName { qualifier: names.pop(), name });
    next
}

/// Adds a token, with a space between two words.
fn push(out: &mut Operand, token: &str) {
    let is_word = |c: char| c.is_alphanumeric() || "_$\"'`".contains(c);
    if out.text.ends_with(is_word) && token.starts_with(is_word) {
        out.text.push(' ');
    }
    out.text.push_str(token);
}
