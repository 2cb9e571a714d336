//! How a table lies in storage, column by column: in the blocks of the database, or in a Parquet
//! file.

use super::dialect::{data_type, literal};
use super::library::{Answered, Connection, DuckDbError};
use engine::{Compressed, Stored};
use std::path::Path;
use work::{Filter, Table};

/// Rows of a row group.
pub const GROUP_ROWS: usize = 122_880;

/// The segments of a table with their bytes, from `pragma_storage_info`. A segment ends where the
/// next one in its block begins, or with the block: unused room at the end of a block counts to the
/// segment before it. Equal values take no block.
fn segments(info: &str) -> String {
    format!(
        "(SELECT row_group_id, column_id, column_name, compression, segment_type, CASE WHEN \
         in_block THEN coalesce(behind, size) - block_offset + extra * size ELSE 0 END AS bytes \
         FROM (SELECT *, persistent AND block_id >= 0 AS in_block, \
         coalesce(len(additional_block_ids), 0) AS extra, lead(block_offset) OVER (PARTITION BY \
         block_id, in_block ORDER BY block_offset) AS behind FROM {info}), (SELECT block_size AS \
         size FROM pragma_database_size()))"
    )
}

fn info_of(table: &Table) -> String {
    format!("pragma_storage_info({})", literal(table.name))
}

/// Reads the storage of a table of the database. The smallest value of a segment is in its
/// statistics.
pub fn of_table(connection: &Connection, table: &Table, filter: Filter) -> Answered<Stored> {
    let info = info_of(table);
    let bytes = format!(
        "SELECT column_name, CAST(sum(bytes) AS BIGINT) FROM {} GROUP BY column_name HAVING \
         sum(bytes) > 0",
        segments(&info)
    );
    stored(connection, table, filter, &bytes, &info, &|column: &str, text: &str| {
        format!(
            "SELECT min(TRY_CAST(regexp_extract(stats, 'Min: (.*?), Max: ', 1) AS {text})) AS \
             least FROM {info} WHERE column_name = {} AND segment_type <> 'VALIDITY' GROUP BY \
             row_group_id",
            literal(column)
        )
    })
}

/// By which methods the columns of a table of the database are compressed, in the order of the
/// columns; the bitmaps of NULLs apart.
pub fn compressed(connection: &Connection, table: &Table) -> Answered<Vec<Compressed>> {
    let sql = format!(
        "SELECT column_name, compression, CAST(sum(bytes) AS BIGINT) FROM {} WHERE segment_type \
         <> 'VALIDITY' GROUP BY ALL ORDER BY min(column_id), sum(bytes) DESC, compression",
        segments(&info_of(table))
    );
    let mut answer = connection.prepare(&sql)?.execute()?;
    let rows = 0..answer.rows();
    let mut cell = |column, row| answer.cell(column, row).unwrap_or_default();
    Ok(rows
        .map(|row| {
            let (column, method) = (cell(0, row), cell(1, row));
            Compressed { column, method, bytes: cell(2, row).parse().unwrap_or(0) }
        })
        .collect())
}

/// Reads the storage of a Parquet file, from its own metadata.
pub fn of_file(
    connection: &Connection,
    table: &Table,
    path: &Path,
    filter: Filter,
) -> Answered<Stored> {
    let info = format!("parquet_metadata({})", literal(&path.to_string_lossy()));
    let bytes = format!(
        "SELECT path_in_schema, CAST(sum(total_compressed_size) AS BIGINT) FROM {info} GROUP BY \
         path_in_schema"
    );
    stored(connection, table, filter, &bytes, &info, &|column: &str, text: &str| {
        format!(
            "SELECT TRY_CAST(stats_min_value AS {text}) AS least FROM {info} WHERE path_in_schema \
             = {}",
            literal(column)
        )
    })
}

fn stored(
    connection: &Connection,
    table: &Table,
    filter: Filter,
    bytes: &str,
    info: &str,
    least: &dyn Fn(&str, &str) -> String,
) -> Answered<Stored> {
    let mut answer = connection.prepare(bytes)?.execute()?;
    let column_bytes = (0..answer.rows()).filter_map(|row| {
        let (name, bytes) = (answer.cell(0, row)?, answer.cell(1, row)?);
        Some((name, bytes.parse().ok()?))
    });
    let column_bytes = column_bytes.collect();
    let skipped = match filter {
        Filter::Below(name, bound) => table.column(name).map(|column| {
            let (least, bound) = (least(name, data_type(column)), table.bound(name, bound));
            format!("SELECT count(*) FROM ({least}) WHERE least >= {bound}")
        }),
        Filter::All | Filter::Key | Filter::KeyRange => None,
    };
    Ok(Stored {
        column_bytes,
        groups: number(connection, &format!("SELECT count(DISTINCT row_group_id) FROM {info}"))?,
        groups_skipped: skipped.map_or(Ok(0), |sql| number(connection, &sql))?,
    })
}

/// Bytes of these columns in each row group of a table of the database.
pub(crate) fn by_group(
    connection: &Connection,
    table: &Table,
    columns: &[&str],
) -> Answered<Vec<Vec<u64>>> {
    let info = info_of(table);
    let groups = number(connection, &format!("SELECT count(DISTINCT row_group_id) FROM {info}"))?;
    let mut all = vec![vec![0; columns.len()]; groups as usize];
    let sql =
        format!("SELECT row_group_id, column_name, CAST(bytes AS BIGINT) FROM {}", segments(&info));
    let mut answer = connection.prepare(&sql)?.execute()?;
    for row in 0..answer.rows() {
        let [group, name, bytes] =
            [0, 1, 2].map(|column| answer.cell(column, row).unwrap_or_default());
        let place = columns.iter().position(|column| *column == name);
        let group = group.parse::<usize>().ok().and_then(|group| all.get_mut(group));
        if let (Some(group), Some(place), Ok(bytes)) = (group, place, bytes.parse::<u64>()) {
            group[place] += bytes;
        }
    }
    Ok(all)
}

fn number(connection: &Connection, sql: &str) -> Answered<u64> {
    let cell = connection.prepare(sql)?.execute()?.cell(0, 0);
    cell.and_then(|text| text.parse().ok())
        .ok_or_else(|| DuckDbError::NoNumber { sql: sql.to_owned() })
}
