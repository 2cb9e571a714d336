//! A response surface before it is run: its points, its model and the width of its intervals.

use super::runs::SurfaceRuns;
use crate::mathematics::{Surface, SurfacePart};
use experiment::Factor;
use observations::number::plural;
use report::number;
use serde_json::{Value, json};
use statistics::t_quantile;

/// The runs of a response surface.
pub struct SurfacePlan<'a> {
    /// The runs.
    pub runs: &'a SurfaceRuns,
    /// The factors of the experiment.
    pub factors: &'a [Factor],
    /// Repeats of each run.
    pub repeats: usize,
}

/// How exactly each kind of coefficient will be estimated.
struct Precision {
    /// Degrees of freedom of the error.
    df: usize,
    /// Half the widths of 95 % intervals in standard deviations of a trial: of the least exact
    /// slope, interaction and curvature. `None` without degrees of freedom.
    half_widths: Option<[f64; 3]>,
}

impl SurfacePlan<'_> {
    /// The lines that `check` prints.
    pub fn lines(&self) -> Vec<String> {
        let design = &self.runs.design;
        let part = |part: SurfacePart| design.parts.iter().filter(|known| **known == part).count();
        let (cube, axes, centre) =
            (part(SurfacePart::Cube), part(SurfacePart::Axis), part(SurfacePart::Centre));
        let runs = plural(design.runs.len(), "run");
        let kind = if axes == 0 {
            format!("Box-Behnken: {cube} on edges")
        } else {
            format!("central composite: {cube} in corners, {axes} on axes")
        };
        let mut lines =
            vec![format!("design: response surface, {runs}, {kind}, {centre} at the centre")];
        lines.extend(self.runs.factors.iter().zip(self.factors).map(|(numeric, factor)| {
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
        lines.push(self.precision_line());
        lines
    }

    fn precision_line(&self) -> String {
        let Some(Precision { df, half_widths: Some(widths) }) = self.precision() else {
            return "  error: no degrees of freedom; raise repeats.blocks or design.centre_points"
                .into();
        };
        let [slope, interaction, curvature] = widths.map(|width| number::fixed(width, 2));
        format!(
            "  95 % intervals in standard deviations of a trial ({}): slopes ±{slope}, \
             interactions ±{interaction}, curvatures ±{curvature}",
            if df == 1 {
                "1 degree of freedom".to_owned()
            } else {
                format!("{df} degrees of freedom")
            },
        )
    }

    /// The plan for programs.
    pub fn json(&self) -> Value {
        let design = &self.runs.design;
        let precision = self.precision();
        json!({
            "kind": "response-surface",
            "runs": design.runs.len(),
            "factors": self.factors.iter().map(|factor| &factor.name).collect::<Vec<_>>(),
            "coded": self.runs.coded(self.factors),
            "blocks": design.blocks,
            "degrees_of_freedom": precision.map(|precision| precision.df),
        })
    }

    fn precision(&self) -> Option<Precision> {
        let blocks_max = self.runs.design.blocks.iter().max()? + 1;
        let (mut points, mut blocks) = (Vec::new(), Vec::new());
        for repeat in 0..self.repeats {
            points.extend(self.runs.coded(self.factors));
            blocks.extend(self.runs.design.blocks.iter().map(|block| repeat * blocks_max + block));
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
        Some(Precision { df, half_widths })
    }
}
