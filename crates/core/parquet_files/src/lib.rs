//! Reading and writing of Parquet files by whole columns.
//!
//! The crate `parquet` is generic in the types of columns and files, and its encoders and decoders
//! are large. They are compiled here, once; the rest of Steelbench uses what is not generic.
//!
//! - `schema`: the columns of a file that is written
//! - `values`: the values of a column in memory
//! - `write`: row groups written column by column
//! - `read`: columns of row groups; `limited`: a file of which no page takes too much memory

mod limited;
mod read;
mod schema;
mod values;
mod write;

pub use parquet::basic::{Repetition, Type as Physical};
pub use parquet::data_type::{ByteArray, FixedLenByteArray};
pub use parquet::errors::ParquetError;
pub use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
pub use parquet::schema::types::{Type, TypePtr};
pub use read::ParquetReader;
pub use schema::{ColumnType, Field, schema};
pub use values::{Cells, Values};
pub use write::{ColumnTarget, ParquetWriter};
