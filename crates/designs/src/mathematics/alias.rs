//! The effects that a design can estimate, each with the effects that it is aliased with.

use crate::mathematics::subsets::subsets;
use crate::mathematics::{Design, plackett_burman};

/// Terms of more factors than two are looked at until this number, for degrees of freedom that are
/// left.
const TERMS_MAX: usize = 20_000;

/// A main effect (one factor) or an interaction (several), with its sign in a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// Positions of its factors.
    pub factors: Vec<usize>,
    /// True if it enters the contrast with the opposite sign.
    pub negative: bool,
}

/// A contrast of the runs and the terms that it estimates the sum of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    /// Terms by their number of factors: all main effects and interactions of two factors; only
    /// where it has no such term the first interaction of more. Empty for a column of a
    /// Plackett-Burman design that has no factor.
    pub terms: Vec<Term>,
    /// The sign of each run.
    pub coefficients: Vec<i8>,
}

/// The contrasts of a design that are orthogonal to each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contrasts {
    /// Main effects first, then interactions.
    pub chains: Vec<Chain>,
    /// All interactions of two factors, where some are correlated with several contrasts, as in a
    /// Plackett-Burman design.
    pub partial: Vec<Vec<usize>>,
}

impl Contrasts {
    /// The contrasts of a design without centre points. Of a design in two blocks the contrast
    /// between these is left out, and what is aliased with it.
    pub fn new(design: &Design) -> Self {
        let runs = design.runs();
        let mut contrasts = Self { chains: Vec::new(), partial: Vec::new() };
        let is_folded = design.is_folded();
        if is_folded {
            let between = design.blocks().iter().map(|block| if *block > 0 { 1 } else { -1 });
            let coefficients = between.collect();
            contrasts.chains.push(Chain { terms: Vec::new(), coefficients });
        }
        contrasts.add_terms(design);
        if is_folded {
            contrasts.chains.remove(0);
        }
        // Interactions of a Plackett-Burman design are spread over several contrasts.
        if !contrasts.partial.is_empty() {
            contrasts.chains.retain(|chain| chain.terms[0].factors.len() == 1);
            contrasts.partial = subsets(design.factors(), 2).collect();
        }
        debug_assert!(contrasts.chains.len() < runs.len());
        contrasts
    }

    fn add_terms(&mut self, design: &Design) {
        let runs = design.runs();
        let factors = design.factors();
        let mut looked_at = 0;
        for size in 1..=factors {
            if size > 2 && (self.chains.len() + 1 >= runs.len() || !self.partial.is_empty()) {
                return;
            }
            for term in subsets(factors, size) {
                looked_at += 1;
                if size > 2 && looked_at > TERMS_MAX {
                    return;
                }
                let column = design.column(&term);
                self.add(term, column);
            }
        }
    }

    /// The contrasts of a design, and for a Plackett-Burman design those of the columns that have
    /// no factor: contrasts of nothing but noise and parts of interactions. Folded, each column
    /// stands for two contrasts: its sum and its difference in the two blocks.
    pub fn with_unassigned(design: &Design) -> Self {
        let mut contrasts = Self::new(design);
        let is_folded = design.is_folded();
        let runs = design.runs().len() / if is_folded { 2 } else { 1 };
        let Some(all) = plackett_burman(runs) else { return contrasts };
        for column in 0..all.factors() {
            let levels: Vec<i8> = all.runs().iter().map(|run| run[column]).collect();
            let both = [levels.clone(), levels.iter().map(|sign| -sign).collect()];
            let columns = both
                .into_iter()
                .take(if is_folded { 2 } else { 1 })
                .map(|second| if is_folded { [levels.clone(), second].concat() } else { second });
            for coefficients in columns {
                let mut chains = contrasts.chains.iter();
                if chains.all(|chain| product(&chain.coefficients, &coefficients) == 0) {
                    contrasts.chains.push(Chain { terms: Vec::new(), coefficients });
                }
            }
        }
        contrasts
    }

    fn add(&mut self, factors: Vec<usize>, column: Vec<i8>) {
        let runs = column.len() as i32;
        let mut is_orthogonal = column.iter().map(|sign| i32::from(*sign)).sum::<i32>() == 0;
        for chain in &mut self.chains {
            let product = product(&chain.coefficients, &column);
            if product.abs() == runs {
                if factors.len() <= 2 && !chain.terms.is_empty() {
                    chain.terms.push(Term { factors, negative: product < 0 });
                }
                return;
            }
            is_orthogonal &= product == 0;
        }
        if is_orthogonal {
            let terms = vec![Term { factors, negative: false }];
            self.chains.push(Chain { terms, coefficients: column });
        } else if factors.len() == 2 {
            self.partial.push(factors);
        }
    }
}

fn product(first: &[i8], other: &[i8]) -> i32 {
    first.iter().zip(other).map(|(level, other)| i32::from(*level) * i32::from(*other)).sum()
}

impl Chain {
    /// Returns whether it compares whole plots only: its coefficients are constant in each.
    pub fn is_between(&self, plots: &[Vec<usize>]) -> bool {
        let sign = |run: usize| self.coefficients[run];
        plots.iter().all(|plot| plot.iter().all(|run| sign(*run) == sign(plot[0])))
    }

    /// The difference between the means of the runs with both signs.
    pub fn effect(&self, values: &[f64]) -> f64 {
        let signed = self.coefficients.iter().zip(values);
        2.0 * signed.map(|(sign, value)| f64::from(*sign) * value).sum::<f64>()
            / values.len() as f64
    }
}
