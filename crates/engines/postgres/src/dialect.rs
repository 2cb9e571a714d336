//! How PostgreSQL writes tables and operations.

use crate::client::{quote_identifier, quote_literal};
use engine::dialect::Words;
use engine::{Dialect, Result};
use work::{Column, DataType, DefaultValue, Table, Work};

/// The words of PostgreSQL's SQL.
pub const SQL: Words = Words {
    row_locks: ["", " FOR UPDATE"],
    insert_loop: Some("CALL insert_rows($1, $2, $3)"),
    ..Words::STANDARD
};

/// PostgreSQL's SQL for the layout of one trial.
#[derive(Debug)]
pub struct PostgresDialect {
    /// Hash partitions of a table that is spread.
    pub data_files: u32,
    /// Tablespaces of the partitions, by position; empty: the default one.
    pub tablespaces: Vec<String>,
    /// Bytes of a page.
    pub page_bytes: u32,
}

/// No compression: long texts are stored out of line as they are.
pub const NO_COMPRESSION: &str = "none";

/// Methods that compress a column.
pub const COMPRESSIONS: &[&str] = &[NO_COMPRESSION, "pglz", "lz4"];

/// The procedure of [`Work::loop_table`] and the sequence of its keys.
const PROCEDURE: &str = "insert_rows";
const SEQUENCE: &str = "insert_keys";

impl PostgresDialect {
    /// Bytes of the filler of a table's rows
    /// (<https://www.postgresql.org/docs/current/storage-page-layout.html>).
    ///
    /// A page has a header of 24 bytes. A row takes a pointer of 4, a header of 24 and its values,
    /// together aligned to 8 bytes; a text that is stored plainly has a length of 4. A row with a
    /// page of its own takes more than half of one: a second one does not fit.
    fn filler(&self, table: &Table) -> Result<usize> {
        let page_bytes = self.page_bytes as usize;
        let Some((_, rows)) = table.filler() else { return Ok(0) };
        if rows == 1 {
            return Ok(page_bytes * 3 / 4);
        }
        let others: usize = table.columns.iter().map(|column| width(column.data_type)).sum();
        engine::dialect::filler_bytes(table, page_bytes, |filler| {
            let row = 4 + (24 + others.next_multiple_of(4) + 4 + filler).next_multiple_of(8);
            rows * row + 24 <= page_bytes
        })
    }

    fn column(column: &Column, filler: usize) -> String {
        let data_type = match column.data_type {
            DataType::Uuid => "uuid".into(),
            DataType::Int => "int".into(),
            DataType::BigInt => "bigint".into(),
            DataType::Timestamp => "timestamp".into(),
            DataType::Char(length) => format!("char({length})"),
            DataType::Date => "date".into(),
            DataType::Decimal => "decimal(15,2)".into(),
            DataType::Varchar(length) => format!("varchar({length})"),
            DataType::PageFiller { .. } => "text".to_owned(),
        };
        let not_null = if column.nullable { "" } else { " NOT NULL" };
        let default = column.default.map(|default| match default {
            DefaultValue::NewUuid => "gen_random_uuid()".into(),
            DefaultValue::Now => "now()".into(),
            DefaultValue::Integer(number) => number.to_string(),
            DefaultValue::Text(text) => quote_literal(text),
            DefaultValue::Filler => format!("repeat('a', {filler})"),
        });
        let default = default.map(|default| format!(" DEFAULT {default}")).unwrap_or_default();
        let method = column.compression.filter(|method| *method != NO_COMPRESSION);
        let method = method.map(|method| format!(" COMPRESSION {method}")).unwrap_or_default();
        format!("{} {data_type}{method}{not_null}{default}", SQL.quote(column.name))
    }

    /// Sets how many workers read a table, however small it is; without a degree, and of
    /// partitions, the server decides.
    pub fn workers(&self, table: &Table, degree: Option<u32>) -> Option<String> {
        let whole = self.data_files <= 1 || !table.storage.spread;
        let set = degree.map_or("RESET (parallel_workers)".into(), |degree| {
            format!("SET (parallel_workers = {})", degree.saturating_sub(1))
        });
        whole.then(|| format!("ALTER TABLE {} {set}", self.table(table)))
    }

    /// The bulk load of a table: its rows follow in this format.
    pub fn copy(&self, table: &Table, columns: &[&str], format: &str) -> String {
        format!("COPY {} ({}) FROM STDIN WITH ({format})", self.table(table), SQL.names(columns))
    }

