//! SQL as a tree: tokens with what is in parentheses as one node, and the signs and words that
//! compare.

use work::sql::{Kind, Syntax, Token, tokens};

/// A token, or a pair of parentheses with its content.
#[derive(Debug, Clone, PartialEq)]
pub enum Node<'a> {
    /// A token other than spaces and comments. The signs of an operator are one.
    Token(Token<'a>),
    /// The content of parentheses.
    Group(Vec<Node<'a>>),
}

/// Parentheses in parentheses that are followed.
const DEPTH_MAX: usize = 100;

/// Signs of an operator: PostgreSQL's names are not longer.
const SIGNS_MAX: usize = 63;

impl<'a> Node<'a> {
    /// The token, unless it is a group.
    pub fn token(&self) -> Option<&Token<'a>> {
        match self {
            Self::Token(token) => Some(token),
            Self::Group(_) => None,
        }
    }

    /// Returns true for one of these words, which spaces separate.
    pub fn is(&self, words: &str) -> bool {
        self.token().is_some_and(|token| words.split(' ').any(|word| token.is_keyword(word)))
    }

    /// Returns true for this sign.
    pub fn is_sign(&self, sign: &str) -> bool {
        self.token().is_some_and(|token| token.kind == Kind::Sign && token.text == sign)
    }

    /// Returns true for a name, in quotes or not.
    pub fn is_name(&self) -> bool {
        self.token().is_some_and(|token| {
            token.kind == Kind::Name || token.kind == Kind::Word && !is_parameter(token)
        })
    }

    /// Returns true for a constant or a parameter.
    pub fn is_value(&self) -> bool {
        self.is_sign("?")
            || self.token().is_some_and(|token| {
                matches!(token.kind, Kind::Literal | Kind::Number) || is_parameter(token)
            })
    }

    /// Returns true when it, or a node in it, passes a test.
    pub fn any(&self, test: &dyn Fn(&Self) -> bool) -> bool {
        test(self) || self.group().is_some_and(|nodes| nodes.iter().any(|node| node.any(test)))
    }

    /// The nodes in parentheses.
    pub fn group(&self) -> Option<&[Self]> {
        match self {
            Self::Token(_) => None,
            Self::Group(nodes) => Some(nodes),
        }
    }

    /// Returns true for a query in parentheses.
    pub fn is_query(&self) -> bool {
        let first = self.group().and_then(<[_]>::first);
        first.is_some_and(|first| first.is("select with") || first.is_query())
    }
}

/// Returns true for `$1`, `:name` has a sign before its name.
pub fn is_parameter(token: &Token<'_>) -> bool {
    token.is_numbered_parameter() || token.text.starts_with('@')
}

/// Splits a text.
pub fn nodes(text: &str, syntax: Syntax) -> Vec<Node<'_>> {
    let mut open: Vec<Vec<Node<'_>>> = vec![Vec::new()];
    let mut behind = 0;
    for token in tokens(text, syntax) {
        if matches!(token.kind, Kind::Space | Kind::Comment) || token.at < behind {
            continue;
        }
        let token = if token.kind == Kind::Sign { operator(text, token, syntax) } else { token };
        behind = token.end();
        if token.text == "(" && open.len() < DEPTH_MAX {
            open.push(Vec::new());
            continue;
        }
        let node = match if token.text == ")" && open.len() > 1 { open.pop() } else { None } {
            Some(nodes) => Node::Group(nodes),
            None => Node::Token(token),
        };
        if let Some(last) = open.last_mut() {
            last.push(node);
        }
    }
    // A text that was cut off leaves groups open.
    while open.len() > 1 {
        let Some(nodes) = open.pop() else { break };
        if let Some(last) = open.last_mut() {
            last.push(Node::Group(nodes));
        }
    }
    open.pop().unwrap_or_default()
}

/// The token with the signs behind it that are one operator with it: a comparison, else all that
/// follow without a space.
fn operator<'a>(text: &'a str, token: Token<'a>, syntax: Syntax) -> Token<'a> {
    let rest = &text[token.at..];
    let alone = if syntax == Syntax::Postgres { ".,:;()[]{}" } else { ".,:;()[]{}?" };
    let signs = tokens(rest, syntax)
        .take(SIGNS_MAX)
        .take_while(|next| next.kind == Kind::Sign && !alone.contains(next.text));
    let run = &rest[..signs.last().map_or(token.text.len(), |last| last.end())];
    let known = operators(syntax).find(|(operator, _)| run.starts_with(operator));
    Token { text: &run[..known.map_or(run.len(), |(operator, _)| operator.len())], ..token }
}

