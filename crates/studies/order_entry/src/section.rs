//! The section of reports.

use crate::analysis::{KindFigures, OrderEntryFigures, Repeats, Share};
use analysis::Summary;
use report::text::label;
use report::{Cell, Columns, Section, Tone, number};

/// A row of a table: a figure and its configuration.
struct Row<'a, T> {
    configuration: &'a str,
    own: &'a T,
}

/// The rows of all configurations.
fn rows<'a, T>(
    all: &'a [OrderEntryFigures],
    list: fn(&'a OrderEntryFigures) -> &'a [T],
) -> Vec<Row<'a, T>> {
    let of_one = |own: &'a OrderEntryFigures| {
        list(own).iter().map(|row| Row { configuration: &own.configuration, own: row })
    };
    all.iter().flat_map(of_one).collect()
}

/// The section; `None` when order entry was not run.
pub fn section(_: &Summary, all: &[OrderEntryFigures]) -> Option<Section> {
    if all.is_empty() {
        return None;
    }
    let mut section = Section::new("Order entry");
    let mut rates = Columns::for_rows(all);
    rates.name("configuration", |own| label(&own.configuration));
    rates.left("new orders/min and warehouse", |own| {
        Cell::estimate_without_unit(&own.new_orders_each)
    });
    rates.right("bound", |own| own.bound.map(|bound| Cell::from(bound).shown(figure(bound))));
    rates.right("transactions", |own| number::grouped(own.transactions));
    section.table(rates);
    let kinds = rows(all, |own| &own.kinds);
    section.table(kinds_table(&kinds));
    let shares = rows(all, |own| &own.shares);
    section.table(shares_table(&shares));
    let repeats = rows(all, |own| &own.repeats);
    if repeats.is_empty() {
        section.line("The engine asked for no transaction to be repeated.");
    } else {
        section.table(repeats_table(&repeats));
    }
    section.note(
        "The load follows a public specification for order entry, but results are not audited and \
         not comparable with audited ones. Consistency conditions 1 to 12 held after each trial. \
         New orders are those that the database holds.",
    );
    if all.iter().any(|own| own.bound.is_some()) {
        section.note(
            "Bound: ten terminals with the specified keying and thinking times make at most 12.86 \
             new orders a minute; workload.pace divides it. Latency counts from the time at \
             which a transaction is due.",
        );
    } else {
        section.note(
            "Closed loop without keying and thinking times: the bound of 12.86 new orders a \
             minute and warehouse does not apply, and latency counts from the start.",
        );
    }
    Some(section)
}

fn figure(value: f64) -> String {
    number::fixed(value, 2)
}

fn kinds_table<'a>(rows: &'a [Row<'a, KindFigures>]) -> Columns<'a, &'a Row<'a, KindFigures>> {
    let mut table = Columns::for_rows(rows);
    table.name("configuration", |row| label(row.configuration));
    table.left("kind", |row| row.own.name);
    table.right("done", |row| number::grouped(row.own.done));
    table.right("share", |row| Cell::percent(row.own.share, 2));
    table.right("of a deck", |row| Cell::percent(row.own.cards, 2));
    table.left("90 % within ms", |row| row.own.p90.as_ref().map(Cell::estimate_without_unit));
    table.right("limit ms", |row| number::grouped(row.own.limit_ms));
    table.left("limit", |row| {
        row.own.p90.as_ref().map(|p90| match p90.interval {
            _ if row.own.is_over => Cell::new("exceeded".to_owned(), Tone::Bad),
            Some(interval) if interval.high > row.own.limit_ms => Cell::from("uncertain"),
            None if p90.mean > row.own.limit_ms => Cell::from("uncertain"),
            _ => Cell::from("met"),
        })
    });
    table
}

fn shares_table<'a>(rows: &'a [Row<'a, Share>]) -> Columns<'a, &'a Row<'a, Share>> {
    let mut table = Columns::for_rows(rows);
    table.name("configuration", |row| label(row.configuration));
    table.left("share", |row| row.own.name);
    table.right("number", |row| number::grouped(row.own.count));
    table.right("of", |row| number::grouped(row.own.of));
    table.right("measured", |row| Cell::percent(row.own.count / row.own.of, 2));
    table.right("specified", |row| Cell::percent(row.own.specified, 2));
    table
}

fn repeats_table<'a>(rows: &'a [Row<'a, Repeats>]) -> Columns<'a, &'a Row<'a, Repeats>> {
    let mut table = Columns::for_rows(rows);
    table.name("configuration", |row| label(row.configuration));
    table.left("repeated", |row| row.own.kind);
    table.left("cause", |row| row.own.cause.as_str());
    table.right("times", |row| number::grouped(row.own.times));
    table
}
