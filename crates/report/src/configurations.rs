use crate::model::{Cell, Column, Section, Table, Tone};
use crate::number;
use analysis::{Comparison, ConfigurationRow, Estimate, Standing, Summary, WarningCount};

/// What is printed where there is nothing to print.
pub(crate) const NOTHING: &str = "-";
/// Said once below a table that has the column `best`.
const LEGEND: &str = "best: the best mean; = as good as the best (not distinguishable at 95 %, Holm); ± and [ ]: 95 % intervals.";

/// Outliers named below the table; of a run with more, something else is to be said than their names.
const OUTLIERS_SHOWN: usize = 12;

/// Every configuration with its figures.
pub(crate) fn section(summary: &Summary) -> Section {
    let mut section = Section::new("Configurations");
    if summary.configurations.is_empty() {
        section.toned("There is no configuration.", Tone::Muted);
        return section;
    }
    section.table(table(summary));
    section.toned(LEGEND, Tone::Muted);
    remarks(summary, &mut section);
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
    if rows.iter().any(|row| !row.warnings.is_empty()) {
        let warned =
            |row: &ConfigurationRow| occurrences(row.warnings.iter().map(|m| m.trials).sum(), Tone::Warning);
        figures.push((Column::right("warnings").optional(1), Box::new(warned)));
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

/// The label of a configuration: its levels, but for those of the factor `without`.
pub(crate) fn label_without(summary: &Summary, row: &ConfigurationRow, without: &str) -> String {
    let names: Vec<&str> = summary.factors.iter().map(|factor| factor.factor.as_str()).collect();
    let others = row.levels.iter().filter(|level| level.factor != without);
    let others = others.map(|level| format!("{}={}", short_name(&level.factor, &names), level.level));
    others.collect::<Vec<_>>().join(" ")
}

/// Which difference could have been found, and the trials that stand apart.
fn remarks(summary: &Summary, section: &mut Section) {
    let planned = summary.detectable.as_ref().filter(|it| it.relative <= analysis::power::RELATIVE_MAX);
    if let Some(detectable) = planned {
        // Beyond 100 % a factor is what people say.
        let size = match detectable.relative {
            large if large > 1.0 => format!("{}x", number::ratio(1.0 + large)),
            small => number::percent(small, usize::from(small < 0.1)),
        };
        let text = format!(
            "Power: with {} a difference of about {size} between two configurations would be found 4 times of 5 \
             (estimate, corrected for {}).",
            number::plural(detectable.blocks, "block"),
            number::plural(detectable.comparisons, "comparison"),
        );
        section.toned(text, Tone::Muted);
    }
    for outlier in summary.outliers.iter().take(OUTLIERS_SHOWN) {
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
    if let Some(more @ 1..) = summary.outliers.len().checked_sub(OUTLIERS_SHOWN) {
        section
            .toned(format!("{} more, by name in the JSON.", number::plural(more, "outlier")), Tone::Warning);
    }
}

pub(crate) fn estimate(estimate: Option<&Estimate>) -> Cell {
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

pub(crate) fn compared(comparison: &Comparison, unit: &str) -> Cell {
    let tone = match comparison.supported() {
        false => Tone::Muted,
        true if comparison.is_better() => Tone::Good,
        true => Tone::Bad,
    };
    Cell::new(number::comparison(comparison, unit), tone)
}

pub(crate) fn standing(standing: Standing) -> Cell {
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
pub(crate) fn warnings(warnings: &[WarningCount]) -> String {
    let one = |warning: &WarningCount| format!("{} {}", warning.trials, warning.kind.name());
    warnings.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// The last part of a dotted path where it names one factor only, else the whole path.
pub(crate) fn short_name<'a>(path: &'a str, all: &[&str]) -> &'a str {
    let last = |path: &'a str| path.rsplit('.').next().unwrap_or(path);
    let short = last(path);
    let namesakes = all.iter().filter(|other| other.rsplit('.').next() == Some(short)).count();
    if namesakes > 1 { path } else { short }
}

/// An experiment without factors has one configuration, without a name.
pub(crate) fn label(label: &str) -> &str {
    if label.is_empty() { "the configuration" } else { label }
}
