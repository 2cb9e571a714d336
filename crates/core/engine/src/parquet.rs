//! A table as a Parquet file.

use ::parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical};
use ::parquet::data_type::{
    ByteArray, ByteArrayType, FixedLenByteArray, FixedLenByteArrayType, Int32Type, Int64Type,
};
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use ::parquet::schema::types::Type;
use std::io::{self, Write};
use std::sync::Arc;
use work::{DataType, Fill, Rows, Table, Values};

/// Rows of a row group: as many as `DuckDB`'s have.
pub const GROUP_ROWS: usize = 122_880;

/// A file that was written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Written {
    /// Its rows.
    pub rows: u64,
    /// Bytes that each column takes in each row group, dictionaries included; columns in the order
    /// of the fill.
    pub group_bytes: Vec<Vec<u64>>,
}

/// Writes the rows of a table as Parquet, with the types of its columns.
///
/// # Errors
/// Those of the writer.
pub fn write(table: &Table, fill: Fill, writer: impl Write + Send) -> io::Result<Written> {
    write_groups(table, fill, writer).map_err(io::Error::other)
}

fn write_groups(
    table: &Table,
    fill: Fill,
    writer: impl Write + Send,
) -> Result<Written, ParquetError> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(concat!("steelbench ", env!("CARGO_PKG_VERSION")).to_owned())
        .build();
    let types: Vec<DataType> =
        fill.columns.iter().filter_map(|name| Some(table.column(name)?.data_type)).collect();
    let schema = schema(table.name, &fill.columns, &types)?;
    let mut writer = SerializedFileWriter::new(writer, schema, Arc::new(properties))?;
    let (mut written, mut batches) = (Written::default(), fill.batches);
    loop {
        let mut some: Vec<Rows> = Vec::new();
        while some.iter().map(|rows| rows.count).sum::<usize>() < GROUP_ROWS {
            let Some(rows) = batches.next() else { break };
            some.push(rows);
        }
        if some.is_empty() {
            return writer.close().map(|_| written);
        }
        let mut group = writer.next_row_group()?;
        for (at, data_type) in types.iter().enumerate() {
            if let Some(mut target) = group.next_column()? {
                for rows in &some {
                    write_values(&mut target, *data_type, &rows.columns[at], rows.count)?;
                }
                target.close()?;
            }
        }
        let group = group.close()?;
        let bytes = group.columns().iter().map(|column| column.compressed_size() as u64);
        written.group_bytes.push(bytes.collect());
        written.rows += some.iter().map(|rows| rows.count as u64).sum::<u64>();
    }
}

fn schema(name: &str, columns: &[&str], types: &[DataType]) -> Result<Arc<Type>, ParquetError> {
    let field = |(name, data_type): (&&str, &DataType)| {
        let (physical, logical) = match data_type {
            DataType::Int => (Physical::INT32, None),
            DataType::BigInt => (Physical::INT64, None),
            DataType::Date => (Physical::INT32, Some(LogicalType::Date)),
            DataType::Timestamp => {
                (Physical::INT64, Some(LogicalType::timestamp(false, TimeUnit::MILLIS)))
            }
            DataType::Decimal => (Physical::INT64, Some(LogicalType::decimal(2, 15))),
            DataType::Uuid => (Physical::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::Uuid)),
            DataType::Char(_) | DataType::Varchar(_) | DataType::PageFiller { .. } => {
                (Physical::BYTE_ARRAY, Some(LogicalType::String))
            }
        };
        let field =
            Type::primitive_type_builder(name, physical).with_repetition(Repetition::REQUIRED);
        let field = if *data_type == DataType::Uuid { field.with_length(16) } else { field };
        let field = if *data_type == DataType::Decimal {
            field.with_precision(15).with_scale(2)
        } else {
            field
        };
        field.with_logical_type(logical).build().map(Arc::new)
    };
    let fields = columns.iter().zip(types).map(field).collect::<Result<_, _>>()?;
    Type::group_type_builder(name).with_fields(fields).build().map(Arc::new)
}

fn write_values(
    target: &mut SerializedColumnWriter<'_>,
    data_type: DataType,
    values: &Values,
    count: usize,
) -> Result<(), ParquetError> {
    let whole: Vec<i64> = match values {
        Values::Integers(numbers) | Values::Decimals(numbers) => numbers.clone(),
        Values::Same(number) => vec![*number; count],
        Values::Dates(days) => days.iter().copied().map(i64::from).collect(),
        Values::Timestamps(seconds) => seconds.iter().map(|s| s * 1000).collect(),
        Values::Uuids(uuids) => {
            let values: Vec<_> = uuids
                .iter()
                .map(|uuid| FixedLenByteArray::from(uuid.to_be_bytes().to_vec()))
                .collect();
            return target
                .typed::<FixedLenByteArrayType>()
                .write_batch(&values, None, None)
                .map(drop);
        }
        Values::Nullable { .. } => {
            let message = "rows with NULL are not written to Parquet files";
            return Err(ParquetError::General(message.into()));
        }
        Values::SameText(_) | Values::Texts(_) => {
            let values: Vec<ByteArray> = (0..count)
                .map(|row| match values {
                    Values::Texts(texts) => ByteArray::from(texts.get(row).as_bytes().to_vec()),
                    Values::SameText(text) => ByteArray::from(*text),
                    _ => ByteArray::new(),
                })
                .collect();
            return target.typed::<ByteArrayType>().write_batch(&values, None, None).map(drop);
        }
    };
    if matches!(data_type, DataType::Int | DataType::Date) {
        let narrow: Vec<i32> = whole.into_iter().map(|number| number as i32).collect();
        return target.typed::<Int32Type>().write_batch(&narrow, None, None).map(drop);
    }
    target.typed::<Int64Type>().write_batch(&whole, None, None).map(drop)
}
