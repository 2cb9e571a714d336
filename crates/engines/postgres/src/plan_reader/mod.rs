//! Plans as PostgreSQL writes them: EXPLAIN as JSON and as text, and the log of `auto_explain`.

mod json;
mod log;
mod node;
mod text;

use engine::Plans;
pub use node::ENGINE;
use plans::{PlanError, Statement, documents, has_member};

/// The formats of PostgreSQL.
#[derive(Debug, Clone, Copy)]
pub struct ExplainPlans;

impl Plans for ExplainPlans {
    fn formats(&self) -> &'static str {
        "EXPLAIN of PostgreSQL as JSON or text, and the log of its auto_explain"
    }

    fn recognises(&self, text: &str) -> bool {
        let plan = without_frame(text);
        log::recognises(text) || is_json(&plan) || text::recognises(&plan)
    }

    fn read(&self, text: &str) -> Result<Vec<Statement>, PlanError> {
        if log::recognises(text) {
            return Ok(log::read(text));
        }
        let plan = without_frame(text);
        if is_json(&plan) {
            return documents(&plan, json::read);
        }
        text::read(&plan).map(|statement| vec![statement])
    }
}

fn is_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '[']) && has_member(text, "Plan")
}

/// Removes what psql prints around a plan: its heading, the line below it, the sign of a line that
/// continues, and the number of rows.
fn without_frame(text: &str) -> String {
    let Some(start) = text.find("QUERY PLAN") else { return text.to_owned() };
    let body = &text[text[start..].find('\n').map_or(text.len(), |length| start + length + 1)..];
    let lines = body.lines().filter(|line| {
        let line = line.trim();
        let is_count =
            line.starts_with('(') && (line.ends_with(" rows)") || line.ends_with(" row)"));
        !is_count && (line.is_empty() || line.chars().any(|c| c != '-'))
    });
    let lines = lines.map(|line| line.trim_end().strip_suffix('+').map_or(line, str::trim_end));
    lines.collect::<Vec<_>>().join("\n").trim_end().to_owned()
}
