//! The facts of a trial, which the analysis reads by the same names.

use observations::{FactFamily, FactName};

/// Rows that the varied predicate selects.
pub const SELECTED: FactName = FactName::new("selected_rows", "");
/// Rows that the optimizer expects of the varied table, with the plan that it chooses.
pub const ESTIMATED: FactName = FactName::new("estimated_rows", "");
/// 1: the plan that ran is the alternative that was asked for; 0: another one.
pub const FORCED: FactName = FactName::new("forced", "");
/// Executions that were cancelled at `workload.query_limit`.
pub const CANCELLED: FactName = FactName::new("cancelled", "queries");
/// The plan at the smallest selectivity: its name, with the value 1.
pub const FIRST_PLAN: FactFamily = FactFamily::new("plan_first.", "");
/// The share of rows from which on a plan is chosen: `1: FROM -> TO`.
pub const PLAN_CHANGES: FactFamily = FactFamily::new("plan_change.", "share");
/// The share of rows that the optimizer expected there.
pub const CHANGES_ESTIMATED: FactFamily = FactFamily::new("plan_change_estimated.", "share");
/// The share of rows from which on a scan is chosen.
pub const PLAN_CROSSOVER: FactName = FactName::new("plan_crossover", "share");
/// Points of the grid at which the optimizer expected fewer rows than at the one before, which
/// selects less.
pub const REVERSALS: FactName = FactName::new("estimate_reversals", "");
/// Points of that grid with an estimate.
pub const ESTIMATES: FactName = FactName::new("estimate_points", "");
/// The crossover by the documented cost formulas: `random_page_cost = 4`.
pub const BY_FORMULAS: FactFamily = FactFamily::new("crossover_formulas.", "share");
/// The crossover of the plans with this value of the constant.
pub const BY_PLANS: FactFamily = FactFamily::new("crossover_plans.", "share");
/// Ways of the engine's plans that cannot be forced, a sentence each with the value 1.
pub const UNFORCED: FactFamily = FactFamily::new("unforced.", "");
/// Q-error of an operator: `QUERY|POSITION|JOINS|OPERATOR`.
pub const Q_ERRORS: FactFamily = FactFamily::new("q_error.", "");
/// Smallest, median and largest estimate after each gathering of statistics: `min`, `median`,
/// `max`.
pub const ANALYZED: FactFamily = FactFamily::new("analyzed_estimate.", "rows");
/// The share of the gatherings after which a plan was chosen.
pub const ANALYZED_PLANS: FactFamily = FactFamily::new("analyzed_plan.", "share");
