//! Texts of statements as they may be shown and recorded.

use observations::redacted;
use std::str::Chars;

/// Characters that are read of a statement. The server itself cuts at `track_activity_query_size`, 1 kB unless changed.
pub(crate) const TEXT_MAX: usize = 10_000;

/// A statement in one line. Unless `literals` are wanted too, `?` stands for each constant, and comments are left out: both
/// may be data of users. What may be a password is hidden in any case.
pub(crate) fn shown(statement: &str, literals: bool) -> String {
    let text = if literals { statement.to_owned() } else { without_literals(statement) };
    redacted(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Goes by PostgreSQL's lexical structure (chapter 4.1 of its documentation). A constant that the server has cut off
/// reaches to the end.
fn without_literals(statement: &str) -> String {
    let mut out = String::with_capacity(statement.len());
    let mut rest = statement.chars();
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    while let Some(c) = rest.next() {
        let next = rest.clone().next();
        match c {
            '\'' => {
                // Of E'...', B'...', X'...', N'...' and U&'...' the prefix says what it is.
                skip_quoted(&mut rest, '\'', out.ends_with(['E', 'e']) && !ends_in_longer_word(&out));
                out.push('?');
            }
            '"' => {
                let name = rest.as_str();
                skip_quoted(&mut rest, '"', false);
                out.push('"');
                out.push_str(&name[..name.len() - rest.as_str().len()]);
            }
            '-' if next == Some('-') => {
                rest.by_ref().find(|c| *c == '\n');
                out.push(' ');
            }
            '/' if next == Some('*') => {
                skip_comment(&mut rest);
                out.push(' ');
            }
            '$' if skip_dollar_quoted(&mut rest) => out.push('?'),
            '0'..='9' => {
                skip_number(&mut rest);
                out.push('?');
            }
            '.' if next.is_some_and(|next| next.is_ascii_digit()) => {
                skip_number(&mut rest);
                out.push('?');
            }
            // A name, a keyword or a parameter, digits in it included.
            _ if is_word(c) => {
                let word = rest.as_str();
                let length = word.find(|c| !is_word(c)).unwrap_or(word.len());
                out.push(c);
                out.push_str(&word[..length]);
                rest = word[length..].chars();
            }
            _ => out.push(c),
        }
    }
    out
}

fn ends_in_longer_word(out: &str) -> bool {
    out.chars().rev().nth(1).is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '$')
}

/// Moves behind the quote that ends it; one that is doubled does not.
fn skip_quoted(rest: &mut Chars, quote: char, has_escapes: bool) {
    while let Some(c) = rest.next() {
        if c == '\\' && has_escapes {
            rest.next();
        } else if c == quote && !rest.as_str().starts_with(quote) {
            return;
        } else if c == quote {
            rest.next();
        }
    }
}

/// Comments of this kind stand in each other.
fn skip_comment(rest: &mut Chars) {
    let mut depth = 0;
    let mut before = '/';
    for c in rest.by_ref() {
        depth += match (before, c) {
            ('/', '*') => 1,
            ('*', '/') => -1,
            _ => {
                before = c;
                continue;
            }
        };
        before = ' ';
        if depth == 0 {
            return;
        }
    }
}

/// Behind a dollar sign: whether a text in dollar quotes begins there.
fn skip_dollar_quoted(rest: &mut Chars) -> bool {
    let Some((tag, body)) = rest.as_str().split_once('$') else { return false };
    let is_tag = !tag.starts_with(|c: char| c.is_ascii_digit())
        && tag.chars().all(|c| c.is_alphanumeric() || c == '_');
    if is_tag {
        let end = format!("${tag}$");
        *rest = body.split_once(&end).map_or("", |(_, after)| after).chars();
    }
    is_tag
}

/// The rest of a number: digits of any base, a fraction, an exponent with its sign.
fn skip_number(rest: &mut Chars) {
    let text = rest.as_str();
    let mut before = '0';
    let mut is_part = |c: char| {
        let exponent_sign = (c == '+' || c == '-') && (before == 'e' || before == 'E');
        before = c;
        c.is_ascii_alphanumeric() || c == '.' || c == '_' || exponent_sign
    };
    let length = text.find(|c| !is_part(c)).unwrap_or(text.len());
    *rest = text[length..].chars();
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn no_constant_stays_and_all_else_does() {
        for (statement, expected) in [
            ("UPDATE t SET a = 'S3c', b = 42 WHERE c3 = -1.5e-7", "UPDATE t SET a = ?, b = ? WHERE c3 = -?"),
            ("SELECT 'it''s S3c', '' , 'a\\'", "SELECT ?, ? , ?"),
            (r"SELECT E'S3c\' S3c', name'x'", "SELECT E?, name?"),
            ("SELECT e'\\\\', B'1', X'1F', U&'S3c'", "SELECT e?, B?, X?, U&?"),
            ("DO $$ S3c; $x$ S3c $$", "DO ?"),
            ("SELECT $tag$S3c $$ S3c$tag$ || $1 || $2", "SELECT ? || $1 || $2"),
            (
                "SELECT \"odd'name\"\"1\", t1.c2, _3 FROM \"S 1\".t",
                "SELECT \"odd'name\"\"1\", t1.c2, _3 FROM \"S 1\".t",
            ),
            ("SELECT 0xFF, 1_000, .5, 1., 10 -- S3c\n, 2", "SELECT ?, ?, ?, ?, ? , ?"),
            ("SELECT /* S3c /* S3c */ S3c */ a*/**/b", "SELECT a* b"),
            ("SELECT 'S3c that the server cut", "SELECT ?"),
            ("SELECT $x$ S3c that the server cut", "SELECT ?"),
            ("SELECT a::int[1:2], b->>'S3c'", "SELECT a::int[?:?], b->>?"),
            ("ALTER ROLE u PASSWORD 'S3c'", "ALTER ROLE u PASSWORD ?"),
            ("SET app.token = S3c", "SET app.token = ***"),
            ("SELECT\n\t1\n  FROM t", "SELECT ? FROM t"),
            ("SELECT Käse1, 'Käse' FROM \"Tür\"", "SELECT Käse1, ? FROM \"Tür\""),
            ("", ""),
        ] {
            let text = shown(statement, false);
            assert_eq!(text, expected, "{statement}");
            assert!(!text.contains("S3c"));
            assert_eq!(shown(&text, false), text, "twice");
        }
    }

    #[test]
    fn literals_stay_where_they_are_wanted_and_passwords_do_not() {
        let statement = "ALTER ROLE u PASSWORD 'S3c'; SELECT 42 /* web */";
        assert_eq!(shown(statement, true), "ALTER ROLE u PASSWORD '***'; SELECT 42 /* web */");
    }
}
