//! A table as a Parquet file.

use parquet_files::{
    ByteArray, ColumnType, Field, FixedLenByteArray, ParquetError, ParquetWriter, schema,
};
use std::io::{self, Write};
use work::{DataType, Fill, Rows, Table, Values};

/// Rows of a row group: as many as `DuckDB`'s have.
pub const GROUP_ROWS: usize = 122_880;

/// A file that was written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Export {
    /// The rows.
    pub rows: u64,
    /// Bytes that each column takes in each row group, dictionaries included; columns in the order
    /// of the fill.
    pub group_bytes: Vec<Vec<u64>>,
}

/// Writes the rows of a table as Parquet, with the types of its columns.
///
/// # Errors
/// Those of the writer.
pub fn write(table: &Table, fill: Fill, mut writer: impl Write + Send) -> io::Result<Export> {
    write_groups(table, fill, &mut writer).map_err(io::Error::other)
}

fn write_groups(
    table: &Table,
    fill: Fill,
    writer: &mut (dyn Write + Send),
) -> Result<Export, ParquetError> {
    let columns =
        fill.columns.iter().filter_map(|name| Some((*name, table.column(name)?.data_type)));
    let fields: Vec<Field<'_>> = columns
        .map(|(name, data_type)| Field {
            name,
            column_type: column_type(data_type),
            nullable: false,
        })
        .collect();
    let mut file = ParquetWriter::new(writer, schema(table.name, &fields)?)?;
    let (mut written, mut batches) = (Export::default(), fill.batches);
    loop {
        let mut some: Vec<Rows> = Vec::new();
        while some.iter().map(|rows| rows.count).sum::<usize>() < GROUP_ROWS {
            let Some(rows) = batches.next() else { break };
            some.push(rows);
        }
        if some.is_empty() {
            return file.close().map(|()| written);
        }
        let bytes = file.group(&mut |at, column| {
            some.iter().try_for_each(|rows| {
                let values = values(fields[at].column_type, &rows.columns[at], rows.count)?;
                column.write(&values, None)
            })
        })?;
        written.group_bytes.push(bytes);
        written.rows += some.iter().map(|rows| rows.count as u64).sum::<u64>();
    }
}

fn column_type(data_type: DataType) -> ColumnType {
    match data_type {
        DataType::Int => ColumnType::Int32,
        DataType::BigInt => ColumnType::Int64,
        DataType::Date => ColumnType::Date,
        DataType::Timestamp => ColumnType::Timestamp { utc: false },
        DataType::Decimal => ColumnType::Decimal { precision: 15, scale: 2 },
        DataType::Uuid => ColumnType::Uuid,
        DataType::Char(_) | DataType::Varchar(_) | DataType::PageFiller { .. } => ColumnType::Text,
    }
}

fn values(
    column_type: ColumnType,
    values: &Values,
    count: usize,
) -> Result<parquet_files::Values, ParquetError> {
    let whole: Vec<i64> = match values {
        Values::Integers(numbers) | Values::Decimals(numbers) => numbers.clone(),
        Values::Same(number) => vec![*number; count],
        Values::Dates(days) => days.iter().copied().map(i64::from).collect(),
        Values::Timestamps(seconds) => seconds.iter().map(|s| s * 1000).collect(),
        Values::Uuids(uuids) => {
            let bytes = |uuid: &u128| FixedLenByteArray::from(uuid.to_be_bytes().to_vec());
            return Ok(parquet_files::Values::FixedBytes(uuids.iter().map(bytes).collect()));
        }
        Values::Nullable { .. } => {
            let message = "rows with NULL are not written to Parquet files";
            return Err(ParquetError::General(message.into()));
        }
        Values::SameText(text) => {
            return Ok(parquet_files::Values::Bytes(vec![ByteArray::from(*text); count]));
        }
        Values::Texts(texts) => {
            let text = |row| ByteArray::from(texts.get(row).as_bytes().to_vec());
            return Ok(parquet_files::Values::Bytes((0..count).map(text).collect()));
        }
    };
    Ok(if matches!(column_type, ColumnType::Int32 | ColumnType::Date) {
        parquet_files::Values::Int32(whole.into_iter().map(|number| number as i32).collect())
    } else {
        parquet_files::Values::Int64(whole)
    })
}
