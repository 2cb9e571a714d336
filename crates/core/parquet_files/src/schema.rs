//! The columns of a file that is written.

use parquet::basic::{LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::errors::ParquetError;
use parquet::schema::types::{Type, TypePtr};
use std::sync::Arc;

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnType {
    /// Booleans.
    Bool,
    /// Signed numbers of 32 bits.
    Int32,
    /// Signed numbers of 64 bits.
    Int64,
    /// Unsigned numbers of 64 bits, stored as the same bits.
    Unsigned64,
    /// Floating-point numbers of 64 bits.
    Double,
    /// Fixed-point numbers, stored as multiples of their last digit.
    Decimal {
        /// Digits in all.
        precision: i32,
        /// Digits after the point.
        scale: i32,
    },
    /// Days since 1970.
    Date,
    /// Milliseconds since 1970.
    Timestamp {
        /// True for instants; false for the time of a clock whose time zone is unknown.
        utc: bool,
    },
    /// UTF-8.
    Text,
    /// 16 bytes.
    Uuid,
}

impl ColumnType {
    fn stored(self) -> (Physical, Option<LogicalType>) {
        match self {
            Self::Bool => (Physical::BOOLEAN, None),
            Self::Int32 => (Physical::INT32, None),
            Self::Int64 => (Physical::INT64, None),
            Self::Unsigned64 => (Physical::INT64, Some(LogicalType::integer(64, false))),
            Self::Double => (Physical::DOUBLE, None),
            Self::Decimal { precision, scale } => {
                (Physical::INT64, Some(LogicalType::decimal(scale, precision)))
            }
            Self::Date => (Physical::INT32, Some(LogicalType::Date)),
            Self::Timestamp { utc } => {
                (Physical::INT64, Some(LogicalType::timestamp(utc, TimeUnit::MILLIS)))
            }
            Self::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Self::Uuid => (Physical::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::Uuid)),
        }
    }
}

/// A column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field<'n> {
    /// The name.
    pub name: &'n str,
    /// The type.
    pub column_type: ColumnType,
    /// True if rows may lack a value.
    pub nullable: bool,
}

/// The schema of a file with these columns.
///
/// # Errors
/// When a type is impossible: a decimal with fewer digits than its scale.
pub fn schema(name: &str, fields: &[Field<'_>]) -> Result<TypePtr, ParquetError> {
    let field = |field: &Field<'_>| {
        let (physical, logical) = field.column_type.stored();
        let repetition = if field.nullable { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        let built = Type::primitive_type_builder(field.name, physical)
            .with_repetition(repetition)
            .with_logical_type(logical);
        let built = match field.column_type {
            ColumnType::Uuid => built.with_length(16),
            ColumnType::Decimal { precision, scale } => {
                built.with_precision(precision).with_scale(scale)
            }
            _ => built,
        };
        built.build().map(Arc::new)
    };
    let fields = fields.iter().map(field).collect::<Result<_, _>>()?;
    Type::group_type_builder(name).with_fields(fields).build().map(Arc::new)
}
