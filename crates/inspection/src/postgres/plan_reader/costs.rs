//! Costs of nodes by the formulas of the planner
//! (<https://github.com/postgres/postgres/blob/master/src/backend/optimizer/path/costsize.c>), as
//! far as a plan has their figures: with the constants among its settings, else their defaults.
//! A node whose cost has further parts, such as functions of the select list, has none.

use super::node::{flag, number};
use super::prices::Prices;
use crate::plans::{CostPart, CostTerm};
use serde_json::Value;

/// EXPLAIN rounds costs to hundredths.
const ROUNDING: f64 = 0.02;
/// Costs from here on are penalties for nodes that settings forbid (up to version 17).
const PENALTY: f64 = 1e9;

const TOTAL: &str = "total cost";
const STARTUP: &str = "startup cost";
const OPERATOR: &str = "cpu_operator_cost";
const TUPLE: &str = "cpu_tuple_cost";

/// The figures of a node that formulas need.
struct Costs<'a> {
    node: &'a Value,
    startup: f64,
    total: f64,
    rows: f64,
}

impl<'a> Costs<'a> {
    fn new(node: &'a Value) -> Option<Self> {
        let of = |key| number(node, key);
        let (startup, total, rows) = (of("Startup Cost")?, of("Total Cost")?, of("Plan Rows")?);
        Some(Self { node, startup, total, rows })
    }

    fn text(&self, key: &str) -> &str {
        self.node[key].as_str().unwrap_or_default()
    }

    fn has(&self, key: &str) -> bool {
        self.node.get(key).is_some()
    }

    /// Processes share its work.
    fn is_parallel(&self) -> bool {
        flag(self.node, "Parallel Aware")
    }
}

/// The parts of a node's cost that formulas explain.
pub fn parts(node: &Value, prices: &Prices) -> Vec<CostPart> {
    let inputs = node["Plans"].as_array().map(Vec::as_slice).unwrap_or_default();
    // A part of the statement is in the cost of its node in ways that the plan does not show.
    let Some(costs) = Costs::new(node).filter(|costs| costs.total < PENALTY) else {
        return Vec::new();
    };
    if inputs.iter().any(|input| input.get("Subplan Name").is_some()) {
        return Vec::new();
    }
    let inputs: Vec<Costs> = inputs.iter().filter_map(Costs::new).collect();
    let part = match (costs.text("Node Type"), inputs.as_slice()) {
        ("Seq Scan", []) => prices.seq_scan(&costs),
        ("Index Scan" | "Index Only Scan", []) => prices.index_scan(&costs),
        ("Bitmap Heap Scan", [bitmap]) => prices.bitmap(&costs, bitmap),
        ("Gather", [input]) => prices.gather(&costs, input),
        _ => None,
    };
    part.into_iter().collect()
}

fn agreeing(name: &str, cost: f64, terms: impl IntoIterator<Item = CostTerm>) -> Option<CostPart> {
    CostPart::agreeing(name, cost, terms, ROUNDING)
}

impl Prices {
    /// Pages and rows. Their number of pages follows from the cost: it must be whole.
    fn seq_scan(&self, costs: &Costs) -> Option<CostPart> {
        let of = |key| number(costs.node, key);
        let mut terms = Vec::new();
        let rows = match costs.text("Filter") {
            "" => costs.rows,
            // The estimate is of the rows that pass; a run has the others, too.
            filter if of("Actual Loops") == Some(1.0) && !costs.is_parallel() => {
                let rows = of("Actual Rows")? + of("Rows Removed by Filter").unwrap_or(0.0);
                let steps = rows * super::condition::steps(filter)?;
                terms.push(CostTerm::new(steps, "comparisons", self.operator, OPERATOR));
                rows
            }
            _ => return None,
        };
        terms.push(CostTerm::new(rows, "rows", self.tuple, TUPLE));
        let known: f64 = terms.iter().map(CostTerm::cost).sum();
        let pages = (costs.total - known) / self.seq_page;
        let error = ROUNDING / self.seq_page;
        let is_whole =
            costs.startup < ROUNDING && pages > 0.5 && (pages - pages.round()).abs() < error;
        terms.insert(0, CostTerm::implied(pages.round(), "pages", self.seq_page, "seq_page_cost"));
        agreeing(TOTAL, costs.total, terms).filter(|_| is_whole)
    }

    /// Rows in index and table; what remains is the cost of pages.
    fn index_scan(&self, costs: &Costs) -> Option<CostPart> {
        if costs.has("Filter") || costs.has("Order By") || costs.is_parallel() {
            return None;
        }
        let steps = match costs.text("Index Cond") {
            "" => 0.0,
            condition => super::condition::steps(condition)?,
        };
        let terms = [
            CostTerm::input("descent of the index", costs.startup),
            CostTerm::new(costs.rows, "entries", self.index_tuple, "cpu_index_tuple_cost"),
            CostTerm::new(costs.rows * steps, "comparisons", self.operator, OPERATOR),
            CostTerm::new(costs.rows, "rows", self.tuple, TUPLE),
        ];
        let known: f64 = terms.iter().map(CostTerm::cost).sum();
        let pages = (costs.total - known) / self.random_page;
        let pages = CostTerm::implied(pages, "random pages", self.random_page, "random_page_cost");
        let terms = terms.into_iter().filter(|term| term.cost() > 0.0).chain([pages.clone()]);
        agreeing(TOTAL, costs.total, terms).filter(|_| pages.count > 0.0)
    }

    /// The bitmap is complete before the first page is read.
    fn bitmap(&self, costs: &Costs, bitmap: &Costs) -> Option<CostPart> {
        if bitmap.text("Node Type") != "Bitmap Index Scan" {
            return None;
        }
        let terms = [
            CostTerm::input("its bitmap", bitmap.total),
            CostTerm::new(bitmap.rows, "entries", 0.1 * self.operator, "0.1 cpu_operator_cost"),
        ];
        agreeing(STARTUP, costs.startup, terms)
    }

    fn gather(&self, costs: &Costs, input: &Costs) -> Option<CostPart> {
        let terms = [
            CostTerm::input("its input", input.total),
            CostTerm::new(1.0, "start of workers", self.parallel_setup, "parallel_setup_cost"),
            CostTerm::new(costs.rows, "rows", self.parallel_tuple, "parallel_tuple_cost"),
        ];
        agreeing(TOTAL, costs.total, terms)
    }
}
