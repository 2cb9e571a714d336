//! Tables and indexes, and what was counted of them.

use super::Reader;
use crate::mariadb::statement_rules::quoted;
use crate::statements::{self, Column, ForeignKey, Index, Key, Snapshot, Table};
use engine::{ServerError, View};
use report::text::joined;
use std::collections::HashMap;

/// The queries about tables; `:schemas` stands for a list of them.
const FILE: &str = include_str!("tables.sql");

/// The tables of the schemas that are read.
pub(super) struct Tables<'a> {
    /// The schemas as a list of SQL.
    schemas: String,
    places: HashMap<(String, String), usize>,
    all: &'a mut [Table],
}

impl<'a> Tables<'a> {
    fn new(schemas: String, all: &'a mut [Table]) -> Self {
        let numbered = (0..).zip(&*all);
        let places = numbered
            .map(|(at, table)| ((table.database.clone(), table.name.clone()), at))
            .collect();
        Self { schemas, places, all }
    }

    /// The query of this name about their schemas.
    pub(super) fn sql(&self, name: &'static str) -> String {
        self.sql_with(name, true)
    }

    /// That query with values of users, or without.
    pub(super) fn sql_with(&self, name: &'static str, values: bool) -> String {
        let view = View::new(name, FILE);
        let without = view.older().filter(|_| !values);
        without.unwrap_or_else(|| view.sql()).replace(":schemas", &self.schemas)
    }

    /// The table of this name, if it is one of them.
    pub(super) fn get(&mut self, schema: String, name: String) -> Option<&mut Table> {
        self.places.get(&(schema, name)).map(|at| &mut self.all[*at])
    }
}

impl Reader {
    /// Reads the tables of the schemas that statements use most, then of other schemas, up to the
    /// requested number.
    pub(super) fn tables(
        &mut self,
        snapshot: &mut Snapshot,
        is_counted: bool,
    ) -> Result<(), ServerError> {
        let all = self.rows::<1>(&View::new("schemas", FILE).sql())?;
        let mut schemas: Vec<String> = all.into_iter().map(|[name]| name).collect();
        schemas.sort_by_cached_key(|schema| {
            let of = snapshot.statements.iter().filter(|statement| statement.database == *schema);
            let times = of.filter_map(|statement| statement.get(statements::Counter::TimeNs));
            std::cmp::Reverse(times.sum::<u64>())
        });
        let limit = self.limits.databases.max(1);
        if schemas.len() > limit {
            let what = format!("tables and indexes of {} more databases", schemas.len() - limit);
            snapshot.note_unread(what, "excluded by --databases");
            schemas.truncate(limit);
        }
        if schemas.is_empty() {
            return Ok(());
        }
        let names = schemas.iter().map(|name| format!("'{}'", name.replace('\'', "''")));
        let names = format!("({})", joined(names, ", "));
        let mut all = self.plain_tables(&names)?;
        let read = self.details(&mut Tables::new(names, &mut all), snapshot, is_counted);
        snapshot.tables = all;
        read
    }

    /// Adds what is known of the tables; the snapshot gets the notes.
    fn details(
        &mut self,
        tables: &mut Tables<'_>,
        snapshot: &mut Snapshot,
        is_counted: bool,
    ) -> Result<(), ServerError> {
        self.indexes(tables)?;
        self.foreign_keys(tables)?;
        self.columns(tables)?;
        let sizes = self.sizes(tables, snapshot.block_bytes);
        let sizes = sizes.map_err(|error| format!("{error} (SELECT on mysql.innodb_index_stats)"));
        snapshot.read("index sizes", sizes);
        self.storage(tables, snapshot);
        // If the Performance Schema is off, the statements report it.
        if is_counted {
            snapshot.read("index usage", self.usage(tables));
        }
        Ok(())
    }

    fn plain_tables(&mut self, names: &str) -> Result<Vec<Table>, ServerError> {
        let sql = View::new("tables", FILE).sql().replace(":schemas", names);
        let rows = self.rows::<5>(&sql)?;
        Ok(rows
            .into_iter()
            .map(|[database, name, rows, bytes, storage]| Table {
                quoted: format!("{}.{}", quoted(&database), quoted(&name)),
                rows: rows.parse().ok(),
                bytes: bytes.parse().ok(),
                database,
                name,
                storage,
                lacks_primary_key: true,
                ..Table::default()
            })
            .collect())
    }

