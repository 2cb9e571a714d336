//! Prepared statements, and the rows that a statement returns, as text.

use crate::client::error::{Error, ProtocolError};
use fallible_iterator::FallibleIterator;
use postgres_protocol::message::backend::{DataRowBody, RowDescriptionBody};
use std::io;
use std::str::FromStr;

/// Marks the end of a value that is NULL. An answer is limited to much less than 2 GiB.
const NULL: u32 = 1 << 31;

/// The rows of one statement, in the server's text format.
#[derive(Debug, Clone, Default)]
pub struct Rows {
    pub(crate) columns: Vec<String>,
    /// All values, one after the other.
    text: String,
    /// Where each value ends in `text`, and [`NULL`]: no more than its length on the wire takes.
    ends: Vec<u32>,
    row_count: usize,
}

impl Rows {
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

    /// The names of the columns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    pub(crate) fn with_columns(columns: Vec<String>) -> Self {
        Self { columns, ..Self::default() }
    }

    pub(crate) fn push(&mut self, row: &DataRowBody) -> Result<(), Error> {
        let mut ranges = row.ranges();
        let mut count = 0;
        while let Some(range) = ranges.next().map_err(Error::malformed)? {
            if let Some(range) = &range {
                // Only a database without an encoding (SQL_ASCII) sends what is not UTF-8.
                self.text.push_str(&String::from_utf8_lossy(&row.buffer()[range.clone()]));
            }
            let null = if range.is_none() { NULL } else { 0 };
            self.ends.push(self.text.len() as u32 | null);
            count += 1;
        }
        if count != self.columns.len() {
            let announced = self.columns.len();
            return Err(ProtocolError::Columns(count, announced).into());
        }
        self.row_count += 1;
        Ok(())
    }
}

/// A row.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    rows: &'a Rows,
    index: usize,
}

impl<'a> Row<'a> {
    /// The value in a column, counted from 0; `None` for NULL, and where there is no such column.
    pub fn get(&self, index: usize) -> Option<&'a str> {
        if index >= self.rows.columns.len() {
            return None;
        }
        let at = self.index * self.rows.columns.len() + index;
        let end = |at: usize| (self.rows.ends[at] & !NULL) as usize;
        let start = at.checked_sub(1).map_or(0, end);
        (self.rows.ends[at] & NULL == 0).then(|| &self.rows.text[start..end(at)])
    }

    /// The value in a column as text; empty for NULL.
    pub fn text(&self, index: usize) -> String {
        self.get(index).unwrap_or_default().to_owned()
    }

    /// The value in a column, parsed as this type; `None` for NULL and for values that do not
    /// parse.
    pub fn parse<T: FromStr>(&self, index: usize) -> Option<T> {
        self.get(index)?.parse().ok()
    }
}

pub(crate) fn columns(description: &RowDescriptionBody) -> io::Result<Vec<String>> {
    description.fields().map(|field| Ok(field.name().to_owned())).collect()
}

/// A statement that the server has parsed, for as long as its connection lives.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Statement {
    /// The name in the server.
    pub name: String,
    /// The types of its parameters: OIDs of `pg_type`.
    pub parameter_types: Vec<u32>,
    /// The names of the columns that it returns.
    pub columns: Vec<String>,
}
