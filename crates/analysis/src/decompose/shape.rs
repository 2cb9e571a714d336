//! How many waits of a type there were and how long each was: the two ways in which a wait's time changes.

use crate::compare::{Test, paired, welch};
use crate::grid::Matched;
use observations::{Observations, WaitClass};
use serde::Serialize;
use std::collections::BTreeMap;

/// Log ratios below this are rounding.
const RESOLUTION: f64 = 1e-9;

/// How often one wait type was waited for, and how long each time. Only of waits that are counted, on both sides, and
/// not for the client.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WaitShape {
    /// The engine's own name.
    pub wait_type: String,
    /// Waits in the first, in as much work as [`crate::Decomposition::work`].
    pub from_count: f64,
    /// The same in the second.
    pub to_count: f64,
    /// Seconds of a wait in the first, resource and signal together: its `AvgWait_S`.
    pub from_each_s: f64,
    /// The same in the second.
    pub to_each_s: f64,
    /// Two-sided p-value of "as many waits" (t of log ratios over blocks), not corrected; `None` where a block has none.
    pub count_p: Option<f64>,
    /// Two-sided p-value of "each as long", of the resource time and of the whole: the larger one, and 1 when the two
    /// changed in opposite directions; `None` also where there is no resource time.
    pub each_p: Option<f64>,
}

impl WaitShape {
    /// Whether there are fewer waits, each longer, or more, each shorter: opposite changes, of which the time
    /// alone shows only what is left.
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

/// Every wait type that was counted on both sides, by name; `work` is for how many units counts are given.
pub(super) fn shapes(matched: &Matched, work: f64) -> Vec<WaitShape> {
    let (from, to) = (side(&matched.from), side(&matched.to));
    let both = from.iter().filter_map(|(name, from)| Some((*name, from, to.get(name)?)));
    both.filter_map(|(name, from, to)| shape(matched.paired, name, from, to, work)).collect()
}

/// The blocks of each wait type; types that are not counted everywhere are left out.
fn side<'a>(blocks: &[Vec<&'a Observations>]) -> BTreeMap<&'a str, Vec<Sum>> {
    let mut types: BTreeMap<&str, Option<Vec<Sum>>> = BTreeMap::new();
    for (i, block) in blocks.iter().enumerate() {
        for observations in block {
            let units = observations.work.amount as f64 * block.len() as f64;
            for wait in observations
                .waits
                .iter()
                .filter(|w| w.wait_s().is_finite() && !matches!(w.class, WaitClass::Idle | WaitClass::Client))
            {
                let own =
                    types.entry(&wait.wait_type).or_insert_with(|| Some(vec![Sum::default(); blocks.len()]));
                match (own.as_mut(), wait.count) {
                    (Some(sums), Some(count)) => {
                        sums[i].count += count as f64;
                        sums[i].rate += count as f64 / units;
                        sums[i].resource_s += wait.resource_s;
                        sums[i].wait_s += wait.wait_s();
                    }
                    _ => *own = None,
                }
            }
        }
    }
    types.into_iter().filter_map(|(name, sums)| Some((name, sums?))).collect()
}

fn shape(is_paired: bool, name: &str, from: &[Sum], to: &[Sum], work: f64) -> Option<WaitShape> {
    let test = |of: fn(&Sum) -> f64| -> Option<Test> {
        let logs = |side: &[Sum]| -> Option<Vec<f64>> {
            side.iter().map(|sum| Some(of(sum)).filter(|value| *value > 0.0).map(f64::ln)).collect()
        };
        let (from, to) = (logs(from)?, logs(to)?);
        Some(if is_paired { paired(&from, &to, RESOLUTION) } else { welch(&from, &to, RESOLUTION) })
    };
    let count = |side: &[Sum]| work * side.iter().map(|sum| sum.rate).sum::<f64>() / side.len() as f64;
    let each = |side: &[Sum]| -> f64 {
        side.iter().map(|sum| sum.wait_s).sum::<f64>() / side.iter().map(|sum| sum.count).sum::<f64>()
    };
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
