//! How MariaDB and MySQL write tables and operations.

use super::compression::Compression;
use crate::client::quote_literal;
use engine::dialect::Words;
use engine::{Dialect, Result};
use std::path::PathBuf;
use work::{Column, DataType, DefaultValue, Table, Work};

/// The words of MariaDB's SQL.
pub const SQL: Words = Words {
    quotes: ['`', '`'],
    parameter: "?",
    numbers_parameters: false,
    row_locks: ["", " FOR UPDATE"],
    insert_loop: Some("CALL insert_rows(?, ?, ?)"),
    // The optimizer does not take an order from `CROSS JOIN`.
    nested_loops: Some(["STRAIGHT_JOIN", ""]),
    ..Words::STANDARD
};

/// MariaDB's SQL for the layout of one trial.
#[derive(Debug)]
pub struct MariaDialect {
    /// Partitions of a table that is spread.
    pub data_files: u32,
    /// Folders of the partitions, by position; empty: the default one.
    pub folders: Vec<PathBuf>,
    /// Bytes of a page.
    pub page_bytes: u32,
    /// The compression of tables.
    pub compression: Option<Compression>,
    /// True if the server has sequences, as MariaDB does and MySQL does not.
    pub has_sequences: bool,
}

/// The procedure of [`Work::loop_table`] and the sequence of its keys.
const PROCEDURE: &str = "insert_rows";
const SEQUENCE: &str = "insert_keys";
const NO_SEQUENCE: &str =
    "MySQL has no sequences; use another insert method than procedure, or random keys";

/// A statement of a script as the server knows it: PostgreSQL's `END`, with which pgbench's
/// built-in scripts end their transactions, is `COMMIT`.
pub fn spelled(sql: &str) -> &str {
    if sql.trim().eq_ignore_ascii_case("end") { "COMMIT" } else { sql }
}

/// Bytes of a page that are not of rows: header and trailer of the file, header of the page, its
/// two pseudo-records (<https://dev.mysql.com/doc/dev/mysql-server/latest/PAGE_INNODB_RECORD.html>;
/// `fil0fil.h`, `page0page.h`).
const PAGE_OVERHEAD: usize = 38 + 8 + 56 + 26;
/// Bytes of a record in addition to its columns: header, transaction, roll pointer (`rem0rec.h`,
/// `data0type.h`).
const RECORD_OVERHEAD: usize = 5 + 6 + 7;
/// The number of a row that has no key.
const ROW_NUMBER: usize = 6;

impl MariaDialect {
    /// Bytes of the filler of a table's rows. Rows that come in the order of their keys fill 15/16
    /// of a page (`innodb_fill_factor` 100), and each fourth needs a slot of 2 bytes at least.
    /// A row with a page of its own takes almost half of one, the most that InnoDB keeps in a
    /// page: a second one finds no room in the 15/16.
    fn filler(&self, table: &Table) -> Result<usize> {
        let page_bytes = self.page_bytes as usize;
        let Some((_, rows)) = table.filler() else { return Ok(0) };
        let others: usize = table.columns.iter().map(|column| width(column.data_type)).sum();
        let number = if table.key.is_empty() { ROW_NUMBER } else { 0 };
        let nulls = table.columns.iter().filter(|column| column.nullable).count().div_ceil(8);
        // The length of the filler takes two bytes.
        let row = |filler: usize| RECORD_OVERHEAD + number + nulls + others + 2 + filler;
        if rows == 1 {
            return engine::dialect::filler_bytes(table, page_bytes, |filler| {
                2 * (row(filler) + 64) <= page_bytes
            });
        }
        engine::dialect::filler_bytes(table, page_bytes, |filler| {
            rows * row(filler) + rows.div_ceil(4) * 2 + PAGE_OVERHEAD <= page_bytes * 15 / 16
        })
    }

    fn column(column: &Column, filler: usize) -> String {
        let data_type = match column.data_type {
            // The same bytes in the same order everywhere: MariaDB's own type UUID sorts by another
            // one.
            DataType::Uuid => "binary(16)".into(),
            DataType::Int => "int".into(),
            DataType::BigInt => "bigint".into(),
            // TIMESTAMP ends in 2038.
            DataType::Timestamp => "datetime".into(),
            DataType::Char(length) => format!("char({length})"),
            DataType::Date => "date".into(),
            DataType::Decimal => "decimal(15,2)".into(),
            DataType::Varchar(length) => format!("varchar({length})"),
            DataType::PageFiller { .. } => format!("varbinary({})", filler.max(1)),
        };
        let not_null = if column.nullable { "" } else { " NOT NULL" };
        let default = column.default.map(|default| match default {
            DefaultValue::NewUuid => "(random_bytes(16))".into(),
            DefaultValue::Now => "current_timestamp()".into(),
            DefaultValue::Integer(number) => number.to_string(),
            DefaultValue::Text(text) => quote_literal(text),
            DefaultValue::Filler => format!("(repeat('a', {filler}))"),
        });
        let default = default.map(|default| format!(" DEFAULT {default}")).unwrap_or_default();
        format!("{} {data_type}{not_null}{default}", SQL.quote(column.name))
    }

