//! Tables and indexes, and what was counted of them.

use super::{Reader, quote_identifier};
use crate::statements::{self, Column, ForeignKey, Index, Key, Snapshot, Table};
use engine::ServerError;
use engine::server::MARK;
use observations::Unread;
use std::collections::HashMap;

/// Schemas of the server itself.
const SYSTEM_SCHEMAS: &str = "('information_schema', 'performance_schema', 'mysql', 'sys')";

/// The number of each table by schema and name.
pub(super) type Places = HashMap<(String, String), usize>;

impl Reader {
    /// Reads the tables of the schemas that statements use most, then of other schemas, up to the
    /// requested number.
    pub(super) fn tables(
        &mut self,
        snapshot: &mut Snapshot,
        is_counted: bool,
    ) -> Result<(), ServerError> {
        let all = self.rows::<1>(&format!(
            "SELECT schema_name AS {MARK} FROM information_schema.schemata WHERE schema_name NOT \
             IN {SYSTEM_SCHEMAS} ORDER BY 1"
        ))?;
        let mut schemas: Vec<String> = all.into_iter().map(|[name]| name).collect();
        schemas.sort_by_cached_key(|schema| {
            let of = snapshot.statements.iter().filter(|statement| statement.database == *schema);
            let times = of.filter_map(|statement| statement.get(statements::Counter::TimeNs));
            std::cmp::Reverse(times.sum::<u64>())
        });
        let limit = self.limits.databases.max(1);
        if schemas.len() > limit {
            let what = format!("tables and indexes of {} more databases", schemas.len() - limit);
            snapshot.unread.push(Unread { what, why: "excluded by --databases".into() });
            schemas.truncate(limit);
        }
        if schemas.is_empty() {
            return Ok(());
        }
        let names: Vec<String> =
            schemas.iter().map(|name| format!("'{}'", name.replace('\'', "''"))).collect();
        let names = format!("({})", names.join(", "));
        snapshot.tables = self.plain_tables(&names)?;
        let places: Places = (0..)
            .zip(&snapshot.tables)
            .map(|(at, table)| ((table.database.clone(), table.name.clone()), at))
            .collect();
        self.indexes(&names, &places, &mut snapshot.tables)?;
        self.foreign_keys(&names, &places, &mut snapshot.tables)?;
        self.columns(&names, &places, &mut snapshot.tables)?;
        let unread = |what: &str, why: String| Unread { what: what.into(), why };
        if let Err(error) = self.sizes(&names, &places, &mut snapshot.tables, snapshot.block_bytes)
        {
            snapshot.unread.push(unread(
                "index sizes",
                format!("{error} (SELECT on mysql.innodb_index_stats)"),
            ));
        }
        self.storage(&names, &places, snapshot);
        // If the Performance Schema is off, the statements report it.
        let counted =
            if is_counted { self.usage(&names, &places, &mut snapshot.tables) } else { Ok(None) };
        match counted {
            Ok(None) => {}
            Ok(Some(why)) => snapshot.unread.push(unread("index usage", why.into())),
            Err(error) => {
                snapshot.unread.push(unread("index usage", error.to_string()));
            }
        }
        Ok(())
    }

