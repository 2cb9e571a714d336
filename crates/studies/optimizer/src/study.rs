//! The study's part in the analysis of its runs: its findings.

use crate::analysis::{ByTime, Crossover, crossovers};
use analysis::{Finding, FindingKind, Interval, Study, Summary};
use observations::number;

/// The study's part in the analysis of its runs.
pub const STUDY: Study = Study { findings: Some(findings), ..Study::new("optimizer") };

/// A choice that costs less is not worth a sentence.
const REGRET_MIN: f64 = 1.1;

/// A share of rows in percent: `0.9 %`.
pub fn percent(share: f64) -> String {
    format!("{} %", number::figure(100.0 * share))
}

fn interval(own: Option<Interval>, show: impl Fn(f64) -> String) -> String {
    own.map_or_else(String::new, |own| format!(" [{}, {}]", show(own.low), show(own.high)))
}

/// The share by time with its interval in percent: `4.1 % [3.3, 5.0]`.
pub fn by_time(own: &ByTime) -> String {
    match own {
        ByTime::At { share, interval: ends, .. } => {
            let ends = interval(*ends, |end| number::figure(100.0 * end));
            format!("{}{ends}", percent(*share))
        }
        ByTime::Below { share } => format!("below {}", percent(*share)),
        ByTime::Above { share } => format!("above {}", percent(*share)),
        ByTime::Unknown => "not measured".to_owned(),
    }
}

/// A sentence for each crossover.
fn findings(summary: &Summary) -> Vec<Finding> {
    crossovers(summary).iter().filter_map(finding).collect()
}

fn finding(own: &Crossover) -> Option<Finding> {
    let by_plan = own.by_plan.as_ref()?;
    let with = if own.group.is_empty() { String::new() } else { format!(" ({})", own.group) };
    let plan = match by_plan.to_scan {
        Some(share) => {
            format!("The plan{with} changes to a scan at {} of the rows", percent(share))
        }
        None => format!("The plan{with} never changes to a scan"),
    };
    let time = match &own.by_time {
        ByTime::Unknown => String::new(),
        known => format!("; by time it should at {}", by_time(known)),
    };
    let worst = own.worst.as_ref().filter(|worst| {
        worst.ratio >= REGRET_MIN && worst.interval.is_some_and(|own| own.low > 1.0)
    });
    let cost = worst.map_or_else(String::new, |worst| {
        let ends = interval(worst.interval, |end| number::fixed(end, 2));
        format!(
            "; the choice costs up to {}x{ends}, at {} ({} is best)",
            number::fixed(worst.ratio, 2),
            percent(worst.selectivity),
            worst.best
        )
    });
    let blocks = match &own.by_time {
        ByTime::At { blocks, .. } => format!("crossover by time: interval over {blocks} blocks"),
        _ => "plans explained without execution".to_owned(),
    };
    let levels = own.worst.as_ref().map_or_else(String::new, |worst| {
        format!("; largest of {} selectivities, not adjusted for that", worst.levels)
    });
    Some(Finding::new(
        FindingKind::Plan,
        format!("{plan}{time}{cost}."),
        format!("{blocks}{levels}"),
    ))
}
