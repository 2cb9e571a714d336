//! Prepared statements, and the rows that a statement returns.

use crate::client::error::{Error, ProtocolError};
use engine::Rows;
use fallible_iterator::FallibleIterator;
use postgres_protocol::message::backend::{DataRowBody, RowDescriptionBody};
use std::borrow::Cow;
use std::io;

/// Adds a row in the server's text format.
pub(crate) fn push(rows: &mut Rows, row: &DataRowBody) -> Result<(), Error> {
    // Only a database without an encoding (SQL_ASCII) sends what is not UTF-8.
    let text = |range: std::ops::Range<usize>| String::from_utf8_lossy(&row.buffer()[range]);
    let values = row.ranges().map(|range| Ok(range.map(text)));
    let values: Vec<Option<Cow<'_, str>>> = values.collect().map_err(Error::malformed)?;
    let announced = rows.columns().len();
    if values.len() != announced {
        return Err(ProtocolError::Columns(values.len(), announced).into());
    }
    rows.push(values);
    Ok(())
}

pub(crate) fn columns(description: &RowDescriptionBody) -> io::Result<Vec<String>> {
    description.fields().map(|field| Ok(field.name().to_owned())).collect()
}

/// A statement that the server has parsed, for as long as its connection lives.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Statement {
    /// The name in the server.
    pub name: String,
    /// The names of the columns that it returns.
    pub columns: Vec<String>,
}
