//! A file that is read, by columns of row groups.

use crate::limited::Limited;
use crate::values::{Cells, Values};
use parquet::column::reader::ColumnReader;
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use std::fs::File;

/// Rows that are decoded at a time.
const BATCH_ROWS: usize = 8_192;

/// An open file.
pub struct ParquetReader(SerializedFileReader<Limited>);

impl ParquetReader {
    /// Opens a file that may be damaged, or made to harm: a page that is too large is an error.
    ///
    /// # Errors
    /// When it is not a Parquet file.
    pub fn untrusted(file: File) -> Result<Self, ParquetError> {
        SerializedFileReader::new(Limited { file, is_trusted: false }).map(Self)
    }

    /// Opens a file that Steelbench wrote.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn trusted(file: File) -> Result<Self, ParquetError> {
        SerializedFileReader::new(Limited { file, is_trusted: true }).map(Self)
    }

    /// The file's description of itself.
    pub fn metadata(&self) -> &ParquetMetaData {
        self.0.metadata()
    }

    /// Reads rows of a column of a row group. Returns their number; `None` when all that `into`
    /// holds exceeds `bytes_max`.
    ///
    /// # Errors
    /// When the file is damaged.
    pub fn read(
        &self,
        group: usize,
        column: usize,
        rows: usize,
        bytes_max: usize,
        into: &mut Cells,
    ) -> Result<Option<usize>, ParquetError> {
        let mut reader = self.0.get_row_group(group)?.get_column_reader(column)?;
        let mut read = 0;
        while read < rows {
            let before = into.values.len();
            let records = read_batch(&mut reader, (rows - read).min(BATCH_ROWS), into)?;
            if records == 0 {
                break;
            }
            read += records;
            into.bytes += into.values.bytes_from(before);
            if into.bytes > bytes_max {
                return Ok(None);
            }
        }
        Ok(Some(read))
    }
}

/// Reads at most `rows` rows; returns their number.
fn read_batch(
    reader: &mut ColumnReader,
    rows: usize,
    into: &mut Cells,
) -> Result<usize, ParquetError> {
    macro_rules! read_batch {
        ($($reader:ident => $values:ident,)*) => {
            match (reader, &mut into.values) {
                $((ColumnReader::$reader(reader), Values::$values(values)) => {
                    reader.read_records(rows, into.present.as_mut(), None, values)?
                })*
                _ => {
                    let message = "its type differs from the schema";
                    return Err(ParquetError::General(message.into()));
                }
            }
        };
    }
    let (records, _, _) = read_batch! {
        BoolColumnReader => Bool,
        Int32ColumnReader => Int32,
        Int64ColumnReader => Int64,
        Int96ColumnReader => Int96,
        FloatColumnReader => Float,
        DoubleColumnReader => Double,
        ByteArrayColumnReader => Bytes,
        FixedLenByteArrayColumnReader => FixedBytes,
    };
    Ok(records)
}
