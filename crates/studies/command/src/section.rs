//! The dependence of the response on drawn parameters.

use crate::covariates::{Covariate, Dependence};
use analysis::Summary;
use observations::number::{difference, p_value, ratio, ratio_ends, short_percent};
use report::Section;

/// A line for each parameter, and one for each comparison that depends on it.
pub fn section(summary: &Summary, covariates: &[Covariate]) -> Option<Section> {
    let mut section = Section::new("Drawn parameters");
    let response = summary.response.as_ref().map_or("", |response| response.name.as_str());
    for covariate in covariates {
        let [low, high] = covariate.drawn.map(|end| end.to_string());
        let blocks = covariate.blocks;
        let change = change(covariate, &covariate.response, summary.unit());
        let evidence = format!(
            "{}; the line explains {} of the variance between {blocks} blocks.",
            p_value(covariate.response.adjusted_p.unwrap_or(covariate.response.p_value)),
            short_percent(covariate.r_squared)
        );
        let name = &covariate.name;
        if covariate.response.supported() {
            section.line(format!(
                "{response} follows {name}: {change} from {name}={low} to {name}={high}."
            ));
        } else {
            section.line(format!(
                "{response} does not follow {name} significantly ({low} to {high}): {change}."
            ));
        }
        section.detail(evidence);
        for dependent in covariate.comparisons.iter().filter(|comparison| comparison.supported()) {
            section.warn(format!(
                "The comparison of {} with the first configuration depends on {name}: it changes \
                 by {} over this range, and holds on average over the values drawn.",
                dependent.label,
                self::change(covariate, dependent, summary.unit())
            ));
        }
    }
    if !covariates.is_empty() {
        section.note(
            "All configurations of a block have the same values, so ratios within blocks need no \
             adjustment. [ ]: 95 % t intervals of a straight line over blocks; p adjusted for all \
             parameters (Holm).",
        );
    }
    section.unless_empty()
}

/// `1.82x [1.61, 2.05]`, `3.2 s [2.9, 3.5]`.
fn change(covariate: &Covariate, dependence: &Dependence, unit: &str) -> String {
    if covariate.by_ratio {
        format!("{}x {}", ratio(dependence.change), ratio_ends(dependence.interval))
    } else {
        difference(dependence.change, Some(dependence.interval), unit)
    }
}
