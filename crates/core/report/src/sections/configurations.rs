//! Every configuration with its figures, which differences could have been found, and trials that
//! stand apart.

use super::overview;
use crate::model::{Cell, Column, Columns, Medium, Section, Tone};
use crate::text::joined;
use crate::{number, text};
use analysis::response::distinct;
use analysis::{ConfigurationRow, Detectable, Estimate, Outlier, Standing, Summary};
use observations::LevelRecord;

/// Said once below a table that has the column `best`.
const LEGEND: &str = "best: best ratio over paired blocks; within: equivalent to it (a larger \
                      difference is excluded); up to: not significantly different, upper bound of \
                      the difference (95 %, Holm-adjusted). ±: 95 % CI of the mean. [ ]: 95 % CI \
                      of the ratio, adjusted for all comparisons of its column.";
/// And where a difference has no bound that says anything.
const UNBOUNDED: &str =
    "unclear: not significantly different, and too few repeats to bound the difference.";

/// Responses beside each other in a text.
const RESPONSES_BESIDE: usize = 3;

/// Outliers named below the table; of a run with more, something else is to be said than their
/// names.
const OUTLIERS_SHOWN: usize = 12;

/// Every configuration with its figures.
pub(crate) fn section(summary: &Summary, rows: &[ConfigurationRow]) -> [Section; 1] {
    let mut section = Section::new("Configurations");
    if rows.is_empty() {
        section.note("No configuration.");
    } else {
        section.table(table(summary, rows));
        section.note(summary.design().and_then(|design| design.legend).unwrap_or(LEGEND));
        if rows.iter().any(|row| {
            let possible = row
                .against_best
                .as_ref()
                .and_then(|against_best| against_best.possible(summary.unit()));
            row.standing == Standing::NotDistinguished && possible.is_none()
        }) {
            section.note(UNBOUNDED);
        }
    }
    [section]
}

fn table<'s>(
    summary: &'s Summary,
    rows: &'s [ConfigurationRow],
) -> Columns<'s, &'s ConfigurationRow> {
    let mut table = Columns::for_rows(rows);
    level_columns(&mut table, summary, |row| &row.levels);
    table.right("n", |row| row.done);
    estimates(&mut table, summary);
    if summary.compares_configurations() {
        if rows.iter().any(|row| row.baseline) {
            table.with(Column::left("vs baseline"), |row| against_baseline(summary, row));
        }
        table.with(Column::left("best"), |row| {
            Cell::standing(row.standing, row.against_best.as_ref(), summary)
        });
    }
    if rows.iter().any(|row| row.futile > 0) {
        table.right("ended early", |row| occurrences(row.futile, Tone::Muted));
    }
    if rows.iter().any(|row| row.at_limit() > 0) {
        table.right("timed out", |row| occurrences(row.at_limit(), Tone::Bad));
    }
    if rows.iter().any(|row| row.failed > row.timeouts) {
        table.right("failed", |row| occurrences(row.failed - row.timeouts, Tone::Bad));
    }
    let of_run = summary.run_warnings();
    if rows.iter().any(|row| !row.own_warnings(&of_run).is_empty()) {
        table
            .with(Column::right("warnings"), move |row| {
                let warnings = row.own_warnings(&of_run);
                occurrences(warnings.iter().map(|warning| warning.trials).sum(), Tone::Warning)
            })
            .optional(1);
    }
    table
}

/// A column for each factor; `levels_of` gives those of the configuration of an item.
pub fn level_columns<'s, T: 's>(
    table: &mut Columns<'s, T>,
    summary: &'s Summary,
    levels_of: impl Fn(&T) -> &'s [LevelRecord] + Copy + 's,
) {
    for level in &summary.configurations[0].levels {
        table.with(Column::name(text::factor(summary, &level.factor)), move |item| {
            let mut levels = levels_of(item).iter();
            let recorded_level = levels.find(|candidate| candidate.factor == level.factor);
            recorded_level.map(|recorded_level| &recorded_level.level)
        });
    }
}

