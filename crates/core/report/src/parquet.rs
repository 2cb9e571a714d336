//! A table as a Parquet file.

use crate::table::{Column, Datum, Kind, Table};
use ::parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical};
use ::parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use ::parquet::schema::types::Type;
use std::io::{self, Write};
use std::sync::Arc;

/// Cells that are gathered before they are written: bounds the memory that an export needs.
const CELLS_IN_GROUP: usize = 1 << 20;

impl Table<'_> {
    /// Writes the table as Parquet with typed columns: counts are unsigned 64-bit, times of day are
    /// UTC timestamps, unknown is null.
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn parquet(&self, writer: impl Write + Send) -> io::Result<()> {
        self.write_parquet(writer).map_err(io::Error::other)
    }

    fn write_parquet(&self, writer: impl Write + Send) -> Result<(), ParquetError> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(concat!("steelbench ", env!("CARGO_PKG_VERSION")).to_owned())
            .build();
        let mut writer = SerializedFileWriter::new(writer, self.schema()?, Arc::new(properties))?;
        let mut rows = self.rows();
        loop {
            let some: Vec<_> =
                rows.by_ref().take(CELLS_IN_GROUP / self.columns.len().max(1)).collect();
            if some.is_empty() {
                break;
            }
            let mut group = writer.next_row_group()?;
            for (at, column) in self.columns.iter().enumerate() {
                if let Some(mut target) = group.next_column()? {
                    write_column(&mut target, column.kind, some.iter().map(|row| &row[at].value))?;
                    target.close()?;
                }
            }
            group.close()?;
        }
        writer.close().map(drop)
    }

    fn schema(&self) -> Result<Arc<Type>, ParquetError> {
        let field = |(key, column): (String, &Column)| {
            let (physical, logical) = match column.kind {
                Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
                Kind::Bool => (Physical::BOOLEAN, None),
                Kind::Integer => (Physical::INT64, None),
                Kind::Count => (Physical::INT64, Some(LogicalType::integer(64, false))),
                Kind::Number | Kind::Share => (Physical::DOUBLE, None),
                Kind::Time => {
                    (Physical::INT64, Some(LogicalType::timestamp(true, TimeUnit::MILLIS)))
                }
            };
            let field =
                Type::primitive_type_builder(&key, physical).with_repetition(Repetition::OPTIONAL);
            field.with_logical_type(logical).build().map(Arc::new)
        };
        let fields =
            self.keys().into_iter().zip(&self.columns).map(field).collect::<Result<_, _>>()?;
        Type::group_type_builder(self.name).with_fields(fields).build().map(Arc::new)
    }
}

fn write_column<'a>(
    target: &mut SerializedColumnWriter<'_>,
    kind: Kind,
    cells: impl Iterator<Item = &'a Datum>,
) -> Result<(), ParquetError> {
    match kind {
        Kind::Text => write_values::<ByteArrayType>(target, cells, |cell| match cell {
            Datum::Text(text) => Some(ByteArray::from(text.as_bytes().to_vec())),
            _ => None,
        }),
        Kind::Bool => write_values::<BoolType>(target, cells, |cell| match cell {
            Datum::Bool(value) => Some(*value),
            _ => None,
        }),
        Kind::Number | Kind::Share => {
            write_values::<DoubleType>(target, cells, |cell| match cell {
                Datum::Number(value) | Datum::Share(value) => Some(*value),
                _ => None,
            })
        }
        Kind::Integer | Kind::Count | Kind::Time => {
            write_values::<Int64Type>(target, cells, |cell| match cell {
                Datum::Integer(value) | Datum::Time(value) => Some(*value),
                // The format stores unsigned numbers as the same bits.
                Datum::Count(value) => Some(value.cast_signed()),
                _ => None,
            })
        }
    }
}

/// Present values, and for each row whether there is one (definition level 1) or not (0).
fn write_values<'a, D: DataType>(
    target: &mut SerializedColumnWriter<'_>,
    cells: impl Iterator<Item = &'a Datum>,
    value: impl Fn(&Datum) -> Option<D::T>,
) -> Result<(), ParquetError> {
    let mut values = Vec::new();
    let mut levels = Vec::new();
    for cell in cells {
        let present = value(cell);
        levels.push(i16::from(present.is_some()));
        values.extend(present);
    }
    target.typed::<D>().write_batch(&values, Some(&levels), None)?;
    Ok(())
}
