//! Every configuration with its figures, which differences could have been found, and trials that stand apart.

use crate::model::{Cell, Column, NOTHING, Section, Table, Tone};
use crate::{names, number};
use analysis::{ConfigurationRow, Detectable, Outlier, Summary};
use observations::LevelRecord;

/// Said once below a table that has the column `best`.
const LEGEND: &str = "best: the best mean; = as good as the best (not distinguishable at 95 %, Holm); ± and [ ]: 95 % intervals.";

/// Outliers named below the table; of a run with more, something else is to be said than their names.
const OUTLIERS_SHOWN: usize = 12;

/// Every configuration with its figures.
pub(crate) fn section(summary: &Summary, rows: &[ConfigurationRow]) -> [Section; 1] {
    let mut section = Section::new("Configurations");
    if rows.is_empty() {
        section.toned("There is no configuration.", Tone::Muted);
    } else {
        section.table(table(summary, rows));
        section.toned(LEGEND, Tone::Muted);
    }
    [section]
}

/// One column: how it is headed, and its cell for a row.
type Figure<'a> = (Column, Box<dyn Fn(&ConfigurationRow) -> Cell + 'a>);

fn table(summary: &Summary, rows: &[ConfigurationRow]) -> Table {
    let mut figures = level_figures(summary);
    figures.push((Column::right("n"), Box::new(|row| Cell::plain(row.done.to_string()))));
    figures.extend(estimate_figures(summary));
    if rows.iter().any(|row| row.baseline) {
        figures.push((Column::left("vs baseline"), Box::new(|row| against_baseline(summary, row))));
    }
    figures.push((Column::left("best"), Box::new(|row| Cell::standing(row.standing))));
    if rows.iter().any(|row| row.failed > 0) {
        figures.push((Column::right("failed"), Box::new(|row| occurrences(row.failed, Tone::Bad))));
    }
    if rows.iter().any(|row| !row.warnings.is_empty()) {
        let warned =
            |row: &ConfigurationRow| occurrences(row.warnings.iter().map(|m| m.trials).sum(), Tone::Warning);
        figures.push((Column::right("warnings").optional(1), Box::new(warned)));
    }
    let rows = rows.iter().map(|row| figures.iter().map(|(_, cell)| cell(row)).collect()).collect();
    Table { columns: figures.into_iter().map(|(column, _)| column).collect(), rows, fixed: false }
}

/// A column for each factor; without factors, the label.
fn level_figures<'s>(summary: &'s Summary) -> Vec<Figure<'s>> {
    let levels = &summary.configurations[0].levels;
    if levels.is_empty() {
        return vec![(Column::name("configuration"), Box::new(|row| Cell::plain(row.label.as_str())))];
    }
    let column = |level: &'s LevelRecord| -> Figure<'s> {
        let cell = |row: &ConfigurationRow| {
            let own = row.levels.iter().find(|own| own.factor == level.factor);
            Cell::plain(own.map_or(NOTHING, |own| own.level.as_str()))
        };
        (Column::name(names::factor(summary, &level.factor)), Box::new(cell))
    };
    levels.iter().map(column).collect()
}

/// The response that configurations are compared on first, then elapsed time and throughput.
fn estimate_figures<'s>(summary: &'s Summary) -> Vec<Figure<'s>> {
    let mut figures: Vec<Figure> = Vec::new();
    let primary = summary.response.as_ref().map_or("", |response| response.name.as_str());
    if !matches!(primary, "" | "elapsed" | "throughput") {
        let cell = |row: &ConfigurationRow| Cell::estimate(row.response.as_ref());
        figures.push((Column::left(primary), Box::new(cell)));
    }
    figures.push((Column::left("elapsed"), Box::new(|row| Cell::estimate(row.elapsed.as_ref()))));
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

/// Which difference could have been found.
pub(crate) fn power(_: &Summary, detectable: Option<&Detectable>) -> Option<Section> {
    let planned = detectable.filter(|it| it.relative <= analysis::power::RELATIVE_MAX)?;
    // Beyond 100 % a factor is what people say.
    let size = match planned.relative {
        large if large > 1.0 => format!("{}x", number::ratio(1.0 + large)),
        small => number::percent(small, usize::from(small < 0.1)),
    };
    let mut section = Section::default();
    let text = format!(
        "Power: {} detect a difference of about {size} between two configurations with 80 % power (estimate, corrected \
         for {}).",
        number::plural(planned.blocks, "block"),
        number::plural(planned.comparisons, "comparison"),
    );
    section.toned(text, Tone::Muted);
    Some(section)
}

/// Trials that stand apart.
pub(crate) fn outliers(_: &Summary, outliers: &[Outlier]) -> Option<Section> {
    let mut section = Section::default();
    for outlier in outliers.iter().take(OUTLIERS_SHOWN) {
        let text = format!(
            "Outlier, kept in all figures: {} in block {}: {}, expected {} (modified z {}).",
            outlier.label,
            outlier.block,
            number::quantity(outlier.value, &outlier.unit),
            number::quantity(outlier.expected, &outlier.unit),
            number::fixed(outlier.modified_z, 1),
        );
        section.toned(text, Tone::Warning);
    }
    if let Some(more @ 1..) = outliers.len().checked_sub(OUTLIERS_SHOWN) {
        let more = number::plural(more, "more outlier");
        section.toned(format!("{more}: see the JSON output."), Tone::Warning);
    }
    section.unless_empty()
}

fn against_baseline(summary: &Summary, row: &ConfigurationRow) -> Cell {
    match &row.factor {
        _ if row.baseline => Cell::plain("baseline"),
        Some(factor) => Cell::comparison(factor, summary.unit()),
        None => Cell::plain(NOTHING),
    }
}

fn occurrences(n: usize, tone: Tone) -> Cell {
    if n == 0 { Cell::plain("") } else { Cell::new(n.to_string(), tone) }
}
