//! The errors of estimates by operator and by number of joins, and what statistics that are
//! gathered again change.

use crate::estimates::q_error;
use crate::facts::{
    ANALYZED, ANALYZED_PLANS, APPENDED_ESTIMATED, APPENDED_ROWS, ESTIMATES, JOIN_FACTOR, Q_ERRORS,
    REVERSALS,
};
use crate::probe::OptimizerProbe;
use ::probe::Probe as _;
use analysis::Summary;
use analysis::response::distinct;
use observations::{Observations, order};
use serde::Serialize;
use statistics::{mean, median};

/// Operators that are listed.
const LISTED_MAX: usize = 10;

/// A configuration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EstimateFigures {
    /// The label.
    pub configuration: String,
    /// Q-errors by number of joins, rising.
    pub joins: Vec<JoinErrors>,
    /// The operators with the largest q-errors.
    pub operators: Vec<OperatorFigures>,
    /// Estimates after each gathering of statistics.
    pub analyzed: Option<AnalyzedEstimates>,
    /// Plans after each gathering of statistics.
    pub plans: Vec<PlanShare>,
    /// Estimates that fell where the predicate selects more.
    pub reversals: Option<Reversals>,
    /// Estimates of values that only appended rows have.
    pub appended: Vec<AppendedEstimate>,
    /// How many times as many rows joins of equal values with partners have as independent ones.
    pub join_factor: Option<f64>,
}

/// The estimate of the values of a column that only appended rows have.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AppendedEstimate {
    /// The column.
    pub column: String,
    /// Rows that were appended.
    pub rows: f64,
    /// Rows that the optimizer expects: the median over trials.
    pub estimated: f64,
    /// The factor between both.
    pub q_error: f64,
}

/// Q-errors of operators above a number of joins.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JoinErrors {
    /// The number of joins.
    pub joins: usize,
    /// Operators.
    pub operators: usize,
    /// Median q-error.
    pub median: f64,
    /// Largest q-error.
    pub largest: f64,
}

/// The q-error of an operator: the median over trials.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OperatorFigures {
    /// The query.
    pub query: String,
    /// The operator with its table.
    pub operator: String,
    /// Joins in it and below it.
    pub joins: usize,
    /// The q-error.
    pub q_error: f64,
}

/// Estimates over repeated gatherings of statistics, over all trials.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AnalyzedEstimates {
    /// The smallest.
    pub least: f64,
    /// The median of the trials' lower quartiles.
    pub quarter: f64,
    /// The median of the trials' medians.
    pub median: f64,
    /// The median of the trials' upper quartiles.
    pub three_quarters: f64,
    /// The largest.
    pub most: f64,
    /// Rows that the engine counted there; `None` where it counts none.
    pub counted: Option<f64>,
}

/// The share of a plan over repeated gatherings of statistics.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlanShare {
    /// The plan.
    pub plan: String,
    /// Mean share over trials, from 0 to 1.
    pub share: f64,
}

/// Points of a grid of selectivities at which the estimate was smaller than at the one before.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reversals {
    /// Their largest number in a trial.
    pub reversals: u64,
    /// Points.
    pub points: u64,
}

/// Figures of the configurations that compared estimates.
pub fn figures(summary: &Summary) -> Vec<EstimateFigures> {
    let all = (0..summary.configurations.len()).filter_map(|index| configuration(summary, index));
    all.collect()
}

fn configuration(summary: &Summary, index: usize) -> Option<EstimateFigures> {
    summary.study(index).filter(|study| study.probe == Some(OptimizerProbe.declarations().name))?;
    let trials = summary.grid.trials(index);
    let mut operators = operators(&trials);
    let joins = by_joins(&operators);
    order::largest_first(&mut operators, &|row| row.q_error);
    operators.truncate(LISTED_MAX);
    let reversals = trials.iter().filter_map(|trial| {
        Some(Reversals {
            reversals: REVERSALS.read(trial)? as u64,
            points: ESTIMATES.read(trial)? as u64,
        })
    });
    let figures = EstimateFigures {
        configuration: summary.recording.configurations[index].label.clone(),
        joins,
        operators,
        analyzed: analyzed(&trials),
        plans: plans(&trials),
        reversals: reversals.max_by_key(|reversal| reversal.reversals),
        appended: appended(&trials),
        join_factor: trials.iter().find_map(|trial| JOIN_FACTOR.read(trial)),
    };
    let is_empty = figures.operators.is_empty()
        && figures.analyzed.is_none()
        && figures.plans.is_empty()
        && figures.reversals.is_none()
        && figures.appended.is_empty();
    (!is_empty).then_some(figures)
}

