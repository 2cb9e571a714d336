//! Rows into a table by DuckDB's appender, in chunks of columns: its fastest way in.

use super::library::{Answered, Appender, Chunk, ChunkType, Connection};
use engine::dialect::padded;
use std::ops::Range;
use work::{Column, DataType, Key, Rows, Values};

/// How a column's values are handed over.
fn chunk_type(column: &Column) -> ChunkType {
    match column.data_type {
        DataType::Uuid => ChunkType::Uuid,
        DataType::Int => ChunkType::Int,
        DataType::BigInt => ChunkType::BigInt,
        DataType::Timestamp => ChunkType::Timestamp,
        DataType::Date => ChunkType::Date,
        DataType::Decimal => ChunkType::Decimal,
        DataType::Char(_) | DataType::Varchar(_) | DataType::PageFiller { .. } => ChunkType::Text,
    }
}

/// A UUID as DuckDB keeps it: the highest bit turned over, lower half first.
fn uuid(value: u128) -> [u64; 2] {
    let turned = value ^ 1 << 127;
    [turned as u64, (turned >> 64) as u64]
}

/// Appends rows with these keys, all else by default, in the transaction that the connection has
/// begun.
pub(crate) fn append_keys(
    connection: &Connection,
    chunk: &mut Chunk,
    table: &str,
    column: &str,
    keys: &[Key],
    kind: ChunkType,
) -> Answered<()> {
    let mut appender = connection.appender(table, &[column])?;
    for keys in keys.chunks(connection.library().chunk_rows()) {
        chunk.restart(keys.len());
        match kind {
            ChunkType::Uuid => put(chunk.uuids(0), keys.iter().map(|key| uuid(key.0))),
            ChunkType::Int => put(chunk.ints(0), keys.iter().map(|key| key.integer() as i32)),
            _ => put(chunk.big_ints(0), keys.iter().map(|key| key.integer())),
        }
        appender.append(chunk)?;
    }
    appender.flush()
}

fn put<T>(places: &mut [T], values: impl Iterator<Item = T>) {
    places.iter_mut().zip(values).for_each(|(place, value)| *place = value);
}

/// Appends the rows of a batch.
pub fn append(
    appender: &mut Appender,
    chunk: &mut Chunk,
    columns: &[&Column],
    rows: &Rows,
    range: Range<usize>,
) -> Answered<()> {
    let most = chunk.rows_max();
    for first in range.clone().step_by(most) {
        let part = first..range.end.min(first + most);
        chunk.restart(part.len());
        for (place, (column, values)) in columns.iter().zip(&rows.columns).enumerate() {
            write(chunk, place, column, values, part.clone());
        }
        appender.append(chunk)?;
    }
    Ok(())
}

/// An empty chunk for these columns.
pub fn chunk(connection: &Connection, columns: &[&Column]) -> Chunk {
    Chunk::new(connection.library(), columns.iter().map(|column| chunk_type(column)).collect())
}

/// Writes some rows of a column.
fn write(chunk: &mut Chunk, place: usize, column: &Column, values: &Values, rows: Range<usize>) {
    if let Values::Nullable { values, nulls } = values {
        write(chunk, place, column, values, rows.clone());
        let nulls = rows.enumerate().filter(|(_, row)| nulls[*row]);
        nulls.for_each(|(at, _)| chunk.set_null(place, at));
        return;
    }
    match chunk_type(column) {
        ChunkType::Int | ChunkType::Date => {
            put(chunk.ints(place), rows.map(|row| number(values, row) as i32));
        }
        ChunkType::BigInt | ChunkType::Decimal | ChunkType::Timestamp => {
            put(chunk.big_ints(place), rows.map(|row| number(values, row)));
        }
        ChunkType::Uuid => {
            put(
                chunk.uuids(place),
                rows.map(|row| {
                    uuid(if let Values::Uuids(uuids) = values { uuids[row] } else { 0 })
                }),
            );
        }
        ChunkType::Text => {
            let (mut room, mut places) = (String::new(), chunk.texts(place));
            for (at, row) in rows.enumerate() {
                let text = match values {
                    Values::SameText(text) => text,
                    Values::Texts(texts) => texts.get(row),
                    _ => "",
                };
                places.set(at, padded(text, column, &mut room));
            }
        }
    }
}

/// A value that is kept as a number: as it is, hundredths, days, microseconds.
fn number(values: &Values, row: usize) -> i64 {
    match values {
        Values::Same(number) => *number,
        Values::Integers(numbers) | Values::Decimals(numbers) => numbers[row],
        Values::Dates(days) => days[row].into(),
        Values::Timestamps(seconds) => seconds[row] * 1_000_000,
        Values::SameText(_) | Values::Uuids(_) | Values::Texts(_) | Values::Nullable { .. } => 0,
    }
}