/// The response that configurations are compared on first, then elapsed time and throughput.
fn estimates<'s>(table: &mut Columns<'s, &'s ConfigurationRow>, summary: &'s Summary) {
    let primary = summary.response.as_ref().map_or("", |response| response.name.as_str());
    if !matches!(primary, "" | "elapsed" | "throughput") {
        table.left(primary, |row| row.response.as_ref());
    }
    table.left("elapsed", |row| row.elapsed.as_ref()).optional(if primary == "throughput" {
        2
    } else {
        0
    });
    let throughput = || summary.configurations.iter().filter_map(|row| row.throughput.as_ref());
    let response = summary.response.as_ref();
    if let Some(first) = throughput().next().filter(|first| {
        response.is_none_or(|response| response.name == "throughput" || response.unit != first.unit)
            && throughput().all(|other| other.unit == first.unit)
    }) {
        // Work is fixed in most experiments: throughput then repeats what elapsed says.
        table
            .left(&first.unit, |row: &&ConfigurationRow| {
                row.throughput.as_ref().map(Cell::estimate_without_unit)
            })
            .optional(if primary == "throughput" { 0 } else { 2 });
    }
}

/// The difference that could have been found.
pub(crate) fn power(_: &Summary, detectable: Option<&Detectable>) -> Option<Section> {
    let planned =
        detectable.filter(|detectable| detectable.relative <= analysis::power::RELATIVE_MAX)?;
    // No difference is printed finer than this.
    let size = number::relative(planned.relative.max(0.001));
    let mut section = Section::default();
    let text = format!(
        "Power: {} detect a difference of {size} between two configurations with 80 % power \
         (estimate, Holm-adjusted for {}).",
        number::plural(planned.blocks, "block"),
        number::plural(planned.comparisons, "comparison"),
    );
    section.note(text);
    Some(section)
}

/// Trials that stand apart.
pub(crate) fn outliers(_: &Summary, outliers: &[Outlier]) -> Option<Section> {
    let mut section = Section::default();
    for outlier in outliers.iter().take(OUTLIERS_SHOWN) {
        let text = format!(
            "Outlier (included in all figures): {} in block {}: {}, expected {} (modified z {}).",
            text::label(&outlier.label),
            outlier.block,
            number::quantity(outlier.value, &outlier.unit),
            number::quantity(outlier.expected, &outlier.unit),
            number::fixed(outlier.modified_z, 1),
        );
        section.warn(text);
    }
    if let Some(more @ 1..) = outliers.len().checked_sub(OUTLIERS_SHOWN) {
        let more = number::plural(more, "more outlier");
        section.warn(format!("{more}: see the JSON output."));
    }
    section.unless_empty()
}

fn against_baseline(summary: &Summary, row: &ConfigurationRow) -> Cell {
    match &row.factor {
        _ if row.baseline => "baseline".into(),
        Some(factor) => Cell::comparison(factor, summary.unit()),
        None => Cell::default(),
    }
}

fn occurrences(n: usize, tone: Tone) -> Cell {
    if n == 0 { "".into() } else { Cell::from(n).toned(tone) }
}

const SPREAD_LEGEND: &str = "CV: standard deviation relative to the mean; ± and [ ]: 95 % CI.";

/// On pages all, in texts what there is room for.
pub(crate) fn responses(summary: &Summary) -> Vec<Section> {
    let all = all(summary).map(|section| Section { medium: Medium::Page, ..section });
    let brief = brief(summary).map(|section| Section { medium: Medium::Text, ..section });
    brief.into_iter().chain(all).collect()
}

/// Mean, median and spread of all that trials recorded, a table for each response; `None` when
/// there was no trial.
fn all(summary: &Summary) -> Option<Section> {
    let names = names(summary);
    let mut section = Section::new("Every response");
    for name in &names {
        in_full(summary, name, &mut section);
    }
    section.note(SPREAD_LEGEND);
    too_few(summary, &mut section);
    (!names.is_empty()).then_some(section)
}