fn operators(trials: &[&Observations]) -> Vec<OperatorFigures> {
    let members = trials.iter().flat_map(|trial| Q_ERRORS.members(trial));
    let members = distinct(members.map(|(member, _)| member));
    let figures = members.into_iter().filter_map(|member| {
        let values: Vec<f64> =
            trials.iter().filter_map(|trial| Q_ERRORS.read(member, trial)).collect();
        // A path may contain the sign, an operator does not.
        let (query, rest) = member.rsplit_once('|').and_then(|(rest, operator)| {
            let (rest, joins) = rest.rsplit_once('|')?;
            Some((rest.rsplit_once('|')?.0, (joins.parse().ok()?, operator)))
        })?;
        Some(OperatorFigures {
            query: query.to_owned(),
            operator: rest.1.to_owned(),
            joins: rest.0,
            q_error: median(&values)?,
        })
    });
    figures.collect()
}

fn by_joins(operators: &[OperatorFigures]) -> Vec<JoinErrors> {
    let mut numbers: Vec<usize> = operators.iter().map(|operator| operator.joins).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let errors = numbers.into_iter().filter_map(|joins| {
        let operators = operators.iter().filter(|operator| operator.joins == joins);
        let values: Vec<f64> = operators.map(|operator| operator.q_error).collect();
        let (median, largest) = (median(&values)?, values.iter().copied().reduce(f64::max)?);
        Some(JoinErrors { joins, operators: values.len(), median, largest })
    });
    errors.collect()
}

fn analyzed(trials: &[&Observations]) -> Option<AnalyzedEstimates> {
    let values =
        |member: &'static str| trials.iter().filter_map(move |trial| ANALYZED.read(member, trial));
    let median = |member: &'static str| median(&values(member).collect::<Vec<_>>());
    Some(AnalyzedEstimates {
        least: values("min").reduce(f64::min)?,
        quarter: median("quarter")?,
        median: median("median")?,
        three_quarters: median("three_quarters")?,
        most: values("max").reduce(f64::max)?,
        counted: trials.iter().find_map(|trial| ANALYZED.read("counted", trial)),
    })
}

fn appended(trials: &[&Observations]) -> Vec<AppendedEstimate> {
    let Some(rows) = trials.iter().find_map(|trial| APPENDED_ROWS.read(trial)) else {
        return Vec::new();
    };
    let members = trials.iter().flat_map(|trial| APPENDED_ESTIMATED.members(trial));
    let columns = distinct(members.map(|(column, _)| column));
    let found = columns.into_iter().filter_map(|column| {
        let all: Vec<f64> =
            trials.iter().filter_map(|trial| APPENDED_ESTIMATED.read(column, trial)).collect();
        let estimated = median(&all)?;
        let q_error = q_error(estimated, rows);
        Some(AppendedEstimate { column: column.to_owned(), rows, estimated, q_error })
    });
    found.collect()
}

fn plans(trials: &[&Observations]) -> Vec<PlanShare> {
    let names = trials.iter().flat_map(|trial| ANALYZED_PLANS.members(trial));
    let names = distinct(names.map(|(name, _)| name));
    let shares = names.into_iter().map(|name| {
        let each = trials.iter().map(|trial| ANALYZED_PLANS.read(name, trial).unwrap_or(0.0));
        PlanShare { plan: name.to_owned(), share: mean(each) }
    });
    shares.collect()
}
