//! The statement before a plan.

use serde_json::{Map, Value};
use work::sql::statement::VERBS;
use work::sql::{Kind, Syntax, tokens};

/// The members of a document that tell the statement: from `Query Text:` of `auto_explain`, or the
/// EXPLAIN of a session. Any other text is not one.
pub fn before(text: &str) -> Map<String, Value> {
    let mut members = Map::new();
    if let Some((_, query)) = text.split_once("Query Text:") {
        let (query, values) = query.split_once("\nQuery Parameters: ").unwrap_or((query, ""));
        members.insert("Query Text".into(), query.trim().into());
        if !values.is_empty() {
            members.insert("Query Parameters".into(), values.into());
        }
        return members;
    }
    if let Some(query) = explained(text) {
        members.insert("Query Text".into(), query.into());
    }
    members
}

/// The statement behind the last EXPLAIN and its options.
fn explained(text: &str) -> Option<String> {
    let text: Vec<&str> = text.lines().map(without_prompt).collect();
    let text = text.join("\n");
    let all: Vec<_> = tokens(&text, Syntax::Postgres)
        .filter(|token| !matches!(token.kind, Kind::Space | Kind::Comment))
        .collect();
    let start = all.iter().rposition(|token| token.is_keyword("EXPLAIN"));
    let Some(start) = start else {
        let verbs = VERBS;
        let is_statement =
            all.first().is_some_and(|first| verbs.iter().any(|verb| first.is_keyword(verb)));
        let is_closed = all.last().is_some_and(|last| last.text == ";");
        return (is_statement && is_closed).then(|| text.trim().trim_end_matches(';').to_owned());
    };
    let mut rest = &all[start + 1..];
    while let Some((first, behind)) = rest.split_first() {
        rest = if ["ANALYZE", "ANALYSE", "VERBOSE"].iter().any(|word| first.is_keyword(word)) {
            behind
        } else if first.text == "(" && !behind.first().is_some_and(|word| word.is_keyword("SELECT"))
        {
            let end = behind.iter().position(|token| token.text == ")")?;
            &behind[end + 1..]
        } else {
            let end = rest.iter().find(|token| token.text == ";").map_or(text.len(), |end| end.at);
            return Some(text[first.at..end].trim().to_owned());
        };
    }
    None
}

/// A line without the prompt of psql: `db=# `, `db-> `.
fn without_prompt(line: &str) -> &str {
    ["=# ", "=> ", "-# ", "-> ", "(# ", "(> "]
        .iter()
        .filter_map(|prompt| line.split_once(prompt))
        .find(|(name, _)| {
            !name.trim().is_empty() && name.trim().chars().all(|c| c.is_alphanumeric() || c == '_')
        })
        .map_or(line, |(_, rest)| rest)
}

#[cfg(test)]
mod tests {
    use super::before;

    #[test]
    fn the_statement_is_what_explain_explains() {
        for (text, expected) in [
            ("EXPLAIN (ANALYZE, BUFFERS) SELECT 1;\n```\n", "SELECT 1"),
            ("-- slow\nexplain analyze verbose\nselect a\nfrom t;", "select a\nfrom t"),
            (
                "db=# SET x = 1;\ndb=# explain (select 1)\ndb-# union select 2;",
                "(select 1)\nunion select 2",
            ),
            ("Query Text: select 1\nQuery Parameters: $1 = '5'", "select 1"),
            ("SELECT 1;", "SELECT 1"),
        ] {
            assert_eq!(before(text)["Query Text"], expected, "{text}");
        }
        assert!(before("The plan of the slow query").is_empty());
    }
}
