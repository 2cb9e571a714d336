//! The consistency conditions (clause 3.3.2), each as a query that counts violations.

use crate::size::Size;
use std::fmt;
use std::sync::LazyLock;
use work::sql::{NamedStatement, named_statements};

/// Number of the last condition; the first is 1.
pub const CONDITIONS: usize = 12;

/// Warehouses that are checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// All of them.
    Complete,
    /// These.
    Sample(Vec<i64>),
}

impl Scope {
    /// The condition that a column with a warehouse is in it.
    fn holds(&self, column: &str) -> String {
        match self {
            Self::Complete => format!("{column} > 0"),
            Self::Sample(warehouses) => {
                let numbers: Vec<String> = warehouses.iter().map(ToString::to_string).collect();
                format!("{column} IN ({})", numbers.join(", "))
            }
        }
    }
}

/// Violated conditions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Violations {
    /// Number of a condition, and of rows that violate it.
    pub found: Vec<(usize, u64)>,
}

impl From<Violations> for probe::ProbeError {
    fn from(violations: Violations) -> Self {
        Self::study(violations)
    }
}

impl fmt::Display for Violations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("consistency violated: ")?;
        for (place, (condition, rows)) in self.found.iter().enumerate() {
            let separator = if place == 0 { "" } else { "; " };
            write!(
                f,
                "{separator}condition {condition} ({}): {rows} rows",
                QUERIES[condition - 1].name
            )?;
        }
        f.write_str(
            "; the engine lost or duplicated changes, or another program changed the tables",
        )
    }
}

/// The queries, each with the demand of its condition. `{COLUMN}` stands for the condition that a
/// column with a warehouse is in the scope, `{delivered}` for [`Size::delivered`].
static QUERIES: LazyLock<Vec<NamedStatement>> =
    LazyLock::new(|| named_statements(include_str!("conditions.sql")).collect());

/// Checks conditions; `count` runs a query that answers with one number.
///
/// # Errors
/// The violated conditions, or the error of a query.
pub fn check<E: From<Violations>>(
    size: Size,
    scope: &Scope,
    mut count: impl FnMut(&str) -> Result<f64, E>,
) -> Result<(), E> {
    let mut found = Vec::new();
    for condition in 1..=CONDITIONS {
        let rows = count(&query(condition, size, scope))? as u64;
        if rows > 0 {
            found.push((condition, rows));
        }
    }
    if found.is_empty() { Ok(()) } else { Err(Violations { found }.into()) }
}

/// The query that counts the violations of a condition. Amounts are equal when they differ by less
/// than half a hundredth: an engine may store them as floating point numbers.
pub fn query(condition: usize, size: Size, scope: &Scope) -> String {
    QUERIES[condition - 1].filled(|part| match part {
        "delivered" => size.delivered().to_string(),
        column => scope.holds(column),
    })
}
