//! Response surfaces in a file: the levels of each factor between, and for some designs beyond, the
//! two of the file.

use super::plan::plan;
use super::runs::{SurfaceRuns, points};
use super::settings::{AXIAL_POINTS, COMPOSITE, SURFACE};
use crate::factor::{NumericFactor, check_log_scale, refuse_close};
use crate::mathematics::{Surface, SurfaceDesign};
use crate::settings::{CENTRE_POINTS, LOG_SCALE, RESPONSE_SURFACE};
use experiment::{Blocks, Design, DesignFile, DesignPlace, DesignRuns, Experiment, FactorLevel};
use serde_json::Value;

/// The response surface.
#[derive(Debug)]
pub struct ResponseSurface;

impl Design for ResponseSurface {
    fn kind(&self) -> &'static str {
        RESPONSE_SURFACE
    }

    fn settings(&self) -> &'static [&'static str] {
        const { &[SURFACE.path(), AXIAL_POINTS.path(), CENTRE_POINTS.path(), LOG_SCALE.path()] }
    }

    fn shares_blocks(&self) -> bool {
        false
    }

    fn read(&self, file: &mut DesignFile<'_>) -> Option<DesignRuns> {
        file.refuse_exclusions("a response surface");
        if let Some(factor) = file.hard.first() {
            let message = "a response surface changes each factor from run to run; remove this one \
                           from order.hard_to_change or [[manual]], or use a grid";
            file.error_of_factor(*factor, message);
        }
        check_log_scale(file);
        // All of them, for the errors of each.
        let ranges: Vec<Option<NumericFactor>> =
            (0..file.factors.len()).map(|factor| NumericFactor::read(file, factor)).collect();
        let ranges: Option<Vec<NumericFactor>> = ranges.into_iter().collect();
        let design = design(file);
        let is_split =
            design.as_ref().is_some_and(|design| design.blocks.iter().any(|block| *block > 0));
        if is_split && matches!(file.repeats.blocks, Blocks::Adaptive { .. }) {
            let message = "orthogonal blocks are incomplete, which adaptive repeats cannot judge; \
                           give repeats.blocks as a number";
            file.error(DesignPlace::Blocks, message);
        }
        let (ranges, design) = (ranges?, design?);
        // All of them, for the errors of each.
        let columns = ranges.iter().enumerate().map(|(position, range)| {
            let coded: Vec<f64> = design.runs.iter().map(|run| run[position]).collect();
            levels_of(file, position, range, &coded)
        });
        let columns: Vec<Option<Vec<usize>>> = columns.collect();
        let columns: Vec<Vec<usize>> = columns.into_iter().collect::<Option<_>>()?;
        let runs = 0..design.runs.len();
        let levels = runs.map(|run| columns.iter().map(|column| column[run]).collect()).collect();
        let surface = SurfaceRuns { factors: ranges, design, levels };
        // The runs have to tell all coefficients of the surface apart, also after rounding.
        if !Surface::is_determined(&surface.coded(file.factors), &surface.design.blocks) {
            let path = CENTRE_POINTS.path();
            let message = format!("these runs do not determine the surface; raise {path}");
            file.error(DesignPlace::Setting(path), message);
        }
        file.refuse_extensions();
        let (levels, blocks) = (Some(surface.levels), Some(surface.design.blocks));
        let is_numbered = |_: &[usize]| true;
        Some(DesignRuns { levels, blocks, is_numbered, ..DesignRuns::all(RESPONSE_SURFACE) })
    }

    fn plan(&self, experiment: &Experiment) -> (Vec<String>, Value) {
        let runs = SurfaceRuns::for_experiment(experiment);
        runs.map_or_else(Default::default, |runs| plan(&runs, experiment))
    }
}

fn design(file: &mut DesignFile<'_>) -> Option<SurfaceDesign> {
    let (surface, axial) = (file.get(SURFACE), file.get(AXIAL_POINTS));
    let is_composite = surface == COMPOSITE;
    if !is_composite && file.has(AXIAL_POINTS.path()) {
        let message = "a Box-Behnken design has no axial points; remove the setting";
        file.error(DesignPlace::Setting(AXIAL_POINTS.path()), message);
    }
    let factors = file.factors.len();
    let design = points(&surface, &axial, file.get(CENTRE_POINTS) as usize, factors);
    if design.is_none() {
        let message = if is_composite {
            format!("a central composite design takes 2 to 8 factors, not {factors}")
        } else {
            format!(
                "a Box-Behnken design takes 3 to 7 factors, not {factors}; \
                 surface = \"central-composite\" takes 2 to 8"
            )
        };
        file.error(DesignPlace::Setting(SURFACE.path()), message);
    }
    design
}

/// Replaces the levels of a factor by those of the coded numbers, lowest first, and returns the
/// position of each; `None` after an error.
fn levels_of(
    file: &mut DesignFile<'_>,
    factor: usize,
    range: &NumericFactor,
    coded: &[f64],
) -> Option<Vec<usize>> {
    let mut sorted = coded.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.dedup_by(|value, other| (*value - *other).abs() < 1e-9);
    let labels: Vec<String> = sorted.iter().map(|at| range.label(*at)).collect();
    let mut pairs = labels.iter().zip(labels.iter().skip(1));
    if let Some((same, _)) = pairs.find(|(low, high)| low == high) {
        refuse_close(file, factor, same);
        return None;
    }
    let levels: Option<Vec<FactorLevel>> =
        labels.into_iter().map(|label| file.level(factor, label)).collect();
    file.factors[factor].levels = levels?;
    coded.iter().map(|coded| sorted.iter().position(|at| (at - coded).abs() < 1e-9)).collect()
}
