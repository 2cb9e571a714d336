//! Statements that run by another plan at the level that a finding names than at the reference
//! level. The difference in plans is observed; that it causes the difference in figures is not
//! claimed.

use crate::operators::change;
use crate::recorded::{PlanRow, StatementPlans, plans};
use analysis::settings::engine;
use analysis::statement_gains::StatementGain;
use analysis::wording::{self, SUPPORTED_ALONE};
use analysis::{Comparison, FactorEffect, Finding, FindingKind, Summary};
use observations::order;

/// Statements that are named.
const NAMED_MAX: usize = 3;
/// Letters of a statement that are shown.
const TEXT_MAX: usize = 80;

/// Finds, for each factor, the statements whose plans at one level all differ from those at the
/// reference level. The level is the one that a claim names. Without a claim (gains of some
/// statements may cancel losses of the rest) only statements that changed significantly themselves
/// are listed.
pub fn find(summary: &Summary) -> Vec<Finding> {
    let plans = plans(summary);
    if !plans.iter().any(StatementPlans::differ) {
        return Vec::new();
    }
    let gains = summary.statement_gains();
    let mut findings = Vec::new();
    for (factor, effect) in summary.factors.effects.iter().enumerate() {
        let claimed = effect.span();
        let levels = match claimed {
            Some(levels) => vec![levels],
            None => summary.layouts[factor].others().map(|to| (effect.reference, to)).collect(),
        };
        let changed =
            levels.into_iter().map(|(from, to)| Sides::of_levels(summary, factor, from, to));
        findings.extend(
            changed.flat_map(|sides| sides.findings(summary, &plans, &gains, claimed.is_some())),
        );
    }
    findings
}

/// The levels between which statements are looked at.
struct Sides<'s> {
    effect: &'s FactorEffect,
    from: usize,
    to: usize,
    /// The configurations at these levels.
    before: Vec<usize>,
    after: Vec<usize>,
    /// The configuration that differs from the baseline in this level only.
    sibling: Option<usize>,
}

impl<'s> Sides<'s> {
    fn of_levels(summary: &'s Summary, factor: usize, from: usize, to: usize) -> Self {
        let layout = &summary.layouts[factor];
        let at = |position_of_level: usize| -> Vec<usize> {
            let positions = layout.positions.iter().enumerate();
            positions
                .filter(|(_, level)| **level == Some(position_of_level))
                .map(|(position, _)| position)
                .collect()
        };
        let base = summary.recording.run.baseline.unwrap_or(0);
        Self {
            effect: &summary.factors.effects[factor],
            from,
            to,
            before: at(from),
            after: at(to),
            sibling: layout.sibling(base, to),
        }
    }

    /// Findings on the statements, the largest change first. Without a claim, only statements that
    /// are significantly faster or slower.
    fn findings(
        &self,
        summary: &Summary,
        plans: &[StatementPlans],
        gains: &[StatementGain],
        is_claimed: bool,
    ) -> Vec<Finding> {
        // Engines have operators of their own.
        let engine = |position: &usize| engine(&summary.recording.configurations[*position]);
        let first = self.before.first().and_then(engine);
        if self.before.iter().chain(&self.after).any(|plan| engine(plan) != first) {
            return Vec::new();
        }
        let mut changed: Vec<(f64, Finding)> = plans
            .iter()
            .filter_map(|of| {
                let gain = gains
                    .iter()
                    .find(|gain| gain.text == of.statement && Some(gain.index) == self.sibling)
                    .map(|gain| &gain.gain);
                let is_clear =
                    gain.and_then(|gain| gain.adjusted_p).is_some_and(|p| p < SUPPORTED_ALONE);
                let size = gain.map_or(f64::MAX, |gain| gain.value.ln().abs());
                let finding = self.finding(summary, of, gain).filter(|_| is_claimed || is_clear)?;
                Some((size, finding))
            })
            .collect();
        order::largest_first(&mut changed, &|row| row.0);
        let others = changed.len().saturating_sub(NAMED_MAX);
        changed.truncate(NAMED_MAX);
        if let Some((_, last)) = changed.last_mut()
            && others > 0
        {
            last.text = format!(
                "{} The plans of {} more changed, too.",
                last.text,
                wording::count(others, "statement")
            );
        }
        changed.into_iter().map(|(_, finding)| finding).collect()
    }

    fn finding(
        &self,
        summary: &Summary,
        statement_plans: &StatementPlans,
        gain: Option<&Comparison>,
    ) -> Option<Finding> {
        let (before, after) =
            (statement_plans.used_by(&self.before), statement_plans.used_by(&self.after));
        let (first, second) = (before.first()?, after.first()?);
        if before.iter().any(|plan| after.contains(plan)) {
            return None;
        }
        let name = wording::short_name(&self.effect.factor);
        let (from, to) = (&self.effect.levels[self.from].level, &self.effect.levels[self.to].level);
        let change = change(&first.operators, &second.operators)
            .unwrap_or_else(|| "same operators, different conditions".to_owned());
        let text = format!(
            "The plan of `{}` changes from {name}={from} to {to}: {change}; {}.",
            wording::one_line(&statement_plans.statement, TEXT_MAX),
            self.effect_on(summary, gain)
        );
        let trials = |plans: &[&PlanRow]| {
            let trials: usize = plans.iter().map(|plan| plan.trials).sum();
            format!(
                "{} with {}",
                wording::count(trials, "trial"),
                wording::count(plans.len(), "plan")
            )
        };
        let holm = if gain.is_some() {
            "; latency: paired by block, Holm-adjusted for all statements"
        } else {
            ""
        };
        let evidence = format!("{} against {}{holm}", trials(&before), trials(&after));
        Some(Finding::new(FindingKind::Plan, text, evidence))
    }

    /// Effect on the statement itself if known, else on the configurations.
    fn effect_on(&self, summary: &Summary, gain: Option<&Comparison>) -> String {
        match gain {
            Some(gain) if gain.supported() => {
                format!("the statement is {}", wording::speed(gain))
            }
            Some(_) => "its latency does not differ significantly".to_owned(),
            None => {
                let level = self.effect.levels[self.to].comparison.as_ref();
                let figure = level.map(|level| wording::change(level, summary.response.as_ref()));
                format!("with the new plan the configurations are {}", figure.unwrap_or_default())
            }
        }
    }
}
