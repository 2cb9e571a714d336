//! The values of a column in memory.

use parquet::basic::Type as Physical;
use parquet::data_type::{ByteArray, FixedLenByteArray, Int96};

/// Values of any physical type, without NULL.
#[derive(Debug, Clone)]
pub enum Values {
    /// Booleans.
    Bool(Vec<bool>),
    /// Numbers of 32 bits, dates.
    Int32(Vec<i32>),
    /// Numbers of 64 bits, decimals, times.
    Int64(Vec<i64>),
    /// Times of old writers.
    Int96(Vec<Int96>),
    /// Floating-point numbers of 32 bits.
    Float(Vec<f32>),
    /// Floating-point numbers of 64 bits.
    Double(Vec<f64>),
    /// Texts and bytes.
    Bytes(Vec<ByteArray>),
    /// Bytes of one length.
    FixedBytes(Vec<FixedLenByteArray>),
}

/// The values of a column in the order of its rows.
#[derive(Debug, Clone)]
pub struct Cells {
    /// Values that are not NULL.
    pub values: Values,
    /// For each row 1 if it has a value, else 0; `None` where NULL is impossible.
    pub present: Option<Vec<i16>>,
    /// Bytes of the values that were read, without compression.
    pub bytes: usize,
}

impl Cells {
    /// No values of this type yet.
    pub fn empty(physical: Physical, nullable: bool) -> Self {
        Self { values: Values::empty(physical), present: nullable.then(Vec::new), bytes: 0 }
    }
}

impl Values {
    fn empty(physical: Physical) -> Self {
        match physical {
            Physical::BOOLEAN => Self::Bool(Vec::new()),
            Physical::INT32 => Self::Int32(Vec::new()),
            Physical::INT64 => Self::Int64(Vec::new()),
            Physical::INT96 => Self::Int96(Vec::new()),
            Physical::FLOAT => Self::Float(Vec::new()),
            Physical::DOUBLE => Self::Double(Vec::new()),
            Physical::BYTE_ARRAY => Self::Bytes(Vec::new()),
            Physical::FIXED_LEN_BYTE_ARRAY => Self::FixedBytes(Vec::new()),
        }
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        match self {
            Self::Bool(values) => values.len(),
            Self::Int32(values) => values.len(),
            Self::Int64(values) => values.len(),
            Self::Int96(values) => values.len(),
            Self::Float(values) => values.len(),
            Self::Double(values) => values.len(),
            Self::Bytes(values) => values.len(),
            Self::FixedBytes(values) => values.len(),
        }
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of the values from a position on, without compression.
    pub(crate) fn bytes_from(&self, first: usize) -> usize {
        let each = match self {
            Self::Bytes(values) => return values[first..].iter().map(ByteArray::len).sum(),
            Self::FixedBytes(values) => {
                return values[first..].iter().map(|value| value.len()).sum();
            }
            Self::Bool(_) => 1,
            Self::Int32(_) | Self::Float(_) => 4,
            Self::Int64(_) | Self::Double(_) => 8,
            Self::Int96(_) => 12,
        };
        each * (self.len() - first)
    }

    /// The values at these positions.
    #[must_use]
    pub fn gather(&self, positions: &[u32]) -> Self {
        fn gathered<T: Clone>(values: &[T], positions: &[u32]) -> Vec<T> {
            positions.iter().map(|position| values[*position as usize].clone()).collect()
        }
        match self {
            Self::Bool(values) => Self::Bool(gathered(values, positions)),
            Self::Int32(values) => Self::Int32(gathered(values, positions)),
            Self::Int64(values) => Self::Int64(gathered(values, positions)),
            Self::Int96(values) => Self::Int96(gathered(values, positions)),
            Self::Float(values) => Self::Float(gathered(values, positions)),
            Self::Double(values) => Self::Double(gathered(values, positions)),
            Self::Bytes(values) => Self::Bytes(gathered(values, positions)),
            Self::FixedBytes(values) => Self::FixedBytes(gathered(values, positions)),
        }
    }

    /// Copies the values, so that they do not hold the pages that they were read from.
    #[must_use]
    pub fn detached(self) -> Self {
        let copy = |value: &ByteArray| ByteArray::from(value.data().to_vec());
        match self {
            Self::Bytes(values) => Self::Bytes(values.iter().map(copy).collect()),
            Self::FixedBytes(values) => {
                Self::FixedBytes(values.iter().map(|value| copy(value).into()).collect())
            }
            values => values,
        }
    }
}