    fn plain_tables(&mut self, names: &str) -> Result<Vec<Table>, ServerError> {
        let rows = self.rows::<5>(&format!(
            "SELECT table_schema AS {MARK}, table_name, table_rows, data_length, engine FROM \
             information_schema.tables WHERE table_type = 'BASE TABLE' AND table_schema IN \
             {names} ORDER BY 1, 2"
        ))?;
        Ok(rows
            .into_iter()
            .map(|[database, name, rows, bytes, storage]| Table {
                quoted: format!("{}.{}", quote_identifier(&database), quote_identifier(&name)),
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

    fn indexes(
        &mut self,
        names: &str,
        places: &Places,
        tables: &mut [Table],
    ) -> Result<(), ServerError> {
        let rows = self.rows::<8>(&format!(
            "SELECT table_schema AS {MARK}, table_name, index_name, non_unique, column_name, \
             collation, sub_part, index_type FROM information_schema.statistics WHERE \
             table_schema IN {names} ORDER BY 1, 2, 3, seq_in_index"
        ))?;
        for [schema, table, name, non_unique, column, direction, part, method] in rows {
            let Some(table) = places.get(&(schema, table)).map(|at| &mut tables[*at]) else {
                continue;
            };
            table.lacks_primary_key &= name != "PRIMARY";
            if table.indexes.last().is_none_or(|last| last.name != name) {
                table.indexes.push(Index {
                    quoted: quote_identifier(&name),
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
        for table in tables {
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

    fn columns(
        &mut self,
        names: &str,
        places: &Places,
        tables: &mut [Table],
    ) -> Result<(), ServerError> {
        let rows = self.rows::<4>(&format!(
            "SELECT table_schema AS {MARK}, table_name, column_name, data_type FROM \
             information_schema.columns WHERE table_schema IN {names} ORDER BY 1, 2, \
             ordinal_position"
        ))?;
        for [schema, table, name, kind] in rows {
            if let Some(at) = places.get(&(schema, table)) {
                let column = Column { name, kind, is_unanalyzed: true, ..Column::default() };
                tables[*at].columns.push(column);
            }
        }
        Ok(())
    }

    fn foreign_keys(
        &mut self,
        names: &str,
        places: &Places,
        tables: &mut [Table],
    ) -> Result<(), ServerError> {
        let rows = self.rows::<7>(&format!(
            "SELECT table_schema AS {MARK}, table_name, constraint_name, column_name, \
             referenced_table_schema, referenced_table_name, referenced_column_name FROM \
             information_schema.key_column_usage WHERE referenced_table_name IS NOT NULL AND \
             table_schema IN {names} ORDER BY 1, 2, 3, ordinal_position"
        ))?;
        for [schema, table, name, column, target_schema, target, referenced] in rows {
            // InnoDB checks the key by an index of the table that it refers to.
            if let Some(at) = places.get(&(target_schema, target.clone())) {
                let indexes = tables[*at].indexes.iter_mut();
                indexes
                    .filter(|index| index.keys.first().is_some_and(|key| key.column == referenced))
                    .for_each(|index| index.is_needed |= index.is_unique);
            }
            let Some(table) = places.get(&(schema, table)).map(|at| &mut tables[*at]) else {
                continue;
            };
            match table.foreign_keys.last_mut().filter(|last| last.name == name) {
                Some(key) => key.columns.push(column),
                None => table.foreign_keys.push(ForeignKey { name, columns: vec![column], target }),
            }
        }
        Ok(())
    }

    /// By the statistics that InnoDB keeps: pages, as they were when it gathered them.
    fn sizes(
        &mut self,
        names: &str,
        places: &Places,
        tables: &mut [Table],
        page: u64,
    ) -> Result<(), ServerError> {
        let rows = self.rows::<4>(&format!(
            "SELECT database_name AS {MARK}, table_name, index_name, stat_value FROM \
             mysql.innodb_index_stats WHERE stat_name = 'size' AND database_name IN {names}"
        ))?;
        for [schema, table, name, pages] in rows {
            let Some(at) = places.get(&(schema, table)) else { continue };
            if let Some(index) = tables[*at].indexes.iter_mut().find(|index| index.name == name) {
                index.bytes = pages.parse::<u64>().ok().map(|pages| pages * page);
            }
        }
        Ok(())
    }

    /// Reads and writes since the server started; untouched tables have no row. Returns the reason
    /// where they are not counted.
    fn usage(
        &mut self,
        names: &str,
        places: &Places,
        tables: &mut [Table],
    ) -> Result<Option<&'static str>, ServerError> {
        let [is_on, started] = self
            .rows::<2>(&format!(
                "SELECT enabled AS {MARK}, (SELECT round((unix_timestamp() - variable_value) * \
                 1000) FROM performance_schema.global_status WHERE variable_name = 'Uptime') FROM \
                 performance_schema.setup_instruments WHERE name = 'wait/io/table/sql/handler'"
            ))?
            .into_iter()
            .next()
            .unwrap_or_default();
        if is_on != "YES" {
            return Ok(Some(
                "the instrument wait/io/table/sql/handler is off \
                 (performance_schema.setup_instruments)",
            ));
        }
        // Unreadable counters are absent, not 0.
        let rows = self.rows::<7>(&format!(
            "SELECT object_schema AS {MARK}, object_name, index_name, count_fetch, count_insert, \
             count_update, count_delete FROM \
             performance_schema.table_io_waits_summary_by_index_usage WHERE object_schema IN \
             {names}"
        ))?;
        for table in tables.iter_mut() {
            table.since_ms = started.parse::<f64>().ok().map(|ms| ms as i64);
            (table.inserts, table.updates, table.deletes) = (Some(0), Some(0), Some(0));
            table.scanned_rows = Some(0);
            table.indexes.iter_mut().for_each(|index| index.scans = Some(0));
        }
        for [schema, table, name, fetched, inserted, updated, deleted] in rows {
            let Some(table) = places.get(&(schema, table)).map(|at| &mut tables[*at]) else {
                continue;
            };
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
        Ok(None)
    }
}
