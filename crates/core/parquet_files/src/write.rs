//! A file that is written, one row group after the other.

use crate::values::Values;
use parquet::basic::Compression;
use parquet::column::writer::ColumnWriterImpl;
use parquet::data_type::{
    BoolType, ByteArrayType, DataType, DoubleType, FixedLenByteArrayType, FloatType, Int32Type,
    Int64Type, Int96Type,
};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::TypePtr;
use std::io::Write;
use std::sync::Arc;

/// A file with Snappy compression.
pub struct ParquetWriter<'w>(SerializedFileWriter<&'w mut (dyn Write + Send)>);

/// A column of a row group.
pub struct ColumnTarget<'g>(SerializedColumnWriter<'g>);

impl<'w> ParquetWriter<'w> {
    /// Begins a file.
    ///
    /// # Errors
    /// Those of the target.
    pub fn new(to: &'w mut (dyn Write + Send), schema: TypePtr) -> Result<Self, ParquetError> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(concat!("steelbench ", env!("CARGO_PKG_VERSION")).to_owned())
            .build();
        SerializedFileWriter::new(to, schema, Arc::new(properties)).map(Self)
    }

    /// Writes a row group: `write` writes each column, by its position. Returns the bytes that each
    /// column takes, dictionaries included.
    ///
    /// # Errors
    /// Those of `write` and of the target.
    pub fn group(
        &mut self,
        write: &mut dyn FnMut(usize, &mut ColumnTarget<'_>) -> Result<(), ParquetError>,
    ) -> Result<Vec<u64>, ParquetError> {
        let mut group = self.0.next_row_group()?;
        let mut position = 0;
        while let Some(column) = group.next_column()? {
            let mut target = ColumnTarget(column);
            write(position, &mut target)?;
            target.0.close()?;
            position += 1;
        }
        let written = group.close()?;
        Ok(written.columns().iter().map(|column| column.compressed_size() as u64).collect())
    }

    /// Ends the file.
    ///
    /// # Errors
    /// Those of the target.
    pub fn close(self) -> Result<(), ParquetError> {
        self.0.close().map(drop)
    }
}

impl ColumnTarget<'_> {
    /// Writes values of the column's physical type. `present`, where NULL is possible: for each row
    /// 1 if it has a value, else 0.
    ///
    /// # Errors
    /// Those of the target.
    pub fn write(&mut self, values: &Values, present: Option<&[i16]>) -> Result<(), ParquetError> {
        let target = &mut self.0;
        match values {
            Values::Bool(values) => put(target.typed::<BoolType>(), values, present),
            Values::Int32(values) => put(target.typed::<Int32Type>(), values, present),
            Values::Int64(values) => put(target.typed::<Int64Type>(), values, present),
            Values::Int96(values) => put(target.typed::<Int96Type>(), values, present),
            Values::Float(values) => put(target.typed::<FloatType>(), values, present),
            Values::Double(values) => put(target.typed::<DoubleType>(), values, present),
            Values::Bytes(values) => put(target.typed::<ByteArrayType>(), values, present),
            Values::FixedBytes(values) => {
                put(target.typed::<FixedLenByteArrayType>(), values, present)
            }
        }
    }
}

fn put<T: DataType>(
    target: &mut ColumnWriterImpl<'_, T>,
    values: &[T::T],
    present: Option<&[i16]>,
) -> Result<(), ParquetError> {
    target.write_batch(values, present, None).map(drop)
}
