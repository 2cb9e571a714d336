//! Texts of statements as they may be shown and recorded.

use super::{Kind, Syntax, tokens};
use observations::redacted;

/// Characters that are read of a statement. The server itself cuts at `track_activity_query_size`,
/// 1 kB unless changed.
pub const TEXT_MAX: usize = 10_000;

/// The words that statements begin with which have plans, in capitals.
pub const VERBS: [&str; 9] =
    ["SELECT", "WITH", "VALUES", "TABLE", "INSERT", "UPDATE", "DELETE", "MERGE", "REPLACE"];

/// A statement in one line. Unless `literals` are wanted too, `?` stands for each constant, and
/// comments are left out: both may be data of users. Passwords are always hidden.
pub fn shown(statement: &str, syntax: Syntax, literals: bool) -> String {
    if literals {
        return redacted(&in_one_line(statement, syntax));
    }
    let text = without_literals(statement, syntax);
    redacted(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// A statement in one line that means the same: white space within literals stays, and a comment to
/// the end of its line ends before the rest.
fn in_one_line(statement: &str, syntax: Syntax) -> String {
    let mut line = String::with_capacity(statement.len());
    for token in tokens(statement.trim(), syntax) {
        match token.kind {
            Kind::Space => line.push(' '),
            Kind::Comment if token.text.starts_with("/*") => {
                line.push_str(&token.text.split_whitespace().collect::<Vec<_>>().join(" "));
            }
            Kind::Comment => {
                let text = token.text.trim_start_matches(['-', '#']).trim();
                line.extend(["/* ", &text.replace("*/", "* /"), " */"]);
            }
            _ => line.push_str(token.text),
        }
    }
    line
}

/// The number of a statement by its text, for servers that give it none (FNV-1a of 64 bits).
pub fn number(text: &str) -> i64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    }) as i64
}

/// The first word of a statement, behind comments and parentheses.
pub fn first_word(sql: &str) -> &str {
    tokens(sql, Syntax::Sqlite)
        .find(|token| !matches!(token.kind, Kind::Space | Kind::Comment) && token.text != "(")
        .filter(|token| token.kind == Kind::Word)
        .map_or("", |word| word.text)
}

/// A statement without the white space and comments that it begins with.
pub fn behind_comments(sql: &str) -> &str {
    tokens(sql, Syntax::Sqlite)
        .find(|token| !matches!(token.kind, Kind::Space | Kind::Comment))
        .map_or("", |token| &sql[token.at..])
}

/// Puts names and figures into a text that has `{name}` in their places.
pub fn filled(text: &str, names: &[(&str, &str)]) -> String {
    names
        .iter()
        .fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
}

/// A constant that the server has cut off reaches to the end.
fn without_literals(statement: &str, syntax: Syntax) -> String {
    tokens(statement, syntax)
        .map(|token| match token.kind {
            Kind::Literal | Kind::Number => "?",
            Kind::Comment => " ",
            _ => token.text,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{filled, first_word, shown};
    use crate::sql::Syntax;

    #[test]
    fn names_are_put_into_texts() {
        let names = [("table", "t"), ("column", "a")];
        assert_eq!(filled("ANALYZE {table} ({column})", &names), "ANALYZE t (a)");
        assert_eq!(filled("SELECT '{}'", &names), "SELECT '{}'");
    }

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
            let text = shown(statement, Syntax::Postgres, false);
            assert_eq!(text, expected, "{statement}");
            assert!(!text.contains("S3c"));
            assert_eq!(shown(&text, Syntax::Postgres, false), text, "twice");
        }
    }

    #[test]
    fn literals_stay_where_they_are_wanted_and_passwords_do_not() {
        let statement = "ALTER ROLE u PASSWORD 'S3c'; SELECT 42 /* web */";
        assert_eq!(
            shown(statement, Syntax::Postgres, true),
            "ALTER ROLE u PASSWORD '***'; SELECT 42 /* web */"
        );
    }

    #[test]
    fn a_comment_does_not_swallow_the_lines_behind_it() {
        for (statement, expected) in [
            ("SELECT a, -- first\n  b\nFROM t", "SELECT a, /* first */ b FROM t"),
            ("SELECT 'two  spaces -- kept'\n", "SELECT 'two  spaces -- kept'"),
            ("SELECT 1 --", "SELECT 1 /*  */"),
        ] {
            assert_eq!(shown(statement, Syntax::Postgres, true), expected);
        }
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
            assert_eq!(shown(statement, Syntax::SqlServer, false), expected, "{statement}");
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
            assert_eq!(shown(statement, Syntax::MariaDb, false), expected, "{statement}");
        }
    }
}
