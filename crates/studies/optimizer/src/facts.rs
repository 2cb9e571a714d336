//! The facts of a trial, which the analysis reads by the same names.

use observations::{FactFamily, FactName};

/// Rows that the varied predicate selects.
pub const SELECTED: FactName = FactName::new("selected_rows", "");
/// Rows that the second varied predicate selects.
pub const SELECTED_SECOND: FactName = FactName::new("selected_rows_second", "");
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
pub(crate) const UNFORCED: FactFamily = FactFamily::new("unforced.", "");
/// Q-error of an operator: `QUERY|POSITION|JOINS|OPERATOR`.
pub const Q_ERRORS: FactFamily = FactFamily::new("q_error.", "");
/// Queries that ran once more in this trial to count the rows of their operators; the counts of the
/// others were known.
pub const COUNTED_QUERIES: FactName = FactName::new("counted_queries", "queries");
/// How many times as many rows joins of equal values with partners have as independent ones, by the
/// dial.
pub const JOIN_FACTOR: FactName = FactName::new("join_factor", "x");
/// 1: the plan at the smallest selectivity is parallel; 0: it is not.
pub const PARALLEL_FIRST: FactName = FactName::new("parallel_first", "");
/// The share of rows at which the plan first turns parallel, or serial where it is parallel at the
/// smallest selectivity.
pub const PARALLEL_CHANGE: FactName = FactName::new("parallel_change", "share");
/// 1: the plan that the optimizer chose is parallel; 0: it is not. Of engines whose plans say so.
pub const CHOSEN_PARALLEL: FactName = FactName::new("chosen_parallel", "");
/// The least rows of the table with a parallel plan that were found on copies of its first rows.
pub const PARALLEL_ROWS: FactName = FactName::new("parallel_from_rows", "");
/// The most rows below it with a serial plan; absent if plans of all copies are parallel.
pub const SERIAL_ROWS: FactName = FactName::new("serial_up_to_rows", "");
/// The way by which an alternative was forced: its name, with the value 1.
pub const FORCED_BY: FactFamily = FactFamily::new("forced_by.", "");
/// Estimates after each gathering of statistics, by [`ANALYZED_MEMBERS`], and the rows `counted`.
pub const ANALYZED: FactFamily = FactFamily::new("analyzed_estimate.", "rows");
/// Quantiles of these estimates, with the share of the estimates below each.
pub(crate) const ANALYZED_MEMBERS: [(&str, f64); 5] =
    [("min", 0.0), ("quarter", 0.25), ("median", 0.5), ("three_quarters", 0.75), ("max", 1.0)];
/// Rows that were appended after the statistics were gathered.
pub const APPENDED_ROWS: FactName = FactName::new("appended_rows", "");
/// Rows that the optimizer expects of the values that only these have, by column.
pub const APPENDED_ESTIMATED: FactFamily = FactFamily::new("appended_estimate.", "rows");
/// Mean time of an execution of a query of `workload.files`.
pub(crate) const QUERY_TIMES: FactFamily = FactFamily::new("query_time.", "ms");
/// The share of the gatherings after which a plan was chosen.
pub(crate) const ANALYZED_PLANS: FactFamily = FactFamily::new("analyzed_plan.", "share");
/// The varied columns of a plan diagram: `1: COLUMN`, with their number.
pub(crate) const DIAGRAM_AXES: FactFamily = FactFamily::new("diagram_axis.", "");
/// Shares of rows of the columns of a plan diagram, by number.
pub const DIAGRAM_COLUMNS: FactFamily = FactFamily::new("diagram_column.", "share");
/// The share of the points of a plan: `SIGN: PLAN`.
pub const DIAGRAM_PLANS: FactFamily = FactFamily::new("diagram_plan.", "share");
/// The share of rows of a row of a plan diagram: `NUMBER: SIGNS`.
pub const DIAGRAM_ROWS: FactFamily = FactFamily::new("diagram_row.", "share");
/// The share of rows of a row of the reduced diagram: `NUMBER: SIGNS`.
pub const REDUCED_ROWS: FactFamily = FactFamily::new("diagram_reduced.", "share");
