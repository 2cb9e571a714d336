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

/// Pages of a table at most.
const TABLE_PAGES_MAX: f64 = 4_294_967_296.0;

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

    /// Bytes of its rows, with their headers.
    fn bytes(&self) -> Option<f64> {
        let width = (number(self.node, "Plan Width")? / 8.0).ceil() * 8.0;
        Some(self.rows * (width + 24.0))
    }
}

/// The parts of a node's cost that formulas explain. `limit`: the rows after which the node above
/// stops.
pub fn parts(node: &Value, limit: Option<f64>, prices: &Prices) -> Vec<CostPart> {
    let inputs = node["Plans"].as_array().map(Vec::as_slice).unwrap_or_default();
    // A part of the statement is in the cost of its node in ways that the plan does not show.
    let Some(costs) = Costs::new(node).filter(|costs| costs.total < PENALTY) else {
        return Vec::new();
    };
    if inputs.iter().any(|input| input.get("Subplan Name").is_some()) {
        return Vec::new();
    }
    let inputs: Vec<Costs> = inputs.iter().filter_map(Costs::new).collect();
    match (costs.text("Node Type"), inputs.as_slice()) {
        ("Seq Scan", []) => prices.seq_scan(&costs).into_iter().collect(),
        ("Index Scan" | "Index Only Scan", []) => prices.index_scan(&costs).into_iter().collect(),
        ("Bitmap Heap Scan", [bitmap]) => {
            let pages = prices.bitmap_pages(&costs, bitmap);
            prices.bitmap(&costs, bitmap).into_iter().chain(pages).collect()
        }
        ("Hash Join", [outer, hash]) => {
            let joined = prices.hash_probe(&costs, outer);
            prices.hash_join(&costs, outer, hash).into_iter().chain(joined).collect()
        }
        (name, [outer, inner]) => prices.join(name, &costs, outer, inner).into_iter().collect(),
        (name, [input]) => prices.over(name, &costs, input, limit).into_iter().collect(),
        _ => Vec::new(),
    }
}

fn agreeing(name: &str, cost: f64, terms: impl IntoIterator<Item = CostTerm>) -> Option<CostPart> {
    CostPart::agreeing(name, cost, terms, ROUNDING)
}

/// The first rows of an input have their part of its cost.
fn limited(costs: &Costs, input: &Costs) -> Option<CostPart> {
    let each = (input.total - input.startup) / input.rows;
    let terms = [
        CostTerm::input("startup of its input", input.startup),
        CostTerm::new(costs.rows, "rows", each, "cost of its input for each row"),
    ];
    agreeing(TOTAL, costs.total, terms).filter(|_| costs.rows < input.rows)
}

impl Prices {
    fn join(self, name: &str, costs: &Costs, outer: &Costs, inner: &Costs) -> Option<CostPart> {
        match name {
            "Merge Join" => self.merge_join(costs, outer, inner),
            "Nested Loop" => self.nested_loop(costs, outer, inner),
            _ => None,
        }
    }

    /// The cost of a node with one input.
    fn over(
        self,
        name: &str,
        costs: &Costs,
        input: &Costs,
        limit: Option<f64>,
    ) -> Option<CostPart> {
        match name {
            "Sort" => self.sort(costs, input, limit),
            "Aggregate" | "HashAggregate" | "GroupAggregate" => self.aggregate(costs, input),
            "Gather" => self.gather(costs, input),
            "Gather Merge" => self.gather_merge(costs, input),
            "Limit" => limited(costs, input),
            "Materialize" => {
                let price = 2.0 * self.operator;
                let kept = CostTerm::new(input.rows, "rows kept", price, "2 cpu_operator_cost");
                agreeing(TOTAL, costs.total, [CostTerm::input("its input", input.total), kept])
            }
            _ => None,
        }
    }

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

