//! A plan on a page: its operators by their share, estimates beside actual rows, remarks in place.

use super::tree::{Placed, grouped, overview, rest, table};
use crate::plans::{Measure, NetCost, Operator, Plan, Remark, Terms, remarks};
use observations::order;
use report::model::{Bar, BarGroup, Chart, ChartKind, Section, Tone};
use report::number;

/// Bars of a chart; the table has all operators.
const BARS: usize = 15;
/// The share from which an operator is described without a remark.
const SHOWN: f64 = 0.01;

/// An operator with its figures and remarks.
struct Described<'a> {
    number: usize,
    operator: &'a Operator,
    net: NetCost,
    remarks: Vec<&'a Remark>,
}

/// Adds a plan to the section of a page: remarks on the whole statement, operators by time (by cost
/// where the run was not timed) with their remarks, and the tree.
pub fn plan_page(section: &mut Section, plan: &Plan, terms: &Terms) {
    let remarks = remarks(plan, terms);
    let figures = plan.net_costs();
    let timed = figures.iter().any(|figure| figure.ms.is_some());
    let measure = if timed { Measure::Time } else { Measure::Cost };
    let of = |share: &NetCost| if timed { share.ms } else { share.cost }.unwrap_or(0.0);
    let sum: f64 = figures.iter().map(of).sum();
    let whole = plan.elapsed_ms.filter(|_| timed).unwrap_or(0.0).max(sum);
    section.line(overview(plan));
    for remark in remarks.iter().filter(|remark| remark.operator.is_none()) {
        section.toned(Placed { remark, place: String::new() }.to_string(), Tone::Warning);
    }
    let operators = plan.operators();
    let mut all: Vec<Described> = operators
        .iter()
        .zip(&figures)
        .enumerate()
        .map(|(number, ((_, operator), figure))| Described {
            number,
            operator,
            net: *figure,
            remarks: remarks.iter().filter(|remark| remark.operator == Some(number)).collect(),
        })
        .collect();
    order::sort(&mut all, &|a, b| of(&b.net).total_cmp(&of(&a.net)));
    if whole > 0.0 {
        section.chart(chart(&all, measure, of));
    }
    for entry in &all {
        let part = if whole > 0.0 { of(&entry.net) / whole } else { 0.0 };
        if part < SHOWN && entry.remarks.is_empty() {
            continue;
        }
        section.line(described(entry, part, measure));
        for remark in &entry.remarks {
            let placed = Placed { remark, place: String::new() };
            section.indented(2, placed.to_string(), Tone::Warning);
        }
    }
    table(section, plan);
    rest(section, plan);
}

/// Operators and their own time or cost.
fn chart(all: &[Described], measure: Measure, of: impl Fn(&NetCost) -> f64) -> Chart {
    let (title, unit) = match measure {
        Measure::Time => ("Own time of operators (less is better)", "ms"),
        Measure::Cost => ("Own estimated cost of operators (less is better)", ""),
    };
    let bars =
        all.iter().take(BARS).filter(|described| of(&described.net) > 0.0).map(|described| Bar {
            label: format!("{} {}", described.number + 1, name_of(described.operator)).into(),
            value: of(&described.net),
            ..Bar::default()
        });
    Chart {
        title: title.into(),
        unit: unit.into(),
        kind: ChartKind::Bars,
        groups: vec![BarGroup { bars: bars.collect(), ..BarGroup::default() }],
    }
}

/// An operator with its table.
pub fn name_of(operator: &Operator) -> String {
    let object = operator.objects.first().map(|object| format!(" of {}", object.label()));
    format!("{}{}", operator.title(), object.unwrap_or_default())
}

/// An operator in a sentence: its share, its rows as estimated and as counted, its runs.
fn described(entry: &Described, part: f64, measure: Measure) -> String {
    let operator = entry.operator;
    let share = match measure {
        Measure::Time => format!(
            "{} of the time, {} ms",
            number::short_percent(part),
            grouped(entry.net.ms.unwrap_or(0.0)).text()
        ),
        Measure::Cost => format!("{} of the cost", number::short_percent(part)),
    };
    let rows = |rows: Option<f64>, word: &str| {
        rows.map(|rows| format!("; {} rows {word}", grouped(rows).text())).unwrap_or_default()
    };
    let runs = operator.executions.filter(|runs| *runs > 1.0);
    let runs = runs.map(|runs| format!("; {} runs", grouped(runs).text()));
    format!(
        "{} {}: {share}{}{}{}.",
        entry.number + 1,
        name_of(operator),
        rows(operator.rows.estimated, "estimated"),
        rows(operator.rows.actual, "actual"),
        runs.unwrap_or_default()
    )
}
