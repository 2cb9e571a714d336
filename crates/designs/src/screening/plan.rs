//! A screening design before it is run: its size, generators, aliases and the effect that it can
//! find.

use super::analysis::{chain_names, term_name};
use crate::mathematics::{Contrasts, Screening, detectable};
use observations::number::plural;
use report::number;
use serde_json::{Value, json};

/// Spread of repeats for which the detectable effect is given as a share of the mean.
const CV: f64 = 0.05;

/// A screening design of named factors, each with two levels.
pub struct ScreeningPlan<'a> {
    /// The design.
    pub design: &'a Screening,
    /// Names of the factors, in the order of the file.
    pub factors: Vec<&'a str>,
    /// Runs of the centre in each block.
    pub centre_points: usize,
    /// Blocks in which each run is repeated.
    pub blocks: usize,
}

impl ScreeningPlan<'_> {
    /// The lines that `check` prints.
    pub fn lines(&self) -> Vec<String> {
        let (design, contrasts) = (self.design, self.design.contrasts());
        let kind = match (design.is_plackett_burman, design.resolution) {
            (true, _) => "a Plackett-Burman design".to_owned(),
            (false, None) => "all combinations".to_owned(),
            (false, Some(resolution)) => format!("resolution {}", roman(resolution)),
        };
        let grid = 2_f64.powi(self.factors.len() as i32);
        let saved = if (design.runs() as f64) < grid {
            format!(" instead of {}", number::whole(grid))
        } else {
            String::new()
        };
        let runs = plural(design.runs(), "run");
        let centre = match self.centre_points {
            0 => String::new(),
            number => format!(", and {} for curvature", plural(number, "centre point")),
        };
        let mut lines = vec![format!("design: screening, {runs}{saved}, {kind}{centre}")];
        let letters = self.factors.iter().enumerate();
        let letters = letters.map(|(i, name)| format!("{} = {name}", term_name(&[i])));
        lines.push(format!("  factors: {}", letters.collect::<Vec<_>>().join(", ")));
        let generators = self.generators();
        if !generators.is_empty() {
            lines.push(format!("  generators: {}", generators.join(", ")));
        }
        lines.extend(aliases(&contrasts));
        lines.extend(self.detectable_line(&contrasts));
        lines
    }

    /// The plan for programs.
    pub fn json(&self) -> Value {
        let contrasts = self.design.contrasts();
        json!({
            "kind": "screening",
            "runs": self.design.runs(),
            "centre_points": self.centre_points,
            "grid": 2_f64.powi(self.factors.len() as i32),
            "plackett_burman": self.design.is_plackett_burman,
            "resolution": self.design.resolution,
            "factors": self.factors,
            "generators": self.generators(),
            "aliases": chains(&contrasts),
            "partially_aliased": contrasts.partial.iter().map(|chain| term_name(chain))
                .collect::<Vec<_>>(),
            "detectable_in_standard_deviations":
                detectable(self.design.runs(), contrasts.chains.len(), self.blocks),
        })
    }

    /// `E = ABC`.
    fn generators(&self) -> Vec<String> {
        let all = self.design.generators.iter();
        all.map(|alias| format!("{} = {}", term_name(&[alias.factor]), term_name(&alias.product)))
            .collect()
    }

    fn detectable_line(&self, contrasts: &Contrasts) -> Option<String> {
        let effects = contrasts.chains.len();
        let size = detectable(self.design.runs(), effects, self.blocks)?;
        Some(format!(
            "  detectable effect: {} standard deviations of a trial (80 % power, 5 % over {}, \
             {}); {} of the mean if trials vary by {}",
            number::fixed(size, 1),
            plural(effects, "effect"),
            plural(self.blocks, "block"),
            number::short_percent(size * CV),
            number::short_percent(CV),
        ))
    }
}

/// `AB = CE = DF`, of each chain with several terms.
fn chains(contrasts: &Contrasts) -> Vec<String> {
    let several = contrasts.chains.iter().filter(|chain| chain.terms.len() > 1);
    several.map(|chain| chain_names(&chain.terms).join(" = ")).collect()
}

fn aliases(contrasts: &Contrasts) -> Vec<String> {
    if !contrasts.partial.is_empty() {
        return vec![
            "  aliases: each main effect partly with the interactions of all pairs of other \
             factors"
                .to_owned(),
        ];
    }
    let chains = chains(contrasts);
    if chains.is_empty() {
        return vec!["  aliases: none between effects of one or two factors".to_owned()];
    }
    let mut lines = vec!["  aliases of main effects and interactions of two factors:".to_owned()];
    lines.extend(chains.iter().map(|chain| format!("    {chain}")));
    lines
}

/// A resolution as it is written.
fn roman(resolution: usize) -> &'static str {
    match resolution {
        3 => "III",
        4 => "IV",
        5 => "V",
        6 => "VI",
        _ => "VII",
    }
}
