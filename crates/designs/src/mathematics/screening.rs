//! The two-level design that screens factors: chosen by its resolution or its number of runs.

use crate::mathematics::fraction::FACTORS_MIN;
use crate::mathematics::{
    Contrasts, Design, DesignError, Fraction, Generator, Resolution, fewest_runs, plackett_burman,
};

/// Size of a screening design.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// The fewest runs of a fraction with this resolution.
    Resolution(Resolution),
    /// This number of runs.
    Runs(usize),
}

/// A screening design.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Screening {
    /// The runs, with the levels in the order of the factors.
    pub design: Design,
    /// The factors whose levels are products.
    pub generators: Vec<Generator>,
    /// The length of the shortest word of the defining relation; `None` of all combinations.
    pub resolution: Option<usize>,
    /// True of a Plackett-Burman design.
    pub is_plackett_burman: bool,
}

impl Screening {
    /// The design of this size. Hard-to-change factors get independent columns first, so that their
    /// levels form as many whole plots as they have combinations.
    ///
    /// # Errors
    /// When no design has this size.
    pub fn new(factors: usize, size: Size, hard: &[usize]) -> Result<Self, DesignError> {
        if factors < FACTORS_MIN {
            return Err(DesignError::FewFactors(factors));
        }
        let runs = match size {
            Size::Runs(runs) => runs,
            Size::Resolution(resolution) => fewest_runs(factors, resolution)
                .ok_or(DesignError::Resolution { factors, resolution })?,
        };
        let found = match plackett_burman(runs) {
            Some(_) if factors >= runs => return Err(DesignError::Factors { runs, factors }),
            Some(design) => Self {
                design,
                generators: Vec::new(),
                resolution: Some(3),
                is_plackett_burman: true,
            },
            None => {
                let fraction = Fraction::minimum_aberration(runs, factors)?;
                Self {
                    design: fraction.design(),
                    generators: fraction.generators(),
                    resolution: fraction.resolution(),
                    is_plackett_burman: false,
                }
            }
        };
        // The factor that each column stands for.
        let easy = (0..factors).filter(|factor| !hard.contains(factor));
        Ok(found.in_order(&hard.iter().copied().chain(easy).collect::<Vec<_>>()))
    }

    /// The design whose first columns are these factors.
    fn in_order(mut self, order: &[usize]) -> Self {
        let runs = self.design.runs().iter().map(|run| {
            let mut levels = vec![0; order.len()];
            for (factor, level) in order.iter().zip(run) {
                levels[*factor] = *level;
            }
            levels
        });
        self.design = Design::new(runs.collect());
        for Generator { factor, product } in &mut self.generators {
            *factor = order[*factor];
            for member in product.iter_mut() {
                *member = order[*member];
            }
            product.sort_unstable();
        }
        self
    }

    /// Number of runs.
    pub fn runs(&self) -> usize {
        self.design.runs().len()
    }

    /// All orthogonal contrasts of the runs; those of a Plackett-Burman design include columns
    /// without a factor.
    pub fn contrasts(&self) -> Contrasts {
        Contrasts::with_unassigned(&self.design)
    }
}
