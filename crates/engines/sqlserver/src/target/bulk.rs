//! Bulk load by the driver's bulk copy.

use super::failures::failed_at;
use crate::live::client::Client;
use async_trait::async_trait;
use engine::dialect::padded;
use engine::{EngineError, Result};
use mssql_tds::connection::bulk_copy::{BulkCopy, BulkLoadRow, ColumnMapping};
use mssql_tds::connection::tds_client::TdsClient;
use mssql_tds::core::TdsResult;
use mssql_tds::datatypes::bulk_copy_metadata::BulkCopyColumnMetadata;
use mssql_tds::datatypes::column_values::{ColumnValues, SqlDate, SqlDateTime2, SqlTime};
use mssql_tds::datatypes::decoder::DecimalParts;
use mssql_tds::datatypes::sql_string::SqlString;
use mssql_tds::message::bulk_load::StreamingBulkLoadWriter;
use mssql_tds::test_client_support::MetadataRetriever;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OnceCell;
use uuid::Uuid;
use work::{Cancel, Column, DataType, Fill, Key, Rows, Table, Values, Work};

/// Rows of a transaction of a fill. In a columnstore those of one row group: fewer than 102,400
/// would stay rows
/// (<https://learn.microsoft.com/sql/relational-databases/indexes/columnstore-indexes-data-loading-guidance>).
const ROWS_PER_TRANSACTION: usize = 1_048_576;

/// Days from 0001-01-01 to 1970-01-01, and seconds of a day.
const DAYS_BEFORE_1970: i64 = 719_162;
const DAY_S: i64 = 86_400;

/// Types of a table's columns, which the first bulk load reads from the server and the others use.
#[derive(Debug, Default)]
pub struct ColumnTypes(OnceCell<Vec<BulkCopyColumnMetadata>>);

/// The trait is exported by the driver's feature `test-util` only, unlike the function that takes
/// it.
#[async_trait]
impl MetadataRetriever for &ColumnTypes {
    async fn retrieve_metadata(
        &mut self,
        client: &mut TdsClient,
        table: &str,
        timeout_s: u32,
    ) -> TdsResult<Vec<BulkCopyColumnMetadata>> {
        let limit = Duration::from_secs(timeout_s.into());
        let mut copy = BulkCopy::new(client, table).timeout(limit);
        let read =
            self.0.get_or_try_init(|| async move { copy.retrieve_destination_metadata().await });
        read.await.cloned()
    }
}

/// A bulk load into these columns of a table; the others get their defaults.
pub fn bulk_copy<'a>(
    client: &'a mut TdsClient,
    table: &str,
    columns: &[&str],
    types: &'a ColumnTypes,
) -> BulkCopy<'a> {
    let copy = BulkCopy::with_retriever(client, table, Box::new(types)).timeout(Duration::ZERO);
    columns.iter().enumerate().fold(copy, |copy, (at, name)| {
        copy.add_column_mapping(ColumnMapping::by_ordinal(at, *name))
    })
}

/// A row of which only the key is given.
pub struct KeyRow(ColumnValues);

impl KeyRow {
    /// The row with this key.
    pub fn new(key: Key, is_integer: bool) -> Self {
        Self(if is_integer {
            ColumnValues::BigInt(key.integer())
        } else {
            ColumnValues::Uuid(Uuid::from_u128(key.0))
        })
    }
}

#[async_trait]
impl BulkLoadRow for KeyRow {
    async fn write_to_packet(
        &self,
        writer: &mut StreamingBulkLoadWriter<'_>,
        column_index: &mut usize,
    ) -> TdsResult<()> {
        writer.write_column_value(*column_index, &self.0).await?;
        *column_index += 1;
        Ok(())
    }
}

/// A row of a batch.
struct BatchRow<'a> {
    rows: Arc<Rows>,
    columns: &'a [&'a Column],
    at: usize,
}

#[async_trait]
impl BulkLoadRow for BatchRow<'_> {
    async fn write_to_packet(
        &self,
        writer: &mut StreamingBulkLoadWriter<'_>,
        column_index: &mut usize,
    ) -> TdsResult<()> {
        for (values, column) in self.rows.columns.iter().zip(self.columns) {
            writer.write_column_value(*column_index, &value(values, self.at, column)?).await?;
            *column_index += 1;
        }
        Ok(())
    }
}

