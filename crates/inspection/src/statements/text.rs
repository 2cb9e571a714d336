//! Texts of statements that are the same but for constants and spaces.

use crate::statements::Rules;
use std::collections::{HashMap, HashSet};
use work::sql::statement::shown;
use work::sql::{Kind, Syntax, Token, tokens};

/// Words of SQL that tell what kind of statement it is; all others may be names.
const WORDS: [&str; 42] = [
    "all", "and", "any", "as", "avg", "between", "by", "case", "count", "delete", "distinct",
    "exists", "for", "from", "group", "having", "in", "inner", "insert", "into", "is", "join",
    "left", "like", "limit", "max", "merge", "min", "not", "null", "on", "or", "order", "replace",
    "select", "set", "sum", "union", "update", "values", "where", "with",
];

/// Words that may follow a table that has no other name.
#[rustfmt::skip]
const AFTER_TABLES: [&str; 23] = [
    "where", "on", "join", "left", "right", "full", "inner", "cross", "natural", "order", "group",
    "limit", "set", "using", "union",
    "except", "intersect", "having", "indexed", "not", "values", "default", "returning",
];

fn is_name(token: &Token) -> bool {
    token.kind == Kind::Name || (token.kind == Kind::Word && !token.is_numbered_parameter())
}

/// The rest of a text without its constants and names: `SELECT _ FROM _ WHERE _ = $1`. It tells
/// no more than what kind of statement it is.
pub fn skeleton(text: &str, syntax: Syntax) -> String {
    let text = shown(text, syntax, false);
    let mut out = String::new();
    for token in tokens(&text, syntax) {
        // What a statement begins with is a word of SQL.
        let is_first = out.trim_matches([' ', '(']).is_empty();
        let is_keyword = WORDS.contains(&token.text.to_lowercase().as_str());
        if is_first || is_keyword || !is_name(&token) {
            out.push_str(token.text);
        } else {
            // Of variables and temporary tables, the sign that tells them is kept.
            out.push_str(
                token.text.get(..1).filter(|sign| "@#".contains(sign)).unwrap_or_default(),
            );
            out.push('_');
        }
    }
    out
}

/// The names of tables in a statement: the table by its other name, in lower case.
pub fn aliases(text: &str, syntax: Syntax) -> HashMap<String, String> {
    let text = shown(text, syntax, false);
    let tokens: Vec<Token> =
        tokens(&text, syntax).filter(|token| token.kind != Kind::Space).collect();
    let plain = |token: &Token| token.text.trim_matches(['"', '`', '[', ']']).to_owned();
    let is = |at: usize, words: &[&str]| {
        tokens
            .get(at)
            .is_some_and(|token| words.iter().any(|word| token.text.eq_ignore_ascii_case(word)))
    };
    let mut found = HashMap::new();
    let mut lists_tables = false;
    for at in 0..tokens.len() {
        let begins = is(at, &["from", "join", "update", "into"]);
        let ends = ["where", "set", "select", "(", ")", "values", "group", "order"];
        lists_tables = begins || (lists_tables && !is(at, &ends));
        if !(begins || lists_tables && is(at, &[","])) || !tokens.get(at + 1).is_some_and(is_name) {
            continue;
        }
        let mut name = at + 1;
        while is(name + 1, &["."]) {
            name += 2;
        }
        let alias = if is(name + 1, &["as"]) { name + 2 } else { name + 1 };
        let known = tokens.get(alias).filter(|token| is_name(token) && !is(alias, &AFTER_TABLES));
        if let (Some(table), Some(known)) = (tokens.get(name), known) {
            found.entry(plain(known).to_lowercase()).or_insert_with(|| plain(table));
        }
    }
    found
}

