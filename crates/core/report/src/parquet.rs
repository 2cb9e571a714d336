//! A table as a Parquet file.

use crate::table::{Column, Datum, Kind, Table};
use parquet_files::{
    ByteArray, ColumnTarget, ColumnType, Field, ParquetError, ParquetWriter, Values, schema,
};
use std::io::{self, Write};

/// Cells that are gathered before they are written: bounds the memory that an export needs.
const CELLS_IN_GROUP: usize = 1 << 20;

impl Table<'_> {
    /// Writes the table as Parquet with typed columns: counts are unsigned 64-bit, times of day are
    /// UTC timestamps, unknown is null.
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn parquet(&self, mut writer: impl Write + Send) -> io::Result<()> {
        self.write_parquet(&mut writer).map_err(io::Error::other)
    }

    fn write_parquet(&self, writer: &mut (dyn Write + Send)) -> Result<(), ParquetError> {
        let keys = self.keys();
        let field = |(name, column): (_, &Column)| Field {
            name,
            column_type: column_type(column.kind),
            nullable: true,
        };
        let keys = keys.iter().map(String::as_str);
        let fields: Vec<Field<'_>> = keys.zip(&self.columns).map(field).collect();
        let mut file = ParquetWriter::new(writer, schema(self.name, &fields)?)?;
        let mut rows = self.rows();
        loop {
            let some: Vec<_> =
                rows.by_ref().take(CELLS_IN_GROUP / self.columns.len().max(1)).collect();
            if some.is_empty() {
                return file.close();
            }
            file.group(&mut |at, target| {
                let cells: Vec<&Datum> = some.iter().map(|row| &row[at].value).collect();
                write_column(target, self.columns[at].kind, &cells)
            })?;
        }
    }
}

fn column_type(kind: Kind) -> ColumnType {
    match kind {
        Kind::Text => ColumnType::Text,
        Kind::Bool => ColumnType::Bool,
        Kind::Integer => ColumnType::Int64,
        Kind::Count => ColumnType::Unsigned64,
        Kind::Number | Kind::Share => ColumnType::Double,
        Kind::Time => ColumnType::Timestamp { utc: true },
    }
}

fn write_column(
    target: &mut ColumnTarget<'_>,
    kind: Kind,
    cells: &[&Datum],
) -> Result<(), ParquetError> {
    let (present, values) = match kind {
        Kind::Text => present(cells, Values::Bytes, |cell| match cell {
            Datum::Text(text) => Some(ByteArray::from(text.as_bytes().to_vec())),
            _ => None,
        }),
        Kind::Bool => present(cells, Values::Bool, |cell| match cell {
            Datum::Bool(value) => Some(*value),
            _ => None,
        }),
        Kind::Number | Kind::Share => present(cells, Values::Double, |cell| match cell {
            Datum::Number(value) | Datum::Share(value) => Some(*value),
            _ => None,
        }),
        Kind::Integer | Kind::Count | Kind::Time => {
            present(cells, Values::Int64, |cell| match cell {
                Datum::Integer(value) | Datum::Time(value) => Some(*value),
                // The format stores unsigned numbers as the same bits.
                Datum::Count(value) => Some(value.cast_signed()),
                _ => None,
            })
        }
    };
    target.write(&values, Some(&present))
}

/// For each row whether there is a value, and the present values.
fn present<T>(
    cells: &[&Datum],
    values: fn(Vec<T>) -> Values,
    value: fn(&Datum) -> Option<T>,
) -> (Vec<i16>, Values) {
    let mut levels = Vec::with_capacity(cells.len());
    let mut present = Vec::with_capacity(cells.len());
    for cell in cells {
        let value = value(cell);
        levels.push(i16::from(value.is_some()));
        present.extend(value);
    }
    (levels, values(present))
}
