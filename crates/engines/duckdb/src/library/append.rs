//! Rows in chunks of columns, and the appender that takes them.

use super::interface::{Handle, Interface};
use super::{Answered, DuckDbError, Handles, Library};
use std::marker::PhantomData;
use std::sync::Arc;

/// Appends rows to a table, in the current transaction of its connection.
pub struct Appender {
    pub(super) connected: Arc<Handles>,
    pub(super) handle: Handle,
}

impl Appender {
    fn interface(&self) -> &'static Interface {
        &self.connected.database.library.interface
    }

    pub(super) fn check(&self, state: u32) -> Answered<()> {
        if state == 0 {
            return Ok(());
        }
        // SAFETY: the appender exists.
        Err(unsafe { DuckDbError::refused((self.interface().duckdb_appender_error)(self.handle)) })
    }

    /// Appends the rows of a chunk.
    pub fn append(&mut self, chunk: &Chunk) -> Answered<()> {
        // SAFETY: both exist; DuckDB copies the chunk and checks its columns.
        self.check(unsafe {
            (self.interface().duckdb_append_data_chunk)(self.handle, chunk.handle)
        })
    }

    /// Hands over to the table what is still held back.
    pub fn flush(&mut self) -> Answered<()> {
        // SAFETY: the appender exists.
        self.check(unsafe { (self.interface().duckdb_appender_flush)(self.handle) })
    }
}

impl Drop for Appender {
    fn drop(&mut self) {
        // SAFETY: it exists, or is null, which is allowed. Dropping hands over buffered rows: a
        // caller that drops it without `flush` rolls back.
        unsafe { (self.interface().duckdb_appender_destroy)(&raw mut self.handle) };
    }
}

/// The type of a column in a chunk: the number that DuckDB's interface gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChunkType {
    /// 32 bits.
    Int = 4,
    /// 64 bits.
    BigInt = 5,
    /// 64 bits: microseconds since 1970.
    Timestamp = 12,
    /// 32 bits: days since 1970.
    Date = 13,
    /// Text.
    Text = 17,
    /// 64 bits: hundredths. Of 15 digits, 2 of them decimal places.
    Decimal = 19,
    /// 128 bits.
    Uuid = 27,
}

/// Rows to be appended, column by column.
pub struct Chunk {
    library: &'static Library,
    handle: Handle,
    types: Vec<ChunkType>,
}

// SAFETY: a chunk is memory that belongs to its owner alone.
unsafe impl Send for Chunk {}

impl Chunk {
    /// An empty chunk with room for [`Library::chunk_rows`] rows.
    pub fn new(library: &'static Library, types: Vec<ChunkType>) -> Self {
        let interface = &library.interface;
        // SAFETY: the list has as many types as it says, each of which is destroyed once the chunk
        // has its own.
        let handle = unsafe {
            let logical = |chunk_type: &ChunkType| match chunk_type {
                ChunkType::Decimal => (interface.duckdb_create_decimal_type)(15, 2),
                chunk_type => (interface.duckdb_create_logical_type)(*chunk_type as u32),
            };
            let mut list: Vec<Handle> = types.iter().map(logical).collect();
            let chunk = (interface.duckdb_create_data_chunk)(list.as_mut_ptr(), list.len() as u64);
            for logical in &mut list {
                (interface.duckdb_destroy_logical_type)(&raw mut *logical);
            }
            chunk
        };
        Self { library, handle, types }
    }

    /// Rows that it has room for.
    pub fn rows_max(&self) -> usize {
        self.library.chunk_rows()
    }

    /// Empties it, for this many rows.
    pub fn restart(&mut self, rows: usize) {
        let interface = &self.library.interface;
        let rows = rows.min(self.library.chunk_rows()) as u64;
        // SAFETY: the chunk exists and has room for this many rows.
        unsafe {
            (interface.duckdb_data_chunk_reset)(self.handle);
            (interface.duckdb_data_chunk_set_size)(self.handle, rows);
        }
    }

    fn vector(&self, column: usize) -> Handle {
        assert!(column < self.types.len(), "column {column} of a chunk");
        // SAFETY: the chunk has this column.
        unsafe { (self.library.interface.duckdb_data_chunk_get_vector)(self.handle, column as u64) }
    }

