//! Regular two-level fractions.

use crate::mathematics::Design;
use crate::mathematics::search;
use serde::{Deserialize, Serialize};

/// Most runs of a fraction.
const RUNS_MAX: usize = 64;
/// Fewest runs of a fraction.
const RUNS_MIN: usize = 4;
/// With fewer factors every combination is few runs.
pub(super) const FACTORS_MIN: usize = 3;

/// The length of the shortest word of the defining relation: which effects are aliased at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Resolution {
    /// Main effects are aliased with interactions of two factors.
    III,
    /// Interactions of two factors are aliased with each other.
    IV,
    /// Neither is.
    V,
}

/// A factor whose level is a product of levels of other factors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generator {
    /// Position of the factor.
    pub factor: usize,
    /// Positions of the factors of the product.
    pub product: Vec<usize>,
}

/// A design that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DesignError {
    /// A grid is as small.
    #[error("screening takes at least {FACTORS_MIN} factors, not {0}; use a grid")]
    FewFactors(usize),
    /// More runs than fractions have.
    #[error(
        "no fraction of {factors} factors in up to {RUNS_MAX} runs has resolution \
         {resolution:?}; {}",
        advice(*factors, *resolution)
    )]
    Resolution {
        /// Factors.
        factors: usize,
        /// The resolution that was wanted.
        resolution: Resolution,
    },
    /// A number of runs that no design has.
    #[error(
        "no screening design has {0} runs; designs have 4, 8, 16, 32 or {RUNS_MAX} runs \
         (fractions) or 12, 20 or 24 (Plackett-Burman)"
    )]
    Runs(usize),
    /// More factors than columns.
    #[error("{runs} runs have room for {} factors, not for {factors}", runs - 1)]
    Factors {
        /// Runs.
        runs: usize,
        /// Factors.
        factors: usize,
    },
    /// Fewer factors than a full design with this number of runs has.
    #[error("{factors} factors have only {} configurations, fewer than {runs} runs", 1 << factors)]
    TooManyRuns {
        /// Runs.
        runs: usize,
        /// Factors.
        factors: usize,
    },
}

fn advice(factors: usize, resolution: Resolution) -> String {
    let lower = [Resolution::IV, Resolution::III].into_iter();
    let mut lower = lower.filter(|lower| *lower < resolution);
    match lower.find_map(|lower| Some((lower, fewest_runs(factors, lower)?))) {
        Some((possible, runs)) => format!("resolution {possible:?} takes {runs} runs"),
        None => format!("use fewer than {RUNS_MAX} factors"),
    }
}

/// A regular fraction: the levels of some factors are products of other levels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fraction {
    base: u32,
    /// Column of each factor in the full table, in which independent factors have 1, 2, 4, ...
    columns: Vec<u32>,
}

/// The fewest runs of a fraction with at least this resolution; `None` if they are more than
/// [`RUNS_MAX`].
pub fn fewest_runs(factors: usize, resolution: Resolution) -> Option<usize> {
    let mut sizes = (2..=RUNS_MAX.ilog2()).map(|base| 1 << base);
    sizes.find(|runs| match Fraction::minimum_aberration(*runs, factors) {
        Ok(fraction) => {
            fraction.resolution().is_none_or(|reached| reached >= resolution as usize + 3)
        }
        // All combinations are fewer.
        Err(DesignError::TooManyRuns { .. }) => true,
        Err(_) => false,
    })
}

impl Fraction {
    /// The fraction with the fewest short words among those that the search finds.
    ///
    /// # Errors
    /// When no fraction has this size.
    pub fn minimum_aberration(runs: usize, factors: usize) -> Result<Self, DesignError> {
        let base = base(runs, factors)?;
        let first = search::classes(base, factors).into_iter().next();
        let class = first.ok_or(DesignError::Factors { runs, factors })?;
        // The independent factors come first.
        let (mut columns, others): (Vec<u32>, Vec<u32>) =
            class.columns.into_iter().partition(|column| column.is_power_of_two());
        columns.extend(others);
        Ok(Self { base, columns })
    }

    /// The factors whose levels are products.
    pub fn generators(&self) -> Vec<Generator> {
        let base = self.base as usize;
        let generators = self.columns.iter().enumerate().skip(base).map(|(factor, column)| {
            let product = (0..base).filter(|bit| column >> bit & 1 == 1).collect();
            Generator { factor, product }
        });
        generators.collect()
    }

    /// The numbers of words of the defining relation by length, from 3 to 10; all 0 for a full
    /// design.
    pub fn word_lengths(&self) -> Vec<usize> {
        let lengths = search::lengths(self.base, &self.columns);
        lengths[3..].iter().map(|words| *words as usize).collect()
    }

    /// The length of the shortest word; `None` for a full design.
    pub fn resolution(&self) -> Option<usize> {
        self.word_lengths().iter().position(|words| *words > 0).map(|at| at + 3)
    }

    /// The runs in standard order: the first factor changes fastest.
    pub fn design(&self) -> Design {
        let sign = |run: u32, word: u32| {
            // The product of the levels: low factors count as -1.
            let low = (!run & word).count_ones();
            if low % 2 == 1 { -1 } else { 1 }
        };
        let runs = (0_u32..1 << self.base)
            .map(|run| self.columns.iter().map(|word| sign(run, *word)).collect())
            .collect();
        Design::new(runs)
    }
}

fn base(runs: usize, factors: usize) -> Result<u32, DesignError> {
    if !runs.is_power_of_two() || !(RUNS_MIN..=RUNS_MAX).contains(&runs) {
        return Err(DesignError::Runs(runs));
    }
    let base = runs.ilog2();
    if factors < base as usize {
        return Err(DesignError::TooManyRuns { runs, factors });
    }
    if factors >= runs {
        return Err(DesignError::Factors { runs, factors });
    }
    Ok(base)
}