    /// Rows and the pages that hold them. A page costs the less the more of the table is read: the
    /// size of the table follows from the cost (the formula of L. Mackert and G. Lohman).
    fn bitmap_pages(&self, costs: &Costs, bitmap: &Costs) -> Option<CostPart> {
        let rows = bitmap.rows;
        let recheck = super::condition::steps(costs.text("Recheck Cond"))?;
        let steps = rows * (recheck + super::condition::steps(costs.text("Filter"))?);
        let known = costs.startup + rows * self.tuple + steps * self.operator;
        let read = |table: f64| {
            let pages = 2.0 * table * rows / (2.0 * table + rows);
            let pages = if pages >= table { table } else { pages.ceil() };
            let saved = (self.random_page - self.seq_page) * (pages / table).sqrt();
            (pages, if pages >= 2.0 { self.random_page - saved } else { self.random_page })
        };
        let cost = |table: f64| {
            let (pages, price) = read(table);
            known + pages * price
        };
        let (mut low, mut high) = (1.0_f64, TABLE_PAGES_MAX);
        while high - low > 1.0 {
            let middle = f64::midpoint(low, high).floor();
            let end = if cost(middle) < costs.total { &mut low } else { &mut high };
            *end = middle;
        }
        let error = |table: f64| (cost(table) - costs.total).abs();
        let table = if error(low) < error(high) { low } else { high };
        // Of a table that is much larger than what is read the cost hardly depends on its size.
        let is_sure = error(table) < ROUNDING && error(table * 1.02 + 1.0) > 2.0 * ROUNDING;
        let (pages, price) = read(table);
        let of = format!("pages of a table of {table}");
        let constant = "between random_page_cost and seq_page_cost";
        let terms = [
            CostTerm::input("its startup", costs.startup),
            CostTerm::implied(pages, &of, price, constant),
            CostTerm::new(rows, "rows", self.tuple, TUPLE),
            CostTerm::new(steps, "comparisons", self.operator, OPERATOR),
        ];
        agreeing(TOTAL, costs.total, terms).filter(|_| is_sure)
    }

    /// Comparisons, pages on disk where the rows exceed `work_mem`, and passing the rows on.
    fn sort(&self, costs: &Costs, input: &Costs, limit: Option<f64>) -> Option<CostPart> {
        let rows = input.rows.max(2.0);
        let bytes = input.bytes()?;
        let kept = limit.filter(|limit| *limit < rows).unwrap_or(rows);
        let is_on_disk = bytes * kept / rows > self.work_mem;
        // A heap of the first rows, of which each needs a place.
        let is_heap = !is_on_disk && (rows > 2.0 * kept || bytes > self.work_mem);
        let compared = if is_heap { 2.0 * kept } else { rows };
        let mut terms = vec![
            CostTerm::input("its input", input.total),
            CostTerm::new(
                rows * compared.log2(),
                "comparisons",
                2.0 * self.operator,
                "2 cpu_operator_cost",
            ),
            CostTerm::new(rows, "rows", self.operator, OPERATOR),
        ];
        if is_on_disk {
            let page = 0.75 * self.seq_page + 0.25 * self.random_page;
            let name = "0.75 seq_page_cost + 0.25 random_page_cost";
            let pages = self.sorted_pages(bytes);
            terms.push(CostTerm::new(pages, "pages written and read", page, name));
        }
        agreeing(TOTAL, costs.total, terms)
    }

    /// Rows hashed, before the first row of the outer input is read.
    fn hash_join(&self, costs: &Costs, outer: &Costs, hash: &Costs) -> Option<CostPart> {
        let keys = super::condition::clauses(costs.text("Hash Cond"));
        let terms = [
            CostTerm::input("startup of the outer input", outer.startup),
            CostTerm::input("the inner input", hash.total),
            CostTerm::new(hash.rows * keys, "hash keys", self.operator, OPERATOR),
            CostTerm::new(hash.rows, "rows hashed", self.tuple, TUPLE),
        ];
        agreeing(STARTUP, costs.startup, terms)
    }

    /// Rows of the outer input, each compared with half of its bucket. The rows of a bucket follow
    /// from the cost: they must be a whole number.
    fn hash_probe(&self, costs: &Costs, outer: &Costs) -> Option<CostPart> {
        if costs.has("Join Filter") || costs.has("Filter") {
            return None;
        }
        let keys = super::condition::clauses(costs.text("Hash Cond")) * outer.rows;
        let terms = [
            CostTerm::input("its startup", costs.startup),
            CostTerm::input("rows of the outer input", outer.total - outer.startup),
            CostTerm::new(keys, "hash keys", self.operator, OPERATOR),
            CostTerm::new(costs.rows, "rows", self.tuple, TUPLE),
        ];
        let known: f64 = terms.iter().map(CostTerm::cost).sum();
        let half = 0.5 * keys * self.operator;
        let bucket = (costs.total - known) / half;
        let is_whole = bucket > 0.5
            && (bucket - bucket.round()).abs() <= 0.01 * bucket + ROUNDING / half
            && ROUNDING / half < 0.25;
        let compared = 0.5 * keys * bucket.round();
        let compared =
            CostTerm::implied(compared, "comparisons in buckets", self.operator, OPERATOR);
        agreeing(TOTAL, costs.total, terms.into_iter().chain([compared])).filter(|_| is_whole)
    }