/// The common form of the texts of one statement: the server's text without
/// constants (`$1`, `?`, `...`) and the text that a client sent come to the same. Lists of
/// constants are one constant, however long. Quoted names that differ by case are different ones
/// where they may be two.
pub fn fingerprint(text: &str, rules: &Rules) -> String {
    let text = shown(text, rules.syntax, false).replace("...", "?").replace('`', "");
    let mut out = String::with_capacity(text.len());
    let mut tokens = tokens(text.trim_end_matches([';', ' ']), rules.syntax).peekable();
    while let Some(token) = tokens.next() {
        match token.kind {
            Kind::Name if rules.names_keep_case => out.push_str(token.text),
            Kind::Space => {
                let after = tokens.peek().is_some_and(|next| next.text.starts_with(is_word));
                if after && out.ends_with(is_word) {
                    out.push(' ');
                }
            }
            _ if token.text == "?" || token.is_numbered_parameter() => push_constant(&mut out),
            _ => out.push_str(&token.text.to_lowercase()),
        }
    }
    out
}

/// Returns true when a text that a client sent has the names that the server's text of the
/// statement has in quotes, in the same case: tables may differ by that alone.
pub fn has_names(sent: &str, kept: &str, syntax: Syntax) -> bool {
    let plain = |token: Token| token.text.trim_matches('`').to_owned();
    let sent: HashSet<String> = tokens(sent, syntax).map(plain).collect();
    tokens(kept, syntax)
        .filter(|token| token.text.starts_with('`'))
        .all(|name| sent.contains(&plain(name)))
}

/// The condition of a statement without its constants, with spaces around its comparisons; of a
/// statement with several, none.
pub fn condition(text: &str, syntax: Syntax) -> Option<String> {
    let text = shown(text, syntax, false);
    let lower = text.to_ascii_lowercase();
    let mut parts = lower.match_indices(" where ");
    let ((at, _), None) = (parts.next()?, parts.next()) else { return None };
    let begin = at + " where ".len();
    let ends = [" group by ", " order by ", " limit ", " having ", " returning "];
    let end = ends
        .iter()
        .filter_map(|word| lower[begin..].find(word))
        .min()
        .map_or(text.len(), |at| begin + at);
    let mut spaced = String::new();
    let is_sign = |c: char| "<>=!".contains(c);
    for c in text[begin..end].trim_end_matches(';').chars() {
        if spaced
            .chars()
            .last()
            .is_some_and(|last| last != ' ' && c != ' ' && is_sign(last) != is_sign(c))
        {
            spaced.push(' ');
        }
        spaced.push(c);
    }
    Some(spaced.replace(" == ", " = "))
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '"')
}

/// A constant; one that follows another in a list is a part of it, and a sign before it, too.
fn push_constant(out: &mut String) {
    if out.ends_with("?,") {
        out.pop();
        return;
    }
    if out.ends_with('-') {
        let before = out.chars().rev().nth(1);
        if before.is_some_and(|before| "=<>(,".contains(before)) {
            out.pop();
        }
    }
    out.push('?');
}

#[cfg(test)]
mod tests {
    use super::{aliases, condition, fingerprint, has_names, skeleton};
    use crate::plans::Terms;
    use crate::statements::{IndexAbilities, Rules, Upkeep, drop_by_name};
    use work::sql::Syntax;

    const RULES: Rules = Rules {
        syntax: Syntax::Postgres,
        names_keep_case: true,
        keeps_statistics: true,
        estimates_scans: true,
        terms: Terms::NONE,
        sort_memory: "",
        give_memory: None,
        upkeep: Upkeep::BY_COLUMN,
        abilities: IndexAbilities::PLAIN,
        before_change: None,
        explain_grant: "",
        create_index: |_| String::new(),
        drop_index: drop_by_name,
    };

