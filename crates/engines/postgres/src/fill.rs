//! The tables of a trial and the bulk load of their rows.

use super::admin::Admin;
use super::dialect::{PostgresDialect, SQL};
use super::errors::failed_at;
use super::wire::COPY_HEADER;
use engine::{Dialect as _, EngineError, Result};
use servers::administration::{Administration as _, BulkLoad};
use work::{Cancel, Column, DataType, Fill, Rows, Table, Values};

impl BulkLoad for Admin {
    type Dialect = PostgresDialect;

    /// Fills a table by COPY of rows that are frozen at once, for which the same transaction must
    /// have emptied it. In the binary format the server has no text to parse.
    fn fill(
        &self,
        dialect: &PostgresDialect,
        table: &Table,
        fill: Fill,
        cancel: &Cancel,
    ) -> Result<()> {
        let doing = format!("filling table {}", table.name);
        let failed = |error| failed_at(&doing)(error);
        let columns: Vec<&Column> =
            fill.columns.iter().filter_map(|name| table.column(name)).collect();
        self.run(&doing, &format!("BEGIN; TRUNCATE {}", dialect.table(table)))?;
        self.ask(|admin| {
            let copy = dialect.copy(table, &fill.columns, "FORMAT binary, FREEZE ON");
            let mut copy = admin.copy_in(&copy).map_err(failed)?;
            let mut out = COPY_HEADER.to_vec();
            for rows in fill.batches {
                put_rows(&mut out, &columns, &rows);
                copy.write(&out).map_err(failed)?;
                out.clear();
                if cancel.is_cancelled() {
                    return Err(EngineError::Cancelled);
                }
            }
            out.extend(COPY_END.to_be_bytes());
            copy.write(&out).map_err(failed)?;
            copy.finish().map(|_| ()).map_err(failed)
        })?;
        self.run(&doing, "COMMIT")
    }

    fn finish(&self, dialect: &PostgresDialect, tables: &[Table], is_filled: bool) -> Result<()> {
        for statement in
            tables.iter().filter(|_| is_filled).flat_map(|table| dialect.after_fill(table))
        {
            self.run("finishing the tables", &statement)?;
        }
        for table in tables {
            for key in SQL.foreign_keys(table) {
                let statement = format!("ALTER TABLE {} ADD {key}", dialect.table(table));
                self.run("adding foreign keys", &statement)?;
            }
        }
        Ok(())
    }
}

/// Length that marks a NULL.
const NULL: i32 = -1;

/// Column count that marks the end of the rows.
const COPY_END: i16 = -1;

/// Days and seconds from 1970-01-01 to 2000-01-01, from which PostgreSQL counts.
const EPOCH_DAYS: i32 = 10_957;
const EPOCH_S: i64 = 86_400 * EPOCH_DAYS as i64;

/// Appends rows in COPY's binary format (<https://www.postgresql.org/docs/current/sql-copy.html>,
/// "Binary Format"): the number of columns, and of each value its length and its bytes as the
/// type's `recv` function reads them.
fn put_rows(out: &mut Vec<u8>, columns: &[&Column], rows: &Rows) {
    for row in 0..rows.count {
        out.extend((columns.len() as i16).to_be_bytes());
        for (column, values) in columns.iter().zip(&rows.columns) {
            let Some(values) = values.present(row) else {
                out.extend(NULL.to_be_bytes());
                continue;
            };
            match values {
                Values::Same(number) => put_integer(out, *number, column.data_type),
                Values::Integers(numbers) => put_integer(out, numbers[row], column.data_type),
                Values::Decimals(hundredths) => put_decimal(out, hundredths[row]),
                Values::Dates(days) => put(out, &(days[row] - EPOCH_DAYS).to_be_bytes()),
                Values::Timestamps(seconds) => {
                    put(out, &((seconds[row] - EPOCH_S) * 1_000_000).to_be_bytes());
                }
                Values::Uuids(uuids) => put(out, &uuids[row].to_be_bytes()),
                Values::SameText(text) => put(out, text.as_bytes()),
                Values::Texts(texts) => put(out, texts.get(row).as_bytes()),
                // Taken apart above.
                Values::Nullable { .. } => {}
            }
        }
    }
}

fn put(out: &mut Vec<u8>, value: &[u8]) {
    out.extend((value.len() as i32).to_be_bytes());
    out.extend_from_slice(value);
}

fn put_integer(out: &mut Vec<u8>, number: i64, data_type: DataType) {
    match data_type {
        DataType::Int => put(out, &(number as i32).to_be_bytes()),
        _ => put(out, &number.to_be_bytes()),
    }
}

/// Appends a numeric (`numeric_recv` in `numeric.c`): how many digits to the base 10,000, the power
/// of the first, the sign, how many decimal places are shown, then the digits.
fn put_decimal(out: &mut Vec<u8>, hundredths: i64) {
    const NEGATIVE: u16 = 0x4000;
    let size = hundredths.unsigned_abs();
    let (mut whole, fraction) = (size / 100, (size % 100) as u16 * 100);
    // The last digit first: 2^63 hundredths have five before the point.
    let (mut digits, mut count) = ([fraction, 0, 0, 0, 0, 0], 1);
    while whole > 0 {
        digits[count] = (whole % 10_000) as u16;
        (whole, count) = (whole / 10_000, count + 1);
    }
    out.extend((8 + 2 * count as i32).to_be_bytes());
    let sign = if hundredths < 0 { NEGATIVE } else { 0 };
    // The one behind the point has the power -1.
    for part in [count as u16, (count as u16).wrapping_sub(2), sign, 2] {
        out.extend(part.to_be_bytes());
    }
    digits[..count].iter().rev().for_each(|digit| out.extend(digit.to_be_bytes()));
}

#[cfg(test)]
mod tests {
    use super::put_decimal;

    /// Read by the rules of `numeric_recv`.
    fn read(bytes: &[u8]) -> f64 {
        let part = |at: usize| i16::from_be_bytes([bytes[4 + 2 * at], bytes[5 + 2 * at]]);
        let (count, weight, sign, scale) = (part(0), part(1), part(2), part(3));
        assert_eq!((bytes.len(), scale), (12 + 2 * count as usize, 2));
        let size: f64 = (0..count)
            .map(|at: i16| {
                f64::from(part(4 + at as usize)) * 10_000_f64.powi(i32::from(weight - at))
            })
            .sum();
        if sign == 0 { size } else { -size }
    }

    #[test]
    fn decimals_are_digits_to_the_base_10000() {
        for hundredths in
            [0, 1, 99, 100, -7, 123_456, 1_000_000, -999_999_999_999_999, 100_000_000_000_000]
        {
            let mut out = Vec::new();
            put_decimal(&mut out, hundredths);
            assert!((read(&out) * 100.0 - hundredths as f64).abs() < 0.5, "{hundredths}: {out:?}");
        }
    }
}
