//! How the engine ran the statements, where configurations differ in that.

use crate::recorded::{PlanRow, StatementPlans};
use analysis::Summary;
use report::text::{joined, shortened};
use report::{Block, Line, Section, Tone, number};

/// Statements that are shown one by one; pages have the others, and JSON has all.
const STATEMENTS_MAX: usize = 12;
/// Statements of which pages have the whole plans.
const LISTED_MAX: usize = 200;
/// Configurations that are named of a plan.
const NAMED_MAX: usize = 4;
/// Operators that are named of a plan.
const OPERATORS_MAX: usize = 8;

/// The statements of which configurations have different plans, each plan in a line.
pub fn section(summary: &Summary, all: &[StatementPlans]) -> Option<Section> {
    let mut section = Section::new("Plans");
    // A single configuration shows all plans: there is nothing to compare.
    let alone = summary.configurations.len() == 1;
    let (shown, same): (Vec<&StatementPlans>, Vec<&StatementPlans>) =
        all.iter().partition(|plans_of_statement| {
            plans_of_statement.differ() || alone && has_plan(plans_of_statement)
        });
    for plans_of_statement in shown.iter().take(STATEMENTS_MAX) {
        section.line(shortened(&plans_of_statement.statement));
        for plan in plans_of_statement.plans.iter().filter(|plan| plan.reason.is_none()) {
            section.indented(2, described(summary, plan, plans_of_statement.differ()), Tone::Plain);
        }
    }
    if let Some(more) = shown.len().checked_sub(STATEMENTS_MAX).filter(|more| *more > 0) {
        section.note(format!(
            "{} more with different plans: see the JSON output.",
            number::plural(more, "statement")
        ));
    }
    let explained = same.iter().filter(|plans_of_statement| has_plan(plans_of_statement)).count();
    if explained > 0 {
        let have = if explained == 1 { "has" } else { "have" };
        let statements = number::plural(
            explained,
            if shown.is_empty() { "statement" } else { "other statement" },
        );
        section.note(format!("{statements} {have} the same plan in all configurations."));
    }
    for (reason, statements) in unexplained(all) {
        let (count, example) =
            (number::plural(statements.len(), "statement"), shortened(statements[0]));
        section.note(format!("No plan of {count} ({example}): {reason}."));
    }
    if shown.iter().any(|plans_of_statement| {
        plans_of_statement
            .plans
            .iter()
            .any(|plan| plan.estimated_cost.is_some() || plan.estimated_rows.is_some())
    }) {
        section.note(
            "Rows and cost are the optimizer's estimates for the whole statement, cost in the \
             engine's unit. Plans are read outside the measured part.",
        );
    }
    let listings: Vec<Block> = all
        .iter()
        .take(LISTED_MAX)
        .flat_map(|plans_of_statement| listing(summary, plans_of_statement))
        .collect();
    if !listings.is_empty() {
        section.blocks.push(Block::Fold("All plans".into(), listings));
    }
    section.unless_empty()
}

fn has_plan(statement_plans: &StatementPlans) -> bool {
    statement_plans.plans.iter().any(|plan| plan.reason.is_none())
}

/// `index=with: Index Scan using i on t; 12 rows, cost 8.31 (5 trials)`
fn described(summary: &Summary, plan: &PlanRow, differs: bool) -> String {
    let estimate = |ends: Option<(f64, f64)>| {
        ends.map(|(least, most)| {
            let [low, high] = [least, most].map(number::figure);
            if low == high { low } else { format!("{low} to {high}") }
        })
    };
    let mut operators: Vec<&str> =
        plan.operators.iter().take(OPERATORS_MAX).map(String::as_str).collect();
    if plan.operators.len() > OPERATORS_MAX {
        operators.push("...");
    }
    let estimates = [
        estimate(plan.estimated_rows).map(|rows| format!("{rows} rows")),
        estimate(plan.estimated_cost).map(|cost| format!("cost {cost}")),
    ];
    let mut figures = joined(estimates.into_iter().flatten(), ", ");
    if !figures.is_empty() {
        figures.insert_str(0, "; ");
    }
    let trials = number::plural(plan.trials, "trial");
    let labels = labels(summary, plan);
    let of = if differs && !labels.is_empty() { format!("{labels}: ") } else { String::new() };
    format!("{of}{}{figures} ({trials})", operators.join(", "))
}

fn labels(summary: &Summary, plan: &PlanRow) -> String {
    let named: Vec<&str> = plan
        .configurations
        .iter()
        .take(NAMED_MAX)
        .map(|index| summary.configurations[*index].label.as_str())
        .collect();
    let more = plan.configurations.len().saturating_sub(NAMED_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", named.join(" | "))
}

/// Reasons why statements have no plan, each with the statements.
fn unexplained(all: &[StatementPlans]) -> Vec<(&str, Vec<&str>)> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for plans_of_statement in all.iter().filter(|plans_of_statement| !has_plan(plans_of_statement))
    {
        let Some(reason) = plans_of_statement.plans.first().and_then(|plan| plan.reason.as_deref())
        else {
            continue;
        };
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, statements)) => statements.push(&plans_of_statement.statement),
            None => reasons.push((reason, vec![&plans_of_statement.statement])),
        }
    }
    reasons
}

/// A statement with its plans as the engine printed them.
fn listing(summary: &Summary, statement_plans: &StatementPlans) -> Vec<Block> {
    let line =
        |text: String, indent| Block::Line(Line { text: text.into(), indent, ..Line::default() });
    let mut blocks = Vec::new();
    for plan in statement_plans.plans.iter().filter(|plan| plan.reason.is_none()) {
        let labels = labels(summary, plan);
        blocks.extend((!labels.is_empty()).then(|| line(labels, 2)));
        blocks.push(Block::Listing(plan.text.lines().map(Into::into).collect()));
    }
    if !blocks.is_empty() {
        blocks.insert(0, line(shortened(&statement_plans.statement), 0));
    }
    blocks
}