    /// Both inputs, read to their ends and once.
    fn merge_join(&self, costs: &Costs, outer: &Costs, inner: &Costs) -> Option<CostPart> {
        let keys = super::condition::clauses(costs.text("Merge Cond"));
        let compared = keys * (outer.rows + inner.rows);
        let terms = [
            CostTerm::input("the outer input", outer.total),
            CostTerm::input("the inner input", inner.total),
            CostTerm::new(compared, "comparisons", self.operator, OPERATOR),
            CostTerm::new(costs.rows, "rows", self.tuple, TUPLE),
        ];
        agreeing(TOTAL, costs.total, terms)
    }

    /// The inner input for each row of the outer one, and each pair of rows.
    fn nested_loop(&self, costs: &Costs, outer: &Costs, inner: &Costs) -> Option<CostPart> {
        let steps = match costs.text("Join Filter") {
            "" => 0.0,
            condition => super::condition::steps(condition)?,
        };
        let pairs = outer.rows * inner.rows;
        let mut terms = vec![CostTerm::input("the outer input", outer.total)];
        match inner.text("Node Type") {
            "Memoize" => return None,
            // It keeps its rows.
            "Materialize" | "Sort" => {
                let again = (outer.rows - 1.0) * inner.rows;
                terms.push(CostTerm::input("the inner input", inner.total));
                terms.push(CostTerm::new(again, "rows read again", self.operator, OPERATOR));
            }
            _ => terms.push(CostTerm::new(
                outer.rows,
                "runs of the inner input",
                inner.total,
                "its cost",
            )),
        }
        if steps > 0.0 {
            terms.push(CostTerm::new(pairs * steps, "comparisons", self.operator, OPERATOR));
        }
        terms.push(CostTerm::new(pairs, "pairs of rows", self.tuple, TUPLE));
        CostPart::agreeing(TOTAL, costs.total, terms, ROUNDING + 0.005 * outer.rows)
    }

    /// Columns to group by, calls of aggregate functions, groups. The calls for each row follow
    /// from the cost: they must be a whole number.
    fn aggregate(&self, costs: &Costs, input: &Costs) -> Option<CostPart> {
        let strategy = match costs.text("Node Type") {
            "HashAggregate" => "Hashed",
            "GroupAggregate" => "Sorted",
            _ => costs.text("Strategy"),
        };
        let columns = super::condition::keys(&costs.node["Group Key"]);
        let is_grouped = matches!(strategy, "Hashed" | "Sorted");
        let is_on_disk = number(costs.node, "Planned Partitions").is_some_and(|count| count > 0.0);
        // HAVING drops groups.
        let is_other = is_on_disk || costs.has("Filter") || costs.has("Grouping Sets");
        if is_other || is_grouped != (columns > 0) {
            return None;
        }
        let compared = columns as f64 * input.rows;
        let mut terms = vec![CostTerm::input("its input", input.total)];
        if is_grouped {
            terms.push(CostTerm::new(compared, "keys", self.operator, OPERATOR));
        }
        terms.push(CostTerm::new(costs.rows, "groups", self.tuple, TUPLE));
        let known: f64 = terms.iter().map(CostTerm::cost).sum();
        let calls = (costs.total - known) / self.operator / input.rows;
        let error = 0.01 * calls + ROUNDING / self.operator / input.rows;
        let is_whole = (calls - calls.round()).abs() <= error && error < 0.25;
        let calls = calls.round() * input.rows;
        if calls > 0.0 {
            terms.push(CostTerm::implied(calls, "calls of functions", self.operator, OPERATOR));
        }
        agreeing(TOTAL, costs.total, terms).filter(|_| is_whole)
    }

    fn gather(&self, costs: &Costs, input: &Costs) -> Option<CostPart> {
        let terms = [
            CostTerm::input("its input", input.total),
            CostTerm::new(1.0, "start of workers", self.parallel_setup, "parallel_setup_cost"),
            CostTerm::new(costs.rows, "rows", self.parallel_tuple, "parallel_tuple_cost"),
        ];
        agreeing(TOTAL, costs.total, terms)
    }

    /// A heap with a place for each process; a row costs 5 % more than without order.
    fn gather_merge(&self, costs: &Costs, input: &Costs) -> Option<CostPart> {
        let processes = number(costs.node, "Workers Planned")? + 1.0;
        let compared = (costs.rows + processes) * processes.log2();
        let terms = [
            CostTerm::input("its input", input.total),
            CostTerm::new(1.0, "start of workers", self.parallel_setup, "parallel_setup_cost"),
            CostTerm::new(compared, "comparisons", 2.0 * self.operator, "2 cpu_operator_cost"),
            CostTerm::new(costs.rows, "rows of the heap", self.operator, OPERATOR),
            CostTerm::new(
                costs.rows,
                "rows",
                1.05 * self.parallel_tuple,
                "1.05 parallel_tuple_cost",
            ),
        ];
        agreeing(TOTAL, costs.total, terms)
    }
}
