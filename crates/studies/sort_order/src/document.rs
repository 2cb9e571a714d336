//! Advice on the order of a table's rows.

use crate::file::{Advised, AdvisedOrder, Size};
use analysis::Estimate;
use observations::Direction;
use report::Cell;
use report::number;
use report::text::joined;
use report::{Column, Columns, Document, Section};

/// Returns the expected sizes of orders, and the source of the gain.
pub fn sort_order(advised: &Advised) -> Document {
    let mut sections = vec![orders(advised)];
    sections.extend(measured(advised));
    sections.extend(by_column(advised));
    Document { title: advised.name.as_str().into(), sections }
}

fn words(order: &AdvisedOrder) -> String {
    if order.columns.is_empty() { "current order".into() } else { joined(&order.columns, ", ") }
}

/// Predicted MB with their interval.
fn predicted(order: &AdvisedOrder) -> Cell {
    let interval = order.predicted.interval.map(|interval| interval.map(|bytes| bytes / 1e6));
    Cell::mean(order.predicted.bytes / 1e6, interval, "")
}

fn orders(advised: &Advised) -> Section {
    let mut section = Section::new("Orders");
    section.line(verdict(advised));
    let all: Vec<&AdvisedOrder> = [&advised.generated].into_iter().chain(&advised.orders).collect();
    let generated = advised.generated.predicted.bytes;
    let mut table = Columns::for_rows(all);
    table.name("order by", |order| words(order));
    table.left("predicted MB", |order| predicted(order));
    table.with(Column::right("vs. current"), move |order| {
        (generated > 0.0 && !order.columns.is_empty())
            .then(|| Cell::change(order.predicted.bytes / generated - 1.0))
    });
    table.left("proposed by", |order| order.why);
    section.table(table);
    let predicted = &advised.generated.predicted;
    section.note(format!(
        "Predicted: estimated size of all columns as Parquet with dictionaries and Snappy, from \
         {} of {}, sorted and written; [95 % t intervals over row groups]. Other writers and \
         engines give other sizes.",
        number::plural(predicted.groups, "row group"),
        predicted.groups_all,
    ));
    if advised.rows < advised.rows_all {
        section.note(format!(
            "{} of {} rows sampled. A sort of all rows has longer runs, so the sizes tend to be \
             too high; raise --rows.",
            number::count(advised.rows),
            number::count(advised.rows_all)
        ));
    }
    if !advised.left_out.is_empty() {
        section.note(format!(
            "Omitted columns with lists or records: {}.",
            joined(&advised.left_out, ", ")
        ));
    }
    section
}

/// States the best order.
fn verdict(advised: &Advised) -> String {
    let generated = &advised.generated.predicted;
    let Some(best) = advised.orders.first().filter(|order| order.predicted.bytes < generated.bytes)
    else {
        return "No order is expected to be smaller than the current one.".into();
    };
    let share = number::short_percent(1.0 - best.predicted.bytes / generated.bytes);
    let overlap = match (best.predicted.interval, generated.interval) {
        (Some(best), Some(generated)) if best.high < generated.low => "",
        (Some(_), Some(_)) => " The intervals overlap: measure it.",
        _ => " Fewer than two row groups sampled: no interval.",
    };
    format!(
        "ORDER BY {} is expected to take {share} less than the current order.{overlap}",
        words(best)
    )
}

/// Lists measurements next to the predictions.
fn measured(advised: &Advised) -> Option<Section> {
    let all = [&advised.generated].into_iter().chain(&advised.orders);
    let measured: Vec<(&AdvisedOrder, &Size)> =
        all.filter_map(|order| Some((order, order.measured.as_ref()?))).collect();
    let (smallest, least) = measured.iter().min_by_key(|(_, written)| written.bytes)?;
    let rounds = least.read_cpu_s.len();
    let mut section = Section::new("Measured");
    let predicted_best =
        measured.get(1).is_some_and(|(order, _)| order.columns == smallest.columns);
    let as_foreseen = if predicted_best { ", as predicted" } else { ", not the predicted order" };
    section.line(format!(
        "Smallest: {}, {}{as_foreseen}.",
        words(smallest),
        number::quantity(least.bytes as f64 / 1e6, "MB")
    ));
    // The rows that were looked at, as their share of all.
    let share = advised.rows as f64 / advised.rows_all.max(1) as f64;
    let mut table = Columns::for_rows(measured);
    table.name("order by", |(order, _)| words(order));
    table.right("MB", |(_, written)| {
        let mb = written.bytes as f64 / 1e6;
        Cell::from(mb).shown(number::figure(mb))
    });
    table.with(Column::right("prediction error"), move |(order, written)| {
        (written.bytes > 0)
            .then(|| Cell::change(order.predicted.bytes * share / written.bytes as f64 - 1.0))
    });
    table.right("write s", |(_, written)| {
        Cell::from(written.write_s).shown(number::figure(written.write_s))
    });
    table.left("read CPU ms", |(_, written)| {
        let ms: Vec<f64> = written.read_cpu_s.iter().map(|seconds| seconds * 1e3).collect();
        Estimate::from_amounts(&ms, "ms", Direction::LowerIsBetter)
            .map(|amount| Cell::estimate_without_unit(&amount))
    });
    section.table(table);
    section.note(format!(
        "{} rows. Writing: sorted rows, once. Reading: decodes all values on one CPU, {rounds} \
         interleaved rounds (± 95 % t intervals).",
        number::count(advised.rows)
    ));
    Some(section)
}

/// The sources of the gain of the best order.
fn by_column(advised: &Advised) -> Option<Section> {
    let best = advised.orders.first()?;
    let mb = |bytes: f64| Cell::from(bytes / 1e6).shown(number::fixed(bytes / 1e6, 3));
    let rows: Vec<_> = advised
        .columns
        .iter()
        .zip(&advised.generated.predicted.columns)
        .zip(&best.predicted.columns)
        .collect();
    let mut section = Section::new("Columns");
    let mut table = Columns::for_rows(rows);
    table.name("column", |((column, _), _)| column.name.as_str());
    table.right("values", |((column, _), _)| Cell::count(column.distinct as u64));
    if advised.rows < advised.rows_all {
        table.right("values of the table", |((column, _), _)| {
            Cell::count(column.distinct_of_table.round() as u64)
        });
    }
    table.with(Column::right("current MB"), move |((_, lies), _)| mb(**lies));
    table.with(Column::right("best order MB"), move |(_, best)| mb(**best));
    table.right("change MB", |((_, lies), best)| {
        let change = (**best - **lies) / 1e6;
        Cell::from(change).shown(number::signed(change, 3))
    });
    section.table(table);
    section.note(
        "values: distinct values in the sampled rows; of the table: estimated from those seen once \
         and twice (Chao). Sizes are predicted.",
    );
    Some(section)
}

/// Returns the advice as JSON.
pub fn json(advised: &Advised) -> serde_json::Result<serde_json::Value> {
    report::json::object("sort_order", advised, serde_json::json!({}))
}
