//! Estimated costs, by the formulas that engines or their observers have published.

use serde::{Deserialize, Serialize};

/// The error up to which a formula counts as that of a cost.
const COST_ERROR: f64 = 0.01;

/// A part of an operator's estimated cost, by a published formula that agrees with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CostPart {
    /// The name in the engine's words: `total cost`, `EstimateIO`.
    pub name: String,
    /// The value in the plan.
    pub cost: f64,
    /// The terms of the formula, which add up to it.
    pub terms: Vec<CostTerm>,
}

/// A term of a formula: a number of things at a price.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CostTerm {
    /// The number.
    pub count: f64,
    /// Of what: `rows`, `pages`.
    pub of: String,
    /// The cost of one.
    pub price: f64,
    /// The name of the price in the engine's words.
    pub constant: String,
    /// True when the number is not in the plan but follows from the cost.
    pub is_implied: bool,
}

impl CostTerm {
    /// A number that the plan has.
    pub fn new(count: f64, of: &str, price: f64, constant: &str) -> Self {
        let (of, constant) = (of.to_owned(), constant.to_owned());
        Self { count, of, price, constant, is_implied: false }
    }

    /// A number that follows from the cost.
    pub fn implied(count: f64, of: &str, price: f64, constant: &str) -> Self {
        Self { is_implied: true, ..Self::new(count, of, price, constant) }
    }

    /// The part of the cost.
    pub fn cost(&self) -> f64 {
        self.count * self.price
    }
}

impl CostPart {
    /// A part whose terms agree with the cost: within 1 % and `rounding`, the most by which the
    /// figures of the plan are rounded. `None` otherwise.
    pub fn agreeing(name: &str, cost: f64, terms: Vec<CostTerm>, rounding: f64) -> Option<Self> {
        let sum: f64 = terms.iter().map(CostTerm::cost).sum();
        let agrees = sum.is_finite() && (sum - cost).abs() <= COST_ERROR * cost.abs() + rounding;
        agrees.then(|| Self { name: name.into(), cost, terms })
    }
}
