//! The log of `auto_explain` (<https://www.postgresql.org/docs/current/auto-explain.html>).

use super::formats;
use super::node::parameters;
use crate::plans::{Parameter, PlanError, Statement};

/// The beginning of a message with a plan, behind its duration.
const PLAN: &str = "plan:";

/// Returns true for a log with a plan.
pub fn recognises(text: &str) -> bool {
    text.lines().filter_map(duration).any(|(_, rest)| rest.starts_with(PLAN))
}

/// The milliseconds of a line with a statement's duration, and the rest of the line.
fn duration(line: &str) -> Option<(&str, &str)> {
    line.split_once("duration: ").and_then(|(_, rest)| rest.split_once(" ms  "))
}

/// The plans of a log. A damaged or truncated one does not prevent reading the others. Before
/// PostgreSQL 16 `auto_explain` does not write values: they are in the line with the statement's
/// duration, before or after the plan.
pub fn read(text: &str) -> Vec<Statement> {
    let mut statements: Vec<Statement> = Vec::new();
    let mut lines = (1..).zip(text.lines()).peekable();
    let (mut executed, mut values) = (String::new(), Vec::new());
    while let Some((number, line)) = lines.next() {
        let mut body = String::new();
        // Lines that belong to a message begin with a tab.
        while let Some((_, more)) = lines.next_if(|(_, line)| line.starts_with('\t')) {
            body.push_str(&more[1..]);
            body.push('\n');
        }
        let detail =
            line.split_once("DETAIL:  ").and_then(|(_, detail)| detail.split_once("arameters: "));
        if let Some((_, text)) = detail
            && !executed.is_empty()
        {
            values = parameters(&format!("{text}\n{body}"));
            add_values(statements.last_mut(), &executed, &values);
        }
        let Some((ms, rest)) = duration(line) else { continue };
        if rest.starts_with(PLAN) {
            let statement = message(&body).unwrap_or_else(|error| damaged(&body, number, &error));
            statements.push(statement);
            if let Some(plan) = statements.last_mut().and_then(|statement| statement.plan.as_mut())
            {
                plan.elapsed_ms = ms.parse().ok().or(plan.elapsed_ms);
            }
            add_values(statements.last_mut(), &executed, &values);
        } else if let Some((_, text)) =
            rest.strip_prefix("execute ").and_then(|rest| rest.split_once(": "))
        {
            executed.clear();
            executed.push_str(format!("{text}\n{body}").trim());
            values.clear();
        }
    }
    statements
}

fn add_values(statement: Option<&mut Statement>, executed: &str, values: &[Parameter]) {
    let same = statement.filter(|statement| statement.text.trim() == executed);
    if let Some(plan) =
        same.and_then(|entry| entry.plan.as_mut()).filter(|plan| plan.parameters.is_empty())
    {
        plan.parameters = values.to_vec();
    }
}

fn message(body: &str) -> Result<Statement, PlanError> {
    let mut all = formats::read(body)?;
    if all.len() == 1 { Ok(all.remove(0)) } else { Err(PlanError::Unknown) }
}

/// A plan that cannot be read, with the text of the statement where that is whole.
fn damaged(body: &str, number: usize, error: &PlanError) -> Statement {
    let line = body.lines().find_map(|line| line.trim().strip_prefix("\"Query Text\": "));
    let text = line.and_then(|text| serde_json::from_str(text.trim_end_matches(',')).ok());
    Statement {
        text: text.unwrap_or_default(),
        damage: Some(format!("line {number}: {error}")),
        ..Statement::default()
    }
}
