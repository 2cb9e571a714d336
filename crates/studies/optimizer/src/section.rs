//! The sections of reports: crossovers, and errors of estimates.

use crate::analysis::{ByTime, Crossover, Level, Time};
use crate::estimate_analysis::{AnalyzedEstimates, EstimateFigures};
use crate::losses::Losses;
use crate::study::{by_time, parallelism, percent};
use analysis::Summary;
use report::text::label;
use report::{Cell, Columns, Section, number};

/// A section for each crossover.
pub fn crossovers(_: &Summary, all: &[Crossover]) -> Vec<Section> {
    all.iter().filter(|own| own.by_plan.is_some() || own.levels.len() > 1).map(crossover).collect()
}

pub fn heading(title: &str, group: &str) -> Section {
    Section::new(if group.is_empty() { title.to_owned() } else { format!("{title}: {group}") })
}

/// A row of the table of times.
struct Row<'a> {
    level: &'a Level,
    time: &'a Time,
}

fn crossover(own: &Crossover) -> Section {
    let mut section = heading("Crossover of plans", &own.group);
    if let Some(plans) = &own.by_plan {
        section.line(format!("Plan at the smallest selectivity: {}.", plans.first));
        if plans.changes.is_empty() {
            section.line("The plan is the same at every selectivity.");
        } else {
            let mut table = Columns::for_rows(&plans.changes);
            table.name("change of the plan", |own| own.plans.clone());
            table.right("at share of rows", |own| percent(own.share));
            table.right("as estimated", |own| own.estimated.map(percent));
            section.table(table);
        }
        if !plans.formulas.is_empty() {
            section.line("Change to a scan by the documented cost formulas and by the plans:");
            let mut table = Columns::for_rows(&plans.formulas);
            table.name("cost constant", |own| own.constant.clone());
            table.right("predicted", |own| own.predicted.map(percent));
            table.right("by plan", |own| own.by_plans.map(percent));
            section.table(table);
        }
    }
    if let Some(parallel) = &own.parallelism {
        section.line(format!("The plan is {}.", parallelism(parallel)));
    }
    if own.parallelism.is_none() || own.by_time != ByTime::Unknown {
        section.line(format!("Crossover by time: {}.", by_time(&own.by_time)));
    }
    let rows: Vec<Row<'_>> = own
        .levels
        .iter()
        .flat_map(|level| level.times.iter().map(move |time| Row { level, time }))
        .collect();
    let mut table = Columns::for_rows(&rows);
    table.name("share of rows", |own| percent(own.level.selectivity));
    table.left("plan", |own| own.time.alternative.clone());
    table.left("time ms", |own| Cell::estimate_without_unit(&own.time.ms));
    if rows.iter().any(|own| own.time.is_bound || !own.time.is_forced) {
        table.left("remark", |own| remark(own.time));
    }
    section.table(table);
    if rows.iter().any(|own| own.time.is_bound) {
        section.note(
            "Times with cancelled queries are lower bounds: they count with the time until \
             workload.query_limit. The crossover is then a bound too.",
        );
    }
    if !own.forced_by.is_empty() {
        section.note(format!("Alternatives were forced by {}.", own.forced_by.join(" and ")));
    }
    for sentence in own.by_plan.iter().flat_map(|plans| &plans.unforced) {
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
        all.iter().filter_map(|own| Some((own, own.join_factor?))).collect();
    if known.is_empty() {
        return None;
    }
    let mut section = Section::new("Correlation across joins");
    let mut table = Columns::for_rows(&known);
    table.name("configuration", |(own, _)| label(&own.configuration).to_owned());
    table.right("rows / independent", |(_, factor)| number::figure(*factor));
    table.right("q-error of joins", |(own, _)| {
        let joins = own.joins.iter().filter(|own| own.joins > 0);
        joins.map(|own| own.largest).reduce(f64::max).map(number::figure)
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
        .filter_map(|own| Some((label(&own.configuration), own.analyzed.as_ref()?)))
        .collect();
    if analyzed.is_empty() {
        return None;
    }
    let mut section = Section::new("Estimates after gathering statistics");
    let mut table = Columns::for_rows(&analyzed);
    table.name("configuration", |(label, _)| (*label).to_owned());
    table.right("smallest", |(_, own)| number::grouped(own.least));
    table.right("25 %", |(_, own)| number::grouped(own.quarter)).optional = 1;
    table.right("median", |(_, own)| number::grouped(own.median));
    table.right("75 %", |(_, own)| number::grouped(own.three_quarters)).optional = 1;
    table.right("largest", |(_, own)| number::grouped(own.most));
    table.right("counted", |(_, own)| own.counted.map(number::grouped));
    section.table(table);
    section.note(
        "Estimated rows of the varied table after each gathering: smallest and largest of all, \
         medians of the trials' quartiles.",
    );
    Some(section)
}

/// The queries of a folder, and where an alternative takes less time.
pub fn losses(_: &Summary, all: &[Losses]) -> Vec<Section> {
    all.iter().map(loss).collect()
}

fn loss(own: &Losses) -> Section {
    let mut section = heading("Choices of plans by query", &own.group);
    let mut table = Columns::for_rows(&own.queries);
    table.name("query", |own| own.query.clone());
    table.left("time of the choice ms", |own| Cell::estimate_without_unit(&own.chosen));
    if own.queries.iter().any(|own| own.best.is_some()) {
        table.left("best alternative", |own| own.best.clone());
        table.left("choice / best", |own| {
            let ends = own.interval.map_or_else(String::new, |ends| {
                format!(" [{}, {}]", number::fixed(ends.low, 2), number::fixed(ends.high, 2))
            });
            own.ratio.map(|ratio| format!("{}x{ends}", number::fixed(ratio, 2)))
        });
    }
    if own.queries.iter().any(|own| own.q_error.is_some()) {
        table.right("largest q-error", |own| own.q_error.map(number::figure));
    }
    section.table(table);
    if own.is_bound {
        section.note("Some queries were cancelled at workload.query_limit: times may be too low.");
    }
    if own.queries.iter().any(|own| own.best.is_some()) {
        section.note(
            "Above 1x the choice takes longer than the best alternative with another plan. \
             Intervals are over blocks and not adjusted for the number of queries.",
        );
    }
    section
}

fn estimate(own: &EstimateFigures) -> Section {
    let mut section = heading("Errors of estimates", label(&own.configuration));
    if !own.joins.is_empty() {
        let mut table = Columns::for_rows(&own.joins);
        table.right("joins", |own| number::count(own.joins as u64));
        table.right("operators", |own| number::count(own.operators as u64));
        table.right("q-error, median", |own| number::figure(own.median));
        table.right("largest", |own| number::figure(own.largest));
        section.table(table);
    }
    if !own.operators.is_empty() {
        section.line("Operators with the largest errors:");
        let mut table = Columns::for_rows(&own.operators);
        table.name("query", |own| own.query.clone());
        table.left("operator", |own| own.operator.clone());
        table.right("joins", |own| number::count(own.joins as u64));
        table.right("q-error", |own| number::figure(own.q_error));
        section.table(table);
    }
    if !own.plans.is_empty() {
        let mut table = Columns::for_rows(&own.plans);
        table.name("plan after gathering statistics", |own| own.plan.clone());
        table.right("share", |own| format!("{} %", number::figure(100.0 * own.share)));
        section.table(table);
    }
    if !own.appended.is_empty() {
        section.line("Values that only rows have which were appended after the statistics:");
        let mut table = Columns::for_rows(&own.appended);
        table.name("column", |own| own.column.clone());
        table.right("estimated rows", |own| number::grouped(own.estimated));
        table.right("appended", |own| number::grouped(own.rows));
        table.right("q-error", |own| number::figure(own.q_error));
        section.table(table);
    }
    if let Some(reversed) = &own.reversals {
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
