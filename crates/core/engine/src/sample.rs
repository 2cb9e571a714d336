//! Rows of a table of a user's database, all of them or some that are spread over the table, and
//! the Parquet file that they are written to.

use crate::{EngineError, Result};
use parquet_files::{
    ByteArray, ColumnTarget, ColumnType, Field, ParquetError, ParquetWriter, Values, schema,
};
use std::fs::File;
use std::path::Path;

/// Bytes of values that are kept in memory at most.
const BYTES_MAX: usize = 1 << 30;

/// Some rows of a table.
pub struct Sample {
    columns: Vec<(String, Cells)>,
    /// Rows of the whole table.
    rows_all: u64,
    bytes: usize,
}

/// A value that is not NULL.
#[derive(Debug, Clone, Copy)]
pub enum Cell<'v> {
    /// A whole number.
    Integer(i64),
    /// Another number.
    Real(f64),
    /// All else.
    Text(&'v [u8]),
}

impl Cell<'_> {
    fn text(self) -> Vec<u8> {
        match self {
            Self::Integer(number) => number.to_string().into_bytes(),
            Self::Real(number) => number.to_string().into_bytes(),
            Self::Text(text) => text.to_vec(),
        }
    }
}

/// The values of a column, of the narrowest kind that holds them all; `None` is NULL.
enum Cells {
    Integers(Vec<Option<i64>>),
    Reals(Vec<Option<f64>>),
    Texts(Vec<Option<Vec<u8>>>),
}

impl Cells {
    fn push(&mut self, cell: Option<Cell<'_>>) {
        let widened = match (&*self, cell) {
            (Self::Integers(integers), Some(Cell::Real(_))) => {
                Self::Reals(integers.iter().map(|cell| cell.map(|number| number as f64)).collect())
            }
            (Self::Integers(integers), Some(Cell::Text(_))) => Self::Texts(
                integers
                    .iter()
                    .map(|cell| cell.map(|number| Cell::Integer(number).text()))
                    .collect(),
            ),
            (Self::Reals(reals), Some(Cell::Text(_))) => Self::Texts(
                reals.iter().map(|cell| cell.map(|number| Cell::Real(number).text())).collect(),
            ),
            _ => return self.push_own(cell),
        };
        *self = widened;
        self.push_own(cell);
    }

    /// A value of this kind, or a narrower one.
    fn push_own(&mut self, cell: Option<Cell<'_>>) {
        match self {
            Self::Integers(integers) => integers.push(match cell {
                Some(Cell::Integer(number)) => Some(number),
                _ => None,
            }),
            Self::Reals(reals) => reals.push(match cell {
                Some(Cell::Integer(number)) => Some(number as f64),
                Some(Cell::Real(number)) => Some(number),
                _ => None,
            }),
            Self::Texts(column) => column.push(cell.map(Cell::text)),
        }
    }

    fn column_type(&self) -> ColumnType {
        match self {
            Self::Integers(_) => ColumnType::Int64,
            Self::Reals(_) => ColumnType::Double,
            Self::Texts(_) => ColumnType::Text,
        }
    }

    fn write(&self, target: &mut ColumnTarget<'_>) -> Result<(), ParquetError> {
        fn present<T>(cells: &[Option<T>]) -> Vec<i16> {
            cells.iter().map(|cell| i16::from(cell.is_some())).collect()
        }
        let (values, present) = match self {
            Self::Integers(cells) => {
                (Values::Int64(cells.iter().copied().flatten().collect()), present(cells))
            }
            Self::Reals(cells) => {
                (Values::Double(cells.iter().copied().flatten().collect()), present(cells))
            }
            Self::Texts(cells) => {
                let texts = cells.iter().flatten().cloned().map(ByteArray::from);
                (Values::Bytes(texts.collect()), present(cells))
            }
        };
        target.write(&values, Some(&present))
    }
}

/// The rows of a sample take too much memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("its rows take more than {} MiB; read fewer rows (--rows)", BYTES_MAX >> 20)]
pub struct TooLarge;

impl Sample {
    /// No rows yet of a table with these columns.
    pub fn new(columns: impl IntoIterator<Item = String>, rows_all: u64) -> Self {
        let columns = columns.into_iter().map(|name| (name, Cells::Integers(Vec::new()))).collect();
        Self { columns, rows_all, bytes: 0 }
    }

    /// Adds a row.
    ///
    /// # Errors
    /// When the rows take too much memory.
    pub fn push<'v>(
        &mut self,
        row: impl Iterator<Item = Option<Cell<'v>>>,
    ) -> Result<(), TooLarge> {
        for ((_, cells), cell) in self.columns.iter_mut().zip(row) {
            self.bytes += if let Some(Cell::Text(text)) = cell { 24 + text.len() } else { 16 };
            cells.push(cell);
        }
        if self.bytes > BYTES_MAX {
            return Err(TooLarge);
        }
        Ok(())
    }

    /// Writes the rows of `table` to a new Parquet file. Returns the number of rows of the table.
    ///
    /// # Errors
    /// When the file exists, or there is no room.
    pub fn export(&self, table: &str, to: &Path) -> Result<u64> {
        let file = File::create_new(to).map_err(EngineError::at(to))?;
        let doing = format!("writing rows of {table} to {}", to.display());
        self.write(file).map_err(|error| EngineError::failed(doing, error.to_string()))?;
        Ok(self.rows_all)
    }

    fn write(&self, mut file: File) -> Result<(), ParquetError> {
        let fields: Vec<Field<'_>> = self
            .columns
            .iter()
            .map(|(name, cells)| Field { name, column_type: cells.column_type(), nullable: true })
            .collect();
        let mut file = ParquetWriter::new(&mut file, schema("rows", &fields)?)?;
        file.group(&mut |at, column| self.columns[at].1.write(column))?;
        file.close()
    }
}
