//! Findings of a plan by itself, each with its share of the run and the figures behind it.
//!
//! - [`remarks`]: all of a plan, the largest share first
//! - `remark`: a finding; `weights`: the shares of operators
//! - `operators`, `reading`, `estimates`, `statement`: the rules

mod estimates;
mod operators;
mod reading;
mod remark;
mod statement;
mod weights;

use crate::plans::{Plan, Terms};
use observations::order;
pub use remark::{Measure, Remark, Rule, Share};
use weights::Weights;

/// The findings of a plan: the largest share first, then those whose share the plan does not have.
pub fn remarks(plan: &Plan, terms: &Terms) -> Vec<Remark> {
    let nodes = Weights::new(plan);
    let mut all = operators::find(&nodes);
    all.extend(reading::find(&nodes));
    all.extend(estimates::find(&nodes));
    all.extend(statement::find(plan, &nodes, terms));
    order::sort(&mut all, &|a, b| {
        let part = |remark: &Remark| remark.share.map_or(-1.0, |share| share.part);
        part(b).total_cmp(&part(a))
    });
    all
}
