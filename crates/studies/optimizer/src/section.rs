//! The sections of reports: crossovers, and errors of estimates.

use crate::analysis::{ByTime, Crossover, Level, Time};
use crate::estimate_analysis::{AnalyzedEstimates, EstimateFigures};
use crate::losses::Losses;
use crate::study::{by_time, parallelism, percent};
use crate::wording;
use analysis::Summary;
use report::text::label;
use report::{Cell, Columns, Section, number};

/// A section for each crossover.
pub fn crossovers(_: &Summary, all: &[Crossover]) -> Vec<Section> {
    all.iter()
        .filter(|figures| figures.by_plan.is_some() || figures.levels.len() > 1)
        .map(crossover)
        .collect()
}

/// A row of the table of times.
struct Row<'a> {
    level: &'a Level,
    time: &'a Time,
}

fn crossover(crossover: &Crossover) -> Section {
    let mut section = Section::about("Crossover of plans", &crossover.group);
    if let Some(plans) = &crossover.by_plan {
        section.line(format!("Plan at the smallest selectivity: {}.", plans.first));
        if plans.changes.is_empty() {
            section.line("The plan is the same at every selectivity.");
        } else {
            let mut table = Columns::for_rows(&plans.changes);
            table.name("change of the plan", |row| row.plans.clone());
            table.right("at share of rows", |row| percent(row.share));
            table.right("as estimated", |row| row.estimated.map(percent));
            section.table(table);
        }
        if !plans.formulas.is_empty() {
            section.line("Change to a scan by the documented cost formulas and by the plans:");
            let mut table = Columns::for_rows(&plans.formulas);
            table.name("cost constant", |row| row.constant.clone());
            table.right("predicted", |row| row.predicted.map(percent));
            table.right("by plan", |row| row.by_plans.map(percent));
            section.table(table);
        }
    }
    if let Some(parallel) = &crossover.parallelism {
        section.line(format!("The plan is {}.", parallelism(parallel)));
    }
    if crossover.parallelism.is_none() || crossover.by_time != ByTime::Unknown {
        section.line(format!("Crossover by time: {}.", by_time(&crossover.by_time)));
    }
    let rows: Vec<Row<'_>> = crossover
        .levels
        .iter()
        .flat_map(|level| level.times.iter().map(move |time| Row { level, time }))
        .collect();
    let mut table = Columns::for_rows(&rows);
    table.name("share of rows", |row| percent(row.level.selectivity));
    table.left("plan", |row| row.time.alternative.clone());
    table.left("time ms", |row| Cell::estimate_without_unit(&row.time.ms));
    if rows.iter().any(|row| row.time.is_bound || !row.time.is_forced) {
        table.left("remark", |row| remark(row.time));
    }
    section.table(table);
    if rows.iter().any(|row| row.time.is_bound) {
        section.note(
            "Times with cancelled queries are lower bounds: they count with the time until \
             workload.query_limit. The crossover is then a bound too.",
        );
    }
    if !crossover.forced_by.is_empty() {
        section.note(format!("Alternatives were forced by {}.", crossover.forced_by.join(" and ")));
    }
    for sentence in crossover.by_plan.iter().flat_map(|plans| &plans.unforced) {
        section.note(sentence.clone());
    }
    section.note(
        "Times include sending and planning the query. The best alternative at a selectivity is \
         the one with the smallest geometric mean over all blocks.",
    );
    section
}

fn remark(time: &Time) -> String {
    match (time.is_bound, time.is_forced) {
        (_, false) => "the engine used another plan".to_owned(),
        (true, true) => "lower bound".to_owned(),
        (false, true) => String::new(),
    }
}

/// The sections about estimates; none where none were compared.
pub fn estimates(_: &Summary, all: &[EstimateFigures]) -> Vec<Section> {
    all.iter().map(estimate).chain(samples(all)).chain(across_joins(all)).collect()
}

/// A table of the errors of joins by the dial of their correlation, one row each configuration.
fn across_joins(all: &[EstimateFigures]) -> Option<Section> {
    let known: Vec<(&EstimateFigures, f64)> =
        all.iter().filter_map(|figures| Some((figures, figures.join_factor?))).collect();
    if known.is_empty() {
        return None;
    }
    let mut section = Section::new("Correlation across joins");
    let mut table = Columns::for_rows(&known);
    table.name("configuration", |(figures, _)| label(&figures.configuration).to_owned());
    table.right("rows / independent", |(_, factor)| number::figure(*factor));
    table.right("q-error of joins", |(row, _)| {
        let joins = row.joins.iter().filter(|join| join.joins > 0);
        joins.map(|join| join.largest).reduce(f64::max).map(number::figure)
    });
    section.table(table);
    section.note(
        "rows / independent: rows of a join of equal values (dials.a = partners.value) as a \
         multiple of those of independent columns, computed from the dial. An optimizer that \
         assumes independence has this q-error.",
    );
    Some(section)
}

