//! Texts of statements that are the same but for constants and spaces.

use observations::statement::{Quotes, shown};
use plans::Engine;

/// What texts of one statement have in common, whoever wrote them: the server's text without constants (`$1`, `?`, `...`)
/// and the text that a client sent come to the same. Lists of constants are one constant, however long.
pub fn fingerprint(text: &str, engine: Engine) -> String {
    let quotes = match engine {
        Engine::Postgres => Quotes::Postgres,
        Engine::MariaDb => Quotes::MariaDb,
        Engine::SqlServer => Quotes::TransactSql,
    };
    let text = shown(text, quotes, false).replace("...", "?").replace('`', "");
    let mut out = String::with_capacity(text.len());
    let mut rest = text.trim_end_matches([';', ' ']).chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '$' if rest.peek().is_some_and(char::is_ascii_digit) => {
                while rest.next_if(char::is_ascii_digit).is_some() {}
                push_constant(&mut out);
            }
            '?' => push_constant(&mut out),
            ' ' => {
                let after = rest.peek().is_some_and(|next| is_word(*next));
                if after && out.chars().last().is_some_and(is_word) {
                    out.push(' ');
                }
            }
            c => out.extend(c.to_lowercase()),
        }
    }
    out
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
    use super::fingerprint;
    use plans::Engine;

    #[test]
    fn texts_of_one_statement_are_the_same_whoever_wrote_them() {
        let postgres = |text| fingerprint(text, Engine::Postgres);
        let kept = postgres("SELECT a FROM \"My T\" WHERE id = $1 AND b IN ($2, $3) AND c = $4");
        let sent = postgres("select a from \"My T\"  where id=-5 and b in (1,2,3) /* app */ and c = 'x' ;");
        assert_eq!(kept, "select a from \"my t\" where id=?and b in(?)and c=?");
        assert_eq!(sent, kept);
        assert_eq!(postgres("SELECT 1 IN ($1 /*, ... */)"), postgres("SELECT 2 in (1, 2)"));
        let mariadb = |text| fingerprint(text, Engine::MariaDb);
        assert_eq!(
            mariadb("SELECT `a` FROM `shop` . `t` WHERE `id` IN (...) AND `b` = ? "),
            mariadb("SELECT a FROM shop.t WHERE id IN (1, 2) AND b = \"x\"")
        );
        assert_ne!(postgres("SELECT a FROM t"), postgres("SELECT b FROM t"));
    }
}
