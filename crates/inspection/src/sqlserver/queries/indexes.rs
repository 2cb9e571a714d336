//! Tables with their indexes, and what was counted of them.

use super::views::PAGE;
use crate::plans::MissingIndex;
use crate::sqlserver::statement_rules::quoted;
use crate::statements::{Index, Key, Missed, Table, TableStatistics};
use engine::{Row, Rows};
use std::collections::HashMap;

/// Rows by the numbers of table and index.
type ByIndex<'a> = HashMap<(i32, i32), Vec<Row<'a>>>;

fn by_index(rows: &Rows) -> ByIndex<'_> {
    let mut all = ByIndex::new();
    for (id, row) in rows.iter().filter_map(|row| Some((id(row)?, row))) {
        all.entry(id).or_default().push(row);
    }
    all
}

fn id(row: Row<'_>) -> Option<(i32, i32)> {
    row.parse("object_id").zip(row.parse("index_id"))
}

/// Tables with their indexes, and what was counted of them: sizes, reads, changes, indexes that
/// were missed.
#[expect(clippy::implicit_hasher, reason = "every caller has the standard hasher")]
pub fn tables(
    indexes: &Rows,
    columns: &Rows,
    [sizes, usage, changes, missed]: [&Rows; 4],
    mut statistics: HashMap<i32, Vec<TableStatistics>>,
) -> Vec<Table> {
    // An index that was never used has no row.
    let or_none =
        |rows: &Rows, value: Option<u64>| value.or((!rows.columns().is_empty()).then_some(0));
    let sum = |rows: &ByIndex<'_>, id, column: &str| -> Option<u64> {
        rows.get(&id)?.iter().filter_map(|row| row.parse::<u64>(column)).reduce(|a, b| a + b)
    };
    let columns = by_index(columns);
    let [sizes, used, changed] = [sizes, usage, changes].map(by_index);
    let mut misses: HashMap<i32, Vec<Missed>> = HashMap::new();
    for row in missed.iter() {
        misses.entry(row.parse("object_id").unwrap_or(0)).or_default().push(miss(row));
    }
    let mut all: Vec<Table> = Vec::new();
    for row in indexes.iter() {
        let Some(id) = id(row) else { continue };
        let (schema, name) = (row.text("schema_name"), row.text("table_name"));
        if all.last().is_none_or(|last| (&last.schema, &last.name) != (&schema, &name)) {
            let quoted = format!("{}.{}", quoted(&schema), quoted(&name));
            let missed = misses.remove(&id.0).unwrap_or_default();
            let database = row.text("database_name");
            let statistics = statistics.remove(&id.0).unwrap_or_default();
            all.push(Table {
                database,
                schema,
                name,
                quoted,
                statistics,
                missed,
                ..Table::default()
            });
        }
        let Some(table) = all.last_mut() else { continue };
        if id.1 <= 1 {
            table.rows = sum(&sizes, id, "row_count").map(|rows| rows as f64);
            table.bytes = sum(&sizes, id, "pages").map(|pages| pages * PAGE);
            table.scans = or_none(usage, sum(&used, id, "scans"));
            table.inserts = or_none(changes, sum(&changed, id, "inserts"));
            table.updates = or_none(changes, sum(&changed, id, "updates"));
            table.deletes = or_none(changes, sum(&changed, id, "deletes"));
        }
        if id.1 > 0 {
            let mut index = index(row, columns.get(&id).map_or(&[], Vec::as_slice));
            index.bytes = sum(&sizes, id, "pages").map(|pages| pages * PAGE);
            index.entries = sum(&sizes, id, "row_count").map(|rows| rows as f64);
            index.scans = or_none(usage, sum(&used, id, "reads"));
            table.indexes.push(index);
        }
    }
    all
}

fn miss(row: Row<'_>) -> Missed {
    let columns = |column: &str| names(row.get(column).unwrap_or_default());
    let figure = |column: &str| row.parse::<f64>(column).unwrap_or(0.0);
    let hint = MissingIndex {
        impact: Some(figure("impact") / 100.0),
        equality: columns("equality_columns"),
        inequality: columns("inequality_columns"),
        included: columns("included_columns"),
        ..MissingIndex::default()
    };
    Missed { hint, uses: row.parse("uses").unwrap_or(0), cost: figure("cost") }
}

/// The names of `[City], [a]]b]`.
fn names(list: &str) -> Vec<String> {
    let inner = list.trim().strip_prefix('[').and_then(|list| list.strip_suffix(']'));
    let names =
        inner.map(|inner| inner.split("], [").map(|name| name.replace("]]", "]")).collect());
    names.unwrap_or_default()
}

fn index(row: Row<'_>, columns: &[Row<'_>]) -> Index {
    let is = |row: Row<'_>, column: &str| row.get(column) == Some("1");
    let is_clustered = row.parse::<i32>("index_id") == Some(1);
    let (included, keys): (Vec<Row<'_>>, Vec<Row<'_>>) =
        columns.iter().partition(|column| is(**column, "is_included_column"));
    let name = row.text("index_name");
    Index {
        quoted: quoted(&name),
        name,
        method: match row.text("type_desc").as_str() {
            "CLUSTERED" | "NONCLUSTERED" => "btree".into(),
            other => other.to_lowercase(),
        },
        keys: keys
            .into_iter()
            .map(|key| Key {
                column: key.text("column_name"),
                descending: is(key, "is_descending_key"),
                ..Key::default()
            })
            .collect(),
        included: included.into_iter().map(|included| included.text("column_name")).collect(),
        predicate: row.get("filter_definition").map(str::to_owned),
        is_unique: is(row, "is_unique"),
        // A clustered index is the table.
        is_needed: is_clustered || is(row, "is_primary_key") || is(row, "is_unique_constraint"),
        is_valid: !is(row, "is_disabled"),
        ..Index::default()
    }
}
