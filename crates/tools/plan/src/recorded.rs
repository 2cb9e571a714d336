//! The plans of a run's statements: which configurations share one, and what the optimizer
//! estimated.

use crate::operators::operators;
use analysis::Summary;
use serde::Serialize;
use std::collections::HashMap;

/// The plans of a statement.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StatementPlans {
    /// The statement: `scan`, or the text of one of a script.
    pub statement: String,
    /// The different plans, in the order of the configurations that have them.
    pub plans: Vec<PlanRow>,
}

/// A plan of a statement, or why it has none.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlanRow {
    /// Hash of the plan, or of the first of several that count as one; empty without a plan.
    pub hash: String,
    /// The operators from the top, with their tables and indexes.
    pub operators: Vec<String>,
    /// The plan as the engine printed it.
    pub text: String,
    /// Why there is no plan.
    pub reason: Option<String>,
    /// Positions of the configurations of which trials had it.
    pub configurations: Vec<usize>,
    /// Trials that had it.
    pub trials: usize,
    /// The least and the most rows that the optimizer expected of the statement in these trials.
    pub estimated_rows: Option<(f64, f64)>,
    /// The least and the highest cost that it expected, in the engine's own unit.
    pub estimated_cost: Option<(f64, f64)>,
}

impl StatementPlans {
    /// Returns whether configurations differ in the plan.
    pub fn differ(&self) -> bool {
        self.plans.iter().filter(|plan| plan.reason.is_none()).count() > 1
    }

    /// The plans that trials of these configurations had.
    pub fn used_by<'s>(&'s self, configurations: &[usize]) -> Vec<&'s PlanRow> {
        self.plans
            .iter()
            .filter(|plan| plan.reason.is_none())
            .filter(|plan| {
                plan.configurations
                    .iter()
                    .any(|configuration| configurations.contains(configuration))
            })
            .collect()
    }
}

/// The statements that were explained, in the order of the scripts. Statements that we make
/// ourselves differ in constants from configuration to configuration: plans of the same
/// operators count as one there. What a study keeps as plans may be
/// something else: orders of rows.
pub fn plans(summary: &Summary) -> Vec<StatementPlans> {
    let mut all: Vec<StatementPlans> = Vec::new();
    // Most trials have the plan of another one: each text is read once.
    let mut read: HashMap<&str, Vec<String>> = HashMap::new();
    for row in &summary.configurations {
        if summary.study(row.index).is_some_and(|study| !study.explains_statements) {
            continue;
        }
        let trials = summary.grid.trials(row.index).into_iter();
        for (plan, is_ours) in trials
            .flat_map(|trial| trial.plans.iter().map(|plan| (plan, trial.statements.is_empty())))
        {
            let at = all.iter().position(|group| group.statement == plan.statement).unwrap_or_else(
                || {
                    all.push(StatementPlans {
                        statement: plan.statement.clone(),
                        plans: Vec::new(),
                    });
                    all.len() - 1
                },
            );
            let plans = &mut all[at].plans;
            let operators = read.entry(&plan.hash).or_insert_with(|| operators(&plan.text));
            let at = plans
                .iter()
                .position(|variant| {
                    variant.reason == plan.reason
                        && (variant.hash == plan.hash || is_ours && variant.operators == *operators)
                })
                .unwrap_or_else(|| {
                    plans.push(PlanRow {
                        hash: plan.hash.clone(),
                        operators: operators.clone(),
                        text: plan.text.clone(),
                        reason: plan.reason.clone(),
                        configurations: Vec::new(),
                        trials: 0,
                        estimated_rows: None,
                        estimated_cost: None,
                    });
                    plans.len() - 1
                });
            let variant = &mut plans[at];
            variant.trials += 1;
            if variant.configurations.last() != Some(&row.index) {
                variant.configurations.push(row.index);
            }
            variant.estimated_rows = widened(variant.estimated_rows, plan.estimated_rows);
            variant.estimated_cost = widened(variant.estimated_cost, plan.estimated_cost);
        }
    }
    all
}

fn widened(ends: Option<(f64, f64)>, value: Option<f64>) -> Option<(f64, f64)> {
    match (ends, value) {
        (Some((least, most)), Some(value)) => Some((least.min(value), most.max(value))),
        (ends, value) => ends.or(value.map(|value| (value, value))),
    }
}
