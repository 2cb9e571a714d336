//! The section of reports.

use crate::analysis::{KindFigures, OrderEntryFigures, Repeats, Share};
use analysis::Summary;
use report::text::label;
use report::{Cell, Columns, Section, Tone, number};

/// A row of a table: a figure and its configuration.
struct Row<'a, T> {
    configuration: &'a str,
    figures: &'a T,
}

/// The rows of all configurations.
fn rows<'a, T>(
    all: &'a [OrderEntryFigures],
    list: fn(&'a OrderEntryFigures) -> &'a [T],
) -> Vec<Row<'a, T>> {
    let rows = all.iter().flat_map(|figures| {
        list(figures).iter().map(|row| Row { configuration: &figures.configuration, figures: row })
    });
    rows.collect()
}

/// The section; `None` when order entry was not run.
pub fn section(_: &Summary, all: &[OrderEntryFigures]) -> Option<Section> {
    if all.is_empty() {
        return None;
    }
    let mut section = Section::new("Order entry");
    let mut rates = Columns::for_rows(all);
    rates.name("configuration", |row| label(&row.configuration));
    rates
        .left("new orders/min, warehouse", |row| Cell::estimate_without_unit(&row.new_orders_each));
    if all.iter().any(|figures| figures.bound.is_some()) {
        rates.right("bound", |row| row.bound.map(|bound| Cell::from(bound).shown(figure(bound))));
    }
    rates.right("transactions", |row| count(row.transactions));
    if all.iter().any(|figures| figures.checkpoints.is_some()) {
        rates.right("checkpoints", |row| row.checkpoints.map(count));
    }
    section.table(rates);
    let kinds = rows(all, |figures| &figures.kinds);
    section.table(percentiles_table(&kinds));
    let mix = mix(all);
    section.table(mix_table(&mix));
    let shares = shares(all);
    section.table(shares_table(&shares));
    let repeats = rows(all, |figures| &figures.repeats);
    if repeats.is_empty() {
        section.line("The engine asked for no transaction to be repeated.");
    } else {
        section.table(repeats_table(&repeats));
    }
    if kinds.iter().any(|row| row.figures.p90.is_none()) {
        section.note(
            "A 90th percentile needs 100 transactions of its kind in each trial: measure longer.",
        );
    }
    section.note(
        "The load follows a public specification for order entry, but results are not audited and \
         not comparable with audited ones. Consistency conditions 1 to 12 held after each trial. \
         New orders are those that the database holds.",
    );
    if all.iter().any(|figures| figures.bound.is_some()) {
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

/// A whole number of things.
fn count(value: f64) -> Cell {
    Cell::from(value).shown(number::count(value as u64))
}

/// The kinds of transactions of all configurations together: the mix belongs to the load.
fn mix(all: &[OrderEntryFigures]) -> Vec<KindFigures> {
    let transactions: f64 = all.iter().map(|figures| figures.transactions).sum();
    let mut mix = all.first().map(|figures| figures.kinds.clone()).unwrap_or_default();
    for (at, kind) in mix.iter_mut().enumerate() {
        kind.done = all.iter().filter_map(|entry| entry.kinds.get(at)).map(|kind| kind.done).sum();
        kind.share = if transactions > 0.0 { kind.done / transactions } else { 0.0 };
    }
    mix
}

/// The shares of all configurations together, those of the same specification.
fn shares(all: &[OrderEntryFigures]) -> Vec<Share> {
    let mut sums = Vec::<Share>::new();
    for share in all.iter().flat_map(|figures| &figures.shares) {
        match sums
            .iter_mut()
            .find(|sum| sum.name == share.name && sum.specified.total_cmp(&share.specified).is_eq())
        {
            Some(sum) => (sum.count, sum.of) = (sum.count + share.count, sum.of + share.of),
            None => sums.push(share.clone()),
        }
    }
    sums
}

fn percentiles_table<'a>(
    rows: &'a [Row<'a, KindFigures>],
) -> Columns<'a, &'a Row<'a, KindFigures>> {
    let mut table = Columns::for_rows(rows);
    table.name("configuration", |row| label(row.configuration));
    table.left("kind", |row| row.figures.name);
    table.left("90 % within ms", |row| row.figures.p90.as_ref().map(Cell::estimate_without_unit));
    table.right("limit ms", |row| count(row.figures.limit_ms));
    table.left("limit", |row| {
        row.figures.p90.as_ref().map(|p90| match p90.interval {
            _ if row.figures.is_over => Cell::new("exceeded".to_owned(), Tone::Bad),
            Some(interval) if interval.high > row.figures.limit_ms => Cell::from("uncertain"),
            None if p90.mean > row.figures.limit_ms => Cell::from("uncertain"),
            _ => Cell::from("met"),
        })
    });
    table
}

fn mix_table(rows: &[KindFigures]) -> Columns<'_, &KindFigures> {
    let mut table = Columns::for_rows(rows);
    table.name("kind", |kind| kind.name);
    table.right("done", |kind| count(kind.done));
    table.right("share", |kind| Cell::percent(kind.share, 2));
    table.right("of a deck", |kind| Cell::percent(kind.cards, 2));
    table
}

fn shares_table(rows: &[Share]) -> Columns<'_, &Share> {
    let mut table = Columns::for_rows(rows);
    table.name("share", |share| share.name);
    table.right("number", |share| count(share.count));
    table.right("of", |share| count(share.of));
    table.right("measured", |share| Cell::percent(share.count / share.of, 2));
    table.right("specified", |share| Cell::percent(share.specified, 2));
    table
}

fn repeats_table<'a>(rows: &'a [Row<'a, Repeats>]) -> Columns<'a, &'a Row<'a, Repeats>> {
    let mut table = Columns::for_rows(rows);
    table.name("configuration", |row| label(row.configuration));
    table.left("repeated", |row| row.figures.kind);
    table.left("cause", |row| row.figures.cause.as_str());
    table.right("times", |row| count(row.figures.times));
    table
}
