//! Sentences about parallel plans over the size of the table.

use crate::sizes::{ParallelSizes, SizeByPlan, SizeByTime};
use crate::wording::interval;
use analysis::wording::in_brackets;
use analysis::{Finding, FindingKind};
use observations::number;

/// The size by plan: `parallel from 43,000 rows on`.
fn by_plan(size_by_plan: Option<SizeByPlan>) -> String {
    let rows = number::grouped;
    match size_by_plan {
        Some(SizeByPlan::From { rows: from }) => format!("parallel from {} rows on", rows(from)),
        Some(SizeByPlan::Between { serial, parallel }) => {
            format!("serial at {} rows and parallel at {}", rows(serial), rows(parallel))
        }
        Some(SizeByPlan::Always { rows: least }) => {
            format!("parallel at {} rows already", rows(least))
        }
        Some(SizeByPlan::Never { rows: most }) => format!("serial up to {} rows", rows(most)),
        None => "not known as parallel or serial before it runs".to_owned(),
    }
}

/// The size by time with its interval: `from 180,000 rows [120,000, 260,000] on`.
fn by_time(size_by_time: &SizeByTime) -> String {
    match size_by_time {
        SizeByTime::At { rows, interval: ends, .. } => {
            let ends = interval(*ends, number::grouped);
            format!("it should be from {} rows{ends} on", number::grouped(*rows))
        }
        SizeByTime::Below { rows } => {
            format!("it should be at {} rows already", number::grouped(*rows))
        }
        SizeByTime::Above { rows } => {
            format!("a parallel plan does not pay up to {} rows", number::grouped(*rows))
        }
    }
}

/// Both sizes, in a sentence without its end.
pub fn sentence(parallel_sizes: &ParallelSizes) -> String {
    format!(
        "The plan{} is {}; by time {}",
        in_brackets(&parallel_sizes.group),
        by_plan(parallel_sizes.by_plan),
        by_time(&parallel_sizes.by_time)
    )
}

/// The sentence of the sizes of a group, with the cost of the choice.
pub fn finding(parallel_sizes: &ParallelSizes) -> Finding {
    let worst = parallel_sizes.worst.as_ref().filter(|worst| worst.regret.is_costly());
    let cost = worst.map_or_else(String::new, |worst| {
        worst.regret.cost_at(&format!("{} rows", number::grouped(worst.rows)))
    });
    let blocks = match &parallel_sizes.by_time {
        SizeByTime::At { blocks, .. } => format!("size by time: interval over {blocks} blocks"),
        _ => "both plans timed at each size".to_owned(),
    };
    let levels = worst.map_or_else(String::new, |worst| {
        format!("; largest of {} sizes, not adjusted for that", worst.levels)
    });
    let text = format!("{}{cost}.", sentence(parallel_sizes));
    Finding::new(FindingKind::Plan, text, format!("{blocks}{levels}"))
}
