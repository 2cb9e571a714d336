//! The two-level design that screens factors: chosen by its resolution or its number of runs.

use crate::mathematics::{
    Contrasts, Design, Fraction, FractionError, Generator, PLACKETT_BURMAN_RUNS, RUNS_MAX,
    Resolution, fewest_runs, plackett_burman,
};

/// With fewer factors every combination is few runs.
const FACTORS_MIN: usize = 3;

/// Size of a screening design.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// The fewest runs of a fraction with this resolution.
    Resolution(Resolution),
    /// This number of runs.
    Runs(usize),
}

/// A screening design that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScreeningError {
    /// A grid is as small.
    #[error("screening takes at least {FACTORS_MIN} factors, not {0}; use a grid")]
    Factors(usize),
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
    /// The factors do not fit.
    #[error("{0}")]
    Fraction(FractionError),
}

/// A screening design.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Screening {
    kind: Kind,
    /// The factor that each column of the design stands for.
    order: Vec<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Fraction(Fraction),
    PlackettBurman(Design),
}

impl Screening {
    /// The design of this size. Hard-to-change factors get independent columns first, so that their
    /// levels form as many whole plots as they have combinations.
    ///
    /// # Errors
    /// When no design has this size.
    pub fn new(factors: usize, size: Size, hard: &[usize]) -> Result<Self, ScreeningError> {
        if factors < FACTORS_MIN {
            return Err(ScreeningError::Factors(factors));
        }
        let easy = (0..factors).filter(|factor| !hard.contains(factor));
        let order: Vec<usize> = hard.iter().copied().chain(easy).collect();
        let runs = match size {
            Size::Runs(runs) => runs,
            Size::Resolution(resolution) => fewest_runs(factors, resolution)
                .ok_or(ScreeningError::Resolution { factors, resolution })?,
        };
        if PLACKETT_BURMAN_RUNS.contains(&runs)
            && let Some(design) = plackett_burman(runs)
        {
            if factors >= runs {
                let error = FractionError::Factors { runs, factors };
                return Err(ScreeningError::Fraction(error));
            }
            return Ok(Self { kind: Kind::PlackettBurman(design), order });
        }
        match Fraction::minimum_aberration(runs, factors) {
            Ok(fraction) => Ok(Self { kind: Kind::Fraction(fraction), order }),
            Err(FractionError::Runs(runs)) => Err(ScreeningError::Runs(runs)),
            Err(error) => Err(ScreeningError::Fraction(error)),
        }
    }

    /// Number of runs.
    pub fn runs(&self) -> usize {
        match &self.kind {
            Kind::Fraction(fraction) => fraction.runs(),
            Kind::PlackettBurman(design) => design.runs().len(),
        }
    }

    /// Returns whether it is a Plackett-Burman design.
    pub fn is_plackett_burman(&self) -> bool {
        matches!(self.kind, Kind::PlackettBurman(_))
    }

    /// The length of the shortest word of the defining relation; `None` of all combinations.
    pub fn resolution(&self) -> Option<usize> {
        match &self.kind {
            Kind::Fraction(fraction) => fraction.resolution(),
            Kind::PlackettBurman(_) => Some(3),
        }
    }

    /// The factors whose levels are products.
    pub fn generators(&self) -> Vec<Generator> {
        let Kind::Fraction(fraction) = &self.kind else { return Vec::new() };
        let mut generators = fraction.generators();
        for generator in &mut generators {
            generator.factor = self.order[generator.factor];
            for factor in &mut generator.product {
                *factor = self.order[*factor];
            }
            generator.product.sort_unstable();
        }
        generators
    }

    /// The runs, with the levels in the order of the factors.
    pub fn design(&self) -> Design {
        let design = match &self.kind {
            Kind::Fraction(fraction) => fraction.design(),
            Kind::PlackettBurman(design) => design.clone(),
        };
        let runs = design.runs().iter().map(|run| {
            let mut levels = vec![0; self.order.len()];
            for (factor, level) in self.order.iter().zip(run) {
                levels[*factor] = *level;
            }
            levels
        });
        Design::new(runs.collect())
    }

    /// All orthogonal contrasts of the runs; those of a Plackett-Burman design include columns
    /// without a factor.
    pub fn contrasts(&self) -> Contrasts {
        Contrasts::with_unassigned(&self.design())
    }
}

fn advice(factors: usize, resolution: Resolution) -> String {
    let lower = [Resolution::IV, Resolution::III];
    let possible =
        lower.into_iter().filter(|lower_resolution| *lower_resolution < resolution).find_map(
            |lower_resolution| Some((lower_resolution, fewest_runs(factors, lower_resolution)?)),
        );
    match possible {
        Some((possible, runs)) => format!("resolution {possible:?} takes {runs} runs"),
        None => format!("use fewer than {RUNS_MAX} factors"),
    }
}