    /// Returns the statements after filling a table: the vacuum first, which has little to do after
    /// a load that froze its rows.
    pub fn after_fill(&self, table: &Table) -> Vec<String> {
        let name = self.table(table);
        let mut statements = vec![format!("VACUUM ANALYZE {name}")];
        if table.storage.key_after_fill && !table.key.is_empty() {
            statements
                .push(format!("ALTER TABLE {name} ADD PRIMARY KEY ({})", SQL.names(table.key)));
        }
        statements.extend(self.create_index(table));
        statements
    }

    /// The loop of the published studies: rows one by one, a commit after each batch.
    pub fn procedures(&self, work: &Work) -> Vec<String> {
        let Some(table) = work.loop_table() else { return Vec::new() };
        let (name, key) = (self.table(table), SQL.names(table.key));
        let next = format!("nextval('{SEQUENCE}')");
        let (random, sequential) = match table.single_key().map(|key| key.data_type) {
            Some(DataType::Uuid) => {
                ("gen_random_uuid()", format!("lpad(to_hex({next}), 32, '0')::uuid"))
            }
            // 62 random bits, as the keys that clients make.
            _ => (
                "('x' || left(replace(gen_random_uuid()::text, '-', ''), 16))::bit(64)::bigint & \
                 (1::bigint << 62) - 1",
                next,
            ),
        };
        let body = format!(
            "DECLARE done bigint := 0; BEGIN WHILE done < total LOOP FOR row IN 1..least(batch, \
             total - done) LOOP IF sequential THEN INSERT INTO {name} ({key}) VALUES \
             ({sequential}); ELSE INSERT INTO {name} ({key}) VALUES ({random}); END IF; END LOOP; \
             done := done + batch; COMMIT; END LOOP; END"
        );
        vec![
            format!("CREATE SEQUENCE {SEQUENCE} CACHE 1000"),
            format!(
                "CREATE PROCEDURE {PROCEDURE}(total bigint, batch bigint, sequential boolean) \
                 LANGUAGE plpgsql AS {}",
                quote_literal(&body)
            ),
        ]
    }
}

/// Bytes of a value, at most and without alignment
/// (<https://www.postgresql.org/docs/current/datatype.html>); those of a filler come on top.
pub fn width(data_type: DataType) -> usize {
    match data_type {
        DataType::Int | DataType::Date => 4,
        DataType::BigInt | DataType::Timestamp => 8,
        DataType::Uuid => 16,
        DataType::Decimal => 12,
        DataType::Char(length) | DataType::Varchar(length) => usize::from(length) + 4,
        DataType::PageFiller { .. } => 0,
    }
}

impl Dialect for PostgresDialect {
    fn words(&self) -> &'static Words {
        &SQL
    }

    fn create(&self, table: &Table) -> Result<Vec<String>> {
        let (name, filler) = (self.table(table), self.filler(table)?);
        let mut parts: Vec<String> =
            table.columns.iter().map(|column| Self::column(column, filler)).collect();
        if !table.key.is_empty() && !table.storage.key_after_fill {
            parts.push(format!("PRIMARY KEY ({})", SQL.names(table.key)));
        }
        let parts = parts.join(", ");
        let filled =
            table.storage.fill_percent.map(|percent| format!(" WITH (fillfactor = {percent})"));
        let filled = filled.unwrap_or_default();
        let on = |file: usize| match self.tablespaces.get(file) {
            Some(tablespace) => {
                format!("SET default_tablespace = {}", quote_identifier(tablespace))
            }
            None => "RESET default_tablespace".into(),
        };
        let mut statements = Vec::new();
        if self.data_files <= 1 || !table.storage.spread {
            statements.extend([on(0), format!("CREATE TABLE {name} ({parts}){filled}")]);
        } else {
            statements.push(format!(
                "CREATE TABLE {name} ({parts}) PARTITION BY HASH ({})",
                SQL.names(table.key)
            ));
            for file in 0..self.data_files {
                let partition = SQL.quote(&format!("{}_{file}", table.name));
                let values =
                    format!("FOR VALUES WITH (MODULUS {}, REMAINDER {file})", self.data_files);
                statements.push(on(file as usize));
                statements
                    .push(format!("CREATE TABLE {partition} PARTITION OF {name} {values}{filled}"));
            }
        }
        // A filler is stored plainly, neither compressed nor out of line. Set on a parent, this
        // applies to its partitions too.
        statements.extend(table.filler().map(|(filler, _)| {
            format!("ALTER TABLE {name} ALTER {} SET STORAGE PLAIN", SQL.quote(filler.name))
        }));
        let plain =
            table.columns.iter().filter(|column| column.compression == Some(NO_COMPRESSION));
        statements.extend(plain.map(|column| {
            format!("ALTER TABLE {name} ALTER {} SET STORAGE EXTERNAL", SQL.quote(column.name))
        }));
        statements.push("RESET default_tablespace".into());
        Ok(statements)
    }
}
