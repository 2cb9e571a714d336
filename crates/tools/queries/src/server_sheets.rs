//! Sheets of a server: its tables, the optimizer's statistics, its settings, waits and files, and
//! notes on what an engine does not record. A figure that is not recorded is an empty cell.

use crate::Queries;
use crate::plan_files::PlanFileNames;
use crate::server_facts::ServerFacts;
use crate::sheets;
use inspection::statements::{self, DataFile, FileIo, HistogramStep, Index, TableStatistics};
use observations::{ServerSetting, Wait};
use report::model::{Column, Columns};
use report::table::{Datum, Share, Table, Time};
use report::text::joined;
use std::collections::BTreeSet;

/// Milliseconds of a day.
const DAY_MS: f64 = 86_400_000.0;

/// All sheets: those of statements, those of the server, and the notes on all of them.
pub fn workbook<'a>(
    all: &'a Queries,
    facts: &'a ServerFacts,
    plan_files: &'a PlanFileNames,
) -> Vec<Table<'a>> {
    let of_server = [
        tables(all),
        statistics(all),
        histograms(all),
        configuration(facts),
        waits(facts),
        files(all),
    ];
    let notes = notes(&of_server, all, facts);
    let mut sheets = sheets::tables(all, plan_files);
    sheets.extend(of_server);
    sheets.push(notes);
    sheets
}

/// A table with its number.
type NumberedTable<'a> = (usize, &'a statements::Table);

fn tables(all: &Queries) -> Table<'_> {
    let rows: Vec<NumberedTable> = all.snapshot.tables.iter().enumerate().collect();
    let mut columns = Columns::for_rows(rows);
    columns.add("database", "", |row| row.1.database.as_str());
    columns.add("schema", "", |row| row.1.schema.as_str());
    columns.add("table", "", |row| row.1.name.as_str());
    columns.add("storage", "", |row| row.1.storage.as_str());
    columns.add("rows (estimated)", "", |row| row.1.rows);
    columns.add("size", "B", |row| row.1.bytes);
    columns.add("indexes", "", |row| row.1.indexes.len());
    columns.add("size of indexes", "B", |row| sum(&row.1.indexes, |index| index.bytes));
    columns.add("reads of indexes", "", |row| sum(&row.1.indexes, |index| index.scans));
    columns.add("lacks primary key", "", |row| row.1.lacks_primary_key.then_some(true));
    columns.add("scans", "", |row| row.1.scans);
    columns.add("scanned rows", "", |row| row.1.scanned_rows);
    columns.add("inserts", "", |row| row.1.inserts);
    columns.add("updates", "", |row| row.1.updates);
    columns.add("HOT updates", "", |row| row.1.hot_updates);
    columns.add("deletes", "", |row| row.1.deletes);
    columns.add("dead rows (estimated)", "", |row| row.1.dead_rows);
    columns.add("changes since statistics", "", |row| row.1.changed_since_analyze);
    columns.add("statistics gathered", "", |row| row.1.analyzed_ms.map(Time));
    columns.add("missing indexes", "", |row| Some(row.1.missed.len()).filter(|count| *count > 0));
    columns.add("counted since", "", |row| row.1.since_ms.map(Time));
    columns.with(Column::raw("statements", ""), move |row| joined(statements_of(all, row.0), ", "));
    columns.named("tables")
}

/// The sum over indexes; `None` where one of them is not known.
fn sum(indexes: &[Index], figure: fn(&Index) -> Option<u64>) -> Option<u64> {
    indexes.iter().map(figure).try_fold(0_u64, |sum, figure| Some(sum.saturating_add(figure?)))
}

/// Numbers of the statements of which plans name a table, from 1.
fn statements_of(all: &Queries, table: usize) -> BTreeSet<usize> {
    let named = (1..).zip(&all.snapshot.statements).filter(|(_, statement)| {
        let database = &statement.database;
        statement.operators().flat_map(|operator| &operator.objects).any(|object| {
            !object.table.is_empty()
                && all.snapshot.table_at(database, &object.schema, &object.table) == Some(table)
        })
    });
    named.map(|(number, _)| number).collect()
}

/// Statistics with their table.
type OfTable<'a> = (&'a statements::Table, &'a TableStatistics);

fn all_statistics(all: &Queries) -> impl Iterator<Item = OfTable<'_>> {
    all.snapshot.tables.iter().flat_map(|table| {
        let statistics = table.statistics.iter();
        statistics.map(move |statistics| (table, statistics))
    })
}

