//! Plan diagrams of recordings, and the cost of the optimizer's choice over two selectivities.

use crate::diagram::INCREASE_MAX;
use crate::facts::{
    DIAGRAM_AXES, DIAGRAM_COLUMNS, DIAGRAM_PLANS, DIAGRAM_ROWS, REDUCED_ROWS, UNFORCED,
};
use crate::probe::VARIED;
use crate::times::{Regret, TimesRow, measured_groups, regret};
use analysis::Summary;
use observations::{FactFamily, Observations, order};
use serde::Serialize;
use std::collections::BTreeSet;

/// A plan diagram of configurations that differ in selectivities and alternative only.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct PlanDiagram {
    /// Label of what they share.
    pub group: String,
    /// The varied columns: across, and up.
    pub axes: Vec<String>,
    /// Shares of rows that the first predicate selects, rising.
    pub columns: Vec<f64>,
    /// Rows by rising share of the second predicate.
    pub rows: Vec<DiagramRow>,
    /// Plans, the one with most points first.
    pub plans: Vec<DiagramPlan>,
    /// Plans of the reduced diagram; `None` where the engine has no costs.
    pub reduced_plans: Option<usize>,
    /// The share by which a plan of the reduced diagram may cost more.
    pub increase_max: f64,
    /// The cost of the choice at each pair of selectivities that was measured.
    pub regrets: Vec<PairRegret>,
    /// Ways of its plans that cannot be forced, a sentence each.
    pub unforced: Vec<String>,
}

/// A row of a plan diagram.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct DiagramRow {
    /// Share of rows that the second predicate selects.
    pub share: f64,
    /// The sign of the plan at each column.
    pub signs: String,
    /// The sign there in the reduced diagram.
    pub reduced: Option<String>,
}

/// A plan of a diagram.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct DiagramPlan {
    /// The sign.
    pub sign: String,
    /// The operators.
    pub plan: String,
    /// The share of the points, from 0 to 1.
    pub share: f64,
    /// The share of the points of the reduced diagram.
    pub reduced_share: Option<f64>,
}

/// The cost of the choice at two selectivities.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct PairRegret {
    /// Share of rows of the first predicate.
    pub first: f64,
    /// Share of rows of the second one.
    pub second: f64,
    /// The cost there.
    #[serde(flatten)]
    pub regret: Regret,
}

/// Plan diagrams of the configurations of this study, in the order of the file.
pub(crate) fn diagrams(summary: &Summary) -> Vec<PlanDiagram> {
    let groups = measured_groups(summary, &VARIED).into_iter();
    groups.filter_map(|group| diagram(group.label, &group.all)).collect()
}

fn diagram(group: String, all: &[TimesRow<'_>]) -> Option<PlanDiagram> {
    let trials = || all.iter().flat_map(|point| point.trials.iter().copied());
    let trial = trials().find(|trial| DIAGRAM_ROWS.members(trial).next().is_some())?;
    let reduced = pairs(REDUCED_ROWS, trial);
    let rows: Vec<DiagramRow> = pairs(DIAGRAM_ROWS, trial)
        .into_iter()
        .enumerate()
        .map(|(at, (signs, share))| {
            let reduced = reduced.get(at).map(|(signs, _)| (*signs).to_owned());
            DiagramRow { share, signs: signs.to_owned(), reduced }
        })
        .collect();
    let signs: String = reduced.iter().map(|(signs, _)| *signs).collect();
    let points = signs.chars().count() as f64;
    let plans: Vec<DiagramPlan> = DIAGRAM_PLANS
        .members(trial)
        .filter_map(|(member, share)| {
            let (sign, plan) = member.split_once(": ")?;
            let count = signs.matches(sign).count() as f64;
            let reduced_share = (points > 0.0).then(|| count / points);
            Some(DiagramPlan { sign: sign.into(), plan: plan.into(), share, reduced_share })
        })
        .collect();
    let kept: BTreeSet<char> = signs.chars().collect();
    Some(PlanDiagram {
        group,
        axes: pairs(DIAGRAM_AXES, trial).into_iter().map(|(axis, _)| axis.to_owned()).collect(),
        columns: DIAGRAM_COLUMNS.members(trial).map(|(_, share)| share).collect(),
        rows,
        plans,
        reduced_plans: (!kept.is_empty()).then_some(kept.len()),
        increase_max: INCREASE_MAX,
        regrets: regrets(all),
        unforced: UNFORCED.members(trial).map(|(name, _)| name.to_owned()).collect(),
    })
}

/// Members `NUMBER: TEXT` of a family, with their values.
fn pairs(family: FactFamily, observations: &Observations) -> Vec<(&str, f64)> {
    let members = family.members(observations);
    members.filter_map(|(member, value)| Some((member.split_once(": ")?.1, value))).collect()
}

fn regrets(all: &[TimesRow<'_>]) -> Vec<PairRegret> {
    let mut places: Vec<(f64, f64)> =
        all.iter().filter_map(|point| Some((point.selectivity, point.second?))).collect();
    order::sort(&mut places, &|first, other| {
        first.0.total_cmp(&other.0).then(first.1.total_cmp(&other.1))
    });
    places.dedup();
    let found = places.into_iter().filter_map(|(first, second)| {
        let there = all.iter().filter(|point| {
            point.selectivity.total_cmp(&first).is_eq() && point.second == Some(second)
        });
        let regret = regret(&there.collect::<Vec<_>>())?;
        Some(PairRegret { first, second, regret })
    });
    found.collect()
}

impl PlanDiagram {
    /// The pair of selectivities at which the choice costs most.
    pub fn worst(&self) -> Option<&PairRegret> {
        let ratio = |pair: &PairRegret| pair.regret.ratio;
        self.regrets.iter().max_by(|first, other| ratio(first).total_cmp(&ratio(other)))
    }
}
