//! The crossover by time: from which selectivity on a scan takes less time than the alternatives,
//! and the cost of the optimizer's choice in between.

use crate::facts::{
    BY_FORMULAS, BY_PLANS, CANCELLED, CHANGES_ESTIMATED, FIRST_PLAN, FORCED_BY, PLAN_CHANGES,
    PLAN_CROSSOVER, SELECTED, UNFORCED,
};
use crate::parallel::{Parallelism, parallelism};
use crate::probe::VARIED;
pub use crate::times::{ByTime, Regret};
use crate::times::{TimesRow, best, by_time, log_ratios, measured_groups, regret};
use analysis::response::distinct;
use analysis::{Estimate, Summary};
use serde::Serialize;
use std::collections::BTreeMap;

/// The alternative that reads all of the table.
const SCAN: &str = "scan";
/// The alternatives that read by an index; others switch a rule off and may scan too.
const BY_INDEX: [&str; 2] = ["index", "bitmap"];

/// The crossover of configurations that differ in selectivity and alternative only.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Crossover {
    /// Label of what they share.
    pub group: String,
    /// Plans by rising selectivity.
    pub by_plan: Option<ByPlan>,
    /// Selectivities that were measured, rising.
    pub levels: Vec<Level>,
    /// The crossover by time.
    pub by_time: ByTime,
    /// The ways by which alternatives were forced.
    pub forced_by: Vec<String>,
    /// Where parallel plans begin and pay; `None`: parallel and serial were not measured.
    pub parallelism: Option<Parallelism>,
    /// The selectivity at which the choice costs most.
    pub worst: Option<LevelRegret>,
}

/// The largest cost of the optimizer's choice.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LevelRegret {
    /// Share of rows.
    pub selectivity: f64,
    /// The cost there.
    #[serde(flatten)]
    pub regret: Regret,
    /// Selectivities among which it is the largest.
    pub levels: usize,
}

/// The plans that the optimizer chooses.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ByPlan {
    /// At the smallest selectivity.
    pub first: String,
    /// Changes, rising.
    pub changes: Vec<Change>,
    /// Share of rows from which on a scan is chosen; `None`: never.
    pub to_scan: Option<f64>,
    /// The crossover by the documented cost formulas, and of the plans, by value of a constant.
    pub formulas: Vec<Formula>,
    /// Ways of its plans that cannot be forced, a sentence each.
    pub unforced: Vec<String>,
}

/// A change of the plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// `FROM -> TO`.
    pub plans: String,
    /// Share of rows that are selected.
    pub share: f64,
    /// Share of rows that the optimizer expected.
    pub estimated: Option<f64>,
}

/// The crossover with a value of a cost constant.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Formula {
    /// `random_page_cost = 4`.
    pub constant: String,
    /// Share of rows by the documented formulas.
    pub predicted: Option<f64>,
    /// Share of rows by the plans that the engine then chose.
    pub by_plans: Option<f64>,
}

/// A selectivity.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Level {
    /// Share of rows.
    pub selectivity: f64,
    /// Times of the alternatives, and of the choice.
    pub times: Vec<Time>,
}

/// The time of an alternative.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Time {
    /// The name; `chosen`: the optimizer's choice.
    pub alternative: String,
    /// Mean time of an execution, ms.
    pub ms: Estimate,
    /// True if executions were cancelled: the time is a lower bound.
    pub is_bound: bool,
    /// False if the engine used another plan.
    pub is_forced: bool,
}

/// Crossovers of the configurations of this study, in the order of the file.
pub fn crossovers(summary: &Summary) -> Vec<Crossover> {
    let groups = measured_groups(summary, &VARIED).into_iter();
    let of_one = groups.filter(|group| {
        group.all.iter().all(|point| point.second.is_none())
            && group
                .all
                .iter()
                .flat_map(|point| &point.trials)
                .any(|trial| SELECTED.read(trial).is_some())
    });
    of_one.map(|group| crossover(group.label, &group.all)).collect()
}

fn crossover(group: String, all: &[TimesRow<'_>]) -> Crossover {
    let mut shares: Vec<f64> = all.iter().map(|point| point.selectivity).collect();
    shares.sort_by(f64::total_cmp);
    shares.dedup();
    let at =
        |share: f64| all.iter().filter(move |point| point.selectivity.total_cmp(&share).is_eq());
    let levels = shares
        .iter()
        .map(|share| Level { selectivity: *share, times: at(*share).filter_map(time).collect() });
    let regrets: Vec<(f64, Regret)> = shares
        .iter()
        .filter_map(|share| Some((*share, regret(&at(*share).collect::<Vec<_>>())?)))
        .collect();
    let levels_timed = regrets.len();
    let worst = regrets.into_iter().max_by(|first, other| first.1.ratio.total_cmp(&other.1.ratio));
    let ratios: Vec<(f64, BTreeMap<u32, f64>)> = shares
        .iter()
        .filter_map(|share| Some((*share, ratios(&at(*share).collect::<Vec<_>>())?)))
        .collect();
    let trials = all.iter().flat_map(|point| &point.trials);
    let ways = distinct(trials.flat_map(|trial| FORCED_BY.members(trial)).map(|(way, _)| way));
    Crossover {
        group,
        forced_by: ways.into_iter().map(str::to_owned).collect(),
        by_plan: all.iter().find_map(by_plan),
        levels: levels.collect(),
        by_time: by_time(&ratios).of_shares(),
        parallelism: parallelism(all, &shares),
        worst: worst.map(|(selectivity, regret)| LevelRegret {
            selectivity,
            regret,
            levels: levels_timed,
        }),
    }
}

fn by_plan(point: &TimesRow<'_>) -> Option<ByPlan> {
    let trial = point.trials.iter().find(|trial| FIRST_PLAN.members(trial).next().is_some())?;
    let (first, _) = FIRST_PLAN.members(trial).next()?;
    let changes = PLAN_CHANGES.members(trial).map(|(member, share)| Change {
        plans: member.split_once(": ").map_or(member, |(_, plans)| plans).to_owned(),
        share,
        estimated: CHANGES_ESTIMATED.read(member, trial),
    });
    let constants = BY_FORMULAS.members(trial).chain(BY_PLANS.members(trial));
    let names = distinct(constants.map(|(member, _)| member));
    let formulas = names.into_iter().map(|name| Formula {
        constant: name.to_owned(),
        predicted: BY_FORMULAS.read(name, trial),
        by_plans: BY_PLANS.read(name, trial),
    });
    Some(ByPlan {
        first: first.to_owned(),
        changes: changes.collect(),
        to_scan: PLAN_CROSSOVER.read(trial),
        formulas: formulas.collect(),
        unforced: UNFORCED.members(trial).map(|(name, _)| name.to_owned()).collect(),
    })
}

fn time(point: &TimesRow<'_>) -> Option<Time> {
    Some(Time {
        alternative: point.alternative.clone(),
        ms: point.ms()?,
        is_bound: point.trials.iter().any(|trial| CANCELLED.read(trial).unwrap_or(0.0) > 0.0),
        is_forced: point.is_forced(),
    })
}

/// The logarithm of the time of a scan over that of the best alternative by an index, by block.
fn ratios(all: &[&TimesRow<'_>]) -> Option<BTreeMap<u32, f64>> {
    let scan = best(all, |name| name == SCAN)?;
    let other = best(all, |name| BY_INDEX.contains(&name))?;
    Some(log_ratios(scan, other))
}
