//! Rows of a table of a user's file, which is only read.

use super::failures::failed;
use super::setup::MAGIC;
use engine::sample::{Cell, Sample};
use engine::setup::first_bytes;
use engine::{DatabaseFiles, EngineError, Result};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Params};
use std::path::Path;
use std::time::Duration;

/// Rows that are read in a row.
const BLOCK_ROWS: u64 = 8192;

/// The time that a writer may keep us waiting.
const BUSY: Duration = Duration::from_secs(10);

/// Database files of the user.
pub struct SqliteFiles;

impl DatabaseFiles for SqliteFiles {
    fn is_database(&self, file: &Path) -> bool {
        file.is_file() && first_bytes(file).starts_with(MAGIC)
    }

    fn export(&self, database: &Path, table: &str, rows_max: u64, to: &Path) -> Result<u64> {
        sample(database, table, rows_max)?.export(table, to)
    }
}

/// Rows of a table or view: all, or of one with more than `rows_max` blocks of neighbouring rows
/// that are spread evenly: by their rowids, and where there are none by counting.
///
/// # Errors
/// When there is no such table, or it cannot be read.
fn sample(path: &Path, table: &str, rows_max: u64) -> Result<Sample> {
    Reading { doing: format!("reading table {table} of {}", path.display()) }
        .sample(path, table, rows_max)
}

/// A table that is read.
struct Reading {
    doing: String,
}

impl Reading {
    fn failed(&self) -> impl FnOnce(rusqlite::Error) -> EngineError {
        let doing = self.doing.clone();
        move |error| failed(doing, &error)
    }

    fn sample(&self, path: &Path, table: &str, rows_max: u64) -> Result<Sample> {
        let (connection, tables) = open(path).map_err(self.failed())?;
        let Some((name, has_rowids)) =
            tables.iter().find(|(name, _)| name.eq_ignore_ascii_case(table))
        else {
            let names: Vec<&str> = tables.iter().map(|(name, _)| name.as_str()).collect();
            return Err(EngineError::failed(
                &self.doing,
                experiment::unknown_name("table", table, &names),
            ));
        };
        let name = format!("\"{}\"", name.replace('"', "\"\""));
        let count = |sql: &str| {
            connection.query_row(sql, [], |row| row.get::<_, i64>(0)).map_err(self.failed())
        };
        let all = count(&format!("SELECT count(*) FROM {name}"))? as u64;
        let columns =
            connection.prepare(&format!("SELECT * FROM {name}")).map_err(self.failed())?;
        let columns: Vec<String> = columns.column_names().map(str::to_owned).collect();
        let mut sample = Sample::new(columns.iter().cloned(), all);
        let blocks = rows_max.div_ceil(BLOCK_ROWS).max(1);
        let block = rows_max.div_ceil(blocks).max(1);
        let rowid = ["rowid", "_rowid_", "oid"].into_iter().find(|text| {
            *has_rowids && !columns.iter().any(|column| column.eq_ignore_ascii_case(text))
        });
        let Some(rowid) = rowid.filter(|_| all > rows_max) else {
            // The first of every `every` blocks.
            let every = all.div_ceil(rows_max.max(1)).max(1);
            self.read(
                &connection,
                &format!("SELECT * FROM {name}"),
                [],
                |number: u64| (number / block).is_multiple_of(every),
                &mut sample,
            )?;
            return Ok(sample);
        };
        let [least, most] =
            ["min", "max"].map(|end| count(&format!("SELECT {end}({rowid}) FROM {name}")));
        let (least, most) = (i128::from(least?), i128::from(most?));
        let step = (most - least) / i128::from(blocks) + 1;
        let sql = format!(
            "SELECT * FROM {name} WHERE {rowid} BETWEEN ?1 AND ?2 ORDER BY {rowid} LIMIT {block}"
        );
        for first in (0..blocks)
            .map(|number| least + i128::from(number) * step)
            .filter(|first| *first <= most)
        {
            let range = [first as i64, (first + step - 1).min(most) as i64];
            self.read(&connection, &sql, range, |_| true, &mut sample)?;
        }
        Ok(sample)
    }

    /// Adds the rows of a query whose numbers, from 0, are wanted.
    fn read(
        &self,
        connection: &Connection,
        sql: &str,
        parameters: impl Params,
        is_sampled: impl Fn(u64) -> bool,
        sample: &mut Sample,
    ) -> Result<()> {
        let mut select = connection.prepare(sql).map_err(self.failed())?;
        let columns = select.column_count();
        let mut rows = select.query(parameters).map_err(self.failed())?;
        let mut number = 0;
        while let Some(row) = rows.next().map_err(self.failed())? {
            if is_sampled(number) {
                let cells: Result<Vec<_>, _> =
                    (0..columns).map(|at| row.get_ref(at).map(cell)).collect();
                let cells = cells.map_err(self.failed())?;
                sample
                    .push(cells.into_iter())
                    .map_err(|large| EngineError::failed(&self.doing, large.to_string()))?;
            }
            number += 1;
        }
        Ok(())
    }
}

/// A connection to a database in a transaction, and its tables as [`tables`] returns them.
fn open(path: &Path) -> Result<(Connection, Vec<(String, bool)>), rusqlite::Error> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.busy_timeout(BUSY)?;
    // All of it is read as it is now.
    connection.execute_batch("BEGIN")?;
    let tables = tables(&connection)?;
    Ok((connection, tables))
}

/// Tables and views of the user's, and whether their rows have rowids.
fn tables(connection: &Connection) -> Result<Vec<(String, bool)>, rusqlite::Error> {
    let sql = "SELECT name, type = 'table' AND NOT wr FROM pragma_table_list WHERE schema = \
               'main' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name";
    let mut tables = connection.prepare(sql)?;
    tables.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

fn cell(value: ValueRef<'_>) -> Option<Cell<'_>> {
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(Cell::Integer(number)),
        ValueRef::Real(number) => Some(Cell::Real(number)),
        ValueRef::Text(text) | ValueRef::Blob(text) => Some(Cell::Text(text)),
    }
}