    fn folder(&self, file: usize) -> String {
        let folder = self.folders.get(file).map(|folder| quote_literal(&folder.to_string_lossy()));
        folder.map(|folder| format!(" DATA DIRECTORY = {folder}")).unwrap_or_default()
    }

    /// `INSERT` of many rows: the text before their values.
    pub fn insert_head(&self, table: &Table, columns: &[&str]) -> String {
        format!("INSERT INTO {} ({}) VALUES ", self.table(table), SQL.names(columns))
    }

    /// The bulk load of a table from rows in tab-separated text. UUIDs come as text.
    pub fn load(&self, table: &Table, columns: &[&'static str]) -> String {
        let is_uuid = |name: &&str| {
            table.column(name).is_some_and(|column| column.data_type == DataType::Uuid)
        };
        let targets: Vec<String> = columns
            .iter()
            .enumerate()
            .map(
                |(number, name)| {
                    if is_uuid(name) { format!("@u{number}") } else { SQL.quote(name) }
                },
            )
            .collect();
        let uuids = columns.iter().enumerate().filter(|(_, name)| is_uuid(name));
        let set: Vec<String> = uuids
            .map(|(number, name)| {
                format!("{} = unhex(replace(@u{number}, '-', ''))", SQL.quote(name))
            })
            .collect();
        let set = if set.is_empty() { String::new() } else { format!(" SET {}", set.join(", ")) };
        format!(
            "LOAD DATA LOCAL INFILE 'rows' INTO TABLE {} CHARACTER SET utf8mb4 ({}){set}",
            self.table(table),
            targets.join(", ")
        )
    }

    /// The loop of the published studies: rows one by one, a commit after each batch.
    pub fn procedures(&self, work: &Work) -> Vec<String> {
        let Some(table) = work.loop_table() else { return Vec::new() };
        let (name, key, next) =
            (self.table(table), SQL.names(table.key), format!("nextval({SEQUENCE})"));
        let (random, sequential) = match table.single_key().map(|key| key.data_type) {
            Some(DataType::Uuid) => {
                ("random_bytes(16)", format!("unhex(lpad(hex({next}), 32, '0'))"))
            }
            // 62 random bits, as the keys that clients make.
            _ => ("cast(conv(hex(random_bytes(8)), 16, 10) AS unsigned) & ((1 << 62) - 1)", next),
        };
        let sequence = self.has_sequences.then(|| format!("CREATE SEQUENCE {SEQUENCE} CACHE 1000"));
        let insert_sequential = if self.has_sequences {
            format!("INSERT INTO {name} ({key}) VALUES ({sequential})")
        } else {
            format!("SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = {}", quote_literal(NO_SEQUENCE))
        };
        let procedure = [format!(
            "CREATE PROCEDURE {PROCEDURE}(IN total bigint, IN batch bigint, IN sequential \
             boolean) BEGIN DECLARE done, left_in_batch bigint DEFAULT 0; WHILE done < total DO \
             SET left_in_batch = least(batch, total - done); SET done = done + left_in_batch; \
             START TRANSACTION; WHILE left_in_batch > 0 DO IF sequential THEN \
             {insert_sequential}; ELSE INSERT INTO {name} ({key}) VALUES ({random}); END IF; SET \
             left_in_batch = left_in_batch - 1; END WHILE; COMMIT; END WHILE; END"
        )];
        sequence.into_iter().chain(procedure).collect()
    }
}

/// Bytes of a value and its length, at most
/// (<https://mariadb.com/kb/en/data-type-storage-requirements/>); those of a filler come on top.
fn width(data_type: DataType) -> usize {
    match data_type {
        DataType::Int => 4,
        DataType::BigInt => 8,
        DataType::Date => 3,
        DataType::Timestamp => 5,
        DataType::Uuid => 16,
        DataType::Decimal => 7,
        DataType::Char(length) | DataType::Varchar(length) => usize::from(length) + 1,
        DataType::PageFiller { .. } => 0,
    }
}

impl Dialect for MariaDialect {
    fn words(&self) -> &'static Words {
        &SQL
    }

    /// The rows of a table lie in the order of its key, so that the key is there from the first row
    /// on.
    fn create(&self, table: &Table) -> Result<Vec<String>> {
        let (name, filler) = (self.table(table), self.filler(table)?);
        let mut parts: Vec<String> =
            table.columns.iter().map(|column| Self::column(column, filler)).collect();
        if !table.key.is_empty() {
            parts.push(format!("PRIMARY KEY ({})", SQL.names(table.key)));
        }
        parts.extend(SQL.foreign_keys(table));
        let parts = parts.join(", ");
        let options = self.compression.map(Compression::options).unwrap_or_default();
        let places = if self.data_files > 1 && table.storage.spread {
            let partitions: Vec<String> = (0..self.data_files)
                .map(|file: u32| format!("PARTITION p{file}{}", self.folder(file as usize)))
                .collect();
            format!(" PARTITION BY KEY ({}) ({})", SQL.names(table.key), partitions.join(", "))
        } else {
            self.folder(0)
        };
        Ok(vec![format!("CREATE TABLE {name} ({parts}) ENGINE = InnoDB{options}{places}")])
    }
}