/// A table of the estimates after repeated gatherings of statistics, one row each configuration.
fn samples(all: &[EstimateFigures]) -> Option<Section> {
    let analyzed: Vec<(&str, &AnalyzedEstimates)> = all
        .iter()
        .filter_map(|figures| Some((label(&figures.configuration), figures.analyzed.as_ref()?)))
        .collect();
    if analyzed.is_empty() {
        return None;
    }
    let mut section = Section::new("Estimates after gathering statistics");
    let mut table = Columns::for_rows(&analyzed);
    table.name("configuration", |(label, _)| (*label).to_owned());
    table.right("smallest", |(_, figures)| number::grouped(figures.least));
    table.right("25 %", |(_, figures)| number::grouped(figures.quarter)).optional = 1;
    table.right("median", |(_, figures)| number::grouped(figures.median));
    table.right("75 %", |(_, figures)| number::grouped(figures.three_quarters)).optional = 1;
    table.right("largest", |(_, figures)| number::grouped(figures.most));
    table.right("counted", |(_, figures)| figures.counted.map(number::grouped));
    section.table(table);
    section.note(
        "Estimated rows of the varied table after each gathering: smallest and largest of all, \
         medians of the trials' quartiles.",
    );
    Some(section)
}

/// The queries of a folder, and where an alternative takes less time.
pub(crate) fn losses(_: &Summary, all: &[Losses]) -> Vec<Section> {
    all.iter().map(loss).collect()
}

fn loss(losses: &Losses) -> Section {
    let mut section = Section::about("Choices of plans by query", &losses.group);
    let mut table = Columns::for_rows(&losses.queries);
    table.name("query", |row| row.query.clone());
    table.left("time of the choice ms", |row| Cell::estimate_without_unit(&row.chosen));
    if losses.queries.iter().any(|query| query.best.is_some()) {
        table.left("best alternative", |row| row.best.clone());
        table.left("choice / best", |row| {
            row.ratio.map(|ratio| wording::ratio(ratio, row.interval))
        });
    }
    if losses.queries.iter().any(|query| query.q_error.is_some()) {
        table.right("largest q-error", |row| row.q_error.map(number::figure));
    }
    section.table(table);
    if losses.is_bound {
        section.note("Some queries were cancelled at workload.query_limit: times may be too low.");
    }
    if losses.queries.iter().any(|query| query.best.is_some()) {
        section.note(
            "Above 1x the choice takes longer than the best alternative with another plan. \
             Intervals are over blocks and not adjusted for the number of queries.",
        );
    }
    section
}

fn estimate(estimate_figures: &EstimateFigures) -> Section {
    let mut section = Section::about("Errors of estimates", label(&estimate_figures.configuration));
    if !estimate_figures.joins.is_empty() {
        let mut table = Columns::for_rows(&estimate_figures.joins);
        table.right("joins", |row| number::count(row.joins as u64));
        table.right("operators", |row| number::count(row.operators as u64));
        table.right("q-error, median", |row| number::figure(row.median));
        table.right("largest", |row| number::figure(row.largest));
        section.table(table);
    }
    if !estimate_figures.operators.is_empty() {
        section.line("Operators with the largest errors:");
        let mut table = Columns::for_rows(&estimate_figures.operators);
        table.name("query", |row| row.query.clone());
        table.left("operator", |row| row.operator.clone());
        table.right("joins", |row| number::count(row.joins as u64));
        table.right("q-error", |row| number::figure(row.q_error));
        section.table(table);
    }
    if !estimate_figures.plans.is_empty() {
        let mut table = Columns::for_rows(&estimate_figures.plans);
        table.name("plan after gathering statistics", |row| row.plan.clone());
        table.right("share", |row| format!("{} %", number::figure(100.0 * row.share)));
        section.table(table);
    }
    if !estimate_figures.appended.is_empty() {
        section.line("Values that only rows have which were appended after the statistics:");
        let mut table = Columns::for_rows(&estimate_figures.appended);
        table.name("column", |row| row.column.clone());
        table.right("estimated rows", |row| number::grouped(row.estimated));
        table.right("appended", |row| number::grouped(row.rows));
        table.right("q-error", |row| number::figure(row.q_error));
        section.table(table);
    }
    if let Some(reversed) = &estimate_figures.reversals {
        section.line(format!(
            "A less restrictive predicate was estimated smaller at {} of {} points.",
            reversed.reversals, reversed.points
        ));
    }
    section.note(
        "The q-error is the factor between estimated and counted rows, in either direction; 1 is \
         exact. Fewer than one row counts as one. The figures are medians over trials.",
    );
    section
}
