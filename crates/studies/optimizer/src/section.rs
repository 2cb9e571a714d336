//! The sections of reports: crossovers, and errors of estimates.

use crate::analysis::{Crossover, Level, Time};
use crate::estimate_analysis::EstimateFigures;
use crate::study::{by_time, percent};
use analysis::Summary;
use report::text::label;
use report::{Cell, Columns, Section, number};

/// A section for each crossover.
pub fn crossovers(_: &Summary, all: &[Crossover]) -> Vec<Section> {
    all.iter().filter(|own| own.by_plan.is_some() || own.levels.len() > 1).map(crossover).collect()
}

fn heading(title: &str, group: &str) -> Section {
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
    section.line(format!("Crossover by time: {}.", by_time(&own.by_time)));
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

/// The section about estimates; `None` where none were compared.
pub fn estimates(_: &Summary, all: &[EstimateFigures]) -> Vec<Section> {
    all.iter().map(estimate).collect()
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
    if let Some(analyzed) = &own.analyzed {
        let [least, middle, most] =
            [analyzed.least, analyzed.median, analyzed.most].map(number::grouped);
        section.line(format!(
            "Estimated rows after each gathering of statistics: median {middle}, from {least} to \
             {most}; {} are selected.",
            number::grouped(analyzed.selected)
        ));
    }
    if !own.plans.is_empty() {
        let mut table = Columns::for_rows(&own.plans);
        table.name("plan after gathering statistics", |own| own.plan.clone());
        table.right("share", |own| format!("{} %", number::figure(100.0 * own.share)));
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
