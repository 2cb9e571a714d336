//! Rows of a table of a user's database, all of them or some that are spread over the table, and
//! the Parquet file that they are written to.

use crate::EngineError;
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

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
            (Self::Integers(own), Some(Cell::Real(_))) => {
                Self::Reals(own.iter().map(|cell| cell.map(|number| number as f64)).collect())
            }
            (Self::Integers(own), Some(Cell::Text(_))) => Self::Texts(
                own.iter().map(|cell| cell.map(|number| Cell::Integer(number).text())).collect(),
            ),
            (Self::Reals(own), Some(Cell::Text(_))) => Self::Texts(
                own.iter().map(|cell| cell.map(|number| Cell::Real(number).text())).collect(),
            ),
            _ => return self.push_own(cell),
        };
        *self = widened;
        self.push_own(cell);
    }

    /// A value of this kind, or a narrower one.
    fn push_own(&mut self, cell: Option<Cell<'_>>) {
        match self {
            Self::Integers(own) => own.push(match cell {
                Some(Cell::Integer(number)) => Some(number),
                _ => None,
            }),
            Self::Reals(own) => own.push(match cell {
                Some(Cell::Integer(number)) => Some(number as f64),
                Some(Cell::Real(number)) => Some(number),
                _ => None,
            }),
            Self::Texts(own) => own.push(cell.map(Cell::text)),
        }
    }

    fn write(&self, target: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        fn put<T: DataType>(
            target: &mut SerializedColumnWriter<'_>,
            cells: impl Iterator<Item = Option<T::T>>,
        ) -> Result<(), ParquetError> {
            let (mut values, mut present) = (Vec::new(), Vec::new());
            for cell in cells {
                present.push(i16::from(cell.is_some()));
                values.extend(cell);
            }
            target.typed::<T>().write_batch(&values, Some(&present), None).map(drop)
        }
        match self {
            Self::Integers(own) => put::<Int64Type>(target, own.iter().copied()),
            Self::Reals(own) => put::<DoubleType>(target, own.iter().copied()),
            Self::Texts(own) => put::<ByteArrayType>(
                target,
                own.iter().cloned().map(|cell| cell.map(ByteArray::from)),
            ),
        }
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
    pub fn export(&self, table: &str, to: &Path) -> Result<u64, EngineError> {
        let file = File::create_new(to).map_err(EngineError::at(to))?;
        let doing = format!("writing rows of {table} to {}", to.display());
        self.write(file).map_err(|error| EngineError::failed(doing, error.to_string()))?;
        Ok(self.rows_all)
    }

    fn write(&self, file: File) -> Result<(), ParquetError> {
        let fields = self
            .columns
            .iter()
            .map(|(name, cells)| {
                let (physical, logical) = match cells {
                    Cells::Integers(_) => (Physical::INT64, None),
                    Cells::Reals(_) => (Physical::DOUBLE, None),
                    Cells::Texts(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
                };
                let field = Type::primitive_type_builder(name, physical)
                    .with_repetition(Repetition::OPTIONAL);
                field.with_logical_type(logical).build().map(Arc::new)
            })
            .collect::<Result<_, _>>()?;
        let schema = Type::group_type_builder("rows").with_fields(fields).build()?;
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let mut writer = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties))?;
        let mut group = writer.next_row_group()?;
        for (_, cells) in &self.columns {
            if let Some(mut target) = group.next_column()? {
                cells.write(&mut target)?;
                target.close()?;
            }
        }
        group.close()?;
        writer.close().map(drop)
    }
}
