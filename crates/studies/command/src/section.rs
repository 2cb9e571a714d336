//! The dependence of the response on drawn parameters.

use crate::covariates::{Covariate, Dependence};
use analysis::Summary;
use observations::number::{difference, p_value, ratio, ratio_ends, short_percent};
use report::Section;

/// A line for each parameter, and one for each comparison that depends on it.
pub fn section(summary: &Summary, covariates: &[Covariate]) -> Option<Section> {
    let mut section = Section::new("Drawn parameters");
    let response = summary.response.as_ref().map_or("", |own| own.name.as_str());
    for own in covariates {
        let [low, high] = own.drawn.map(|end| end.to_string());
        let blocks = own.blocks;
        let change = change(own, &own.response, summary.unit());
        let evidence = format!(
            "{}; the line explains {} of the variance between {blocks} blocks.",
            p_value(own.response.adjusted_p.unwrap_or(own.response.p_value)),
            short_percent(own.r_squared)
        );
        let name = &own.name;
        if own.response.supported() {
            section.line(format!(
                "{response} follows {name}: {change} from {name}={low} to {name}={high}."
            ));
        } else {
            section.line(format!(
                "{response} does not follow {name} significantly ({low} to {high}): {change}."
            ));
        }
        section.detail(evidence);
        for dependent in own.comparisons.iter().filter(|own| own.supported()) {
            section.warn(format!(
                "The comparison of {} with the first configuration depends on {name}: it changes \
                 by {} over this range, and holds on average over the values drawn.",
                dependent.label,
                self::change(own, dependent, summary.unit())
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
fn change(covariate: &Covariate, own: &Dependence, unit: &str) -> String {
    let (low, high) = (own.interval.low, own.interval.high);
    if covariate.by_ratio {
        format!("{}x {}", ratio(own.change), ratio_ends(low, high))
    } else {
        difference(own.change, Some((low, high)), unit)
    }
}
