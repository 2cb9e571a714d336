//! Statements that run by another plan at the level that is told than at the reference level. That a plan differs is
//! observed; that it is why figures differ is not claimed.

use super::claims::Claim;
use super::{Finding, FindingKind};
use crate::plans::change;
use crate::settings::engine;
use crate::{FactorEffect, StatementGain, StatementPlans, Summary, wording};

/// Statements that are named.
const NAMED: usize = 3;
/// Letters of a statement that are shown.
const TEXT_MAX: usize = 80;

/// Of each supported effect the statements of which all plans at one level are others than at the other.
pub fn find(summary: &Summary, claims: &[Claim]) -> Vec<Finding> {
    let plans = summary.plans();
    if !plans.iter().any(StatementPlans::differ) {
        return Vec::new();
    }
    let gains = summary.statement_gains();
    let mut findings = Vec::new();
    for claim in claims {
        let Claim::Factor { factor, effect, from, to } = *claim else { continue };
        let level = |wanted: usize| -> Vec<usize> {
            let positions = summary.layouts[factor].positions.iter().enumerate();
            positions.filter(|(_, level)| **level == Some(wanted)).map(|(position, _)| position).collect()
        };
        let [before, after] = [from, to].map(level);
        // Engines have operators of their own.
        let engine = |position: &usize| engine(&summary.recording.configurations[*position]);
        if before.iter().chain(&after).any(|own| engine(own) != before.first().and_then(engine)) {
            continue;
        }
        let base = summary.recording.run.baseline.unwrap_or(0);
        let sibling = summary.layouts[factor].sibling(base, to);
        let mut changed: Vec<(f64, Finding)> = plans
            .iter()
            .filter_map(|own| {
                let gain =
                    gains.iter().find(|gain| gain.text == own.statement && Some(gain.index) == sibling);
                let size = gain.map_or(f64::MAX, |gain| gain.gain.value.ln().abs());
                let sides = Sides { effect, from, to, gain, before: &before, after: &after };
                Some((size, sides.finding(summary, own)?))
            })
            .collect();
        changed.sort_by(|a, b| b.0.total_cmp(&a.0));
        let others = changed.len().saturating_sub(NAMED);
        changed.truncate(NAMED);
        if let Some((_, last)) = changed.last_mut().filter(|_| others > 0) {
            last.text += &format!(" So have {} more.", wording::count(others, "statement"));
        }
        findings.extend(changed.into_iter().map(|(_, finding)| finding));
    }
    findings
}

/// The levels between which a statement is looked at.
struct Sides<'s> {
    effect: &'s FactorEffect,
    from: usize,
    to: usize,
    /// What became of the statement, where its latency is known.
    gain: Option<&'s StatementGain>,
    before: &'s [usize],
    after: &'s [usize],
}

impl Sides<'_> {
    fn finding(&self, summary: &Summary, own: &StatementPlans) -> Option<Finding> {
        let (before, after) = (own.of(self.before), own.of(self.after));
        let (first, second) = (before.first()?, after.first()?);
        if before.iter().any(|plan| after.contains(plan)) {
            return None;
        }
        let name = wording::short_name(&self.effect.factor);
        let (from, to) = (&self.effect.levels[self.from].level, &self.effect.levels[self.to].level);
        let change = change(&first.operators, &second.operators)
            .unwrap_or_else(|| "the same operators with other conditions".to_owned());
        let text = format!(
            "The plan of {} changes from {name}={from} to {to}: {change}; {}.",
            shortened(&own.statement),
            self.effect_on(summary)
        );
        let trials = |plans: &[&crate::PlanRow]| {
            let trials: usize = plans.iter().map(|plan| plan.trials).sum();
            format!("{} with {}", wording::count(trials, "trial"), wording::count(plans.len(), "plan"))
        };
        let holm =
            if self.gain.is_some() { "; latencies by paired blocks, Holm over all statements" } else { "" };
        let evidence = format!("{} against {}{holm}", trials(&before), trials(&after));
        Some(Finding::new(FindingKind::Plan, text, evidence))
    }

    /// What is known of the statement itself, else of the configurations.
    fn effect_on(&self, summary: &Summary) -> String {
        match self.gain.map(|gain| &gain.gain) {
            Some(gain) if gain.supported() => {
                format!("the statement is {} as fast", wording::comparison(gain, "ms"))
            }
            Some(_) => "its latency does not differ at 95 % confidence".to_owned(),
            None => {
                let level = self.effect.levels[self.to].comparison.as_ref();
                let figure = level.map(|level| wording::comparison(level, summary.unit()));
                format!(
                    "with the new plan the configurations are {} (above 1x is better)",
                    figure.unwrap_or_default()
                )
            }
        }
    }
}

/// On one line, the beginning of a long one, in quotes.
fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(TEXT_MAX) {
        Some((end, _)) => format!("`{}...`", &line[..end]),
        None => format!("`{line}`"),
    }
}