fn statistics(all: &Queries) -> Table<'_> {
    let now_ms = all.snapshot.span.to_ms;
    let mut columns = Columns::for_rows(all_statistics(all).collect::<Vec<OfTable>>());
    columns.add("database", "", |row| row.0.database.as_str());
    columns.add("table", "", |row| row.0.label());
    columns.add("statistics", "", |row| row.1.name.as_str());
    columns.add("columns", "", |row| joined(&row.1.columns, ", "));
    columns.add("rows", "", |row| row.1.rows);
    columns.add("sampled rows", "", |row| row.1.sampled_rows);
    columns.add("sampled", "", |row| {
        let counted = row.1.sampled_rows.zip(row.1.rows).filter(|(_, rows)| *rows > 0.0);
        counted.map(|(sampled, rows)| sampled / rows).or(row.1.sampled_share).map(Share)
    });
    columns.add("sampled pages", "", |row| row.1.sampled_pages);
    columns.add("gathered", "", |row| row.1.gathered_ms.map(Time));
    columns.with(Column::raw("age", "days"), move |row| {
        row.1.gathered_ms.map(|ms| (now_ms.saturating_sub(ms)).max(0) as f64 / DAY_MS)
    });
    columns.add("changes since", "", |row| row.1.changes);
    columns.add("different values", "", |row| row.1.distinct.filter(|count| *count > 0.0));
    columns.add("different values by row", "", |row| {
        row.1.distinct.filter(|share| *share < 0.0).map(|share| -share)
    });
    columns.add("NULL", "", |row| row.1.nulls.map(Share));
    columns.add("histogram steps", "", |row| row.1.steps);
    columns.add("table rows (estimated)", "", |row| row.0.rows);
    columns.named("statistics")
}

/// A step with its number and its statistics.
type NumberedStep<'a> = (OfTable<'a>, usize, &'a HistogramStep);

fn histograms(all: &Queries) -> Table<'_> {
    let steps = all_statistics(all).flat_map(|of| {
        let buckets = (1..).zip(&of.1.histogram);
        buckets.map(move |(number, step)| (of, number, step))
    });
    let mut columns = Columns::for_rows(steps.collect::<Vec<NumberedStep>>());
    columns.add("database", "", |row| row.0.0.database.as_str());
    columns.add("table", "", |row| row.0.0.label());
    columns.add("statistics", "", |row| row.0.1.name.as_str());
    columns.add("step", "", |row| row.1);
    columns.add("value", "", |row| row.2.value.as_str());
    columns.add("rows with the value", "", |row| row.2.share_equal.map(Share));
    columns.add("rows up to the value", "", |row| row.2.share_between.map(Share));
    columns.add("different values up to it", "", |row| row.2.distinct_between);
    columns.named("histograms")
}

fn configuration(facts: &ServerFacts) -> Table<'_> {
    let settings = facts
        .configuration
        .as_ref()
        .map_or(&[][..], |configuration| configuration.settings.as_slice());
    let mut columns = Columns::for_rows(settings.iter());
    columns.add("setting", "", |server_setting: &&ServerSetting| server_setting.name.as_str());
    columns.add("value", "", |row| row.value.as_deref());
    columns.add("unit", "", |row| row.unit.as_deref());
    columns.add("default", "", |row| row.default.as_deref());
    columns.add("changed", "", |row| row.is_changed);
    columns.add("source", "", |row| row.source.as_str());
    columns.add("file", "", |row| row.file.as_deref());
    columns.add("awaits restart", "", |row| row.pending_restart);
    columns.named("configuration")
}

fn waits(facts: &ServerFacts) -> Table<'_> {
    let known = facts.waits.as_ref().ok();
    let waits = known.map_or(&[][..], |activity| activity.waits.as_slice());
    let has_signal = known.is_some_and(|activity| activity.has_signal);
    let total: f64 = waits.iter().map(time_s).sum();
    let each = |wait: &Wait, seconds: f64| {
        wait.count.filter(|count| *count > 0).map(|count| seconds / count as f64)
    };
    let mut columns = Columns::for_rows(waits.iter());
    columns.add("wait type", "", |wait: &&Wait| wait.wait_type.as_str());
    columns.add("class", "", |row| row.class.name());
    columns.add("wait", "s", |row| time_s(row));
    columns.with(Column::raw("resource", "s"), move |row| has_signal.then_some(row.resource_s));
    columns.with(Column::raw("signal", "s"), move |row| has_signal.then_some(row.signal_s));
    columns.add("waits", "", |row| row.count);
    columns.with(Column::raw("share", ""), move |row| {
        (total > 0.0).then(|| Share(time_s(row) / total))
    });
    columns.with(Column::raw("mean wait", "s"), move |row| each(row, time_s(row)));
    columns.with(Column::raw("mean resource", "s"), move |row| {
        each(row, row.resource_s).filter(|_| has_signal)
    });
    columns.with(Column::raw("mean signal", "s"), move |row| {
        each(row, row.signal_s).filter(|_| has_signal)
    });
    columns.named("waits")
}

