//! The values of one configuration in two runs.

use crate::compare::{RESOLUTION, welch_error};
use crate::distribution::t_quantile;
use crate::estimate::{Moments, mean};
use crate::grid::Cells;
use crate::{Comparison, ResponseChoice};
use std::collections::BTreeMap;

/// The values of a response in both runs, by block.
pub(super) struct Samples {
    pub from: BTreeMap<u32, f64>,
    pub to: BTreeMap<u32, f64>,
    /// Which side has time-outs: values that are larger than is known.
    pub timed_out: [bool; 2],
}

impl Samples {
    /// Without values where nothing is known of a time-out.
    pub fn of(from: &Cells, to: &Cells, response: &ResponseChoice) -> Self {
        let known = |cells: &Cells| -> BTreeMap<u32, f64> {
            let counts = cells.iter().filter(|(_, seen)| response.counts(seen));
            let values = counts.map(|(block, seen)| Some((*block, response.value_or_bound(seen)?)));
            values.collect::<Option<_>>().unwrap_or_default()
        };
        let timed_out = |cells: &Cells| cells.values().any(|seen| seen.timed_out());
        Self { from: known(from), to: known(to), timed_out: [timed_out(from), timed_out(to)] }
    }

    /// Logarithms of both sides; `None` where a value has none, or there is none.
    pub fn logarithms(&self) -> Option<[Vec<f64>; 2]> {
        let logs = |side: &BTreeMap<u32, f64>| -> Option<Vec<f64>> {
            let logs = side.values().map(|value| (*value > 0.0).then(|| value.ln()));
            logs.collect::<Option<_>>().filter(|logs: &Vec<f64>| !logs.is_empty())
        };
        Some([logs(&self.from)?, logs(&self.to)?])
    }

    /// The relative difference that Welch's test finds with a probability of 80 %: (t for 5 % two-sided + t for
    /// 80 % power) standard errors.
    pub fn detectable(&self) -> Option<f64> {
        let [from, to] = self.logarithms()?;
        let (error, df) = welch_error(&Moments::of(&from), &Moments::of(&to))?;
        let errors = || t_quantile(0.025, df) + t_quantile(0.2, df);
        Some(if error <= RESOLUTION { 0.0 } else { (errors() * error).exp_m1() })
    }
}

/// The geometric mean of the factors of all configurations.
///
/// Blocks hit all configurations of a run alike, so that these are not independent: the mean logarithm of a
/// block is. Blocks in which a configuration is missing are left out. `None` where a trial timed out.
pub(super) fn overall(all: &[Samples], response: &ResponseChoice) -> Option<Comparison> {
    let measured: Vec<&Samples> = all.iter().filter(|it| !it.from.is_empty() && !it.to.is_empty()).collect();
    let logs: Vec<[Vec<f64>; 2]> = measured.iter().map(|it| it.logarithms()).collect::<Option<_>>()?;
    if measured.len() < 2 || all.iter().any(|it| it.timed_out.contains(&true)) {
        return None;
    }
    let blocks = |own: fn(&Samples) -> &BTreeMap<u32, f64>| -> Vec<f64> {
        let complete = own(measured[0]).keys().filter_map(|block| {
            let logs = measured.iter().map(|samples| own(samples).get(block).map(|it| it.ln()));
            logs.collect::<Option<Vec<f64>>>().map(|logs| mean(&logs).exp())
        });
        complete.collect()
    };
    let (mut from, mut to) = (blocks(|it| &it.from), blocks(|it| &it.to));
    if from.len() < 2 || to.len() < 2 {
        let all = |side: usize| mean(&logs.iter().map(|logs| mean(&logs[side])).collect::<Vec<f64>>()).exp();
        (from, to) = (vec![all(0)], vec![all(1)]);
    }
    Comparison::apart(&from, &to, response.direction)
}
