//! Query templates: a SELECT in which `COLUMN :varies` stands for `COLUMN <= VALUE`, once or twice,
//! as in the templates of Picasso (Haritsa, The Picasso Database Query Optimizer Visualizer, VLDB
//! 2010). What could write is refused by its text.

use observations::order;
use work::sql::{Kind, QueryError, Token, query, significant};

/// A template with one varied column, or two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    /// The text with the parts that change.
    parts: Vec<Part>,
    /// The first varied column.
    pub first: VariedColumn,
    /// The second one, of a template for a plan diagram.
    pub second: Option<VariedColumn>,
    /// Tables that the template reads.
    pub tables: usize,
}

/// A varied column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VariedColumn {
    /// The column as the template writes it: `d.a`.
    pub written: String,
    /// Name of the column, without quotes.
    pub column: String,
    /// Name of its table, as the template writes it.
    pub table: String,
    /// The name by which the template refers to its table, without quotes and schema.
    pub alias: String,
}

/// A part of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    /// Behind a varied column, by its position.
    Comparison(usize),
    /// Behind the table of the first varied column.
    Hint,
}

/// An objection to a template or a query.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TemplateError {
    /// It is not a query.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// Nothing varies.
    #[error("has no `:varies`; put it behind the column to vary: `WHERE a :varies`")]
    NoVaries,
    /// More than two predicates vary.
    #[error("varies {0} predicates; vary one or two")]
    TooMany(usize),
    /// `:varies` has no column before it.
    #[error("has no column before `:varies`; write `WHERE a :varies`, which becomes `a <= VALUE`")]
    NoColumn,
    /// The table of the column is unknown.
    #[error("has no table `{table}` for `{column} :varies`")]
    NoTable {
        /// The qualifier.
        table: String,
        /// The column.
        column: String,
    },
    /// The column has no table before it.
    #[error("reads {count} tables; write the table before the column: `t.{column} :varies`")]
    Unqualified {
        /// The column.
        column: String,
        /// The tables.
        count: usize,
    },
}

/// Keywords before a table.
const BEFORE_A_TABLE: [&str; 3] = ["FROM", "JOIN", "STRAIGHT_JOIN"];

/// Keywords that follow a table, so that they are not its alias.
const BEHIND_A_TABLE: &str = "WHERE JOIN STRAIGHT_JOIN INNER LEFT RIGHT FULL CROSS NATURAL ON \
                              USING GROUP ORDER HAVING LIMIT OFFSET FETCH UNION EXCEPT \
                              INTERSECT WINDOW FOR";

/// Keywords that a predicate follows, so that they are not its column.
const BEFORE_A_PREDICATE: [&str; 7] = ["WHERE", "AND", "OR", "NOT", "ON", "HAVING", "WHEN"];

/// A table in FROM or JOIN.
struct Source<'a> {
    name: String,
    alias: Option<&'a str>,
    /// The offset behind both.
    end: usize,
}

/// Returns a name without its quotes.
fn unquoted(text: &str) -> &str {
    text.trim_matches(['"', '`', '[', ']'])
}

impl Template {
    /// Reads a template.
    ///
    /// # Errors
    /// When it is not one query with one varied column whose table is known.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let text = query(text)?;
        let all = significant(text);
        let varied: Vec<usize> = (0..all.len())
            .filter(|at| all[*at].text == ":" && is_varies(all.get(at + 1)))
            .collect();
        let sources = sources(&all);
        let mut found = Vec::new();
        // Places at which the text changes, with where it continues.
        let mut cuts = Vec::new();
        for (number, at) in varied.iter().enumerate() {
            let (column, table_end) = VariedColumn::find(text, &all, *at, &sources)?;
            if number == 0 {
                cuts.push((table_end, table_end, Part::Hint));
            }
            cuts.push((all[*at].at, all[at + 1].end(), Part::Comparison(number)));
            found.push(column);
        }
        let count = found.len();
        let mut found = found.into_iter();
        let (first, second) = match (found.next(), found.next()) {
            (None, _) => return Err(TemplateError::NoVaries),
            (Some(_), Some(_)) if count > 2 => return Err(TemplateError::TooMany(count)),
            (Some(first), second) => (first, second),
        };
        order::by_key(&mut cuts, &|(at, ..)| *at);
        let (mut parts, mut from) = (Vec::new(), 0);
        for (at, behind, part) in cuts {
            parts.extend([Part::Text(text[from..at].to_owned()), part]);
            from = behind;
        }
        parts.push(Part::Text(text[from..].to_owned()));
        Ok(Self { parts, first, second, tables: sources.len() })
    }

    /// The varied columns.
    pub fn varied(&self) -> impl Iterator<Item = &VariedColumn> {
        std::iter::once(&self.first).chain(&self.second)
    }

    /// The query for values of the varied columns, with a hint behind the table of the first.
    pub fn query(&self, values: &[&str], hint: &str) -> String {
        let text = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::Comparison(number) => {
                format!("<= {}", literal(values.get(*number).copied().unwrap_or("NULL")))
            }
            Part::Hint => hint.to_owned(),
        };
        self.parts.iter().map(text).collect()
    }
}

