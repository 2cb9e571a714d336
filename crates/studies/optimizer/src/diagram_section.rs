//! The section of a plan diagram: the diagram, its plans, and what the choices cost.

use crate::diagram_analysis::{DiagramRow, PairRegret, PlanDiagram};
use crate::section::heading;
use crate::study::percent;
use analysis::Summary;
use report::{Cell, Columns, Figure, Section, Table, Tone, coordinate, number, string};
use serde_json::{Value, json};

/// A section for each diagram.
pub fn diagrams(_: &Summary, all: &[PlanDiagram]) -> Vec<Section> {
    all.iter().map(diagram).collect()
}

fn axis(own: &PlanDiagram, side: usize) -> &str {
    own.axes.get(side).map_or("", String::as_str)
}

fn diagram(own: &PlanDiagram) -> Section {
    let mut section = heading("Plan diagram", &own.group);
    let points = own.columns.len() * own.rows.len();
    section.line(format!(
        "{} at {} points. Across: share of rows by {}, from {} to {}. Up: by {}.",
        if own.plans.len() == 1 { "One plan".into() } else { format!("{} plans", own.plans.len()) },
        number::count(points as u64),
        axis(own, 0),
        own.columns.first().map_or_else(String::new, |share| percent(*share)),
        own.columns.last().map_or_else(String::new, |share| percent(*share)),
        axis(own, 1),
    ));
    let rows: Vec<&DiagramRow> = own.rows.iter().rev().collect();
    let mut table = Columns::for_rows(rows);
    table.right(axis(own, 1), |row| percent(row.share));
    table.name("plans", |row| row.signs.clone());
    if own.reduced_plans.is_some() {
        table.left("reduced", |row| row.reduced.clone().unwrap_or_default());
    }
    section.table(table);
    section.figure(figure(own, |row| row.signs.clone(), "Plan diagram"));
    if let Some(count) = own.reduced_plans {
        section.line(format!(
            "With at most {} % more cost at each point, {count} of {} plans suffice.",
            number::figure(100.0 * own.increase_max),
            own.plans.len()
        ));
        section.figure(figure(
            own,
            |row| row.reduced.clone().unwrap_or_default(),
            "Reduced plan diagram",
        ));
    }
    section.table(plans(own));
    if !own.regrets.is_empty() {
        regrets(own, &mut section);
    }
    if own.reduced_plans.is_some() {
        section.note(
            "The reduction is by the optimizer's own costs, and a bound: a plan costs at most as \
             much as where both predicates select as much or more.",
        );
    }
    for sentence in &own.unforced {
        section.note(sentence.clone());
    }
    section
}

fn plans(own: &PlanDiagram) -> Table<'static> {
    let mut table = Columns::for_rows(&own.plans);
    table.left("sign", |plan| plan.sign.clone());
    table.right("points", |plan| format!("{} %", number::figure(100.0 * plan.share)));
    if own.reduced_plans.is_some() {
        table.right("reduced", |plan| {
            plan.reduced_share.map(|share| format!("{} %", number::figure(100.0 * share)))
        });
    }
    table.name("plan", |plan| plan.plan.clone());
    table.into()
}

/// A map of the times of the choice relative to the best alternative.
fn regrets(own: &PlanDiagram, section: &mut Section) {
    section.line("Time of the choice relative to the best forced alternative:");
    let (firsts, seconds) = (levels(own, |regret| regret.first), levels(own, |one| one.second));
    let mut table = Columns::for_rows(seconds.iter().rev());
    table.right(axis(own, 1), |second| percent(**second));
    for first in &firsts {
        let heading = format!("{} {}", axis(own, 0), percent(*first));
        table.right(heading, |second| at(own, *first, **second).map_or_else(Cell::default, cell));
    }
    section.table(table);
    section.figure(regret_figure(own, &firsts, &seconds));
    section.note(
        "1x: the choice is as fast as the best alternative. Ratios over blocks; those whose \
         interval is above 1x are marked and name the best alternative.",
    );
}