/// The position behind the dotted name that begins at a position; the position where none begins.
pub fn name_end(nodes: &[Node<'_>], at: usize) -> usize {
    let is_name = |at: usize| nodes.get(at).is_some_and(Node::is_name);
    if !is_name(at) {
        return at;
    }
    let mut end = at + 1;
    while nodes.get(end).is_some_and(|node| node.is_sign(".")) && is_name(end + 1) {
        end += 2;
    }
    end
}

/// A name without its quotes; where the engine folds names without quotes, in lower case.
pub fn plain(token: &Token<'_>, syntax: Syntax) -> String {
    if token.kind != Kind::Name {
        return if syntax == Syntax::Postgres {
            token.text.to_lowercase()
        } else {
            token.text.to_owned()
        };
    }
    let inner = token.text.get(1..token.text.len().saturating_sub(1)).unwrap_or_default();
    match token.text.chars().next() {
        Some('"') => inner.replace("\"\"", "\""),
        Some('`') => inner.replace("``", "`"),
        _ => inner.replace("]]", "]"),
    }
}

/// The comparison of two sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `IN`, `= ANY`
    In,
    /// `IS NULL`
    Null,
    /// `<`, `<=`, `>`, `>=`, `BETWEEN`
    Range,
    /// `LIKE`
    Like,
    /// `ILIKE`
    LikeAnyCase,
    /// `@>`, `&&` and other operators of sets, ranges, documents and texts.
    Contains(&'static str),
    /// `value = ANY (column)`
    Element,
    /// `NOT IN`
    NotIn,
    /// Another one, which no index serves.
    Other,
}

/// Signs, the longest first, and words that compare.
const COMPARISONS: [(&str, Comparison); 29] = [
    ("!~~*", Comparison::Other),
    ("!~~", Comparison::Other),
    ("!~*", Comparison::Other),
    ("~~*", Comparison::LikeAnyCase),
    ("<=>", Comparison::Equal),
    ("~*", Comparison::Other),
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
    ("in", Comparison::In),
    ("like", Comparison::Like),
    ("ilike", Comparison::LikeAnyCase),
    ("between", Comparison::Range),
    ("regexp", Comparison::Other),
    ("rlike", Comparison::Other),
    ("similar", Comparison::Other),
    ("glob", Comparison::Other),
    ("match", Comparison::Other),
    ("overlaps", Comparison::Other),
];

/// PostgreSQL's operators of documents, arrays, ranges and texts that an inverted index serves.
const CONTAINS: [&str; 7] = ["@>", "@@", "&&", "?|", "?&", "@?", "?"];

/// The signs and words of an engine that compare.
pub fn operators(syntax: Syntax) -> impl Iterator<Item = (&'static str, Comparison)> {
    let contains = CONTAINS.into_iter().filter(move |_| syntax == Syntax::Postgres);
    contains.map(|sign| (sign, Comparison::Contains(sign))).chain(COMPARISONS)
}

#[cfg(test)]
mod tests {
    use super::{Node, nodes};
    use work::sql::Syntax::{self, MariaDb, Postgres, SqlServer};

    #[test]
    fn the_signs_of_an_operator_are_one() {
        let cases: [(Syntax, &str, &[&str]); 7] = [
            (Postgres, "a!~~'x'", &["a", "!~~", "'x'"]),
            (Postgres, "a !~~* b", &["a", "!~~*", "b"]),
            (Postgres, "a~~*b ~*c", &["a", "~~*", "b", "~*", "c"]),
            (Postgres, "a@>b->>'c'", &["a", "@>", "b", "->>", "'c'"]),
            (Postgres, "a::int[]=-1", &["a", ":", ":", "int", "[", "]", "=", "-", "1"]),
            (MariaDb, "a<=>?", &["a", "<=>", "?"]),
            (SqlServer, "[a]>=-1", &["[a]", ">=", "-", "1"]),
        ];
        for (syntax, text, expected) in cases {
            let found = nodes(text, syntax);
            let found: Vec<&str> =
                found.iter().filter_map(Node::token).map(|token| token.text).collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}
