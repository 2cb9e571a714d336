//! A response surface before it is run: its points, its model and the width of its intervals.

use super::runs::SurfaceRuns;
use crate::mathematics::{Surface, SurfacePart};
use crate::settings::RESPONSE_SURFACE;
use experiment::Experiment;
use observations::number::plural;
use report::number;
use serde_json::{Value, json};
use statistics::t_quantile;

/// How exactly each kind of coefficient will be estimated.
struct Precision {
    /// Degrees of freedom of the error.
    df: usize,
    /// Half the widths of 95 % intervals in standard deviations of a trial: of the least exact
    /// slope, interaction and curvature. `None` without degrees of freedom.
    half_widths: Option<[f64; 3]>,
}

/// The lines that `check` prints of a response surface, and its plan for programs.
pub fn plan(runs: &SurfaceRuns, experiment: &Experiment) -> (Vec<String>, Value) {
    let (design, factors) = (&runs.design, &experiment.factors);
    let precision = Precision::new(runs, experiment);
    let [cube, axes, centre] = [SurfacePart::Cube, SurfacePart::Axis, SurfacePart::Centre]
        .map(|part| design.parts.iter().filter(|known| **known == part).count());
    let kind = if axes == 0 {
        format!("Box-Behnken: {cube} on edges")
    } else {
        format!("central composite: {cube} in corners, {axes} on axes")
    };
    let all = plural(design.runs.len(), "run");
    let mut lines =
        vec![format!("design: response surface, {all}, {kind}, {centre} at the centre")];
    lines.extend(runs.factors.iter().zip(factors).map(|(numeric, factor)| {
        let codes = factor.levels.iter().map(|level| {
            let code = numeric.code(&level.label).unwrap_or(f64::NAN);
            format!("{} = {}", number::signed(code, 2), level.label)
        });
        let scale = if numeric.is_log() { ", log scale" } else { "" };
        format!("  {}{scale}: {}", numeric.name, codes.collect::<Vec<_>>().join(", "))
    }));
    if design.blocks.iter().any(|block| *block > 0) {
        lines.push("  blocks: corners and axes alternate, each with its centre points".into());
    }
    lines.push(precision.as_ref().and_then(Precision::line).unwrap_or_else(|| {
        "  error: no degrees of freedom; raise repeats.blocks or design.centre_points".into()
    }));
    let json = json!({
        "kind": RESPONSE_SURFACE,
        "runs": design.runs.len(),
        "factors": factors.iter().map(|factor| &factor.name).collect::<Vec<_>>(),
        "coded": runs.coded(factors),
        "blocks": design.blocks,
        "degrees_of_freedom": precision.map(|precision| precision.df),
    });
    (lines, json)
}

impl Precision {
    fn line(&self) -> Option<String> {
        let [slope, interaction, curvature] =
            self.half_widths?.map(|width| number::fixed(width, 2));
        let df = match self.df {
            1 => "1 degree of freedom".to_owned(),
            df => format!("{df} degrees of freedom"),
        };
        Some(format!(
            "  95 % intervals in standard deviations of a trial ({df}): slopes ±{slope}, \
             interactions ±{interaction}, curvatures ±{curvature}"
        ))
    }

    fn new(runs: &SurfaceRuns, experiment: &Experiment) -> Option<Self> {
        let blocks_max = runs.design.blocks.iter().max()? + 1;
        let (mut points, mut blocks) = (Vec::new(), Vec::new());
        for repeat in 0..experiment.repeats.blocks.min() as usize {
            points.extend(runs.coded(&experiment.factors));
            blocks.extend(runs.design.blocks.iter().map(|block| repeat * blocks_max + block));
        }
        let values = vec![0.0; points.len()];
        let surface = Surface::fit(&points, &blocks, &values).ok()?;
        let df = surface.fit.df;
        let widest = |is_own: fn(&[usize]) -> bool| {
            let terms = surface.terms.iter().enumerate().filter(|(_, term)| is_own(term));
            let variance =
                terms.map(|(at, _)| surface.fit.unscaled[surface.before + at][surface.before + at]);
            t_quantile(0.025, df as f64) * variance.fold(0.0, f64::max).sqrt()
        };
        let half_widths = (df > 0).then(|| {
            [
                widest(|term| term.len() == 1),
                widest(|term| term.len() == 2 && term[0] != term[1]),
                widest(|term| term.len() == 2 && term[0] == term[1]),
            ]
        });
        Some(Self { df, half_widths })
    }
}