    fn indexes(&mut self, tables: &mut Tables<'_>) -> Result<(), ServerError> {
        let rows = self.rows::<8>(&tables.sql("indexes"))?;
        for [schema, table, name, non_unique, column, direction, part, method] in rows {
            let Some(table) = tables.get(schema, table) else { continue };
            table.lacks_primary_key &= name != "PRIMARY";
            if table.indexes.last().is_none_or(|last| last.name != name) {
                table.indexes.push(Index {
                    quoted: quoted(&name),
                    method: method.to_ascii_lowercase(),
                    is_unique: non_unique == "0",
                    is_needed: name == "PRIMARY",
                    is_valid: true,
                    name,
                    ..Index::default()
                });
            }
            let Some(index) = table.indexes.last_mut() else { continue };
            // An expression of MySQL has no column.
            let column = if column.is_empty() { "(expression)".into() } else { column };
            let column = if part.is_empty() { column } else { format!("{column}({part})") };
            index.keys.push(Key { column, descending: direction == "D", ..Key::default() });
        }
        for table in &mut *tables.all {
            for index in &mut table.indexes {
                let unique = if index.is_unique { "UNIQUE " } else { "" };
                index.definition = format!(
                    "CREATE {unique}INDEX {} ON {} ({})",
                    index.quoted,
                    table.quoted,
                    index.columns()
                );
            }
        }
        Ok(())
    }

    fn columns(&mut self, tables: &mut Tables<'_>) -> Result<(), ServerError> {
        let rows = self.rows::<4>(&tables.sql("columns"))?;
        for [schema, table, name, kind] in rows {
            let column = Column { name, kind, is_unanalyzed: true, ..Column::default() };
            if let Some(table) = tables.get(schema, table) {
                table.columns.push(column);
            }
        }
        Ok(())
    }

    fn foreign_keys(&mut self, tables: &mut Tables<'_>) -> Result<(), ServerError> {
        let rows = self.rows::<7>(&tables.sql("foreign keys"))?;
        for [schema, table, name, column, target_schema, target, referenced] in rows {
            // InnoDB checks the key by an index of the table that it refers to.
            let target_table = tables.get(target_schema, target.clone()).into_iter();
            for index in target_table.flat_map(|table| &mut table.indexes) {
                let is_of_key = index.keys.first().is_some_and(|key| key.column == referenced);
                index.is_needed |= index.is_unique && is_of_key;
            }
            let Some(table) = tables.get(schema, table) else { continue };
            match table.foreign_keys.last_mut().filter(|last| last.name == name) {
                Some(key) => key.columns.push(column),
                None => table.foreign_keys.push(ForeignKey { name, columns: vec![column], target }),
            }
        }
        Ok(())
    }

    /// By the statistics that InnoDB keeps: pages, as they were when it gathered them.
    fn sizes(&mut self, tables: &mut Tables<'_>, page: u64) -> Result<(), ServerError> {
        let rows = self.rows::<4>(&tables.sql("sizes of indexes"))?;
        for [schema, table, name, pages] in rows {
            let Some(table) = tables.get(schema, table) else { continue };
            if let Some(index) = table.indexes.iter_mut().find(|index| index.name == name) {
                index.bytes = pages.parse::<u64>().ok().map(|pages| pages * page);
            }
        }
        Ok(())
    }

    /// Reads and writes since the server started; untouched tables have no row.
    fn usage(&mut self, tables: &mut Tables<'_>) -> Result<(), ServerError> {
        let started = self.rows::<2>(&View::new("use of tables", super::FILE).sql())?;
        let [is_on, started] = started.into_iter().next().unwrap_or_default();
        if is_on != "YES" {
            return Err(ServerError::new(
                "the instrument wait/io/table/sql/handler is off \
                 (performance_schema.setup_instruments)",
            ));
        }
        // Unreadable counters are absent, not 0.
        let rows = self.rows::<7>(&tables.sql("use of indexes"))?;
        for table in &mut *tables.all {
            table.since_ms = started.parse::<f64>().ok().map(|ms| ms as i64);
            (table.inserts, table.updates, table.deletes) = (Some(0), Some(0), Some(0));
            table.scanned_rows = Some(0);
            table.indexes.iter_mut().for_each(|index| index.scans = Some(0));
        }
        for [schema, table, name, fetched, inserted, updated, deleted] in rows {
            let Some(table) = tables.get(schema, table) else { continue };
            let counts = [inserted, updated, deleted].map(|text| text.parse::<u64>().unwrap_or(0));
            for (sum, count) in
                [&mut table.inserts, &mut table.updates, &mut table.deletes].into_iter().zip(counts)
            {
                *sum = Some(sum.unwrap_or(0) + count);
            }
            let fetched: Option<u64> = fetched.parse().ok();
            match table.indexes.iter_mut().find(|index| index.name == name) {
                Some(index) => index.scans = fetched,
                None => table.scanned_rows = fetched,
            }
        }
        Ok(())
    }
}
