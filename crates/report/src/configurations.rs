use crate::model::{Cell, Column, Section, Table, Tone};
use crate::number;
use analysis::{Comparison, ConfigurationRow, Estimate, FactorEffect, MarkCount, Standing, Summary};

/// What is printed where there is nothing to print.
const NOTHING: &str = "-";
/// Said once below a table that has the column `best`.
const LEGEND: &str = "best: the best mean; = as good as the best (not distinguishable at 95 %, Holm); ± and [ ]: 95 % intervals.";

/// Every configuration with its figures.
pub(crate) fn section(summary: &Summary) -> Section {
    let mut section = Section::new("Configurations");
    if summary.configurations.is_empty() {
        section.toned("There is no configuration.", Tone::Muted);
        return section;
    }
    section.table(table(summary));
    section.toned(LEGEND, Tone::Muted);
    section
}

/// One column: how it is headed, and its cell for a row.
type Figure<'a> = (Column, Box<dyn Fn(&ConfigurationRow) -> Cell + 'a>);

fn table(summary: &Summary) -> Table {
    let mut figures = level_figures(summary);
    figures.push((Column::right("n"), Box::new(|row| Cell::plain(row.done.to_string()))));
    figures.extend(estimate_figures(summary));
    let rows = &summary.configurations;
    if rows.iter().any(|row| row.baseline) {
        figures.push((Column::left("vs baseline"), Box::new(|row| against_baseline(summary, row))));
    }
    figures.push((Column::left("best"), Box::new(|row| standing(row.standing))));
    if rows.iter().any(|row| row.failed > 0) {
        figures.push((Column::right("failed"), Box::new(|row| occurrences(row.failed, Tone::Bad))));
    }
    if rows.iter().any(|row| !row.marks.is_empty()) {
        let marked =
            |row: &ConfigurationRow| occurrences(row.marks.iter().map(|m| m.trials).sum(), Tone::Warning);
        figures.push((Column::right("marks").optional(1), Box::new(marked)));
    }
    let rows = rows.iter().map(|row| figures.iter().map(|(_, cell)| cell(row)).collect()).collect();
    Table { columns: figures.into_iter().map(|(column, _)| column).collect(), rows, fixed: false }
}

/// A column for each factor; without factors, the label.
fn level_figures(summary: &Summary) -> Vec<Figure<'_>> {
    let levels = &summary.configurations[0].levels;
    if levels.is_empty() {
        return vec![(Column::name("configuration"), Box::new(|row| Cell::plain(row.label.as_str())))];
    }
    let names: Vec<&str> = levels.iter().map(|level| level.factor.as_str()).collect();
    let column = |name: &str| -> Figure<'_> {
        let factor = name.to_owned();
        let cell = move |row: &ConfigurationRow| {
            let own = row.levels.iter().find(|level| level.factor == factor);
            Cell::plain(own.map_or(NOTHING, |own| own.level.as_str()))
        };
        (Column::name(short_name(name, &names)), Box::new(cell))
    };
    names.iter().map(|name| column(name)).collect()
}

/// The response that configurations are compared on first, then elapsed time and throughput.
fn estimate_figures(summary: &Summary) -> Vec<Figure<'_>> {
    let mut figures: Vec<Figure> = Vec::new();
    let primary = summary.response.as_ref().map_or("", |response| response.name.as_str());
    if !matches!(primary, "" | "elapsed" | "throughput") {
        let cell = |row: &ConfigurationRow| estimate(row.response.as_ref());
        figures.push((Column::left(primary), Box::new(cell)));
    }
    figures.push((Column::left("elapsed"), Box::new(|row| estimate(row.elapsed.as_ref()))));
    let throughput = || summary.configurations.iter().filter_map(|row| row.throughput.as_ref());
    let repeated = |unit: &str| {
        let response = summary.response.as_ref();
        response.is_some_and(|response| response.name != "throughput" && response.unit == unit)
    };
    if let Some(first) = throughput()
        .next()
        .filter(|first| !repeated(&first.unit) && throughput().all(|other| other.unit == first.unit))
    {
        let cell = |row: &ConfigurationRow| {
            let text = row.throughput.as_ref().map(number::estimate_without_unit);
            Cell::plain(text.unwrap_or_else(|| NOTHING.to_owned()))
        };
        let column = Column::left(first.unit.as_str());
        // Work is fixed in most experiments: throughput then repeats what elapsed says.
        let column = if primary == "throughput" { column } else { column.optional(2) };
        figures.push((column, Box::new(cell)));
    }
    figures
}

