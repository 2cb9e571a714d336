//! Features that the emulator lacks: databases with files, options and properties, and settings of
//! the server.

use crate::backups::Media;
use iridium_core::error::DbError;
use iridium_core::types::{DataType, Value};
use iridium_core::{Database, QueryResult};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The largest file has 1 TiB here: what does not fit is cut off in silence.
const PAGES_MAX: i64 = 1 << 27;

/// A database.
#[derive(Default)]
pub struct Made {
    pub tables: Arc<Database>,
    pub properties: BTreeMap<String, String>,
    /// Columns of `sys.databases`.
    pub options: BTreeMap<&'static str, String>,
    /// Kind, name, path, pages, pages of growth.
    pub files: Vec<(i64, String, String, i64, i64)>,
}

/// All databases but master, and the settings of the server.
pub struct Catalog {
    pub databases: BTreeMap<String, Made>,
    /// Name, the configured value and that in use.
    pub settings: BTreeMap<String, (i64, i64)>,
    /// Holder of the application lock.
    pub lock: Option<u64>,
    /// Files of backups by their paths.
    pub media: BTreeMap<String, Media>,
}

impl Default for Catalog {
    fn default() -> Self {
        let settings = [
            ("show advanced options", 0),
            ("max degree of parallelism", 8),
            ("cost threshold for parallelism", 5),
            ("max server memory (MB)", 2_147_483_647),
        ];
        let settings = settings.map(|(name, value)| (name.to_owned(), (value, value))).into();
        Self { databases: BTreeMap::new(), settings, lock: None, media: BTreeMap::new() }
    }
}

/// An answer with these columns; all of it is text, but for whole numbers.
pub fn rows(columns: &[&str], rows: Vec<Vec<Option<String>>>) -> Vec<Option<QueryResult>> {
    let is_number = |at: usize| {
        rows.iter().all(|row| row[at].as_ref().is_none_or(|cell| cell.parse::<i64>().is_ok()))
    };
    let kinds: Vec<bool> = (0..columns.len()).map(is_number).collect();
    let value = |(at, cell): (usize, Option<String>)| match cell {
        None => Value::Null,
        Some(cell) if kinds[at] => Value::BigInt(cell.parse().unwrap_or(0)),
        Some(cell) => Value::NVarChar(cell),
    };
    let data_type = |is_number: &bool| {
        if *is_number { DataType::BigInt } else { DataType::NVarChar { max_len: 4000 } }
    };
    vec![Some(QueryResult {
        columns: columns.iter().map(|name| (*name).to_owned()).collect(),
        column_types: kinds.iter().map(data_type).collect(),
        column_nullabilities: vec![true; columns.len()],
        rows: rows
            .into_iter()
            .map(|row| row.into_iter().enumerate().map(value).collect())
            .collect(),
        return_status: None,
        is_procedure: false,
    })]
}

/// An answer of one cell.
pub fn cell(column: &str, value: Option<String>) -> Vec<Option<QueryResult>> {
    rows(&[column], vec![vec![value]])
}

/// The texts of the literals in a statement, in order.
pub fn literals(sql: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = sql;
    while let Some(start) = rest.find('\'') {
        let mut text = String::new();
        rest = &rest[start + 1..];
        while let Some(end) = rest.find('\'') {
            text.push_str(&rest[..end]);
            rest = &rest[end + 1..];
            if !rest.starts_with('\'') {
                break;
            }
            text.push('\'');
            rest = &rest[1..];
        }
        found.push(text);
    }
    found
}

/// The pages of a size behind a word, of which the unit follows: `SIZE = 8192 KB`.
fn pages(text: &str, word: &str) -> Option<i64> {
    let rest = text.split_once(word)?.1.trim_start_matches([' ', '=']);
    let (number, unit) = rest.split_once(' ')?;
    let kib = if unit.starts_with("MB") { 1024 } else { 1 };
    Some(number.parse::<i64>().ok()? * kib / 8)
}

/// A text up to the parenthesis that closes it.
fn closed(text: &str) -> &str {
    let mut is_quoted = false;
    let end = text.find(|sign| {
        is_quoted ^= sign == '\'';
        sign == ')' && !is_quoted
    });
    end.map_or(text, |end| &text[..end])
}

impl Made {
    /// Parses the database of a `CREATE DATABASE`.
    pub fn parse(sql: &str) -> Self {
        let mut made = Self::default();
        for (position, spec) in sql.match_indices("(NAME = ").map(|(at, _)| (at, &sql[at..])) {
            let spec = closed(spec);
            let is_log = sql.find(" LOG ON ").is_some_and(|log| log < position);
            let texts = literals(spec);
            let pages = |word: &str| pages(spec, word).unwrap_or(1024).min(PAGES_MAX);
            made.files.push((
                i64::from(is_log),
                texts.first().cloned().unwrap_or_default(),
                texts.get(1).cloned().unwrap_or_default(),
                pages(", SIZE"),
                pages("FILEGROWTH"),
            ));
        }
        made.options = [
            ("recovery_model_desc", "FULL"),
            ("page_verify_option_desc", "CHECKSUM"),
            ("delayed_durability_desc", "DISABLED"),
            ("snapshot_isolation_state_desc", "OFF"),
            ("is_read_committed_snapshot_on", "0"),
            ("has_begun", "0"),
        ]
        .map(|(column, value)| (column, value.to_owned()))
        .into();
        made
    }

    /// Sets what an `ALTER DATABASE ... SET` asks for; `None` where it is not known.
    pub fn alter(&mut self, clause: &str) -> Option<()> {
        let words: Vec<&str> = clause.split([' ', '=']).filter(|word| !word.is_empty()).collect();
        let (column, value) = match words[..] {
            ["RECOVERY", model] => ("recovery_model_desc", model),
            ["PAGE_VERIFY", how] => ("page_verify_option_desc", how),
            ["DELAYED_DURABILITY", when] => ("delayed_durability_desc", when),
            ["ALLOW_SNAPSHOT_ISOLATION", is_on] => ("snapshot_isolation_state_desc", is_on),
            ["READ_COMMITTED_SNAPSHOT", is_on, ..] => {
                ("is_read_committed_snapshot_on", if is_on == "ON" { "1" } else { "0" })
            }
            ["SINGLE_USER", ..] => return Some(()),
            _ => return None,
        };
        self.options.insert(column, value.to_owned());
        Some(())
    }
}

/// An error of the server.
pub fn error(number: i32, message: String) -> DbError {
    DbError::Custom { class: 16, number, message }
}
