//! Texts that must be one query. What could write is refused by its words.

use super::lexer::{Kind, Syntax, Token, tokens};

/// An objection to a text that is not one query.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// It reads nothing.
    #[error("begins with `{word}`; give a query that begins with SELECT or WITH")]
    NotAQuery {
        /// The first word.
        word: String,
    },
    /// It changes or locks something.
    #[error("contains `{word}`, which can change or lock data; this study runs queries only")]
    Writes {
        /// The keyword.
        word: String,
    },
    /// A second statement follows.
    #[error("has several statements; give one query")]
    Several,
}

/// Keywords of statements that write or lock.
const WRITING: [&str; 16] = [
    "INSERT", "UPDATE", "DELETE", "MERGE", "INTO", "CREATE", "DROP", "ALTER", "TRUNCATE", "COPY",
    "CALL", "GRANT", "REVOKE", "LOCK", "ATTACH", "VACUUM",
];

/// Returns a text that is one query that cannot write, without the semicolon at its end and space
/// around it.
///
/// # Errors
/// When it is not.
pub fn query(text: &str) -> Result<&str, QueryError> {
    let all = significant(text);
    let first = all.iter().find(|token| token.text != "(");
    let word = first.map_or("", |token| token.text).to_owned();
    if !["SELECT", "WITH"].iter().any(|verb| word.eq_ignore_ascii_case(verb)) {
        return Err(QueryError::NotAQuery { word });
    }
    let writing = all.iter().find(|token| WRITING.iter().any(|word| token.is_keyword(word)));
    if let Some(token) = writing {
        return Err(QueryError::Writes { word: token.text.to_owned() });
    }
    let end = all.iter().position(|token| token.text == ";");
    match end {
        Some(at) if at + 1 < all.len() => Err(QueryError::Several),
        _ => Ok(text.trim().trim_end_matches(';').trim_end()),
    }
}

/// Returns the tokens without space and comments.
pub fn significant(text: &str) -> Vec<Token<'_>> {
    let all = tokens(text, Syntax::Sqlite);
    all.filter(|token| !matches!(token.kind, Kind::Space | Kind::Comment)).collect()
}
