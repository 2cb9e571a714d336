//! Published benchmark results beside each other, for `steelbench results`.

use crate::published::{Queries, Row};
use report::model::{Columns, Document, Section};
use report::number;
use report::table::Cell;

/// A section for each benchmark.
pub fn published(groups: &[Vec<Row>]) -> Document {
    Document {
        title: "Published results".into(),
        sections: groups.iter().flat_map(|rows| sections(rows)).collect(),
    }
}

fn sections(rows: &[Row]) -> Vec<Section> {
    let Some(first) = rows.first() else { return Vec::new() };
    let mut section = Section::new(heading(first));
    section.table(scores(rows));
    section.note(format!(
        "Ratios are relative to {}; above 1 is better. Figures are published results from the \
         file, not measurements.",
        first.entry.system
    ));
    let mut all = vec![section];
    all.extend(rows.iter().filter_map(|row| Some(queries(row, row.queries.as_ref()?))));
    all
}

fn heading(row: &Row) -> String {
    let parts = [row.entry.benchmark.as_str(), row.entry.unit.as_str()];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { "Results".to_owned() } else { parts.join(", ") }
}

fn ratio(value: Option<f64>) -> Option<Cell> {
    value.map(|value| Cell::from(value).shown(format!("{}x", number::ratio(value))))
}

fn scores(rows: &[Row]) -> Columns<'_, &Row> {
    let any = |of: fn(&Row) -> bool| rows.iter().any(of);
    let mut table = Columns::for_rows(rows);
    table.name("system", |row| row.entry.system.as_str());
    table.right("score", |row| Cell::from(row.entry.score).shown(number::grouped(row.entry.score)));
    table.right("ratio", |row| ratio(Some(row.ratio)));
    if any(|row| row.entry.results > 1) {
        table.right("results", |row| u64::from(row.entry.results));
    }
    if any(|row| row.per_core.is_some()) {
        table.right("cores", |row| row.entry.cores.map(number::grouped));
        let lower = rows[0].entry.lower_is_better;
        let heading = if lower { "core seconds" } else { "score per core" };
        table.right(heading, |row| {
            row.per_core.map(|own| Cell::from(own).shown(number::grouped(own)))
        });
        table.right("ratio per core", |row| ratio(row.ratio_per_core));
    }
    if any(|row| row.entry.disks.is_some()) {
        table.right("disks", |row| row.entry.disks.map(number::grouped));
        table.right("ratio per disk", |row| ratio(row.ratio_per_disk));
    }
    if any(|row| row.entry.price.is_some()) {
        table.right("price", |row| row.entry.price.map(number::grouped));
        table.right("price per score", |row| row.price_per_score.map(number::figure));
        table.right("ratio per price", |row| ratio(row.ratio_per_price));
    }
    if any(|row| row.power_to_throughput.is_some()) {
        table.right("power", |row| row.entry.power.map(number::grouped));
        table.right("throughput", |row| row.entry.throughput.map(number::grouped));
        table.right("power / throughput", |row| row.power_to_throughput.map(number::ratio));
    }
    table
}

/// Weight of each query.
fn queries(row: &Row, queries: &Queries) -> Section {
    let mut section = Section::new(format!("Queries of {}", row.entry.system));
    section.line(format!(
        "Geometric mean {}; each of {} has weight {}. Any one query at a tenth of its time \
         raises the power by {}; it raises a score that is the geometric mean of power and \
         throughput by {}.",
        number::seconds(queries.geometric_mean_s),
        number::plural(queries.each.len(), "query").replace("querys", "queries"),
        number::short_percent(queries.weight),
        number::short_percent(queries.ten_times),
        number::short_percent(queries.ten_times_score),
    ));
    let mut table = Columns::for_rows(&queries.each);
    table.name("query", |query| query.name.as_str());
    table.right("time", |query| Cell::seconds(query.seconds));
    table.right("ratio", |query| ratio(query.ratio));
    table.right("share of total time", |query| Cell::percent(query.share_of_time, 1));
    table.right("total time if 10x faster", |query| {
        Cell::percent(-query.ten_times_total, 1)
            .shown(format!("{} %", number::signed(-100.0 * query.ten_times_total, 1)))
    });
    section.table(table);
    section
}
