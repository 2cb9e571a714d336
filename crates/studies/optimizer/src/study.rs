//! The study's part in the analysis of its runs: its findings.

use crate::analysis::{ByTime, Crossover, crossovers};
use crate::diagram_analysis::{PlanDiagram, diagrams};
use crate::losses::{Losses, QueryLoss, losses};
use crate::parallel::{ParallelPlans, Parallelism};
use crate::size_finding;
use crate::sizes::sizes;
use crate::wording::{interval, is_costly, ratio};
use analysis::wording::in_brackets;
use analysis::{Finding, FindingKind, Study, Summary};
use observations::number::{self, plural};

/// The study's part in the analysis of its runs.
pub const STUDY: Study = Study { findings: Some(findings), ..Study::new("optimizer") };

/// A share of rows in percent: `0.9 %`.
pub fn percent(share: f64) -> String {
    format!("{} %", number::figure(100.0 * share))
}

/// The share by time with its interval in percent: `4.1 % [3.3, 5.0]`.
pub fn by_time(time: &ByTime) -> String {
    match time {
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
    let of_two = diagrams(summary);
    let queries = losses(summary);
    let all = crossovers(summary).iter().filter_map(finding).collect::<Vec<_>>().into_iter();
    let of_sizes = sizes(summary).iter().map(size_finding::finding).collect::<Vec<_>>();
    all.chain(of_sizes)
        .chain(of_two.iter().map(of_diagram))
        .chain(queries.iter().filter_map(of_queries))
        .collect()
}

/// The sentence of the queries of a folder, if the optimizer loses at one.
fn of_queries(losses: &Losses) -> Option<Finding> {
    let is_lost =
        |query: &&QueryLoss| query.ratio.is_some_and(|ratio| is_costly(ratio, query.interval));
    let worst = losses.queries.iter().find(is_lost)?;
    let with = in_brackets(&losses.group);
    let (count, all) = (losses.queries.iter().filter(is_lost).count(), losses.queries.len());
    Some(Finding::new(
        FindingKind::Plan,
        format!(
            "An alternative beats the chosen plan{with} in {count} of {all} queries, most in {}: \
             the choice takes {} as long as {}.",
            worst.query,
            ratio(worst.ratio?, worst.interval),
            worst.best.as_deref()?
        ),
        "intervals over blocks, not adjusted for the number of queries and alternatives".into(),
    ))
}

/// The sentence of a plan diagram.
fn of_diagram(diagram: &PlanDiagram) -> Finding {
    let with = in_brackets(&diagram.group);
    let plans = plural(diagram.plans.len(), "plan");
    let reduced = diagram.reduced_plans.map_or_else(String::new, |count| {
        let increase = number::figure(100.0 * diagram.increase_max);
        format!("; with at most {increase} % more cost {count} suffice")
    });
    let worst = diagram.worst().filter(|worst| worst.regret.is_costly());
    let cost = worst.map_or_else(String::new, |worst| {
        worst.regret.cost_at(&format!("{} and {}", percent(worst.first), percent(worst.second)))
    });
    let points = number::count((diagram.columns.len() * diagram.rows.len()) as u64);
    let levels = worst.map_or_else(String::new, |_| {
        format!(
            "; largest of {} pairs of selectivities, not adjusted for that",
            diagram.regrets.len()
        )
    });
    Finding::new(
        FindingKind::Plan,
        format!("The optimizer has {plans}{with} over both selectivities{reduced}{cost}."),
        format!("{points} points explained{levels}"),
    )
}

/// Where the plan turns parallel, and where it pays: `parallel from 12 % of the rows (24,000) on;
/// by time parallelism pays from 3.1 % [2.8, 3.5] on`.
pub fn parallelism(parallelism: &Parallelism) -> String {
    let share = |share: f64| {
        let rows =
            parallelism.rows.map(|rows| format!(" ({})", number::count((share * rows) as u64)));
        format!("{} of the rows{}", percent(share), rows.unwrap_or_default())
    };
    let plan = match parallelism.by_plan {
        Some(ParallelPlans::From { share: from }) => format!("parallel from {} on", share(from)),
        Some(ParallelPlans::Below { share: end }) => format!("parallel below {}", share(end)),
        Some(ParallelPlans::Always) => "parallel at every selectivity".to_owned(),
        Some(ParallelPlans::Never) => "serial at every selectivity".to_owned(),
        None => "not known as parallel or serial before it runs".to_owned(),
    };
    let ends = by_time(&parallelism.by_time);
    let time = match (&parallelism.by_time, parallelism.is_from) {
        (ByTime::Unknown, _) => return plan,
        (ByTime::Above { share }, true) => {
            return format!("{plan}; by time parallelism does not pay up to {}", percent(*share));
        }
        (_, true) => format!("from {ends} on"),
        (_, false) => format!("up to {ends}"),
    };
    format!("{plan}; by time parallelism pays {time}")
}

fn finding(crossover: &Crossover) -> Option<Finding> {
    let by_plan = crossover.by_plan.as_ref()?;
    let with = in_brackets(&crossover.group);
    let plan = match (&crossover.parallelism, &crossover.by_time, by_plan.to_scan) {
        (Some(parallel), ByTime::Unknown, _) => {
            format!("The plan{with} is {}", parallelism(parallel))
        }
        (_, _, Some(share)) => {
            format!("The plan{with} changes to a scan at {} of the rows", percent(share))
        }
        (_, _, None) => format!("The plan{with} never changes to a scan"),
    };
    let time = match &crossover.by_time {
        ByTime::Unknown => String::new(),
        known => format!("; by time it should at {}", by_time(known)),
    };
    let known = crossover.parallelism.as_ref().map(|parallelism| &parallelism.by_time);
    let crossing =
        if crossover.by_time == ByTime::Unknown { known } else { Some(&crossover.by_time) };
    let worst = crossover.worst.as_ref().filter(|worst| worst.regret.is_costly());
    let cost =
        worst.map_or_else(String::new, |worst| worst.regret.cost_at(&percent(worst.selectivity)));
    let blocks = match crossing {
        Some(ByTime::At { blocks, .. }) => {
            format!("crossover by time: interval over {blocks} blocks")
        }
        _ => "plans explained at each selectivity".to_owned(),
    };
    let levels = worst.map_or_else(String::new, |worst| {
        format!("; largest of {} selectivities, not adjusted for that", worst.levels)
    });
    Some(Finding::new(
        FindingKind::Plan,
        format!("{plan}{time}{cost}."),
        format!("{blocks}{levels}"),
    ))
}
