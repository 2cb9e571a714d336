//! The figures of reports: mix, shares and 90th percentiles beside those that the specification
//! demands, and repeats.

use crate::counts::{
    BY_NAME, DONE, LINES, REMOTE_LINES, REMOTE_PAYMENTS, REPEATED, ROLLED_BACK, SKIPPED,
};
use crate::kind::{CARDS, Kind};
use crate::probe::{BOUND, CHECKPOINTS, OrderEntry, WAREHOUSES_LOADED};
use crate::size::DISTRICTS;
use crate::slowdown;
use ::probe::Probe as _;
use analysis::{Estimate, Finding, FindingKind, PartNames, Study, Summary, TooFew, wording};
use observations::{Direction, Observations};
use serde::Serialize;

/// The study's part in the analysis of its runs.
pub const STUDY: Study = Study {
    findings: Some(findings),
    parts: PartNames {
        heading: "Order entry transactions",
        part: "kind",
        work: "transactions",
        rate: "tps",
    },
    ..Study::new("order-entry")
};

/// A configuration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OrderEntryFigures {
    /// The label.
    pub configuration: String,
    /// Transactions of all trials.
    pub transactions: f64,
    /// New orders a minute and warehouse.
    pub new_orders_each: Estimate,
    /// The most that terminals with these keying and thinking times can make; `None` without.
    pub bound: Option<f64>,
    /// Checkpoints of the server in all trials; `None` where it does not count them.
    pub checkpoints: Option<f64>,
    /// The five kinds of transactions.
    pub kinds: Vec<KindFigures>,
    /// Shares that the specification gives.
    pub shares: Vec<Share>,
    /// Repeated transactions.
    pub repeats: Vec<Repeats>,
}

/// A kind of transactions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KindFigures {
    /// The name.
    pub name: &'static str,
    /// Transactions of all trials.
    pub done: f64,
    /// The share of all transactions.
    pub share: f64,
    /// The share of the cards.
    pub cards: f64,
    /// 90th percentile of the latency in ms; `None` when a trial has too few transactions for it.
    pub p90: Option<Estimate>,
    /// The limit in ms.
    pub limit_ms: f64,
    /// True if the percentile exceeds the limit, with its whole interval where it has one.
    pub is_over: bool,
}

/// A share that the specification gives.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Share {
    /// The name.
    pub name: &'static str,
    /// Number of these.
    pub count: f64,
    /// Number of those of which it is a share.
    pub of: f64,
    /// The specified share; 0 where the specification wants none, or there is one warehouse only.
    pub specified: f64,
}

/// Repeats of a kind of transactions for a cause.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Repeats {
    /// The kind.
    pub kind: &'static str,
    /// The cause: `deadlock`.
    pub cause: String,
    /// How often.
    pub times: f64,
}

/// Figures of the configurations that ran order entry.
pub fn figures(summary: &Summary) -> Vec<OrderEntryFigures> {
    (0..summary.configurations.len()).filter_map(|index| configuration(summary, index)).collect()
}

