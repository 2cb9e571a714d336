//! A screening design before it is run: its size, generators, aliases and the effect that it can
//! find.

use super::analysis::{chain_names, term_name};
use super::settings::KIND;
use crate::mathematics::{Contrasts, Generator, Screening, detectable};
use experiment::Experiment;
use observations::number::plural;
use report::number;
use serde_json::{Value, json};

/// Spread of repeats for which the detectable effect is given as a share of the mean.
const CV: f64 = 0.05;

/// The lines that `check` prints of a screening with this design and these runs of its centre, and
/// its plan for programs.
pub fn plan(
    design: &Screening,
    centre_points: usize,
    experiment: &Experiment,
) -> (Vec<String>, Value) {
    let contrasts = design.contrasts();
    let factors: Vec<&str> = experiment.factors.iter().map(|factor| factor.name.as_str()).collect();
    let (effects, blocks) = (contrasts.chains.len(), experiment.repeats.blocks.min() as usize);
    let size = detectable(design.runs(), effects, blocks);
    let kind = match (design.is_plackett_burman, design.resolution) {
        (true, _) => "a Plackett-Burman design".to_owned(),
        (false, None) => "all combinations".to_owned(),
        (false, Some(resolution)) => format!("resolution {}", roman(resolution)),
    };
    let grid = 2_f64.powi(factors.len() as i32);
    let is_smaller = (design.runs() as f64) < grid;
    let saved =
        if is_smaller { format!(" instead of {}", number::whole(grid)) } else { String::new() };
    let centre = match centre_points {
        0 => String::new(),
        number => format!(", and {} for curvature", plural(number, "centre point")),
    };
    let all = plural(design.runs(), "run");
    let mut lines = vec![format!("design: screening, {all}{saved}, {kind}{centre}")];
    let letters = factors.iter().enumerate();
    let letters = letters.map(|(i, name)| format!("{} = {name}", term_name(&[i])));
    lines.push(format!("  factors: {}", letters.collect::<Vec<_>>().join(", ")));
    // `E = ABC`
    let generators = design.generators.iter().map(|Generator { factor, product }| {
        format!("{} = {}", term_name(&[*factor]), term_name(product))
    });
    let generators: Vec<String> = generators.collect();
    if !generators.is_empty() {
        lines.push(format!("  generators: {}", generators.join(", ")));
    }
    lines.extend(aliases(&contrasts));
    lines.extend(size.map(|size| detectable_line(size, effects, blocks)));
    let partial = contrasts.partial.iter().map(|pair| term_name(pair));
    let json = json!({
        "kind": KIND,
        "runs": design.runs(),
        "centre_points": centre_points,
        "grid": grid,
        "plackett_burman": design.is_plackett_burman,
        "resolution": design.resolution,
        "factors": factors,
        "generators": generators,
        "aliases": chains(&contrasts),
        "partially_aliased": partial.collect::<Vec<_>>(),
        "detectable_in_standard_deviations": size,
    });
    (lines, json)
}

fn detectable_line(size: f64, effects: usize, blocks: usize) -> String {
    format!(
        "  detectable effect: {} standard deviations of a trial (80 % power, 5 % over {}, {}); {} \
         of the mean if trials vary by {}",
        number::fixed(size, 1),
        plural(effects, "effect"),
        plural(blocks, "block"),
        number::short_percent(size * CV),
        number::short_percent(CV),
    )
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
    ["III", "IV", "V", "VI", "VII"][(resolution - 3).min(4)]
}
