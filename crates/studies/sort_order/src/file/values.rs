//! The values of a column of any physical type: read, ranked, and written again by their ranks.

use crate::{Column, head, ranks};
use parquet::basic::Type as Physical;
use parquet::column::reader::ColumnReader;
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FixedLenByteArray,
    FixedLenByteArrayType, FloatType, Int32Type, Int64Type, Int96, Int96Type,
};
use parquet::errors::{ParquetError, Result};
use parquet::file::writer::SerializedColumnWriter;
use std::cmp::Ordering;

/// Rows that are decoded at a time.
const BATCH_ROWS: usize = 8_192;

/// The different values of a column, by which ranks are written.
pub trait Values {
    /// Writes values of these ranks.
    fn write(&self, codes: &[u32], target: &mut SerializedColumnWriter<'_>) -> Result<()>;
}

/// A column while it is read.
pub trait Collect {
    /// Reads rows and returns their number; `None` when they hold more bytes than the limit.
    fn read(
        &mut self,
        reader: ColumnReader,
        rows: usize,
        bytes_max: usize,
    ) -> Result<Option<usize>>;
    /// Its ranks and its different values.
    fn coded(self: Box<Self>, name: &str) -> (Column, Box<dyn Values>);
}

/// Creates the reader of a column type.
pub fn collector(physical: Physical, nullable: bool) -> Box<dyn Collect> {
    match physical {
        Physical::BOOLEAN => Collected::<BoolType>::empty(nullable),
        Physical::INT32 => Collected::<Int32Type>::empty(nullable),
        Physical::INT64 => Collected::<Int64Type>::empty(nullable),
        Physical::INT96 => Collected::<Int96Type>::empty(nullable),
        Physical::FLOAT => Collected::<FloatType>::empty(nullable),
        Physical::DOUBLE => Collected::<DoubleType>::empty(nullable),
        Physical::BYTE_ARRAY => Collected::<ByteArrayType>::empty(nullable),
        Physical::FIXED_LEN_BYTE_ARRAY => Collected::<FixedLenByteArrayType>::empty(nullable),
    }
}

/// A value detached from its page.
pub trait Own: Clone {
    /// A number in whose order values are as far as it reaches.
    fn head(&self) -> u128 {
        0
    }
    /// A total order, by which equal values meet.
    fn order(&self, other: &Self) -> Ordering;
    /// Bytes of it, without compression.
    fn bytes(&self) -> usize;
    /// Returns the value without the page that it was read from.
    fn apart(&self) -> Self {
        self.clone()
    }
}

macro_rules! own {
    ($($type:ty: $order:expr, $bytes:literal;)*) => {$(
        impl Own for $type {
            fn order(&self, other: &Self) -> Ordering {
                let order: fn(&Self, &Self) -> Ordering = $order;
                order(self, other)
            }
            fn bytes(&self) -> usize {
                $bytes
            }
        }
    )*};
}

own! {
    bool: Self::cmp, 1;
    i32: Self::cmp, 4;
    i64: Self::cmp, 8;
    Int96: Self::cmp, 12;
    f32: Self::total_cmp, 4;
    f64: Self::total_cmp, 8;
}

impl Own for ByteArray {
    fn head(&self) -> u128 {
        head(self.data())
    }
    fn order(&self, other: &Self) -> Ordering {
        self.data().cmp(other.data())
    }
    fn bytes(&self) -> usize {
        self.len()
    }
    fn apart(&self) -> Self {
        Self::from(self.data().to_vec())
    }
}

impl Own for FixedLenByteArray {
    fn head(&self) -> u128 {
        head(self.data())
    }
    fn order(&self, other: &Self) -> Ordering {
        self.data().cmp(other.data())
    }
    fn bytes(&self) -> usize {
        self.len()
    }
    fn apart(&self) -> Self {
        Self::from(self.data().to_vec())
    }
}

/// The values of a column in the order of its rows.
struct Collected<T: DataType> {
    /// Without NULLs.
    values: Vec<T::T>,
    /// Presence of each row's value; empty where all rows have one.
    present: Vec<i16>,
    nullable: bool,
    bytes: usize,
}

impl<T: DataType> Collected<T>
where
    T::T: Own,
{
    fn empty(nullable: bool) -> Box<dyn Collect> {
        Box::new(Self { values: Vec::new(), present: Vec::new(), nullable, bytes: 0 })
    }
}

impl<T: DataType> Collect for Collected<T>
where
    T::T: Own,
{
    fn read(
        &mut self,
        reader: ColumnReader,
        rows: usize,
        bytes_max: usize,
    ) -> Result<Option<usize>> {
        let mut reader = T::get_column_reader(reader)
            .ok_or_else(|| ParquetError::General("its type differs from the schema".into()))?;
        let mut read = 0;
        while read < rows {
            let before = self.values.len();
            let present = self.nullable.then_some(&mut self.present);
            let wanted = (rows - read).min(BATCH_ROWS);
            let (records, _, _) = reader.read_records(wanted, present, None, &mut self.values)?;
            if records == 0 {
                break;
            }
            read += records;
            self.bytes += self.values[before..].iter().map(Own::bytes).sum::<usize>();
            if self.bytes > bytes_max {
                return Ok(None);
            }
        }
        Ok(Some(read))
    }

    fn coded(self: Box<Self>, name: &str) -> (Column, Box<dyn Values>) {
        let Self { values, present, nullable, bytes } = *self;
        let value_bytes = bytes as f64 / values.len().max(1) as f64;
        let (codes, firsts) =
            ranks(values.len(), |row| values[row].head(), |a, b| values[a].order(&values[b]));
        let distinct: Vec<T::T> = firsts.iter().map(|row| values[*row as usize].apart()).collect();
        let has_null = present.contains(&0);
        let codes = if has_null {
            // NULL comes first.
            let mut next = codes.into_iter();
            present
                .iter()
                .map(|one| if *one == 0 { 0 } else { next.next().map_or(0, |code| code + 1) })
                .collect()
        } else {
            codes
        };
        let number = distinct.len() + usize::from(has_null);
        let column = Column::new(name, codes, number, value_bytes);
        (column, Box::new(Distinct::<T> { values: distinct, nullable, has_null }))
    }
}

/// The different values of a column in their order; with NULL ranks begin one higher.
struct Distinct<T: DataType> {
    values: Vec<T::T>,
    nullable: bool,
    has_null: bool,
}

impl<T: DataType> Values for Distinct<T>
where
    T::T: Own,
{
    fn write(&self, codes: &[u32], target: &mut SerializedColumnWriter<'_>) -> Result<()> {
        let first = u32::from(self.has_null);
        let present: Vec<i16> = codes.iter().map(|code| i16::from(*code >= first)).collect();
        let values =
            codes.iter().filter_map(|code| self.values.get(code.checked_sub(first)? as usize));
        let values: Vec<T::T> = values.cloned().collect();
        let present = self.nullable.then_some(&present[..]);
        target.typed::<T>().write_batch(&values, present, None).map(drop)
    }
}
