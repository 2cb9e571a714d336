//! SQLite's query planner as plain data (<https://www.sqlite.org/queryplanner.html>).

use crate::optimizer::{Alternative, Explain, LIMIT_OFFSET, Optimizer, Statistics};
use engine::Results;
use engine::planned::PlanStep;
use inspection::plans::{Plan, PlanError};
use inspection::sqlite::plan_of_steps;

/// The planner.
pub const OPTIMIZER: Optimizer = Optimizer {
    explain: Explain::words("EXPLAIN QUERY PLAN "),
    analyze: &[],
    read,
    alternatives: &[
        Alternative::by_hint("scan", " NOT INDEXED").scanning(&["SCAN"]),
        Alternative::by_hint("index", " INDEXED BY {index}").reading(&["SEARCH"]),
    ],
    unforced: &["SQLite's plans have no estimates, so that estimated rows are unknown."],
    read_only: &["PRAGMA query_only = ON"],
    index: "SELECT '\"' || l.name || '\"' FROM pragma_index_list('{table}') AS l JOIN \
            pragma_index_info(l.name) AS i WHERE i.seqno = 0 AND i.name = '{column}' LIMIT 1",
    row_at: LIMIT_OFFSET,
    statistics: Statistics {
        gather: &["ANALYZE {table}"],
        sample: &["PRAGMA analysis_limit = {sample}"],
        by_rows: &[],
        extended: &[],
    },
    formulas: None,
    hints: None,
    prefix: None,
};

fn read(results: &Results) -> Result<Plan, PlanError> {
    let cell = |row: &[Option<String>], at: usize| row.get(at).cloned().flatten();
    let number = |row: &[Option<String>], at| cell(row, at).and_then(|cell| cell.parse().ok());
    let rows = results.before.iter().chain([&results.last]);
    let steps: Vec<PlanStep> = rows
        .filter_map(|row| {
            let (id, parent) = (number(row, 0)?, number(row, 1)?);
            Some(PlanStep { id, parent, detail: cell(row, 3)? })
        })
        .collect();
    plan_of_steps(&steps, str::to_owned)
}