fn configuration(summary: &Summary, position: usize) -> Option<OrderEntryFigures> {
    summary.study(position).filter(|study| study.probe == Some(OrderEntry.declarations().name))?;
    let trials = summary.grid.trials(position);
    let sum = |read: &dyn Fn(&Observations) -> Option<f64>| {
        trials.iter().filter_map(|trial| read(trial)).sum::<f64>()
    };
    let done =
        Kind::ALL.map(|kind| sum(&|observations| DONE.read(kind.profile().name, observations)));
    let transactions: f64 = done.iter().sum();
    let higher = Direction::HigherIsBetter;
    let new_orders_each = Estimate::over_trials(&trials, "new orders/min", higher, |trial| {
        Some(trial.response("new_orders")? / WAREHOUSES_LOADED.read(trial)?)
    })?;
    let kinds = Kind::ALL
        .iter()
        .zip(done)
        .map(|(kind, done)| kind_figures(&trials, *kind, done, transactions))
        .collect();
    let warehouses = trials.first().and_then(|trial| WAREHOUSES_LOADED.read(trial));
    let remote = |share: f64| if warehouses > Some(1.0) { share } else { 0.0 };
    let [new_orders, payments, statuses, deliveries, _] = done;
    let share = |name, count: f64, of, specified| Share { name, count, of, specified };
    let count = |fact: observations::FactName| sum(&|observations| fact.read(observations));
    let sees_skips = trials.iter().any(|trial| SKIPPED.read(trial).is_some());
    let districts = if sees_skips { deliveries * DISTRICTS as f64 } else { 0.0 };
    let shares = vec![
        share("new orders rolled back", count(ROLLED_BACK), new_orders, 0.01),
        share("lines from another warehouse", count(REMOTE_LINES), count(LINES), remote(0.01)),
        share("payments in another warehouse", count(REMOTE_PAYMENTS), payments, remote(0.15)),
        share("customers by last name", count(BY_NAME), payments + statuses, 0.6),
        share("districts without delivery", count(SKIPPED), districts, 0.0),
    ];
    Some(OrderEntryFigures {
        configuration: summary.recording.configurations[position].label.clone(),
        transactions,
        new_orders_each,
        bound: trials.iter().find_map(|trial| BOUND.read(trial)),
        checkpoints: trials.iter().map(|trial| CHECKPOINTS.read(trial)).sum(),
        kinds,
        shares: shares.into_iter().filter(|share| share.of > 0.0).collect(),
        repeats: repeats(&trials),
    })
}

fn kind_figures(trials: &[&Observations], kind: Kind, done: f64, all: f64) -> KindFigures {
    let profile = kind.profile();
    let name = kind.percentile_name();
    let is_known = TooFew::find(&name, trials).is_none();
    let lower = Direction::LowerIsBetter;
    let p90 = Estimate::over_trials(trials, "ms", lower, |trial| trial.response(&name))
        .filter(|_| is_known);
    let limit_ms = profile.limit_s * 1e3;
    let least = p90.as_ref().map(|p90| p90.interval.map_or(p90.mean, |interval| interval.low));
    KindFigures {
        name: profile.name,
        done,
        share: if all > 0.0 { done / all } else { 0.0 },
        cards: profile.cards as f64 / CARDS as f64,
        is_over: least.is_some_and(|least| least > limit_ms),
        p90,
        limit_ms,
    }
}

/// Repeats of all trials, by kind and cause.
fn repeats(trials: &[&Observations]) -> Vec<Repeats> {
    let mut all: Vec<Repeats> = Vec::new();
    for kind in Kind::ALL.map(|kind| kind.profile().name) {
        let members = trials.iter().flat_map(|trial| REPEATED.members(trial));
        for (member, times) in members {
            let cause = member.strip_prefix(kind).and_then(|rest| rest.strip_prefix('.'));
            let Some(cause) = cause else { continue };
            match all.iter_mut().find(|entry| entry.kind == kind && entry.cause == cause) {
                Some(entry) => entry.times += times,
                None => all.push(Repeats { kind, cause: cause.to_owned(), times }),
            }
        }
    }
    all
}

/// The kinds of transactions that miss their limits: the specification wants 90 of 100 within it.
/// Then the mutual slowdown of order entry and analytics.
pub fn findings(summary: &Summary) -> Vec<Finding> {
    percentile_findings(summary).into_iter().chain(slowdown::findings(summary)).collect()
}

fn percentile_findings(summary: &Summary) -> Vec<Finding> {
    let all = figures(summary);
    let late = all.iter().flat_map(|figures| figures.kinds.iter().map(move |kind| (figures, kind)));
    late.filter(|(_, kind)| kind.is_over)
        .filter_map(|(figures, kind)| {
            let p90 = kind.p90.as_ref()?;
            let with = wording::in_brackets(&figures.configuration);
            Some(Finding::new(
                FindingKind::Responses,
                format!(
                    "The 90th percentile of {}{with}, {}, exceeds the limit of the specification, \
                     {} s.",
                    kind.name,
                    wording::within(p90.mean, p90.interval, "ms"),
                    kind.limit_ms / 1e3
                ),
                format!("mean of the percentiles of {}", wording::count(p90.n, "block")),
            ))
        })
        .collect()
}
