use super::claims::Claim;
use super::{Finding, FindingKind};
use crate::compare::corrected;
use crate::response_names::distinct;
use crate::wording::{self, SUPPORTED, SUPPORTED_ALONE};
use crate::{Comparison, FactorEffect, ResponseChoice, Scale, Summary, response};
use observations::order;

/// Responses that are named for one factor.
const NAMED_MAX: usize = 3;

/// Another response at a level of a factor, against the reference level.
struct Change {
    factor: usize,
    level: usize,
    response: ResponseChoice,
    comparison: Comparison,
}

impl Change {
    fn size(&self) -> f64 {
        match self.comparison.scale {
            Scale::Ratio => self.comparison.value.ln().abs(),
            Scale::Difference => 0.0,
        }
    }
}

/// Finds, for each factor, the other responses that differ most: at the level that the verdict
/// names, or without one at the level with the largest difference. Factors are sorted by their
/// largest difference.
pub fn find(summary: &Summary, claims: &[Claim]) -> Vec<Finding> {
    let mut changes = changes(summary);
    let comparisons = changes.iter().map(|change| Some(change.comparison.clone())).collect();
    let comparisons = corrected(comparisons).into_iter().flatten();
    changes.iter_mut().zip(comparisons).for_each(|(change, adjusted)| change.comparison = adjusted);
    let family = changes.iter().filter(|change| change.comparison.p_value.is_some()).count();
    let least = if claims.is_empty() { SUPPORTED_ALONE } else { SUPPORTED };
    changes.retain(|change| change.comparison.adjusted_p.is_some_and(|p| p < least));
    order::largest_first(&mut changes, &|row| row.size());
    let mut findings: Vec<(f64, Finding)> = Vec::new();
    for (factor, effect) in summary.factors.effects.iter().enumerate() {
        let claimed = claims.iter().find_map(|claim| match claim {
            Claim::Factor { factor: claimed, to, .. } if *claimed == factor => Some(*to),
            _ => None,
        });
        let matching = || changes.iter().filter(move |change| change.factor == factor);
        let Some(level) = claimed.or_else(|| matching().next().map(|change| change.level)) else {
            continue;
        };
        let named: Vec<&Change> =
            matching().filter(|change| change.level == level).take(NAMED_MAX).collect();
        if let Some(first) = named.first() {
            findings.push((first.size(), finding(effect, level, &named, family)));
        }
    }
    order::largest_first(&mut findings, &|row| row.0);
    findings.into_iter().map(|(_, finding)| finding).collect()
}

fn finding(effect: &FactorEffect, level: usize, named: &[&Change], family: usize) -> Finding {
    let name = wording::short_name(&effect.factor);
    let (from, to) = (&effect.levels[effect.reference].level, &effect.levels[level].level);
    let changes = wording::list(
        &named
            .iter()
            .map(|change| {
                let figure = wording::change(&change.comparison, Some(&change.response));
                format!("{} {figure}", change.response.name)
            })
            .collect::<Vec<_>>(),
    );
    let text = format!("Other responses at {name}={to} against {from}: {changes}.");
    let evidence =
        format!("Holm-adjusted for {} of other responses", wording::count(family, "comparison"));
    Finding::new(FindingKind::Responses, text, evidence)
}

/// Returns whether a unit is that of an amount, such as bytes or I/Os in flight: more work needs
/// more of it, so that it is no better or worse where trials did different amounts of work.
fn is_amount(unit: &str) -> bool {
    !unit.is_empty() && unit != "%" && !unit.contains('/') && response::seconds(unit).is_none()
}

/// Every other response at every level of every factor. With the work fixed, elapsed time and
/// throughput say the same.
fn changes(summary: &Summary) -> Vec<Change> {
    let Some(chosen) = &summary.response else { return Vec::new() };
    let trials = summary.grid.observations();
    let same = ["elapsed", "throughput"];
    let others = response::names(&trials).into_iter().filter(|name| {
        *name != chosen.name && !(same.contains(name) && same.contains(&chosen.name.as_str()))
    });
    let others = others
        .filter_map(|name| trials.iter().find_map(|trial| ResponseChoice::named(name, trial)));
    let work = distinct(trials.iter().map(|trial| trial.work.amount)).len();
    let mut changes = Vec::new();
    for response in others.filter(|response| work < 2 || !is_amount(&response.unit)) {
        let figures = summary.grid.figures(&response);
        for layout in &summary.layouts {
            let compared = layout.others().filter_map(|level| {
                let comparison = layout.compare(&figures, layout.reference, level)?;
                Some(Change {
                    factor: layout.factor,
                    level,
                    response: response.clone(),
                    comparison,
                })
            });
            changes.extend(compared);
        }
    }
    changes
}