/// The levels of each factor over those of the others; with one factor the configurations say it all.
pub(crate) fn factor_sections(summary: &Summary) -> Vec<Section> {
    let names: Vec<&str> = summary.factors.iter().map(|factor| factor.factor.as_str()).collect();
    let shown = summary.factors.iter().filter(|_| names.len() > 1);
    shown.map(|factor| factor_section(summary, factor, short_name(&factor.factor, &names))).collect()
}

fn factor_section(summary: &Summary, factor: &FactorEffect, name: &str) -> Section {
    let mut section = Section::new(format!("Factor {name}: means over the other factors"));
    let response = summary.response.as_ref();
    let unit = response.map_or("", |response| response.unit.as_str());
    let reference = factor.levels.get(factor.reference).map_or("", |level| level.level.as_str());
    let row = |(i, level): (usize, &analysis::LevelEffect)| {
        let comparison = match &level.comparison {
            Some(comparison) => compared(comparison, unit),
            None if i == factor.reference => Cell::plain("reference"),
            None => Cell::plain(NOTHING),
        };
        vec![
            Cell::plain(level.level.as_str()),
            Cell::plain(level.trials.to_string()),
            estimate(level.response.as_ref()),
            comparison,
            standing(level.standing),
        ]
    };
    section.table(Table {
        columns: vec![
            Column::name(name),
            Column::right("trials"),
            Column::left(response.map_or("", |response| response.name.as_str())),
            Column::left(format!("vs {reference}")),
            Column::left("best"),
        ],
        rows: factor.levels.iter().enumerate().map(row).collect(),
        fixed: false,
    });
    section
}

fn estimate(estimate: Option<&Estimate>) -> Cell {
    Cell::plain(estimate.map_or_else(|| NOTHING.to_owned(), number::estimate))
}

fn against_baseline(summary: &Summary, row: &ConfigurationRow) -> Cell {
    let unit = summary.response.as_ref().map_or("", |response| response.unit.as_str());
    match &row.factor {
        _ if row.baseline => Cell::plain("baseline"),
        Some(factor) => compared(factor, unit),
        None => Cell::plain(NOTHING),
    }
}

fn compared(comparison: &Comparison, unit: &str) -> Cell {
    let equal = if comparison.scale == analysis::Scale::Ratio { 1.0 } else { 0.0 };
    let tone = match comparison.supported() {
        false => Tone::Muted,
        true if comparison.value > equal => Tone::Good,
        true => Tone::Bad,
    };
    Cell::new(number::comparison(comparison, unit), tone)
}

fn standing(standing: Standing) -> Cell {
    match standing {
        Standing::Best => Cell::new("best", Tone::Good),
        Standing::AsGoodAsBest => Cell::new("=", Tone::Good),
        Standing::Worse | Standing::Unknown => Cell::plain(""),
    }
}

fn occurrences(n: usize, tone: Tone) -> Cell {
    if n == 0 { Cell::plain("") } else { Cell::new(n.to_string(), tone) }
}

/// `3 load-limited, 1 steal`.
pub(crate) fn marks(marks: &[MarkCount]) -> String {
    let one = |mark: &MarkCount| format!("{} {}", mark.trials, mark.kind.name());
    marks.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// The last part of a dotted path where it names one factor only, else the whole path.
pub(crate) fn short_name<'a>(path: &'a str, all: &[&str]) -> &'a str {
    let last = |path: &'a str| path.rsplit('.').next().unwrap_or(path);
    let short = last(path);
    let namesakes = all.iter().filter(|other| other.rsplit('.').next() == Some(short)).count();
    if namesakes > 1 { path } else { short }
}