impl VariedColumn {
    /// Finds the column before `:varies` at a position, and the end of its table's name.
    fn find(
        text: &str,
        all: &[Token<'_>],
        at: usize,
        sources: &[Source<'_>],
    ) -> Result<(Self, usize), TemplateError> {
        let is_name = |token: &Token<'_>| matches!(token.kind, Kind::Word | Kind::Name);
        let name = |at: usize| all.get(at).filter(|word| is_name(word)).copied();
        let is_column =
            |token: &Token<'_>| !BEFORE_A_PREDICATE.iter().any(|word| token.is_keyword(word));
        let column = at.checked_sub(1).and_then(name).filter(is_column);
        let column = column.ok_or(TemplateError::NoColumn)?;
        let is_qualified = at >= 3 && all[at - 2].text == ".";
        let qualifier = if is_qualified { name(at - 3) } else { None };
        let source = match (qualifier, sources) {
            (Some(qualifier), all) => {
                let named = all.iter().find(|source| source.is_named(qualifier.text));
                named.ok_or_else(|| TemplateError::NoTable {
                    table: qualifier.text.to_owned(),
                    column: column.text.to_owned(),
                })?
            }
            (None, [only]) => only,
            (None, more) => {
                let column = column.text.to_owned();
                return Err(TemplateError::Unqualified { column, count: more.len() });
            }
        };
        let from = qualifier.map_or(column.at, |qualifier_token| qualifier_token.at);
        let varied_column = Self {
            written: text[from..column.end()].to_owned(),
            column: unquoted(column.text).to_owned(),
            table: source.name.clone(),
            alias: source.alias().to_owned(),
        };
        Ok((varied_column, source.end))
    }

    /// Name of the table without quotes and schema.
    pub fn table_name(&self) -> &str {
        unquoted(self.table.rsplit('.').next().unwrap_or_default())
    }
}

impl Source<'_> {
    fn is_named(&self, name: &str) -> bool {
        self.alias().eq_ignore_ascii_case(unquoted(name))
    }

    /// The name by which a query refers to it, without quotes and schema.
    fn alias(&self) -> &str {
        unquoted(self.alias.unwrap_or_else(|| self.name.rsplit('.').next().unwrap_or_default()))
    }
}

fn is_varies(token: Option<&Token<'_>>) -> bool {
    token.is_some_and(|token| token.is_keyword("varies"))
}

/// The tables behind FROM, JOIN and the commas between them.
fn sources<'a>(all: &[Token<'a>]) -> Vec<Source<'a>> {
    let mut sources = Vec::new();
    let mut at = 0;
    while at < all.len() {
        let begins = BEFORE_A_TABLE.iter().any(|word| all[at].is_keyword(word));
        at += 1;
        let mut is_next = begins;
        while is_next && at < all.len() && matches!(all[at].kind, Kind::Word | Kind::Name) {
            let (source, next) = source(all, at);
            sources.push(source);
            is_next = all.get(next).is_some_and(|token| token.text == ",");
            at = next + usize::from(is_next);
        }
    }
    sources
}

/// The table at a position, and the position behind it and its alias.
fn source<'a>(all: &[Token<'a>], mut at: usize) -> (Source<'a>, usize) {
    let mut name = all[at].text.to_owned();
    let mut end = all[at].end();
    at += 1;
    while all.get(at).is_some_and(|token| token.text == ".") && at + 1 < all.len() {
        name = format!("{name}.{}", all[at + 1].text);
        end = all[at + 1].end();
        at += 2;
    }
    let has_as = all.get(at).is_some_and(|token| token.is_keyword("AS"));
    let place = at + usize::from(has_as);
    let is_alias = |token: &&Token<'a>| {
        matches!(token.kind, Kind::Word | Kind::Name)
            && !BEHIND_A_TABLE.split(' ').any(|word| token.is_keyword(word))
    };
    let alias = all.get(place).filter(is_alias);
    if let Some(alias) = alias {
        (at, end) = (place + 1, alias.end());
    }
    (Source { name, alias: alias.map(|alias| alias.text), end }, at)
}

