//! The number of waits of a type, and the time of each: the two ways in which a wait's time
//! changes.

use crate::compare::{RESOLUTION, Sample, Test};
use crate::grid::Matched;
use observations::{Observations, Wait, WaitClass};
use serde::Serialize;
use std::collections::BTreeSet;

/// The number of waits of one type, and the time of each. Only of waits that are counted, on both
/// sides, and not for the client.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WaitShape {
    /// The engine's own name.
    pub wait_type: String,
    /// Waits in the first, in as much work as [`crate::Decomposition::work`].
    pub from_count: f64,
    /// Number of waits on the second side.
    pub to_count: f64,
    /// Seconds of a wait in the first, resource and signal together: its `AvgWait_S`.
    pub from_each_s: f64,
    /// Seconds per wait on the second side.
    pub to_each_s: f64,
    /// Two-sided p-value of "as many waits" (t of log ratios over blocks), not corrected; `None`
    /// where a block has none.
    pub count_p: Option<f64>,
    /// Two-sided p-value of "each as long", of the resource time and of the whole: the larger one,
    /// and 1 when the two changed in opposite directions; `None` also where there is no
    /// resource time.
    pub each_p: Option<f64>,
}

impl WaitShape {
    /// Returns whether count and length changed in opposite directions: fewer and longer waits, or
    /// more and shorter ones. The total time then shows only the net effect.
    pub fn is_opposite(&self) -> bool {
        (self.to_count < self.from_count) == (self.to_each_s > self.from_each_s)
            && self.to_count.total_cmp(&self.from_count).is_ne()
    }
}

/// The waits of one type in one block.
#[derive(Clone, Copy, Default)]
struct Sum {
    count: f64,
    /// Waits for each unit of work, over the trials of the block.
    rate: f64,
    resource_s: f64,
    wait_s: f64,
}

/// Every wait type that was counted on both sides, by name; `work` is for how many units counts are
/// given.
pub(super) fn shapes(matched: &Matched<&Observations>, work: f64) -> Vec<WaitShape> {
    let all = matched.from.iter().flatten().flat_map(|trial| &trial.waits);
    let names: BTreeSet<&str> =
        all.filter(|wait| is_shaped(wait)).map(|wait| wait.wait_type.as_str()).collect();
    names
        .into_iter()
        .filter_map(|name| {
            let side = |blocks: &[Vec<&Observations>]| -> Option<Vec<Sum>> {
                blocks.iter().map(|block| sum(name, block)).collect()
            };
            shape(matched, name, &side(&matched.from)?, &side(&matched.to)?, work)
        })
        .collect()
}

fn is_shaped(wait: &Wait) -> bool {
    wait.wait_s().is_finite() && !matches!(wait.class, WaitClass::Idle | WaitClass::Client)
}

/// `None` where some of these waits are not counted.
fn sum(name: &str, block: &[&Observations]) -> Option<Sum> {
    let mut sum = Sum::default();
    for trial in block {
        let units = trial.work.amount as f64 * block.len() as f64;
        for wait in trial.waits.iter().filter(|wait| wait.wait_type == name && is_shaped(wait)) {
            let count = wait.count? as f64;
            sum.count += count;
            sum.rate += count / units;
            sum.resource_s += wait.resource_s;
            sum.wait_s += wait.wait_s();
        }
    }
    Some(sum)
}

fn shape(
    matched: &Matched<&Observations>,
    name: &str,
    from: &[Sum],
    to: &[Sum],
    work: f64,
) -> Option<WaitShape> {
    let test = |of: fn(&Sum) -> f64| -> Option<Test> {
        let logs = |side: &[Sum], first| {
            let logs =
                side.iter().map(|sum| Some(of(sum)).filter(|value| *value > 0.0).map(f64::ln));
            Some(Sample::new(logs.collect::<Option<_>>()?, first))
        };
        let [first_from, first_to] = matched.first;
        Some(Test::run(matched.paired, &logs(from, first_from)?, &logs(to, first_to)?, RESOLUTION))
    };
    let all = |side: &[Sum], of: fn(&Sum) -> f64| side.iter().map(of).sum::<f64>();
    let count = |side: &[Sum]| work * all(side, |sum| sum.rate) / side.len() as f64;
    let each = |side: &[Sum]| all(side, |sum| sum.wait_s) / all(side, |sum| sum.count);
    let whole = test(|sum| sum.wait_s / sum.count);
    let resource = test(|sum| sum.resource_s / sum.count);
    let each_p = match (&whole, &resource) {
        (Some(whole), Some(resource)) if whole.value * resource.value < 0.0 => Some(1.0),
        (Some(whole), Some(resource)) => whole.p_value.zip(resource.p_value).map(|(a, b)| a.max(b)),
        _ => None,
    };
    let shape = WaitShape {
        wait_type: name.to_owned(),
        from_count: count(from),
        to_count: count(to),
        from_each_s: each(from),
        to_each_s: each(to),
        count_p: test(|sum| sum.rate).and_then(|test| test.p_value),
        each_p,
    };
    (shape.from_count > 0.0 && shape.to_count > 0.0).then_some(shape)
}
