//! Designs of response surfaces, in coded levels.

use crate::mathematics::{Fraction, Resolution, fewest_runs};

/// Distance of the axial points of a central composite design from its centre.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alpha {
    /// 1: in the faces of the cube, so that each factor has three levels.
    Faced,
    /// The error of a prediction depends on the distance from the centre alone.
    Rotatable,
    /// Blocks do not bias the coefficients.
    OrthogonalBlocks,
}

/// The part of a run in a design.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SurfacePart {
    /// A corner of the cube, or the middle of an edge.
    Cube,
    /// A point on an axis.
    Axis,
    /// The centre.
    Centre,
}

/// Runs of a response surface.
#[derive(Debug, Clone, PartialEq)]
pub struct SurfaceDesign {
    /// Coded levels of each run.
    pub runs: Vec<Vec<f64>>,
    /// The part of each run.
    pub parts: Vec<SurfacePart>,
    /// The block of each run, from 0: the cube, then the axes.
    pub blocks: Vec<usize>,
    /// Distance of the axial points; 1 where there are none.
    pub alpha: f64,
}

impl SurfaceDesign {
    /// These runs in one block.
    #[must_use]
    pub fn in_one_block(mut self) -> Self {
        self.blocks.fill(0);
        self
    }

    fn add(&mut self, runs: impl IntoIterator<Item = Vec<f64>>, part: SurfacePart, block: usize) {
        for run in runs {
            self.runs.push(run);
            self.parts.push(part);
            self.blocks.push(block);
        }
    }
}

/// A central composite design: a cube of resolution V, two points on each axis, and centre points
/// with each of both. `None` of fewer than two factors, and where the cube takes more than 64 runs.
/// Source: G. E. P. Box and K. B. Wilson, Journal of the Royal Statistical Society B 13 (1951).
pub fn central_composite(
    factors: usize,
    alpha: Alpha,
    centre_with_cube: usize,
    centre_with_axes: usize,
) -> Option<SurfaceDesign> {
    if factors < 2 {
        return None;
    }
    let cube = fewest_runs(factors, Resolution::V)?;
    let cube: Vec<Vec<f64>> = Fraction::minimum_aberration(cube, factors)
        .ok()?
        .design()
        .runs()
        .iter()
        .map(|run| run.iter().map(|level| f64::from(*level)).collect())
        .collect();
    let corners = cube.len() as f64;
    let alpha = match alpha {
        Alpha::Faced => 1.0,
        Alpha::Rotatable => corners.powf(0.25),
        // Each block has the same share of the sum of squares of a factor as of all runs.
        Alpha::OrthogonalBlocks => {
            let axes = (2 * factors + centre_with_axes) as f64;
            (corners * axes / (2.0 * (corners + centre_with_cube as f64))).sqrt()
        }
    };
    let centre = vec![0.0; factors];
    let axes = (0..factors).flat_map(|factor| {
        [-alpha, alpha].map(|at| {
            let mut run = centre.clone();
            run[factor] = at;
            run
        })
    });
    let mut design =
        SurfaceDesign { runs: Vec::new(), parts: Vec::new(), blocks: Vec::new(), alpha };
    design.add(cube, SurfacePart::Cube, 0);
    design.add(vec![centre.clone(); centre_with_cube], SurfacePart::Centre, 0);
    design.add(axes, SurfacePart::Axis, 1);
    design.add(vec![centre.clone(); centre_with_axes], SurfacePart::Centre, 1);
    Some(design)
}

/// The axial points of the factors that are 0 in a centre, then this number of centre points.
pub fn around(centre: &[i8], centre_points: usize) -> Vec<Vec<i8>> {
    let axes = (0..centre.len()).filter(|factor| centre[*factor] == 0);
    let points = axes.flat_map(|factor| [-1, 1].map(|level| (factor, level)));
    let mut runs: Vec<Vec<i8>> = points
        .map(|(factor, level)| {
            let mut run = centre.to_vec();
            run[factor] = level;
            run
        })
        .collect();
    runs.extend(vec![centre.to_vec(); centre_points]);
    runs
}

/// The factors that vary together in each part of a Box-Behnken design of six and seven factors;
/// with three to five all pairs do.
const SIX: [[usize; 3]; 6] = [[0, 1, 3], [1, 2, 4], [2, 3, 5], [0, 3, 4], [1, 4, 5], [0, 2, 5]];
const SEVEN: [[usize; 3]; 7] =
    [[3, 4, 5], [0, 5, 6], [1, 4, 6], [0, 1, 3], [2, 3, 6], [0, 2, 4], [1, 2, 5]];

/// A Box-Behnken design: all combinations of two or three factors with the others in the middle, so
/// that no run is in a corner. `None` unless there are three to seven factors. Source: G. E. P. Box
/// and D. W. Behnken, Technometrics 2 (1960).
pub fn box_behnken(factors: usize, centre_points: usize) -> Option<SurfaceDesign> {
    let groups: Vec<Vec<usize>> = match factors {
        3..=5 => crate::mathematics::subsets::subsets(factors, 2).collect(),
        6 => SIX.map(Vec::from).to_vec(),
        7 => SEVEN.map(Vec::from).to_vec(),
        _ => return None,
    };
    let mut design =
        SurfaceDesign { runs: Vec::new(), parts: Vec::new(), blocks: Vec::new(), alpha: 1.0 };
    for group in groups {
        let corners = (0_usize..1 << group.len()).map(|corner| {
            let mut run = vec![0.0; factors];
            for (bit, factor) in group.iter().enumerate() {
                run[*factor] = if corner >> bit & 1 == 1 { 1.0 } else { -1.0 };
            }
            run
        });
        design.add(corners, SurfacePart::Cube, 0);
    }
    design.add(vec![vec![0.0; factors]; centre_points], SurfacePart::Centre, 0);
    Some(design)
}
