//! Costs of scans, seeks and lookups by formulas that were found by experiment and published: their
//! page and row costs, by B. Nevarez (The Query Optimizer and Cost Estimation, 2010). Microsoft
//! publishes none.

use super::xml::{flag, number};
use crate::plans::{CostPart, CostTerm, Kind};
use roxmltree::Node;

/// A page at a random place.
const FIRST_PAGE: f64 = 0.003_125;
/// The page behind it.
const NEXT_PAGE: f64 = 0.000_740_741;
const FIRST_ROW: f64 = 0.000_158_1;
const NEXT_ROW: f64 = 0.000_001_1;
/// The plan has six digits of each figure.
const DIGITS: f64 = 1e-5;

/// The parts of the cost of an operator, for one execution, that formulas explain. `degree`: the
/// threads that the optimizer divides the work of a parallel operator by.
pub fn parts(node: Node, kind: Kind, degree: Option<f64>) -> Vec<CostPart> {
    if !matches!(kind, Kind::TableScan | Kind::IndexScan | Kind::IndexSeek | Kind::Lookup) {
        return Vec::new();
    }
    let threads = if flag(node, "Parallel") { degree } else { Some(1.0) };
    let cpu = threads.and_then(|threads| processor(node, threads));
    pages(node).into_iter().chain(cpu).collect()
}

/// A first page and further ones, whose number follows from the cost: it must be whole.
fn pages(node: Node) -> Option<CostPart> {
    let cost = number(node, "EstimateIO").filter(|cost| *cost > 0.0)?;
    let further = (cost - FIRST_PAGE) / NEXT_PAGE;
    let is_whole = (further - further.round()).abs() <= 0.02 + DIGITS * further;
    let mut terms = vec![CostTerm::new(1.0, "page", FIRST_PAGE, "a random page")];
    let next = CostTerm::implied(further.round(), "further pages", NEXT_PAGE, "a sequential page");
    terms.extend(Some(next).filter(|next| next.count > 0.0));
    CostPart::agreeing("EstimateIO", cost, terms, 0.0).filter(|_| is_whole && further > -0.5)
}

/// Rows that are read.
fn processor(node: Node, threads: f64) -> Option<CostPart> {
    let cost = number(node, "EstimateCPU").filter(|cost| *cost > 0.0)?;
    let price = |price: f64| price / threads;
    let named = |name: &str| {
        if threads > 1.0 { format!("{name}, by {threads} threads") } else { name.to_owned() }
    };
    // A scan reads all rows of the table, of which versions before 2016 name only those that stay.
    let of = |name| number(node, name);
    let read = [of("EstimatedRowsRead"), of("TableCardinality"), of("EstimateRows")];
    read.into_iter().flatten().find_map(|rows| {
        let mut terms = vec![CostTerm::new(1.0, "row", price(FIRST_ROW), &named("the first row"))];
        if rows > 1.0 {
            let name = named("a further row");
            terms.push(CostTerm::new(rows - 1.0, "further rows", price(NEXT_ROW), &name));
        }
        CostPart::agreeing("EstimateCPU", cost, terms, 0.0)
    })
}