/// A value as SQL has it: numbers as they are, other values in quotes.
pub fn literal(value: &str) -> String {
    match value.parse::<f64>() {
        Ok(number) if number.is_finite() => value.to_owned(),
        _ => format!("'{}'", value.replace('\'', "''")),
    }
}

#[cfg(test)]
mod tests {
    use super::{Template, TemplateError};
    use work::sql::{QueryError, query};

    #[test]
    fn a_varied_column_becomes_a_comparison_and_its_table_has_the_hint() {
        for (text, hint, expected) in [
            ("SELECT sum(b) FROM t WHERE a :varies;", "", "SELECT sum(b) FROM t WHERE a <= 7"),
            (
                "SELECT * FROM s.t AS x, u WHERE x.a :varies AND u.b = 'a :varies'",
                " NOT INDEXED",
                "SELECT * FROM s.t AS x NOT INDEXED, u WHERE x.a <= 7 AND u.b = 'a :varies'",
            ),
            (
                "SELECT * FROM u JOIN t ON u.i = t.i AND t.\"a\" :varies -- done",
                " H",
                "SELECT * FROM u JOIN t H ON u.i = t.i AND t.\"a\" <= 7 -- done",
            ),
            (
                "SELECT 1 FROM t u STRAIGHT_JOIN t ON u.i = t.i AND t.a :varies",
                " H",
                "SELECT 1 FROM t u STRAIGHT_JOIN t H ON u.i = t.i AND t.a <= 7",
            ),
        ] {
            let template = Template::parse(text).unwrap();
            assert_eq!(template.query(&["7"], hint), expected);
            assert_eq!(template.first.column, "a");
            assert_eq!(template.first.table_name(), "t");
            assert_eq!(template.first.alias, if text.contains(" AS x") { "x" } else { "t" });
        }
        let two = "SELECT 1 FROM t x, u WHERE u.b :varies AND x.a :varies ORDER BY 1";
        let template = Template::parse(two).unwrap();
        assert_eq!(
            template.query(&["7", "2020-01-31"], " H"),
            "SELECT 1 FROM t x, u H WHERE u.b <= 7 AND x.a <= '2020-01-31' ORDER BY 1"
        );
        let written: Vec<&str> = template.varied().map(|dial| dial.written.as_str()).collect();
        assert_eq!(written, ["u.b", "x.a"]);
        let template = Template::parse("SELECT 1 FROM t WHERE day :varies").unwrap();
        assert!(template.query(&["2020-01-31"], "").ends_with("day <= '2020-01-31'"));
    }

    #[test]
    fn what_is_not_one_query_with_one_varied_column_is_refused() {
        let refused = |text: &str| Template::parse(text).unwrap_err();
        let writes = |word: &str| TemplateError::Query(QueryError::Writes { word: word.into() });
        assert_eq!(refused("SELECT a FROM t WHERE a < 3"), TemplateError::NoVaries);
        assert_eq!(refused("SELECT ':varies' FROM t"), TemplateError::NoVaries);
        assert_eq!(refused("SELECT a FROM t WHERE :varies"), TemplateError::NoColumn);
        assert_eq!(
            refused("SELECT 1 FROM t WHERE a :varies AND b :varies AND c :varies"),
            TemplateError::TooMany(3)
        );
        assert_eq!(
            refused("DELETE FROM t WHERE a :varies"),
            TemplateError::Query(QueryError::NotAQuery { word: "DELETE".into() })
        );
        assert_eq!(refused("WITH x AS (DELETE FROM t) SELECT 1"), writes("DELETE"));
        assert_eq!(refused("SELECT a INTO u FROM t WHERE a :varies"), writes("INTO"));
        assert_eq!(refused("SELECT a FROM t WHERE a :varies FOR UPDATE"), writes("UPDATE"));
        assert_eq!(refused("SELECT 1; SELECT 2"), TemplateError::Query(QueryError::Several));
        assert!(matches!(
            refused("SELECT 1 FROM t, u WHERE a :varies"),
            TemplateError::Unqualified { count: 2, .. }
        ));
        assert!(matches!(
            refused("SELECT 1 FROM t, u WHERE v.a :varies"),
            TemplateError::NoTable { .. }
        ));
        assert!(query("(SELECT 1) UNION SELECT 'DROP'").is_ok());
    }
}
