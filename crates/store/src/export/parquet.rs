use super::replace::{make_folder, replace_file};
use super::table::{Cell, Column, Columns, Kind, Sink, Table};
use super::tables;
use crate::Result;
use observations::Recording;
use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rows that are gathered before they are written: bounds the memory that an export needs.
const ROWS_IN_GROUP: usize = 65_536;

/// Writes the tables of [`export_csv`](super::export_csv) as `trials.parquet` and so on, with typed
/// columns: counts are unsigned 64-bit, times of day are UTC timestamps, unknown is null.
///
/// # Errors
/// `Export` or `Io`; a file that could not be completed is left as it was.
pub fn export_parquet(recording: &Recording, folder: &Path) -> Result<Vec<PathBuf>> {
    make_folder(folder)?;
    let mut sink = ParquetFolder { folder, written: Vec::new() };
    tables::write_all(recording, &mut sink)?;
    Ok(sink.written)
}

struct ParquetFolder<'f> {
    folder: &'f Path,
    written: Vec<PathBuf>,
}

impl Sink for ParquetFolder<'_> {
    fn table<T>(&mut self, mut table: Table<'_, T>) -> Result<()> {
        let path = self.folder.join(format!("{}.parquet", table.name));
        replace_file(&path, |file| -> Result<(), ParquetError> {
            let columns = &table.columns.0;
            let properties = WriterProperties::builder()
                .set_compression(Compression::SNAPPY)
                .set_created_by(concat!("steelbench ", env!("CARGO_PKG_VERSION")).to_owned())
                .build();
            let mut writer =
                SerializedFileWriter::new(file, schema(table.name, &table.columns)?, Arc::new(properties))?;
            loop {
                let items: Vec<T> = table.items.by_ref().take(ROWS_IN_GROUP).collect();
                if items.is_empty() {
                    break;
                }
                let mut group = writer.next_row_group()?;
                for column in columns {
                    let cells = items.iter().map(|item| (column.cell)(item));
                    if let Some(mut target) = group.next_column()? {
                        write_column(&mut target, column.kind, cells)?;
                        target.close()?;
                    }
                }
                group.close()?;
            }
            writer.close()?;
            Ok(())
        })?;
        self.written.push(path);
        Ok(())
    }
}

fn schema<T>(name: &str, columns: &Columns<'_, T>) -> Result<Arc<Type>, ParquetError> {
    let field = |(name, column): (String, &Column<'_, T>)| {
        let (physical, logical) = match column.kind {
            Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Kind::Bool => (Physical::BOOLEAN, None),
            Kind::Integer => (Physical::INT64, None),
            Kind::Unsigned => (Physical::INT64, Some(LogicalType::integer(64, false))),
            Kind::Real => (Physical::DOUBLE, None),
            Kind::Time => (Physical::INT64, Some(LogicalType::timestamp(true, TimeUnit::MILLIS))),
        };
        Type::primitive_type_builder(&name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical)
            .build()
            .map(Arc::new)
    };
    let fields = columns.names().into_iter().zip(&columns.0).map(field).collect::<Result<_, _>>()?;
    Type::group_type_builder(name).with_fields(fields).build().map(Arc::new)
}

fn write_column<'a>(
    target: &mut SerializedColumnWriter<'_>,
    kind: Kind,
    cells: impl Iterator<Item = Cell<'a>>,
) -> Result<(), ParquetError> {
    match kind {
        Kind::Text => write_values::<ByteArrayType>(target, cells, |cell| match cell {
            Cell::Text(text) => Some(ByteArray::from(text.as_bytes().to_vec())),
            _ => None,
        }),
        Kind::Bool => write_values::<BoolType>(target, cells, |cell| match cell {
            Cell::Bool(value) => Some(value),
            _ => None,
        }),
        Kind::Real => write_values::<DoubleType>(target, cells, |cell| match cell {
            Cell::Real(value) => Some(value),
            _ => None,
        }),
        Kind::Integer | Kind::Unsigned | Kind::Time => {
            write_values::<Int64Type>(target, cells, |cell| match cell {
                Cell::Integer(value) | Cell::Time(value) => Some(value),
                // The format stores unsigned numbers as the same bits.
                Cell::Unsigned(value) => Some(value.cast_signed()),
                _ => None,
            })
        }
    }
}

/// Present values, and for each row whether there is one (definition level 1) or not (0).
fn write_values<'a, D: DataType>(
    target: &mut SerializedColumnWriter<'_>,
    cells: impl Iterator<Item = Cell<'a>>,
    value: impl Fn(Cell<'a>) -> Option<D::T>,
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
