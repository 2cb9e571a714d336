//! Costs of sequential scans by the formula of the planner
//! (<https://github.com/postgres/postgres/blob/master/src/backend/optimizer/path/costsize.c>), with
//! the constants among the settings of a plan, else their defaults.

use crate::plans::{CostPart, CostTerm, number};
use serde_json::Value;

/// EXPLAIN rounds costs to hundredths.
const ROUNDING: f64 = 0.02;

/// The cost of a scan without a condition: pages and rows. Their number of pages follows from the
/// cost: it must be whole. `settings`: those that EXPLAIN (SETTINGS) adds to the plan.
pub fn scan(node: &Value, settings: &Value) -> Option<CostPart> {
    let is_plain = node["Node Type"] == "Seq Scan"
        && ["Filter", "Plans"].iter().all(|member| node.get(member).is_none());
    let price = |name: &str, default: f64| {
        settings[name].as_str().and_then(|value| value.parse().ok()).unwrap_or(default)
    };
    let (startup, total) = (number(node, "Startup Cost")?, number(node, "Total Cost")?);
    let tuple_cost = price("cpu_tuple_cost", 0.01);
    let rows = CostTerm::new(number(node, "Plan Rows")?, "rows", tuple_cost, "cpu_tuple_cost");
    let page_cost = price("seq_page_cost", 1.0);
    let pages = (total - rows.cost()) / page_cost;
    let is_whole =
        startup < ROUNDING && pages > 0.5 && (pages - pages.round()).abs() < ROUNDING / page_cost;
    let pages = CostTerm::implied(pages.round(), "pages", page_cost, "seq_page_cost");
    let part = CostPart::agreeing("total cost", total, vec![pages, rows], ROUNDING);
    part.filter(|_| is_plain && is_whole)
}
