//! Findings of a response surface.

use super::{Answer, FittedSurface, LevelRange, StationaryPoint, SurfaceReport};
use ::analysis::wording::{self, Sentence};
use observations::number;

/// A part of a direction below this is not named.
const PART_MIN: f64 = 0.3;

impl SurfaceReport {
    /// Sentences on the best levels, and on a model that does not fit.
    pub fn sentences(&self, response: &str) -> Vec<Sentence> {
        let Some(fit) = &self.fit else { return Vec::new() };
        let mut sentences = Vec::new();
        if let Some(misses) = fit.misfit() {
            sentences.push(Sentence {
                claims: true,
                text: "The quadratic surface does not fit: do not rely on its optimum or its next \
                       trials. Narrow the ranges, or list factors in design.log_scale."
                    .to_owned(),
                evidence: format!(
                    "lack of fit F({}, {}) {}, {}",
                    misses.df_misses,
                    misses.df_repeats,
                    wording::f_statistic(misses.f),
                    number::p_value(misses.p_value)
                ),
            });
        }
        let (claims, text) = self.answer_in_words(fit, response);
        let claims = claims && fit.misfit().is_none();
        sentences.push(Sentence { claims, text, evidence: self.evidence(fit) });
        sentences
    }

    fn answer_in_words(&self, fit: &FittedSurface, response: &str) -> (bool, String) {
        let best = if self.higher_is_better { "highest" } else { "lowest" };
        let last = fit.next.iter().rfind(|point| point.is_tested).or(fit.next.first());
        let towards = last.map_or_else(String::new, |point| {
            format!("; better values lie towards {}", self.named(&point.levels))
        });
        let claimed = |text: String| (true, text);
        let unclaimed = |text: String| (false, text);
        match (fit.answer, &fit.stationary) {
            (Answer::Level, _) => unclaimed(format!(
                "No coefficient of the surface is significant ({} were tested).",
                fit.coefficients.len()
            )),
            (Answer::Optimum, Some(stationary)) => {
                let levels = self.named(&stationary.levels);
                claimed(format!("{response} is {best} near {levels}."))
            }
            (Answer::Outside, Some(stationary)) if stationary.may_be_tested => unclaimed(format!(
                "The optimum lies at the edge of the tested region or outside it{towards}."
            )),
            (Answer::Ridge, Some(stationary)) => unclaimed(format!(
                "The surface is a ridge without a single optimum: {response} may be level along \
                 {}{towards}.",
                self.level_directions(stationary)
            )),
            (Answer::Edge, Some(stationary)) if stationary.is_tested => {
                let kind = match stationary.shape {
                    super::Kind::Saddle => "a saddle".to_owned(),
                    _ => format!("where {response} is worst"),
                };
                claimed(format!(
                    "The stationary point near {} is {kind}, not an optimum: the best values are \
                     at the edge of the tested region{towards}.",
                    self.named(&stationary.levels)
                ))
            }
            (Answer::Outside | Answer::Edge | Answer::Optimum | Answer::Ridge, _) => {
                claimed(format!("The optimum lies outside the tested region{towards}."))
            }
        }
    }

    /// `cache_size 64MB, connections 4`.
    pub fn named(&self, levels: &[String]) -> String {
        let named = self.factors.iter().zip(levels);
        let named = named.map(|(factor, level)| format!("{} {level}", factor.short_name()));
        named.collect::<Vec<_>>().join(", ")
    }

    /// The factors that change along axes on which the surface may be level.
    fn level_directions(&self, point: &StationaryPoint) -> String {
        let axes = point
            .curvatures
            .iter()
            .filter(|curvature| curvature.interval.is_none_or(|interval| interval.contains(0.0)));
        let named = axes.map(|axis| {
            let parts = self.factors.iter().zip(&axis.direction);
            let parts = parts.filter(|(_, part)| part.abs() >= PART_MIN);
            let names: Vec<&str> = parts.map(|(factor, _)| factor.short_name()).collect();
            names.join(" with ")
        });
        wording::list(&named.collect::<Vec<_>>())
    }

    fn evidence(&self, fit: &FittedSurface) -> String {
        let mut parts = Vec::new();
        if let (Answer::Optimum, Some(stationary)) = (fit.answer, &fit.stationary) {
            parts.push(format!(
                "predicted {}",
                number::within(stationary.value, stationary.interval, &self.unit)
            ));
            let ranges =
                stationary.region.iter().flat_map(|region| self.factors.iter().zip(region));
            let ranges =
                ranges.map(|(factor, range)| format!("{} {}", factor.short_name(), range.text()));
            let ranges: Vec<String> = ranges.collect();
            if !ranges.is_empty() {
                parts.push(format!("95 % confidence region: {}", ranges.join(", ")));
            }
        }
        parts.push(format!(
            "quadratic surface over {} in {}, R2 {}",
            number::plural(self.trials, "trial"),
            number::plural(fit.blocks, "block"),
            number::fixed(fit.r_squared, 3)
        ));
        if let Some(lack_of_fit) = fit.lack_of_fit {
            parts.push(format!("lack of fit {}", number::p_value(lack_of_fit.p_value)));
        }
        parts.join("; ")
    }
}

impl FittedSurface {
    /// The test of lack of fit, if it is significant.
    pub fn misfit(&self) -> Option<super::LackOfFit> {
        self.lack_of_fit.filter(|lack_of_fit| lack_of_fit.p_value < 0.05)
    }
}

impl LevelRange {
    /// `64MB to 200MB`; an end that the tested levels do not have is named.
    pub fn text(&self) -> String {
        match (&self.low, &self.high) {
            (Some(low), Some(high)) => format!("{low} to {high}"),
            (Some(low), None) => format!("{low} to above the tested levels"),
            (None, Some(high)) => format!("below the tested levels to {high}"),
            (None, None) => "all tested levels".to_owned(),
        }
    }
}
