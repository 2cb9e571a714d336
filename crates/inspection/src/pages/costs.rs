//! The estimated costs of a plan's operators, by published formulas.

use super::page::name_of;
use super::tree::{grouped, plan_tree};
use crate::plans::{CostPart, CostTerm, Plan, Terms};
use report::model::{Section, Tone};
use report::number;
use report::text::joined;

/// Adds a plan with its remarks, and the costs of its operators term by term.
pub fn plan_costs(section: &mut Section, plan: &Plan, terms: &Terms) {
    plan_tree(section, plan, terms);
    let all = plan.operators();
    let explained: Vec<_> = all
        .iter()
        .map(|(_, operator)| operator)
        .filter(|operator| !operator.cost_parts.is_empty())
        .collect();
    if explained.is_empty() {
        return section.note("No cost of this plan follows a published formula.");
    }
    section.line(format!("Costs by formula, as published: {}.", terms.cost_source));
    for operator in &explained {
        for part in &operator.cost_parts {
            section.indented(2, format!("{}: {}", name_of(operator), sum(part)), Tone::Plain);
        }
    }
    section.note(format!(
        "Agreeing with a formula: {} of {}. Numbers with ~ follow from the cost: the plan does not \
         have them.",
        explained.len(),
        number::plural(all.len(), "operator")
    ));
}

/// `total cost 2,640 = ~1,640 pages x 1 (seq_page_cost) + 100,000 rows x 0.01 (cpu_tuple_cost)`.
fn sum(part: &CostPart) -> String {
    format!("{} {} = {}", part.name, cost(part.cost), joined(part.terms.iter().map(term), " + "))
}

fn term(term: &CostTerm) -> String {
    let mark = if term.is_implied { "~" } else { "" };
    let (count, price) = (grouped(term.count), cost(term.price));
    format!("{mark}{} {} x {price} ({})", count.text(), term.of, term.constant)
}

/// A cost in all of its digits: prices are small, and totals have two decimals.
fn cost(value: f64) -> String {
    let before = value.abs().log10().floor();
    let decimals = if before.is_finite() { (5.0 - before).clamp(2.0, 12.0) } else { 0.0 };
    let text = format!("{value:.*}", decimals as usize);
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let whole = whole.parse().map_or_else(|_| whole.to_owned(), number::count);
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() { whole } else { format!("{whole}.{fraction}") }
}
