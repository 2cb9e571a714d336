//! The section of a plan diagram: the diagram, its plans, and what the choices cost.

use crate::diagram_analysis::{DiagramRow, PairRegret, PlanDiagram};
use crate::study::percent;
use crate::times::Regret;
use crate::wording;
use analysis::Summary;
use report::{Cell, Column, Columns, Figure, Section, Table, Tone, coordinate, number, string};
use serde_json::{Value, json};

/// A section for each diagram.
pub(crate) fn diagrams(_: &Summary, all: &[PlanDiagram]) -> Vec<Section> {
    all.iter().map(diagram).collect()
}

fn axis(diagram: &PlanDiagram, side: usize) -> &str {
    diagram.axes.get(side).map_or("", String::as_str)
}

fn diagram(plan_space: &PlanDiagram) -> Section {
    let mut section = Section::about("Plan diagram", &plan_space.group);
    let points = plan_space.columns.len() * plan_space.rows.len();
    section.line(format!(
        "{} at {} points. Across: share of rows by {}, from {} to {}. Up: by {}.",
        if plan_space.plans.len() == 1 {
            "One plan".into()
        } else {
            format!("{} plans", plan_space.plans.len())
        },
        number::count(points as u64),
        axis(plan_space, 0),
        plan_space.columns.first().map_or_else(String::new, |share| percent(*share)),
        plan_space.columns.last().map_or_else(String::new, |share| percent(*share)),
        axis(plan_space, 1),
    ));
    let rows: Vec<&DiagramRow> = plan_space.rows.iter().rev().collect();
    let mut table = Columns::for_rows(rows);
    table.right(axis(plan_space, 1), |row| percent(row.share));
    table.name("plans", |row| row.signs.clone());
    if plan_space.reduced_plans.is_some() {
        table.left("reduced", |row| row.reduced.clone().unwrap_or_default());
    }
    section.table(table);
    section.figure(figure(plan_space, |row| row.signs.clone(), "Plan diagram"));
    if let Some(count) = plan_space.reduced_plans {
        section.line(format!(
            "With at most {} % more cost at each point, {count} of {} plans suffice.",
            number::figure(100.0 * plan_space.increase_max),
            plan_space.plans.len()
        ));
        section.figure(figure(
            plan_space,
            |row| row.reduced.clone().unwrap_or_default(),
            "Reduced plan diagram",
        ));
    }
    section.table(plans(plan_space));
    if !plan_space.regrets.is_empty() {
        regrets(plan_space, &mut section);
    }
    if plan_space.reduced_plans.is_some() {
        section.note(
            "The reduction is by the optimizer's own costs, and a bound: a plan costs at most as \
             much as where both predicates select as much or more.",
        );
    }
    for sentence in &plan_space.unforced {
        section.note(sentence.clone());
    }
    section
}

fn plans(diagram: &PlanDiagram) -> Table<'static> {
    let mut table = Columns::for_rows(&diagram.plans);
    table.left("sign", |plan| plan.sign.clone());
    table.right("points", |plan| format!("{} %", number::figure(100.0 * plan.share)));
    if diagram.reduced_plans.is_some() {
        table.right("reduced", |plan| {
            plan.reduced_share.map(|share| format!("{} %", number::figure(100.0 * share)))
        });
    }
    table.name("plan", |plan| plan.plan.clone());
    table.into()
}

/// A map of the times of the choice relative to the best alternative.
fn regrets(diagram: &PlanDiagram, section: &mut Section) {
    section.line("Time of the choice relative to the best forced alternative:");
    let (firsts, seconds) =
        (levels(diagram, |regret| regret.first), levels(diagram, |regret| regret.second));
    let mut table = Columns::for_rows(seconds.iter().rev());
    table.right(axis(diagram, 1), |second| percent(**second));
    for first in &firsts {
        let heading = format!("{} {}", axis(diagram, 0), percent(*first));
        table.with(Column::right(heading), |second| {
            at(diagram, *first, **second).map_or_else(Cell::default, |pair| cell(&pair.regret))
        });
    }
    section.table(table);
    section.figure(regret_figure(diagram, &firsts, &seconds));
    section.note(
        "1x: the choice is as fast as the best alternative. Ratios over blocks; those whose \
         interval is above 1x are marked and name the best alternative.",
    );
}