fn time_s(wait: &Wait) -> f64 {
    wait.resource_s + wait.signal_s
}

fn files(all: &Queries) -> Table<'_> {
    let each_ms = |io: FileIo| {
        let count = io.count.filter(|count| *count > 0)?;
        Some(io.ns? as f64 / 1e6 / count as f64)
    };
    let mut columns = Columns::for_rows(all.snapshot.files.iter());
    columns.add("database", "", |data_file: &&DataFile| data_file.database.as_str());
    columns.add("file", "", |row| row.name.as_str());
    columns.add("kind", "", |row| row.kind.as_str());
    columns.add("files", "", |row| row.files);
    columns.add("size", "B", |row| row.bytes);
    columns.add("largest size", "B", |row| row.bytes_max);
    columns.add("growth", "", |row| row.growth.as_str());
    columns.add("reads", "", |row| row.reads.count);
    columns.add("read", "B", |row| row.reads.bytes);
    columns.add("read time", "ns", |row| row.reads.ns);
    columns.with(Column::raw("mean read", "ms"), move |row| each_ms(row.reads));
    columns.add("writes", "", |row| row.writes.count);
    columns.add("written", "B", |row| row.writes.bytes);
    columns.add("write time", "ns", |row| row.writes.ns);
    columns.with(Column::raw("mean write", "ms"), move |row| each_ms(row.writes));
    columns.add("counted since", "", |row| row.since_ms.map(Time));
    columns.named("files")
}

/// A note, and the name of its sheet; empty where it is on all.
type Note = (String, String);

/// Notes on the figures, and the columns of each sheet that the engine does not fill.
fn notes<'a>(sheets: &[Table<'a>], all: &'a Queries, facts: &ServerFacts) -> Table<'a> {
    let snapshot = &all.snapshot;
    let of_server = facts.configuration.as_ref().map(|configuration| {
        format!(
            "{}; a setting without a value is a text, which is not recorded.",
            configuration.version
        )
    });
    let of_waits = facts.waits.as_ref().map(|wait| wait.note.clone());
    let missing = snapshot.missing().map(|gap| format!("Not read: {}: {}.", gap.what, gap.why));
    let of_plans = "CPU and I/O cost are those of one run of an operator, as the plan has them; \
                    shares of a plan divide each operator's own cost in this proportion.";
    let of_histograms = "Values are data of users: --literals reads and shows them.";
    let text = [
        ("plans", of_plans.to_owned()),
        ("histograms", of_histograms.to_owned()),
        ("configuration", of_server.unwrap_or_else(|why| format!("{why}."))),
        ("waits", of_waits.unwrap_or_else(|why| format!("{why}."))),
    ];
    let general = snapshot.notes.iter().cloned().chain(missing);
    let notes: Vec<Note> = general
        .map(|text| (String::new(), text))
        .chain(text.into_iter().map(|(sheet, text)| (sheet.to_owned(), text)))
        .chain(sheets.iter().filter_map(|sheet| {
            let columns = empty_columns(sheet);
            let text = format!("Not recorded by {}: {}.", snapshot.engine, columns.join(", "));
            (!columns.is_empty()).then(|| (sheet.name.to_owned(), text))
        }))
        .collect();
    let mut columns = Columns::for_rows(notes);
    columns.add("sheet", "", |row| row.0.clone());
    columns.add("note", "", |row| row.1.clone()).wrapped = true;
    columns.named("notes")
}

/// Names of the columns that have figures in no row of a sheet with rows.
fn empty_columns(sheet: &Table<'_>) -> Vec<String> {
    let mut filled = vec![false; sheet.columns.len()];
    let mut rows = 0_u64;
    for row in sheet.rows() {
        rows += 1;
        for (filled, cell) in filled.iter_mut().zip(&row) {
            *filled |= match &cell.value {
                Datum::Empty => false,
                Datum::Text(text) => !text.is_empty(),
                _ => true,
            };
        }
    }
    let names = sheet.columns.iter().zip(filled).filter(|(_, filled)| !filled && rows > 0);
    names.map(|(column, _)| column.heading().to_string()).collect()
}
