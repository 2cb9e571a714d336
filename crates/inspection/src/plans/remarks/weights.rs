//! The operators of a plan with their shares.

use super::remark::{MATTERS, Measure, Remark, Rule, Share};
use crate::plans::{Operator, Plan};

/// Times of whole milliseconds say nothing about shorter runs: their costs are used.
const RUN_MS: f64 = 1.0;

/// The operators of a plan, from the top, with their shares.
pub struct Weights<'a> {
    /// Depths and operators.
    pub operators: Vec<(usize, &'a Operator)>,
    measure: Option<Measure>,
    parts: Vec<f64>,
}

impl<'a> Weights<'a> {
    pub fn new(plan: &'a Plan) -> Self {
        let figures = plan.net_costs();
        let ms: f64 = figures.iter().filter_map(|figure| figure.ms).sum();
        let cost: f64 = figures.iter().filter_map(|figure| figure.cost).sum();
        let (measure, whole) = if ms >= RUN_MS {
            (Some(Measure::Time), ms.max(plan.elapsed_ms.unwrap_or(0.0)))
        } else if cost > 0.0 {
            (Some(Measure::Cost), cost)
        } else {
            (None, 1.0)
        };
        let is_time = measure == Some(Measure::Time);
        let ms = figures.iter().map(|figure| if is_time { figure.ms } else { figure.cost });
        let shares = ms.map(|ms| ms.unwrap_or(0.0) / whole).collect();
        Self { operators: plan.operators(), measure, parts: shares }
    }

    /// The share of an operator without its inputs.
    pub fn share(&self, at: usize) -> Option<Share> {
        Some(Share { part: self.parts[at].min(1.0), of: self.measure? })
    }

    /// The share of an operator with all below it.
    pub fn within(&self, at: usize) -> Option<Share> {
        let part = self.parts[at..self.end(at)].iter().sum::<f64>().min(1.0);
        Some(Share { part, of: self.measure? })
    }

    /// The operators below one.
    pub fn below(&self, at: usize) -> std::ops::Range<usize> {
        at + 1..self.end(at)
    }

    fn end(&self, at: usize) -> usize {
        let depth = self.operators[at].0;
        let behind = self.operators[at + 1..].iter().position(|(below, _)| *below <= depth);
        behind.map_or(self.operators.len(), |count| at + 1 + count)
    }

    /// The operators that read an operator, from the nearest.
    pub fn above(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        let mut depth = self.operators[at].0;
        (0..at).rev().filter(move |above| {
            let is_above = self.operators[*above].0 < depth;
            if is_above {
                depth = self.operators[*above].0;
            }
            is_above
        })
    }

    /// The numbers of an operator's inputs.
    pub fn inputs(&self, at: usize) -> Vec<usize> {
        let depth = self.operators[at].0;
        self.below(at).filter(|below| self.operators[*below].0 == depth + 1).collect()
    }

    /// The share of an operator, with all below the highest of those above it that are like it
    /// without a gap, and with the operator that reads this one: it was chosen by its rows.
    pub fn consequences(&self, at: usize, is_alike: impl Fn(usize) -> bool) -> Option<Share> {
        let mut highest = at;
        for above in self.above(at) {
            highest = above;
            if !is_alike(above) {
                break;
            }
        }
        self.within(highest)
    }
}

/// A remark on an operator, unless its share is too small.
pub fn remark(rule: Rule, at: usize, share: Option<Share>, text: String) -> Option<Remark> {
    let matters = share.is_none_or(|share| share.part >= MATTERS);
    matters.then_some(Remark { rule, operator: Some(at), share, text })
}