fn levels(diagram: &PlanDiagram, level: impl Fn(&PairRegret) -> f64) -> Vec<f64> {
    let mut levels: Vec<f64> = diagram.regrets.iter().map(level).collect();
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    levels
}

fn at(diagram: &PlanDiagram, first: f64, second: f64) -> Option<&PairRegret> {
    diagram.regrets.iter().find(|regret| {
        regret.first.total_cmp(&first).is_eq() && regret.second.total_cmp(&second).is_eq()
    })
}

fn cell(regret: &Regret) -> Cell {
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

fn figure(diagram: &PlanDiagram, signs: impl Fn(&DiagramRow) -> String, title: &str) -> Figure {
    let shares: Vec<f64> = diagram.rows.iter().map(|row| row.share).collect();
    let mut cells = Vec::new();
    for (y, row) in diagram.rows.iter().enumerate() {
        for (x, sign) in signs(row).chars().enumerate() {
            let plan =
                diagram.plans.iter().position(|plan| plan.sign.starts_with(sign)).unwrap_or(0);
            let name = diagram.plans.get(plan).map_or("", |plan| plan.plan.as_str());
            cells.push(json!([x, y, plan, sign.to_string(), string(&format!("{sign}: {name}"))]));
        }
    }
    Figure {
        spec: json!({
            "kind": "cells", "is_scale": false, "cells": cells,
            "x": { "label": string(axis(diagram, 0)), "ticks": ticks(&diagram.columns) },
            "y": { "label": string(axis(diagram, 1)), "ticks": ticks(&shares) },
        }),
        caption: format!("{title}: one colour for each plan; axes are logarithmic.").into(),
        alternative: format!("{title}: the table beside it has the plan of each point.").into(),
        data: plans(diagram),
        data_heading: "Plans".into(),
        chart: None,
    }
}

fn regret_table(diagram: &PlanDiagram) -> Table<'static> {
    let mut table = Columns::for_rows(&diagram.regrets);
    table.right(axis(diagram, 0), |regret| percent(regret.first));
    table.right(axis(diagram, 1), |regret| percent(regret.second));
    table.left("best", |pair| pair.regret.best.clone());
    table.left("time of the choice / best", |pair| {
        wording::ratio(pair.regret.ratio, pair.regret.interval)
    });
    table.into()
}

fn regret_figure(diagram: &PlanDiagram, firsts: &[f64], seconds: &[f64]) -> Figure {
    let place =
        |all: &[f64], share: f64| all.iter().position(|value| value.total_cmp(&share).is_eq());
    let cells = diagram.regrets.iter().map(|PairRegret { first, second, regret }| {
        let shown = format!("{}x", number::fixed(regret.ratio, 2));
        let title = format!("{shown}, best: {}", regret.best);
        let (x, y) = (place(firsts, *first), place(seconds, *second));
        json!([x, y, coordinate(regret.ratio), shown, string(&title)])
    });
    Figure {
        spec: json!({
            "kind": "cells", "is_scale": true, "cells": cells.collect::<Vec<_>>(),
            "x": { "label": string(axis(diagram, 0)), "ticks": ticks(firsts) },
            "y": { "label": string(axis(diagram, 1)), "ticks": ticks(seconds) },
        }),
        caption: "Time of the choice relative to the best forced alternative.".into(),
        alternative: "Map of these ratios: the table above has them.".into(),
        data: regret_table(diagram),
        data_heading: "Ratios with intervals".into(),
        chart: None,
    }
}
