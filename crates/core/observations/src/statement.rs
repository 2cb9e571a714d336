//! Texts of statements as they may be shown and recorded.

use crate::redacted;
use std::str::Chars;

/// Characters that are read of a statement. The server itself cuts at `track_activity_query_size`,
/// 1 kB unless changed.
pub const TEXT_MAX: usize = 10_000;

/// What begins a constant, a name or a comment in an engine's SQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quotes {
    /// Chapter 4.1 of PostgreSQL's documentation.
    Postgres,
    /// <https://mariadb.com/kb/en/string-literals/>, `identifier-names` and `comment-syntax`: text
    /// stands in either kind of quotes, with backslashes, names in backticks, and comments also
    /// begin with `#` and do not stand in each other. With `ANSI_QUOTES` a name in double quotes is
    /// taken for a constant.
    MariaDb,
    /// <https://learn.microsoft.com/en-us/sql/t-sql/data-types/constants-transact-sql>: names also
    /// in brackets, amounts behind a dollar sign.
    TransactSql,
}

/// A statement in one line. Unless `literals` are wanted too, `?` stands for each constant, and
/// comments are left out: both may be data of users. What may be a password is hidden in any case.
pub fn shown(statement: &str, quotes: Quotes, literals: bool) -> String {
    let text = if literals { statement.to_owned() } else { without_literals(statement, quotes) };
    redacted(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The number of a statement by its text, for servers that give it none (FNV-1a of 64 bits).
pub fn number(text: &str) -> i64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    }) as i64
}

/// The first word of a statement, behind comments and parentheses.
pub fn first_word(sql: &str) -> &str {
    let mut rest = behind_comments(sql);
    while let Some(inner) = rest.strip_prefix('(') {
        rest = behind_comments(inner);
    }
    rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
}

/// A statement without the white space and comments that it begins with.
pub fn behind_comments(sql: &str) -> &str {
    let mut rest = sql.trim_start();
    loop {
        let comment = if rest.starts_with("--") {
            rest.find('\n')
        } else if rest.starts_with("/*") {
            rest.find("*/").map(|at| at + 2)
        } else {
            return rest;
        };
        rest = comment.map_or("", |end| rest[end..].trim_start());
    }
}

/// A constant that the server has cut off reaches to the end.
fn without_literals(statement: &str, quotes: Quotes) -> String {
    let is_mariadb = quotes == Quotes::MariaDb;
    let mut out = String::with_capacity(statement.len());
    let mut rest = statement.chars();
    let is_word = |c: char| {
        c.is_alphanumeric()
            || matches!(c, '_' | '$')
            || (quotes == Quotes::TransactSql && matches!(c, '@' | '#'))
    };
    while let Some(c) = rest.next() {
        let next = rest.clone().next();
        match c {
            '\'' | '"' if is_mariadb => {
                skip_quoted(&mut rest, c, true);
                out.push('?');
            }
            '\'' => {
                // Of E'...', B'...', X'...', N'...' and U&'...' the prefix says what it is.
                skip_quoted(
                    &mut rest,
                    '\'',
                    out.ends_with(['E', 'e']) && !ends_in_longer_word(&out),
                );
                out.push('?');
            }
            '"' | '`' => {
                let name = rest.as_str();
                skip_quoted(&mut rest, c, false);
                out.push(c);
                out.push_str(&name[..name.len() - rest.as_str().len()]);
            }
            '[' if quotes == Quotes::TransactSql => {
                let name = rest.as_str();
                skip_quoted(&mut rest, ']', false);
                out.push('[');
                out.push_str(&name[..name.len() - rest.as_str().len()]);
            }
            '$' if quotes == Quotes::TransactSql => {
                skip_number(&mut rest);
                out.push('?');
            }
            '#' if is_mariadb => {
                rest.by_ref().find(|c| *c == '\n');
                out.push(' ');
            }
            '-' if next == Some('-') => {
                rest.by_ref().find(|c| *c == '\n');
                out.push(' ');
            }
            '/' if next == Some('*') => {
                skip_comment(&mut rest, !is_mariadb);
                out.push(' ');
            }
            '$' if quotes == Quotes::Postgres && skip_dollar_quoted(&mut rest) => out.push('?'),
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

/// In PostgreSQL comments of this kind stand in each other.
fn skip_comment(rest: &mut Chars, is_nested: bool) {
    let mut depth = 0;
    let mut before = '/';
    for c in rest.by_ref() {
        depth += match (before, c) {
            ('/', '*') if is_nested || depth == 0 => 1,
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
    use super::{Quotes, first_word, shown};

    #[test]
    fn the_verb_is_the_first_word_that_is_no_comment() {
        for (sql, word) in [
            ("select 1", "select"),
            (" -- a\n /* b */ ((WITH x AS (SELECT 1) SELECT 1))", "WITH"),
            ("/* app:shop,route:/a */ select 1", "select"),
            ("COPY t FROM stdin", "COPY"),
            ("-- nothing", ""),
            ("/* open", ""),
            ("", ""),
        ] {
            assert_eq!(first_word(sql), word, "{sql}");
        }
    }

    #[test]
    fn no_constant_stays_and_all_else_does() {
        for (statement, expected) in [
            (
                "UPDATE t SET a = 'S3c', b = 42 WHERE c3 = -1.5e-7",
                "UPDATE t SET a = ?, b = ? WHERE c3 = -?",
            ),
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
            let text = shown(statement, Quotes::Postgres, false);
            assert_eq!(text, expected, "{statement}");
            assert!(!text.contains("S3c"));
            assert_eq!(shown(&text, Quotes::Postgres, false), text, "twice");
        }
    }

    #[test]
    fn literals_stay_where_they_are_wanted_and_passwords_do_not() {
        let statement = "ALTER ROLE u PASSWORD 'S3c'; SELECT 42 /* web */";
        assert_eq!(
            shown(statement, Quotes::Postgres, true),
            "ALTER ROLE u PASSWORD '***'; SELECT 42 /* web */"
        );
    }

    #[test]
    fn names_of_transact_sql_stand_in_brackets() {
        for (statement, expected) in [
            (
                "SELECT [it's 1].[a]]b'2] FROM #t2 WHERE c = N'it''s S3c' AND @1 > $4.50",
                "SELECT [it's 1].[a]]b'2] FROM #t2 WHERE c = N? AND @1 > ?",
            ),
            (
                "[t].[s]=CONVERT_IMPLICIT(int,[@1],0) /* S3c /* */ S3c */",
                "[t].[s]=CONVERT_IMPLICIT(int,[@1],?)",
            ),
        ] {
            assert_eq!(shown(statement, Quotes::TransactSql, false), expected, "{statement}");
        }
    }

    #[test]
    fn mariadb_has_other_quotes_and_comments() {
        for (statement, expected) in [
            (
                r#"SELECT "S3c\" S3c", 'it\'s S3c', `odd'name``1`, x'1F', b'1' FROM t1"#,
                "SELECT ?, ?, `odd'name``1`, x?, b? FROM t1",
            ),
            ("SELECT 1 # S3c\n, 2 -- S3c\n", "SELECT ? , ?"),
            ("SELECT /* a /* S3c */ 3 AS $b$, 0x1F", "SELECT ? AS $b$, ?"),
            ("INSERT INTO t VALUES (1, 'S3", "INSERT INTO t VALUES (?, ?"),
        ] {
            assert_eq!(shown(statement, Quotes::MariaDb, false), expected, "{statement}");
        }
    }
}
