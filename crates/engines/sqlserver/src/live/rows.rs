//! Rows as text, by name of their columns.

use std::str::FromStr;

/// The answer to a statement.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rows {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// A text for each column, `None` for NULL.
    pub rows: Vec<Vec<Option<String>>>,
}

/// A row of a result.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    columns: &'a [String],
    values: &'a [Option<String>],
}

impl Rows {
    /// All rows.
    pub fn iter(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().map(|values| Row { columns: &self.columns, values })
    }

    /// The first row.
    pub fn first(&self) -> Option<Row<'_>> {
        self.iter().next()
    }
}

impl<'a> Row<'a> {
    /// The text in a column; `None` where it is NULL, or there is no such column.
    pub fn get(self, column: &str) -> Option<&'a str> {
        let at = self.columns.iter().position(|name| name == column)?;
        self.values.get(at)?.as_deref()
    }

    /// Returns the text, empty for NULL.
    pub fn text(self, column: &str) -> String {
        self.get(column).unwrap_or_default().to_owned()
    }

    /// A column read as something else.
    pub fn parse<T: FromStr>(self, column: &str) -> Option<T> {
        self.get(column)?.parse().ok()
    }

    /// Milliseconds as seconds.
    pub fn seconds(self, column: &str) -> Option<f64> {
        Some(self.parse::<f64>(column)? / 1e3)
    }
}

#[cfg(test)]
pub mod tests {
    use crate::live::rows::Rows;

    /// Rows from a text: names of columns in the first line, `|` between values, `-` for NULL.
    pub fn rows(text: &str) -> Rows {
        let cells =
            |line: &str| line.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        let columns = cells(lines.next().unwrap());
        Rows {
            columns,
            rows: lines
                .map(|line| {
                    cells(line).into_iter().map(|cell| (cell != "-").then_some(cell)).collect()
                })
                .collect(),
        }
    }
}