    /// The values of a column of one of these types, as many as the chunk has room for.
    ///
    /// # Safety
    /// The types are as wide as `T`, and any bits are a value of `T`.
    unsafe fn values<T>(&mut self, column: usize, types: &[ChunkType]) -> &mut [T] {
        let (vector, rows) = (self.vector(column), self.library.chunk_rows());
        assert!(types.contains(&self.types[column]), "column {column} is {:?}", self.types[column]);
        // SAFETY: a flat vector of a new chunk, with room for this many values of the caller's
        // width. DuckDB has zeroed or filled the memory, and the borrowed chunk has no other user.
        unsafe {
            let start = (self.library.interface.duckdb_vector_get_data)(vector).cast();
            std::slice::from_raw_parts_mut(start, rows)
        }
    }

    /// Makes the value of a row NULL.
    pub fn set_null(&mut self, column: usize, row: usize) {
        assert!(row < self.library.chunk_rows(), "row {row} of a chunk");
        let (vector, interface) = (self.vector(column), &self.library.interface);
        // SAFETY: the chunk has this column and room for this row; the mask is made first.
        unsafe {
            (interface.duckdb_vector_ensure_validity_writable)(vector);
            let mask = (interface.duckdb_vector_get_validity)(vector);
            (interface.duckdb_validity_set_row_invalid)(mask, row as u64);
        }
    }

    /// The values of a column of 32 bits.
    pub fn ints(&mut self, column: usize) -> &mut [i32] {
        // SAFETY: these are signed numbers of 32 bits.
        unsafe { self.values(column, &[ChunkType::Int, ChunkType::Date]) }
    }

    /// The values of a column of 64 bits.
    pub fn big_ints(&mut self, column: usize) -> &mut [i64] {
        // SAFETY: these are signed numbers of 64 bits; a decimal of up to 18 digits is one too.
        unsafe {
            self.values(column, &[ChunkType::BigInt, ChunkType::Timestamp, ChunkType::Decimal])
        }
    }

    /// The values of a column of [`ChunkType::Uuid`], as DuckDB orders them: the highest bit turned
    /// over, so that signed numbers sort as UUIDs do; lower half first.
    pub fn uuids(&mut self, column: usize) -> &mut [[u64; 2]] {
        // SAFETY: 128 bits each.
        unsafe { self.values(column, &[ChunkType::Uuid]) }
    }

    /// The places of a column of [`ChunkType::Text`].
    pub fn texts(&mut self, column: usize) -> TextPlaces<'_> {
        assert_eq!(self.types.get(column), Some(&ChunkType::Text), "column {column}");
        let (vector, library) = (self.vector(column), self.library);
        // SAFETY: the chunk has this column.
        let places = unsafe { (library.interface.duckdb_vector_get_data)(vector) };
        TextPlaces { vector, library, places: places.cast(), chunk: PhantomData }
    }
}

/// Where the texts of a column go.
pub(crate) struct TextPlaces<'c> {
    vector: Handle,
    library: &'static Library,
    /// Each a `duckdb_string_t`, as many as the chunk has room for.
    places: *mut [u8; 16],
    chunk: PhantomData<&'c mut Chunk>,
}

impl TextPlaces<'_> {
    /// Bytes of a text that is stored inline, behind its length in 32 bits, padded with zeros.
    const INLINE: usize = 12;

    /// Sets the text of a row.
    pub fn set(&mut self, row: usize, value: &str) {
        assert!(row < self.library.chunk_rows(), "row {row} of a chunk");
        if value.len() <= Self::INLINE {
            let mut place = [0; 16];
            place[..4].copy_from_slice(&(value.len() as u32).to_ne_bytes());
            place[4..4 + value.len()].copy_from_slice(value.as_bytes());
            // SAFETY: the chunk has room for this row, and is borrowed exclusively.
            unsafe { self.places.add(row).write(place) };
        } else {
            let assign = self.library.interface.duckdb_vector_assign_string_element_len;
            // SAFETY: the chunk has this column and room for this row; DuckDB copies the text.
            unsafe { assign(self.vector, row as u64, value.as_ptr().cast(), value.len() as u64) }
        }
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        // SAFETY: it exists, and appenders have copies.
        unsafe { (self.library.interface.duckdb_destroy_data_chunk)(&raw mut self.handle) }
    }
}