/// A value of a column, as its type wants it.
fn value(values: &Values, at: usize, column: &Column) -> TdsResult<ColumnValues> {
    let integer = |number: i64| match column.data_type {
        DataType::Int => ColumnValues::Int(number as i32),
        _ => ColumnValues::BigInt(number),
    };
    let text = |text: &str| {
        let mut room = String::new();
        ColumnValues::String(SqlString::from_utf8_string(
            padded(text, column, &mut room).to_owned(),
        ))
    };
    let days = |days: i64| (days + DAYS_BEFORE_1970) as u32;
    let Some(values) = values.present(at) else { return Ok(ColumnValues::Null) };
    Ok(match values {
        // Taken apart above.
        Values::Nullable { .. } => ColumnValues::Null,
        Values::Same(number) => integer(*number),
        Values::Integers(numbers) => integer(numbers[at]),
        Values::SameText(same) => text(same),
        Values::Texts(texts) => text(texts.get(at)),
        Values::Decimals(hundredths) => {
            let number = hundredths[at];
            ColumnValues::Decimal(DecimalParts::new(
                number >= 0,
                15,
                2,
                number.unsigned_abs().into(),
            ))
        }
        Values::Dates(dates) => ColumnValues::Date(SqlDate::create(days(dates[at].into()))?),
        Values::Timestamps(seconds) => {
            let (day, second) = (seconds[at].div_euclid(DAY_S), seconds[at].rem_euclid(DAY_S));
            // The driver counts in units of 100 ns.
            let time = SqlTime { time_nanoseconds: second as u64 * 10_000_000, scale: 3 };
            ColumnValues::DateTime2(SqlDateTime2 { days: days(day), time })
        }
        Values::Uuids(uuids) => ColumnValues::Uuid(Uuid::from_u128(uuids[at])),
    })
}

/// Fills a table that a trial has created: one bulk load, in transactions of
/// [`ROWS_PER_TRANSACTION`].
pub fn fill(
    client: &mut Client,
    work: &Work,
    name: &str,
    fill: Fill,
    cancel: &Cancel,
) -> Result<()> {
    let table: &Table = &work.tables[fill.table];
    let doing = format!("filling table {}", table.name);
    let columns: Vec<&Column> = fill.columns.iter().filter_map(|name| table.column(name)).collect();
    let columns = &columns;
    let batches = fill.batches.take_while(|_| !cancel.is_cancelled());
    let rows = batches.flat_map(|rows| {
        let rows = Arc::new(rows);
        (0..rows.count).map(move |at| BatchRow { rows: Arc::clone(&rows), columns, at })
    });
    // A bulk copy has no handle for cancelling: a request to stop abandons the connection.
    let copied = client.drive(async |client, _| {
        let types = ColumnTypes::default();
        let copy = bulk_copy(client, name, &fill.columns, &types);
        let mut copy = copy.batch_size(ROWS_PER_TRANSACTION);
        copy.write_to_server_zerocopy(rows).await
    });
    copied.map_err(failed_at(&doing))?;
    if cancel.is_cancelled() { Err(EngineError::Cancelled) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_the_column() {
        let of =
            |values: Values, data_type| value(&values, 0, &Column::new("c", data_type)).unwrap();
        assert_eq!(of(Values::Same(7), DataType::Int), ColumnValues::Int(7));
        assert_eq!(of(Values::Integers(vec![7]), DataType::BigInt), ColumnValues::BigInt(7));
        let ColumnValues::Decimal(parts) = of(Values::Decimals(vec![-123]), DataType::Decimal)
        else {
            panic!()
        };
        assert_eq!(parts.to_string(), "-1.23");
        // 2000-01-01 is day 730,119 of the calendar that begins with day 0 on 0001-01-01
        // (documented for `date`).
        let day = of(Values::Dates(vec![10_957]), DataType::Date);
        assert_eq!(day, ColumnValues::Date(SqlDate::create(730_119).unwrap()));
        let ColumnValues::DateTime2(moment) =
            of(Values::Timestamps(vec![86_399]), DataType::Timestamp)
        else {
            panic!()
        };
        assert_eq!((moment.days, moment.time.time_nanoseconds), (719_162, 863_990_000_000));
        let ColumnValues::String(text) = of(Values::SameText("xy"), DataType::Char(3)) else {
            panic!()
        };
        assert_eq!(text.to_utf8_string(), "xy ");
        let uuid = of(Values::Uuids(vec![1]), DataType::Uuid);
        assert_eq!(uuid, ColumnValues::Uuid(Uuid::from_u128(1)));
    }
}