    #[test]
    fn tables_are_known_by_their_other_names() {
        let text = "SELECT o.id, (SELECT max(i.x) FROM items AS i WHERE i.o = o.id) FROM \
                    \"Orders\" o JOIN main.customers c ON c.id = o.c, plain, `t 1` u WHERE o.id = \
                    5 ORDER BY o.id";
        let found = aliases(text, Syntax::Sqlite);
        let expected = [("i", "items"), ("o", "Orders"), ("c", "customers"), ("u", "t 1")];
        assert_eq!(
            found,
            expected.map(|(alias, table)| (alias.to_owned(), table.to_owned())).into()
        );
        assert!(aliases("DELETE FROM t WHERE a = 1", Syntax::Sqlite).is_empty());
        assert_eq!(
            aliases("update t x set a = 1", Syntax::MariaDb).get("x").map(String::as_str),
            Some("t")
        );
    }

    #[test]
    fn a_condition_is_what_follows_where() {
        let of = |text| condition(text, Syntax::Sqlite);
        assert_eq!(
            of("select * from t where a=5 AND b>='x' order by c").as_deref(),
            Some("a = ? AND b >= ?")
        );
        assert_eq!(of("DELETE FROM t WHERE a == 1;").as_deref(), Some("a = ?"));
        assert_eq!(of("SELECT 1"), None);
        assert_eq!(of("SELECT 1 FROM t WHERE a IN (SELECT b FROM u WHERE c = 1)"), None);
    }

    #[test]
    fn what_is_left_without_names_tells_what_kind_of_statement_it_is() {
        for (syntax, text, expected) in [
            (
                Syntax::Postgres,
                "SELECT a.x, count(*) FROM \"My \"\"T\" a WHERE x = $1",
                "SELECT _._, count(*) FROM _ _ WHERE _ = $1",
            ),
            (Syntax::Postgres, "ALTER ROLE joe PASSWORD 'S3c'", "ALTER _ _ _ ?"),
            (Syntax::Postgres, "(select 1 from größe limit $2)", "(select ? from _ limit $2)"),
            (
                Syntax::MariaDb,
                "SELECT `a` , b FROM `t 1` WHERE `id` IN (...)",
                "SELECT _ , _ FROM _ WHERE _ IN (...)",
            ),
            (Syntax::SqlServer, "SELECT [a b] FROM #t WHERE x=@1", "SELECT _ FROM #_ WHERE _=@_"),
            (Syntax::Postgres, "SELECT \"cut off", "SELECT _"),
            (Syntax::Postgres, "", ""),
        ] {
            assert_eq!(skeleton(text, syntax), expected, "{text}");
        }
    }

    #[test]
    fn texts_of_one_statement_are_the_same_whoever_wrote_them() {
        let postgres = |text| fingerprint(text, &RULES);
        let kept = postgres("SELECT a FROM \"My T\" WHERE id = $1 AND b IN ($2, $3) AND c = $4");
        let sent = postgres(
            "select a from \"My T\"  where id=-5 and b in (1,2,3) /* app */ and c = 'x' ;",
        );
        assert_eq!(kept, "select a from \"My T\" where id=?and b in(?)and c=?");
        assert_ne!(postgres("SELECT a FROM \"T\""), postgres("SELECT a FROM \"t\""));
        assert_eq!(sent, kept);
        assert_eq!(postgres("SELECT 1 IN ($1 /*, ... */)"), postgres("SELECT 2 in (1, 2)"));
        let other = Rules { syntax: Syntax::MariaDb, names_keep_case: false, ..RULES };
        let mariadb = |text| fingerprint(text, &other);
        assert_eq!(
            mariadb("SELECT `a` FROM `shop` . `t` WHERE `id` IN (...) AND `b` = ? "),
            mariadb("SELECT a FROM shop.t WHERE id IN (1, 2) AND b = \"x\"")
        );
        assert_ne!(postgres("SELECT a FROM t"), postgres("SELECT b FROM t"));
        let kept = "SELECT `a` FROM `T` WHERE `id` = ?";
        assert!(has_names("select a from T where id = 5", kept, Syntax::MariaDb));
        assert!(!has_names("select a from t where id = 5", kept, Syntax::MariaDb));
    }
}
