//! The section on the mutual slowdown.

use crate::slowdown::{QuerySlowdown, Sessions, Side, Slowdown};
use analysis::{Summary, wording};
use report::table::Share;
use report::text::label;
use report::{Cell, Columns, Section, number};

/// A row of the first table: a load, alone and together.
struct Row<'a> {
    configuration: &'a str,
    load: &'static str,
    side: &'a Side,
    /// `keeps 0.62x [0.58, 0.66]`.
    ratio: String,
}

/// The section; `None` when no configuration ran both loads.
pub fn section(_: &Summary, all: &[Slowdown]) -> Option<Section> {
    let rows: Vec<Row> = all.iter().flat_map(sides).collect();
    let queries: Vec<(&Slowdown, &QuerySlowdown)> = all
        .iter()
        .flat_map(|figures| figures.queries.iter().map(move |query| (figures, query)))
        .collect();
    if all.is_empty() {
        return None;
    }
    let mut section = Section::new("Order entry and analytics at the same time");
    if !rows.is_empty() {
        section.table(sides_table(&rows));
    }
    if !queries.is_empty() {
        section.table(queries_table(queries));
    }
    let sessions: Vec<&Sessions> = sessions(all);
    if !sessions.is_empty() {
        section.table(sessions_table(&sessions));
    }
    if all.iter().any(|figures| figures.analytics.is_none() && !figures.queries.is_empty()) {
        section.note(
            "The geometric mean needs each query at least once in each trial: measure longer.",
        );
    }
    let tails: Vec<f64> = all.iter().filter_map(|figures| figures.tail_s).collect();
    if let Some(tail_s) = tails.into_iter().reduce(f64::max) {
        section.note(format!(
            "Queries that were under way at the end were finished without terminals, at most {} \
             long. The throughput of order entry does not count this time.",
            number::seconds(tail_s)
        ));
    }
    section.note(
        "Ratios: together against alone, paired by block, 95 % CI; Holm-adjusted for all rows of a \
         table. Query time: geometric mean of the mean times of all queries. Sessions: shares of \
         their time; together, those of both loads.",
    );
    Some(section)
}

fn sides(slowdown: &Slowdown) -> Vec<Row<'_>> {
    let configuration = slowdown.configuration.as_str();
    let ratio = |side: &Side| wording::comparison(&side.ratio, "");
    let orders = slowdown.order_entry.as_ref().map(|side| Row {
        configuration,
        load: "new orders/min",
        side,
        ratio: format!("keeps {}", ratio(side)),
    });
    let queries = slowdown.analytics.as_ref().map(|side| Row {
        configuration,
        load: "query time s",
        side,
        ratio: format!("takes {} as long", ratio(side)),
    });
    orders.into_iter().chain(queries).collect()
}

/// Each configuration once, in the order of the slowdowns.
fn sessions(all: &[Slowdown]) -> Vec<&Sessions> {
    let mut shown = Vec::<&Sessions>::new();
    for session in all.iter().flat_map(|figures| &figures.sessions) {
        if !shown.iter().any(|known| known.configuration == session.configuration) {
            shown.push(session);
        }
    }
    shown
}

fn sides_table<'a>(rows: &'a [Row<'a>]) -> Columns<'a, &'a Row<'a>> {
    let mut table = Columns::for_rows(rows);
    table.name("together", |row| label(row.configuration));
    table.left("figure", |row| row.load);
    table.left("alone", |row| Cell::estimate_without_unit(&row.side.alone));
    table.left("together", |row| Cell::estimate_without_unit(&row.side.together));
    table.left("ratio", |row| {
        Cell::from(row.side.ratio.value).within(row.side.ratio.interval).shown(row.ratio.clone())
    });
    table.left("at 95 %", |row| significance(row.side));
    table
}

fn queries_table<'a>(
    rows: Vec<(&'a Slowdown, &'a QuerySlowdown)>,
) -> Columns<'a, (&'a Slowdown, &'a QuerySlowdown)> {
    let mut table = Columns::for_rows(rows);
    table.name("together", |(figures, _)| label(&figures.configuration));
    table.left("query", |(_, query)| format!("{} {}", query.query, query.title));
    table.left("alone ms", |(_, query)| Cell::estimate_without_unit(&query.times.alone));
    table.left("together ms", |(_, query)| Cell::estimate_without_unit(&query.times.together));
    table.left("times as long", |(_, query)| {
        let ratio = &query.times.ratio;
        Cell::from(ratio.value).within(ratio.interval).shown(wording::comparison(ratio, ""))
    });
    table.left("at 95 %", |(_, query)| significance(&query.times));
    table
}

fn significance(side: &Side) -> &'static str {
    if side.ratio.supported() { "differs" } else { "not significant" }
}

fn sessions_table<'a>(rows: &'a [&'a Sessions]) -> Columns<'a, &'a &'a Sessions> {
    let mut table = Columns::for_rows(rows);
    table.name("sessions of", |row| label(&row.configuration));
    table.right("on a CPU", |row| Share(row.accounting.share(row.accounting.cpu_s)));
    table.right("run queue", |row| Share(row.accounting.share(row.accounting.signal_s)));
    table.right("client", |row| Share(row.accounting.share(row.accounting.client_s)));
    table.left("longest waits", |row| {
        let waits = row.waits.iter().map(|wait| {
            let share = row.accounting.share(wait.wait_s);
            format!("{} {}", wait.wait_type, number::percent(share, 1))
        });
        waits.collect::<Vec<_>>().join(", ")
    });
    table
}
