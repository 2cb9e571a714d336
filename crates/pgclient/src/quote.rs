//! Names and values inside statements.

use postgres_protocol::escape::{escape_identifier, escape_literal};

/// A name as SQL writes it, whatever it contains: `"my table"`.
///
/// ```
/// assert_eq!(pgclient::quote_identifier(r#"say "hi""#), r#""say ""hi""""#);
/// ```
pub fn quote_identifier(name: &str) -> String {
    escape_identifier(name)
}

/// A value as SQL writes it, whatever it contains: `'it''s'`.
///
/// ```
/// assert_eq!(pgclient::quote_literal("it's"), "'it''s'");
/// ```
pub fn quote_literal(value: &str) -> String {
    // With a backslash in it, it begins with a space, so that the E'' cannot join a word before it.
    escape_literal(value)
}
