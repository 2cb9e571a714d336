//! Rows of a statement, as texts.

use std::str::FromStr;

/// Marks the end of a value that is NULL. An answer is limited to much less than 2 GiB.
const NULL: u32 = 1 << 31;

/// The rows of one statement.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rows {
    columns: Vec<String>,
    /// All values, one after the other.
    text: String,
    /// Where each value ends in `text`, and [`NULL`]: no more than its length on the wire takes.
    ends: Vec<u32>,
    row_count: usize,
}

impl Rows {
    /// No rows, of these columns.
    pub fn with_columns(columns: Vec<String>) -> Self {
        Self { columns, ..Self::default() }
    }

    /// Adds a row. It has as many values as there are columns; absent ones are NULL.
    pub fn push<T: AsRef<str>>(&mut self, values: impl IntoIterator<Item = Option<T>>) {
        let mut values = values.into_iter();
        for _ in 0..self.columns.len() {
            let value = values.next().flatten();
            self.text.push_str(value.as_ref().map_or("", AsRef::as_ref));
            self.ends.push(self.text.len() as u32 | if value.is_none() { NULL } else { 0 });
        }
        self.row_count += 1;
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.row_count
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.row_count == 0
    }

    /// The rows in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Row<'_>> {
        (0..self.row_count).map(|index| Row { rows: self, index })
    }

    /// The first row.
    pub fn first(&self) -> Option<Row<'_>> {
        self.iter().next()
    }

    /// The first value of the first row; `None` for NULL, and where there is no row.
    pub fn cell(&self) -> Option<&str> {
        self.first()?.get(0)
    }

    /// The names of the columns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }
}

/// A row.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    rows: &'a Rows,
    index: usize,
}

impl<'a> Row<'a> {
    /// The value in a column; `None` for NULL, and where there is no such column.
    pub fn get(self, column: impl Column) -> Option<&'a str> {
        let Rows { columns, text, ends, .. } = self.rows;
        let at = self.index * columns.len() + column.position(columns)?;
        let end = |at: usize| (ends[at] & !NULL) as usize;
        let start = at.checked_sub(1).map_or(0, end);
        (ends[at] & NULL == 0).then(|| &text[start..end(at)])
    }

    /// The value in a column as text; empty for NULL.
    pub fn text(self, column: impl Column) -> String {
        self.get(column).unwrap_or_default().to_owned()
    }

    /// The value in a column, parsed as this type; `None` for NULL and for values that do not
    /// parse.
    pub fn parse<T: FromStr>(self, column: impl Column) -> Option<T> {
        self.get(column)?.parse().ok()
    }

    /// The first values as texts, empty for NULL.
    pub fn texts<const N: usize>(self) -> [String; N] {
        std::array::from_fn(|column| self.text(column))
    }

    /// All values.
    pub fn values(self) -> Vec<Option<String>> {
        (0..self.rows.columns.len()).map(|column| self.get(column).map(str::to_owned)).collect()
    }
}

/// The number of a column, counted from 0, or its name.
pub trait Column {
    /// The number.
    fn position(self, columns: &[String]) -> Option<usize>;
}

impl Column for usize {
    fn position(self, columns: &[String]) -> Option<usize> {
        (self < columns.len()).then_some(self)
    }
}

impl Column for &str {
    fn position(self, columns: &[String]) -> Option<usize> {
        columns.iter().position(|name| name == self)
    }
}

#[cfg(test)]
mod tests {
    use super::Rows;

    #[test]
    fn values_are_found_by_number_and_by_name() {
        let mut rows = Rows::with_columns(vec!["a".into(), "b".into()]);
        rows.push([Some(""), None]);
        rows.push([Some("7"), Some("é"), Some("of no column")]);
        rows.push([Some("x")]);
        let all: Vec<_> = rows.iter().map(|row| (row.get(0), row.get("b"))).collect();
        assert_eq!(all, [(Some(""), None), (Some("7"), Some("é")), (Some("x"), None)]);
        let second = rows.iter().nth(1).unwrap();
        assert_eq!((second.parse("a"), second.get(2), second.get("c")), (Some(7), None, None));
        assert_eq!(second.texts(), ["7", "é", ""]);
        assert_eq!(rows.iter().last().unwrap().values(), [Some("x".to_owned()), None]);
        assert_eq!((rows.len(), rows.cell()), (3, Some("")));
    }
}
