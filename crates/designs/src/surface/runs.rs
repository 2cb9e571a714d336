//! The runs of a response surface.

use super::settings::{AXIAL_POINTS, SURFACE};
use crate::factor::NumericFactor;
use crate::mathematics::{Alpha, SurfaceDesign, box_behnken, central_composite};
use crate::settings::{CENTRE_POINTS, RESPONSE_SURFACE};
use experiment::{Experiment, Factor};

/// The runs of a response surface.
#[derive(Debug, Clone, PartialEq)]
pub struct SurfaceRuns {
    /// The factors.
    pub factors: Vec<NumericFactor>,
    /// The coded levels before they are rounded, and the block of each run.
    pub design: SurfaceDesign,
    /// The positions of each run's levels among those of the factors.
    pub levels: Vec<Vec<usize>>,
}

impl SurfaceRuns {
    /// The runs of an experiment with such a design; `None` of another one.
    pub fn for_experiment(experiment: &Experiment) -> Option<Self> {
        let runs = experiment.design.as_ref().filter(|runs| runs.kind == RESPONSE_SURFACE)?;
        let points = Points {
            surface: experiment.get(SURFACE),
            axial: experiment.get(AXIAL_POINTS),
            centre: experiment.get(CENTRE_POINTS) as usize,
        };
        Some(Self {
            factors: NumericFactor::from_source(&experiment.source),
            design: points.design(experiment.factors.len())?,
            levels: runs.levels.clone()?,
        })
    }

    /// The coded levels of each run as they are set: `factors` are those of the experiment.
    pub fn coded(&self, factors: &[Factor]) -> Vec<Vec<f64>> {
        let runs = self.levels.iter().map(|run| {
            let levels = run.iter().zip(factors).zip(&self.factors);
            let code = |((level, factor), numeric): ((&usize, &Factor), &NumericFactor)| {
                numeric.code(&factor.levels[*level].label).unwrap_or(f64::NAN)
            };
            levels.map(code).collect()
        });
        runs.collect()
    }
}

/// The points of a surface, as the file has them.
pub struct Points {
    /// Composite or Box-Behnken.
    pub surface: String,
    /// The place of the axial points.
    pub axial: String,
    /// Runs of the centre in each block.
    pub centre: usize,
}

impl Points {
    /// Returns whether it is a central composite design.
    pub fn is_composite(&self) -> bool {
        self.surface == "central-composite"
    }

    /// The design of this number of factors; `None` where there is none.
    pub fn design(&self, factors: usize) -> Option<SurfaceDesign> {
        let alpha = match self.axial.as_str() {
            "rotatable" => Alpha::Rotatable,
            "orthogonal-blocks" => Alpha::OrthogonalBlocks,
            _ => Alpha::Faced,
        };
        let centre = self.centre;
        match (self.is_composite(), alpha) {
            (true, Alpha::OrthogonalBlocks) => central_composite(factors, alpha, centre, centre),
            (true, _) => {
                central_composite(factors, alpha, centre, 0).map(SurfaceDesign::in_one_block)
            }
            (false, _) => box_behnken(factors, centre),
        }
    }
}
