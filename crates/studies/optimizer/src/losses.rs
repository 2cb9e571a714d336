//! Where the optimizer loses: for each query of a folder, the time of its choice relative to the
//! best alternative that was forced.

use crate::facts::{CANCELLED, Q_ERRORS, QUERY_TIMES};
use crate::probe::{OptimizerProbe, VARIED};
use crate::settings::CHOSEN;
use crate::times::{Regret, TimesRow, measured, regret};
use ::probe::Probe as _;
use analysis::response::distinct;
use analysis::{Estimate, Interval, Summary, settings};
use observations::{Observations, order};
use serde::Serialize;

/// The queries of configurations that differ in the alternative only.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Losses {
    /// Label of what they share.
    pub group: String,
    /// Queries, the largest loss first.
    pub queries: Vec<QueryLoss>,
    /// True if executions were cancelled: some times are lower bounds.
    pub is_bound: bool,
}

/// A query.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct QueryLoss {
    /// The file.
    pub query: String,
    /// Mean time of an execution by the optimizer's choice, ms.
    pub chosen: Estimate,
    /// The best alternative with another plan, over all blocks; `None` where none was measured.
    pub best: Option<String>,
    /// Time of the choice relative to it.
    pub ratio: Option<f64>,
    /// 95 % interval of the ratio, by blocks; not adjusted for the number of queries.
    pub interval: Option<Interval>,
    /// The largest q-error of its operators, over the trials of the choice.
    pub q_error: Option<f64>,
}

/// The losses of the configurations with files of queries, in the order of the experiment file.
pub(crate) fn losses(summary: &Summary) -> Vec<Losses> {
    let groups = settings::groups(summary.recording, OptimizerProbe.declarations().name, |path| {
        VARIED.contains(&path)
    });
    let found =
        groups.into_iter().map(|group| of_group(summary, group.label, &group.configurations));
    found.filter(|loss| !loss.queries.is_empty()).collect()
}

fn of_group(summary: &Summary, group: String, configurations: &[usize]) -> Losses {
    let trials = |index: &usize| summary.grid.trials(*index);
    let all: Vec<&Observations> = configurations.iter().flat_map(trials).collect();
    let names =
        distinct(all.iter().flat_map(|query| QUERY_TIMES.members(query)).map(|member| member.0));
    let queries = names.into_iter().filter_map(|name| {
        let time = |trial: &Observations| QUERY_TIMES.read(name, trial);
        let all = configurations.iter().filter_map(|index| measured(summary, *index, time));
        query(name, &all.collect::<Vec<_>>())
    });
    let mut queries: Vec<QueryLoss> = queries.collect();
    let loss = |query_loss: &QueryLoss| query_loss.ratio.unwrap_or(0.0);
    order::largest_first(&mut queries, &|row| loss(row));
    let is_bound = all.iter().any(|count| CANCELLED.read(count).is_some_and(|count| count > 0.0));
    Losses { group, queries, is_bound }
}

fn query(name: &str, all: &[TimesRow<'_>]) -> Option<QueryLoss> {
    let chosen = all.iter().find(|measurement| measurement.alternative == CHOSEN)?;
    // Times of the same plan differ by chance only.
    let own_plan = plan(chosen, name);
    let others =
        all.iter().filter(|measurement| own_plan.is_none() || plan(measurement, name) != own_plan);
    let compared: Vec<&TimesRow<'_>> = std::iter::once(chosen).chain(others).collect();
    let found = regret(&compared);
    let prefix = format!("{name}|");
    let errors = chosen.trials.iter().flat_map(|trial| Q_ERRORS.members(trial));
    let error = errors.filter(|(member, _)| member.starts_with(&prefix)).map(|(_, error)| error);
    let (best, ratio, interval) = match found {
        Some(Regret { best, ratio, interval }) => (Some(best), Some(ratio), interval),
        None => (None, None, None),
    };
    Some(QueryLoss {
        query: name.to_owned(),
        chosen: chosen.ms()?,
        best,
        ratio,
        interval,
        q_error: error.reduce(f64::max),
    })
}

/// The plan of a query, of the first trial that has it.
fn plan<'m>(measurement: &'m TimesRow<'_>, query: &str) -> Option<&'m str> {
    let mut plans = measurement.trials.iter().flat_map(|trial| &trial.plans);
    plans.find(|plan| plan.statement == query).map(|plan| plan.text.as_str())
}
