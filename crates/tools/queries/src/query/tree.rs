//! Tokens of a statement with what is in parentheses as one node.

use sql::{Kind, Syntax, Token, tokens};

/// A token, or a pair of parentheses with its content.
#[derive(Debug, Clone, PartialEq)]
pub enum Node<'a> {
    /// A token other than spaces and comments.
    Token(Token<'a>),
    /// The content of parentheses.
    Group(Vec<Node<'a>>),
}

/// Parentheses in parentheses that are followed.
const DEPTH_MAX: usize = 100;

impl<'a> Node<'a> {
    /// The token, unless it is a group.
    pub fn token(&self) -> Option<&Token<'a>> {
        match self {
            Self::Token(token) => Some(token),
            Self::Group(_) => None,
        }
    }

    /// Returns true for one of these words.
    pub fn is(&self, words: &[&str]) -> bool {
        self.token().is_some_and(|token| words.iter().any(|word| token.is_keyword(word)))
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

    /// The nodes in parentheses.
    pub fn group(&self) -> Option<&[Self]> {
        match self {
            Self::Token(_) => None,
            Self::Group(nodes) => Some(nodes),
        }
    }

    /// Returns true for a query in parentheses.
    pub fn is_query(&self) -> bool {
        self.group().is_some_and(|nodes| {
            nodes.first().is_some_and(|first| first.is(&["select", "with"]) || first.is_query())
        })
    }
}

/// Returns true for `$1`, `:name` has a sign before its name.
pub fn is_parameter(token: &Token<'_>) -> bool {
    token.is_numbered_parameter() || token.text.starts_with('@')
}

/// Splits a text.
pub fn nodes(text: &str, syntax: Syntax) -> Vec<Node<'_>> {
    let mut open: Vec<Vec<Node<'_>>> = vec![Vec::new()];
    for token in tokens(text, syntax) {
        if matches!(token.kind, Kind::Space | Kind::Comment) {
            continue;
        }
        if token.kind == Kind::Sign && token.text == "(" && open.len() < DEPTH_MAX {
            open.push(Vec::new());
            continue;
        }
        let closes = token.kind == Kind::Sign && token.text == ")" && open.len() > 1;
        let node = match if closes { open.pop() } else { None } {
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

/// The nodes between separators, which are signs or words.
pub fn split<'n, 'a>(
    nodes: &'n [Node<'a>],
    is_separator: impl Fn(&Node<'a>) -> bool,
) -> Vec<&'n [Node<'a>]> {
    nodes.split(|node| is_separator(node)).collect()
}
