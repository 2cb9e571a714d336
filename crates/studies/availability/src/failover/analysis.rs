//! The fate of the writes of each configuration, summed over its trials.

use super::facts::{
    ACKNOWLEDGED, DUPLICATES, ERRORS, LOST, PROMOTION, UNEXPECTED, UNKNOWN, UNKNOWN_PRESENT,
};
use super::probe::Failover;
use ::probe::Probe as _;
use analysis::response::distinct;
use analysis::{Finding, FindingKind, Study, Summary};
use observations::{FactName, Observations, number, order};
use serde::Serialize;
use statistics::median;

/// The study's part in the analysis of its runs.
pub const STUDY: Study = Study { findings: Some(findings), ..Study::new("failover") };

/// The writes of a configuration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Writes {
    /// The label.
    pub configuration: String,
    /// Trials.
    pub trials: usize,
    /// Acknowledged writes of all trials.
    pub acknowledged: u64,
    /// Of these, those that were absent after the recovery.
    pub lost: u64,
    /// Trials that lost any.
    pub losing: usize,
    /// The most that a trial lost.
    pub lost_max: u64,
    /// Writes that were present more than once.
    pub duplicates: u64,
    /// Writes that were never acknowledged.
    pub unknown: u64,
    /// Of these, those that were present.
    pub unknown_present: u64,
    /// Rows that no client wrote: a defect.
    pub unexpected: u64,
    /// Seconds of the promotion: the median over trials.
    pub promotion_s: Option<f64>,
    /// Errors that clients saw, by kind.
    pub errors: Vec<Errors>,
}

/// Errors of a kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Errors {
    /// The server's words, or what happened to the connection.
    pub kind: String,
    /// How often, in all trials.
    pub count: u64,
}

/// The writes of the configurations that had a failover.
pub(crate) fn failovers(summary: &Summary) -> Vec<Writes> {
    (0..summary.configurations.len()).filter_map(|index| configuration(summary, index)).collect()
}

fn configuration(summary: &Summary, index: usize) -> Option<Writes> {
    summary.study(index).filter(|study| study.probe == Some(Failover.declarations().name))?;
    let trials = summary.grid.trials(index);
    if trials.is_empty() {
        return None;
    }
    let sum =
        |fact: FactName| trials.iter().filter_map(|trial| fact.read(trial)).sum::<f64>() as u64;
    let lost = || trials.iter().filter_map(|trial| LOST.read(trial));
    let mut promotions: Vec<f64> =
        trials.iter().filter_map(|trial| PROMOTION.read(trial)).collect();
    promotions.sort_by(f64::total_cmp);
    Some(Writes {
        configuration: summary.recording.configurations[index].label.clone(),
        trials: trials.len(),
        acknowledged: sum(ACKNOWLEDGED),
        lost: sum(LOST),
        losing: lost().filter(|lost| *lost > 0.0).count(),
        lost_max: lost().fold(0.0, f64::max) as u64,
        duplicates: sum(DUPLICATES),
        unknown: sum(UNKNOWN),
        unknown_present: sum(UNKNOWN_PRESENT),
        unexpected: sum(UNEXPECTED),
        promotion_s: median(&promotions),
        errors: errors(&trials),
    })
}

fn errors(trials: &[&Observations]) -> Vec<Errors> {
    let kinds = trials.iter().flat_map(|trial| ERRORS.members(trial));
    let kinds = distinct(kinds.map(|(kind, _)| kind));
    let count =
        |kind: &str| trials.iter().filter_map(|trial| ERRORS.read(kind, trial)).sum::<f64>();
    let all = kinds.into_iter().map(|kind| Errors { kind: kind.into(), count: count(kind) as u64 });
    let mut all: Vec<Errors> = all.collect();
    order::by_key(&mut all, &|kind| std::cmp::Reverse(kind.count));
    all
}

/// A sentence for each configuration that lost writes or has too many.
fn findings(summary: &Summary) -> Vec<Finding> {
    let all = failovers(summary);
    all.iter()
        .filter(|figures| figures.lost > 0 || figures.duplicates > 0 || figures.unexpected > 0)
        .map(finding)
        .collect()
}

fn finding(writes: &Writes) -> Finding {
    let mut parts = Vec::new();
    if writes.lost > 0 {
        let (lost, all) = (number::count(writes.lost), number::count(writes.acknowledged));
        parts.push(format!(
            "lost {lost} of {all} acknowledged writes, in {} of {} trials",
            writes.losing, writes.trials
        ));
    }
    if writes.duplicates > 0 {
        let count = number::count(writes.duplicates);
        parts.push(format!("has {count} writes twice, which clients repeated"));
    }
    if writes.unexpected > 0 {
        parts.push(format!("has {} rows that no client wrote", number::count(writes.unexpected)));
    }
    let label = if writes.configuration.is_empty() { "The server" } else { &writes.configuration };
    Finding::new(
        FindingKind::Plan,
        format!("{label}: {}.", parts.join("; ")),
        "each client's journal, compared with the rows after the recovery".to_owned(),
    )
}
