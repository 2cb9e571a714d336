//! A cost as the sum of what counted things cost: non-negative least squares over relative errors.
//!
//! Each trial says `cost = sum of count x cost of one`. Trials are weighted by 1 / cost^2, so that a small table counts as
//! much as a large one and the error that is minimised is a relative one.

use crate::Interval;
use crate::estimate::{Moments, mean};
use crate::response::distinct;
use statistics::{non_negative, t_quantile};

/// What one trial counted and what it cost.
#[derive(Debug, Clone)]
pub(super) struct Trial {
    pub configuration: usize,
    pub block: u32,
    /// One for each term.
    pub counts: Vec<f64>,
    /// Above 0.
    pub cost: f64,
}

/// What one of each counted thing costs.
#[derive(Debug, Clone)]
pub(super) struct Fit {
    /// Positions of the terms in use, in order.
    pub terms: Vec<usize>,
    /// The cost of one, for each of them, not below 0.
    pub costs: Vec<f64>,
}

impl Fit {
    /// Of these terms.
    pub fn of(trials: &[&Trial], terms: &[usize]) -> Self {
        let rows: Vec<Vec<f64>> = trials.iter().map(|trial| relative(trial, terms)).collect();
        Self { terms: terms.to_vec(), costs: non_negative(&rows) }
    }

    /// What these counts cost.
    pub fn predict(&self, counts: &[f64]) -> f64 {
        self.terms.iter().zip(&self.costs).map(|(term, cost)| counts[*term] * cost).sum()
    }

    /// 95 % t intervals of the costs, from a fit for each block: what a cost varies by from block to block.
    /// `None` of a term with fewer than two blocks that tell it.
    pub fn intervals(&self, trials: &[&Trial]) -> Vec<Option<Interval>> {
        let blocks = distinct(trials.iter().map(|trial| trial.block));
        let fits: Vec<Self> = blocks
            .iter()
            .map(|block| trials.iter().copied().filter(|own| own.block == *block).collect::<Vec<_>>())
            .filter(|own| told_apart(own, &self.terms).len() == self.terms.len())
            .map(|own| Self::of(&own, &self.terms))
            .collect();
        let interval = |at: usize| {
            let moments = Moments::of(&fits.iter().map(|fit| fit.costs[at]).collect::<Vec<_>>());
            let half = moments.error? * t_quantile(0.025, moments.df);
            Some(Interval { low: (self.costs[at] - half).max(0.0), high: self.costs[at] + half })
        };
        (0..self.terms.len()).map(interval).collect()
    }
}

/// The counts of a trial relative to its cost.
fn relative(trial: &Trial, terms: &[usize]) -> Vec<f64> {
    terms.iter().map(|term| trial.counts[*term] / trial.cost).collect()
}

/// The terms, in the order given, whose counts do not follow from those of the terms before them.
pub(super) fn told_apart(trials: &[&Trial], terms: &[usize]) -> Vec<usize> {
    let column = |term: &usize| trials.iter().map(|trial| trial.counts[*term] / trial.cost).collect();
    let columns: Vec<Vec<f64>> = terms.iter().map(column).collect();
    statistics::told_apart(&columns).into_iter().map(|position| terms[position]).collect()
}

/// What a configuration costs by a fit of the others; `None` where these cannot tell apart the terms that it has.
pub(super) fn left_out(own: &[&Trial], others: &[&Trial], terms: &[usize]) -> Option<f64> {
    let known = told_apart(others, terms);
    let needed = |term: &&usize| own.iter().any(|trial| trial.counts[**term] > 0.0);
    if !terms.iter().filter(needed).all(|term| known.contains(term)) {
        return None;
    }
    let fit = Fit::of(others, &known);
    Some(mean(&own.iter().map(|trial| fit.predict(&trial.counts)).collect::<Vec<_>>()))
}
