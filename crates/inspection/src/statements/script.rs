//! Statements of a user's script.

use work::sql::statement::behind_comments;
use work::sql::{Syntax, tokens};

/// A statement of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptStatement {
    /// File and line.
    pub place: String,
    /// The text.
    pub text: String,
}

/// The statements of a script, with file and line; comments before them are left out.
pub fn script_statements(file: &str, script: &str, syntax: Syntax) -> Vec<ScriptStatement> {
    let mut all = Vec::new();
    let (mut rest, mut line) = (script, 1);
    while !rest.is_empty() {
        let length = end(rest, syntax);
        let (statement, after) = rest.split_at(length);
        let begin = statement.len() - behind_comments(statement).len();
        let text = statement[begin..].trim().trim_end_matches(';').trim();
        if !text.is_empty() {
            let place = format!("{file}:{}", line + statement[..begin].matches('\n').count());
            all.push(ScriptStatement { place, text: text.to_owned() });
        }
        line += statement.matches('\n').count();
        rest = after;
    }
    all
}

/// The bytes of the first statement, its semicolon included.
fn end(script: &str, syntax: Syntax) -> usize {
    let semicolon = tokens(script, syntax).find(|token| token.text == ";");
    semicolon.map_or(script.len(), |token| token.end())
}

#[cfg(test)]
mod tests {
    use super::script_statements;
    use work::sql::Syntax;

    #[test]
    fn a_script_is_its_statements_with_their_lines() {
        let script = "-- first; not one\nSELECT ';', \"a;b\" /* ; */ FROM [t;1];\n\n/* x */ \
                      ;\nSELECT 'it''s;' -- end";
        let read = |file, script| script_statements(file, script, Syntax::Sqlite);
        let found: Vec<(String, String)> = read("f.sql", script)
            .into_iter()
            .map(|statement| (statement.place, statement.text))
            .collect();
        let expected = [
            ("f.sql:2", "SELECT ';', \"a;b\" /* ; */ FROM [t;1]"),
            ("f.sql:5", "SELECT 'it''s;' -- end"),
        ];
        assert_eq!(found, expected.map(|(place, text)| (place.to_owned(), text.to_owned())));
        assert!(read("f", "").is_empty() && read("f", " ;; -- a").is_empty());
        assert_eq!(read("f", "SELECT 'open")[0].text, "SELECT 'open");
    }
}
