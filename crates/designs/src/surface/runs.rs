//! The runs of a response surface.

use super::settings::{AXIAL_POINTS, COMPOSITE, SURFACE};
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
        let (surface, axial) = (experiment.get(SURFACE), experiment.get(AXIAL_POINTS));
        let centre = experiment.get(CENTRE_POINTS) as usize;
        Some(Self {
            factors: NumericFactor::from_source(&experiment.source),
            design: points(&surface, &axial, centre, experiment.factors.len())?,
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

/// The points of a surface: composite or Box-Behnken, with the place of the axial points and the
/// runs of the centre in each block. `None` of a number of factors for which there are none.
pub fn points(surface: &str, axial: &str, centre: usize, factors: usize) -> Option<SurfaceDesign> {
    match (surface, axial) {
        (COMPOSITE, "orthogonal-blocks") => {
            central_composite(factors, Alpha::OrthogonalBlocks, centre, centre)
        }
        (COMPOSITE, _) => {
            let alpha = if axial == "rotatable" { Alpha::Rotatable } else { Alpha::Faced };
            central_composite(factors, alpha, centre, 0).map(SurfaceDesign::in_one_block)
        }
        _ => box_behnken(factors, centre),
    }
}