/// The response compared in full, of the others the means of every configuration: what a terminal
/// has room for. [`all`] has their spread too.
fn brief(summary: &Summary) -> Option<Section> {
    let compared_on = summary.response.as_ref()?.name.as_str();
    let mut section = Section::new("Every response");
    in_full(summary, compared_on, &mut section);
    section.note(SPREAD_LEGEND);
    let others: Vec<&str> =
        names(summary).into_iter().filter(|name| *name != compared_on).collect();
    for names in others.chunks(RESPONSES_BESIDE) {
        for name in names {
            section.line(format!("{name}, {} is better", better(&with_response(summary, name))));
        }
        let mut table = Columns::for_rows(summary.configurations.iter().filter(|row| row.done > 0));
        table.name("configuration", |row| text::label(&row.label));
        for name in names.iter().copied() {
            table.with(Column::left(name), move |row: &&ConfigurationRow| {
                row.responses
                    .iter()
                    .find(|(response, _)| response == name)
                    .map(|(_, response)| Cell::from(response))
            });
        }
        section.table(table);
    }
    too_few(summary, &mut section);
    Some(section)
}

/// Adds a response of every configuration.
fn in_full(summary: &Summary, name: &str, section: &mut Section) {
    let rows = with_response(summary, name);
    section.line(format!("{name}, {} is better", better(&rows)));
    section.table(response_table(summary, name, &rows));
}

/// Percentiles of too few values that are explained; others are named.
const TOO_FEW_EXPLAINED: usize = 3;

/// Notes the percentiles that the tables lack.
fn too_few(summary: &Summary, section: &mut Section) {
    let all = summary.too_few();
    all.iter()
        .take(TOO_FEW_EXPLAINED)
        .for_each(|reason| section.note(format!("Not estimated: {reason}.")));
    if let Some(more) = all.get(TOO_FEW_EXPLAINED..).filter(|more| !more.is_empty()) {
        let names = more.iter().map(|record| record.name.as_str());
        section.note(format!("Not estimated either: {}.", joined(names, ", ")));
    }
}

/// Names of all responses, in the order in which they occur.
fn names<'s>(summary: &'s Summary) -> Vec<&'s str> {
    let responses = summary.configurations.iter().flat_map(|row| &row.responses);
    distinct(responses.map(|(name, _)| name.as_str()))
}

fn with_response<'a>(
    summary: &'a Summary<'_>,
    name: &str,
) -> Vec<(&'a ConfigurationRow, &'a Estimate)> {
    let all = summary
        .configurations
        .iter()
        .flat_map(|row| row.responses.iter().map(move |response| (row, response)));
    all.filter(|(_, (response_name, _))| response_name == name)
        .map(|(row, (_, estimate))| (row, estimate))
        .collect()
}

fn better(rows: &[(&ConfigurationRow, &Estimate)]) -> &'static str {
    rows.first().map_or("lower", |(_, estimate)| overview::better(estimate.direction))
}

fn response_table<'a>(
    summary: &'a Summary,
    name: &str,
    rows: &'a [(&'a ConfigurationRow, &'a Estimate)],
) -> Columns<'a, &'a (&'a ConfigurationRow, &'a Estimate)> {
    let mut table = Columns::for_rows(rows);
    table.name("configuration", |(row, _)| text::label(&row.label));
    table.right("n", |(_, estimate)| estimate.n);
    table.left("mean", |(_, estimate)| *estimate);
    table.left("median", |(_, estimate)| Cell::quantity(estimate.median, &estimate.unit));
    table.right("CV", |(_, estimate)| estimate.cv().map(|cv| Cell::percent(cv, 1)));
    if let Some(response) = summary.response.as_ref().filter(|response| response.name == name) {
        table
            .with(Column::left("vs best"), |(row, _)| against_best(row, &response.unit))
            .optional(1);
    }
    table
}

fn against_best(row: &ConfigurationRow, unit: &str) -> Cell {
    match &row.against_best {
        Some(comparison) => Cell::comparison(comparison, unit),
        None if row.standing == Standing::Best => "best".into(),
        None => Cell::default(),
    }
}
