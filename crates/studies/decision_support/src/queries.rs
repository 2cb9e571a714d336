//! The 22 queries (2.4.1 to 2.4.22 of the specification) without the values of their parameters.
//! Dates are texts that stand where an engine expects a date; Q15 has its view as a common table
//! expression, which the specification permits (appendix A of its approved variants).

use std::sync::LazyLock;
use work::SqlPart;
use work::sql::{NamedStatement, named_statements};

/// A query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// The number, from 1 to 22.
    pub number: u32,
    /// The name in the specification.
    pub name: &'static str,
    /// The SQL. `{0}` is the first parameter, `{year COLUMN}` the year of a date, and `{first N}`
    /// at the end keeps the first rows.
    sql: String,
}

impl Query {
    /// `Q1`.
    pub fn label(&self) -> String {
        format!("Q{}", self.number)
    }

    /// The name by which recordings and reports call it.
    pub fn title(&self) -> String {
        format!("Q{} {}", self.number, self.name)
    }

    /// The SQL with these values of its parameters, for an engine to complete.
    pub fn parts(&self, values: &[String]) -> Vec<SqlPart> {
        let (mut parts, mut text) = (Vec::new(), String::new());
        for (position, piece) in self.sql.split(['{', '}']).enumerate() {
            // Pieces in braces have odd positions.
            let piece = match piece.split_once(' ') {
                _ if position % 2 == 0 => Err(piece),
                Some(("year", column)) => Ok(SqlPart::Year(column.to_owned())),
                Some((_, rows)) => Ok(SqlPart::Limit(rows.parse().unwrap_or(1))),
                None => Err(piece
                    .parse()
                    .ok()
                    .and_then(|at: usize| values.get(at))
                    .map_or("", |value| value)),
            };
            match piece {
                Err(more) => text.push_str(more),
                Ok(part) => parts.extend([SqlPart::Text(std::mem::take(&mut text)), part]),
            }
        }
        parts.push(SqlPart::Text(text));
        parts
    }
}

/// All of them in the order of their numbers.
pub static QUERIES: LazyLock<Vec<Query>> = LazyLock::new(|| {
    let statements = named_statements(include_str!("queries.sql"));
    statements
        .zip(1..)
        .map(|(NamedStatement { name, text }, number)| Query { number, name, sql: text })
        .collect()
});