fn levels(own: &PlanDiagram, level: impl Fn(&PairRegret) -> f64) -> Vec<f64> {
    let mut levels: Vec<f64> = own.regrets.iter().map(level).collect();
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    levels
}

fn at(own: &PlanDiagram, first: f64, second: f64) -> Option<&PairRegret> {
    own.regrets.iter().find(|regret| {
        regret.first.total_cmp(&first).is_eq() && regret.second.total_cmp(&second).is_eq()
    })
}

fn cell(regret: &PairRegret) -> Cell {
    let ratio = format!("{}x", number::fixed(regret.ratio, 2));
    if regret.is_costly() {
        Cell::new(format!("{ratio} {}", regret.best), Tone::Warning)
    } else {
        Cell::new(ratio, Tone::Plain)
    }
}

fn ticks(shares: &[f64]) -> Vec<Value> {
    shares.iter().map(|share| string(&percent(*share))).collect()
}

fn figure(own: &PlanDiagram, signs: impl Fn(&DiagramRow) -> String, title: &str) -> Figure {
    let shares: Vec<f64> = own.rows.iter().map(|row| row.share).collect();
    let mut cells = Vec::new();
    for (y, row) in own.rows.iter().enumerate() {
        for (x, sign) in signs(row).chars().enumerate() {
            let plan = own.plans.iter().position(|plan| plan.sign.starts_with(sign)).unwrap_or(0);
            let name = own.plans.get(plan).map_or("", |plan| plan.plan.as_str());
            cells.push(json!([x, y, plan, sign.to_string(), string(&format!("{sign}: {name}"))]));
        }
    }
    Figure {
        spec: json!({
            "kind": "cells", "is_scale": false, "cells": cells,
            "x": { "label": string(axis(own, 0)), "ticks": ticks(&own.columns) },
            "y": { "label": string(axis(own, 1)), "ticks": ticks(&shares) },
        }),
        caption: format!("{title}: one colour for each plan; axes are logarithmic.").into(),
        alternative: format!("{title}: the table beside it has the plan of each point.").into(),
        data: plans(own),
        data_heading: "Plans".into(),
        chart: None,
    }
}

fn regret_table(own: &PlanDiagram) -> Table<'static> {
    let mut table = Columns::for_rows(&own.regrets);
    table.right(axis(own, 0), |regret| percent(regret.first));
    table.right(axis(own, 1), |regret| percent(regret.second));
    table.left("best", |regret| regret.best.clone());
    table.left("time of the choice / best", |regret| {
        let ends = regret.interval.map_or_else(String::new, |ends| {
            format!(" [{}, {}]", number::fixed(ends.low, 2), number::fixed(ends.high, 2))
        });
        format!("{}x{ends}", number::fixed(regret.ratio, 2))
    });
    table.into()
}

fn regret_figure(own: &PlanDiagram, firsts: &[f64], seconds: &[f64]) -> Figure {
    let place = |all: &[f64], share: f64| all.iter().position(|own| own.total_cmp(&share).is_eq());
    let cells = own.regrets.iter().map(|regret| {
        let shown = format!("{}x", number::fixed(regret.ratio, 2));
        let title = format!("{shown}, best: {}", regret.best);
        let (x, y) = (place(firsts, regret.first), place(seconds, regret.second));
        json!([x, y, coordinate(regret.ratio), shown, string(&title)])
    });
    Figure {
        spec: json!({
            "kind": "cells", "is_scale": true, "cells": cells.collect::<Vec<_>>(),
            "x": { "label": string(axis(own, 0)), "ticks": ticks(firsts) },
            "y": { "label": string(axis(own, 1)), "ticks": ticks(seconds) },
        }),
        caption: "Time of the choice relative to the best forced alternative.".into(),
        alternative: "Map of these ratios: the table above has them.".into(),
        data: regret_table(own),
        data_heading: "Ratios with intervals".into(),
        chart: None,
    }
}
