//! Published benchmark results beside each other, for `steelbench results`.

use crate::published::{PricePart, Queries, Row};
use report::model::{Column, Columns, Document, Section};
use report::number;
use report::table::Cell;

/// The display of figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Digits {
    /// Published figures as they are, computed ones with three digits.
    Rounded,
    /// All digits.
    All,
}

/// A section for each benchmark.
pub fn published(groups: &[Vec<Row>], digits: Digits) -> Document {
    Document {
        title: "Published results".into(),
        sections: groups.iter().flat_map(|rows| digits.sections(rows)).collect(),
    }
}

impl Digits {
    fn sections(self, rows: &[Row]) -> Vec<Section> {
        let Some(first) = rows.first() else { return Vec::new() };
        let mut section = Section::new(heading(first));
        section.table(self.scores(rows));
        section.note(format!(
            "Ratios are relative to {}; above 1 is better. Figures are published results from the \
             file, not measurements.",
            first.entry.system
        ));
        let mut all = vec![section];
        all.extend(self.prices(rows).unless_empty());
        all.extend(rows.iter().filter_map(|row| Some(self.queries(row, row.queries.as_ref()?))));
        all
    }

    /// A published figure: all its digits, unless it is the mean of several results.
    fn published(self, value: f64, results: u32) -> Cell {
        let is_exact = self == Self::All || results == 1;
        let shown = if is_exact { exact(value) } else { number::grouped(value) };
        Cell::from(value).shown(shown)
    }

    /// A computed figure.
    fn computed(self, value: f64) -> Cell {
        let shown = if self == Self::All { exact(value) } else { number::figure(value) };
        Cell::from(value).shown(shown)
    }

    fn ratio(self, value: Option<f64>) -> Option<Cell> {
        value.map(|value| {
            let shown = if self == Self::All { exact(value) } else { number::ratio(value) };
            Cell::from(value).shown(format!("{shown}x"))
        })
    }
}

/// All digits of a figure, the whole ones in groups: `1,184,893.12`.
fn exact(value: f64) -> String {
    let text = value.to_string();
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    match whole.parse::<u64>() {
        Ok(whole) => format!("{}{rest}", number::count(whole)),
        Err(_) => text,
    }
}

fn heading(row: &Row) -> String {
    let parts = [row.entry.benchmark.as_str(), row.entry.unit.as_str()];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { "Results".to_owned() } else { parts.join(", ") }
}

impl Digits {
    fn scores(self, rows: &[Row]) -> Columns<'_, &Row> {
        let any = |of: fn(&Row) -> bool| rows.iter().any(of);
        let rated = move |row: &Row, value: Option<f64>| {
            value.map(|value| self.published(value, row.entry.results))
        };
        let ratio = move |value| self.ratio(value);
        let computed = move |value: Option<f64>| value.map(|value| self.computed(value));
        let mut table = Columns::for_rows(rows);
        table.name("system", |row| row.entry.system.as_str());
        table.with(Column::right("score"), move |row| rated(row, Some(row.entry.score)));
        table.with(Column::right("ratio"), move |row| ratio(Some(row.ratio)));
        if any(|row| row.entry.results > 1) {
            table.right("results", |row| u64::from(row.entry.results));
        }
        if any(|row| row.power_to_throughput.is_some()) {
            table.with(Column::right("power"), move |row| rated(row, row.entry.power));
            table.with(Column::right("ratio of power"), move |row| ratio(row.power_ratio));
            table.with(Column::right("throughput"), move |row| rated(row, row.entry.throughput));
            table
                .with(Column::right("ratio of throughput"), move |row| ratio(row.throughput_ratio));
            table.with(Column::right("power / throughput"), move |row| {
                computed(row.power_to_throughput)
            });
        }
        if any(|row| row.per_core.is_some()) {
            table.with(Column::right("cores"), move |row| rated(row, row.entry.cores));
            let lower = rows[0].entry.lower_is_better;
            let heading = if lower { "core seconds" } else { "score per core" };
            table.with(Column::right(heading), move |row| computed(row.per_core));
            table.with(Column::right("ratio per core"), move |row| ratio(row.ratio_per_core));
        }
        if any(|row| row.entry.disks.is_some()) {
            table.with(Column::right("disks"), move |row| rated(row, row.entry.disks));
            table.with(Column::right("ratio per disk"), move |row| ratio(row.ratio_per_disk));
        }
        if any(|row| row.entry.price.is_some()) {
            table.with(Column::right("price"), move |row| rated(row, row.entry.price));
            table.with(Column::right("price per score"), move |row| computed(row.price_per_score));
            table.with(Column::right("ratio per price"), move |row| ratio(row.ratio_per_price));
        }
        table
    }

    /// The parts of each price.
    fn prices(self, rows: &[Row]) -> Section {
        let mut section = Section::new("Parts of the price");
        let parts: Vec<(&Row, &PricePart)> = rows
            .iter()
            .flat_map(|row| row.price_parts.iter().map(move |part| (row, part)))
            .collect();
        if parts.is_empty() {
            return Section::default();
        }
        let mut table = Columns::for_rows(parts);
        table.name("system", |row| row.0.entry.system.as_str());
        table.name("part", |row| row.1.name.as_str());
        table.with(Column::right("price"), move |row| self.published(row.1.price, 1));
        table.right("share", |row| Cell::percent(row.1.share, 1));
        table.with(Column::right("price per score"), move |row| {
            row.1.per_score.map(|price| self.computed(price))
        });
        table.with(Column::right("ratio"), move |row| self.ratio(row.1.ratio));
        section.table(table);
        section.note(
            "Parts add up to the price; \"other\" is the rest that no column names. ratio: price \
             of the part relative to the first result.",
        );
        section
    }

    /// Weight of each query.
    fn queries(self, row: &Row, queries: &Queries) -> Section {
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
        table.with(Column::right("ratio"), move |query| self.ratio(query.ratio));
        table.right("share of total time", |query| Cell::percent(query.share_of_time, 1));
        table.right("total time if 10x faster", |query| {
            Cell::percent(-query.ten_times_total, 1)
                .shown(format!("{} %", number::signed(-100.0 * query.ten_times_total, 1)))
        });
        section.table(table);
        section
    }
}
