//! The values of one configuration in two runs.

use crate::compare::{Scale, Test, welch};
use crate::distribution::t_quantile;
use crate::estimate::Moments;
use crate::{Comparison, Interval, Method, ResponseChoice};
use observations::{Direction, Observations};
use std::collections::BTreeMap;

/// Values by block.
pub(super) type Side = BTreeMap<u32, f64>;

/// A log ratio smaller than this is rounding, not a difference.
pub(super) const RESOLUTION: f64 = 1e-9;

/// The values of a response in both runs.
pub(super) struct Samples {
    pub from: Side,
    pub to: Side,
}

impl Samples {
    pub fn of(
        from: &BTreeMap<u32, &Observations>,
        to: &BTreeMap<u32, &Observations>,
        value: impl Fn(&Observations) -> Option<f64>,
    ) -> Self {
        let side = |cells: &BTreeMap<u32, &Observations>| -> Side {
            cells.iter().filter_map(|(block, o)| Some((*block, value(o)?))).collect()
        };
        Self { from: side(from), to: side(to) }
    }

    /// Logarithms of both sides; `None` where a value has none, or there is none.
    pub fn logarithms(&self) -> Option<(Vec<f64>, Vec<f64>)> {
        let logs = |side: &Side| -> Option<Vec<f64>> {
            let logs = side.values().map(|value| (*value > 0.0).then(|| value.ln()));
            logs.collect::<Option<_>>().filter(|logs: &Vec<f64>| !logs.is_empty())
        };
        Some((logs(&self.from)?, logs(&self.to)?))
    }

    /// The relative difference that Welch's test finds with a probability of 80 %: (t for 5 % two-sided + t for
    /// 80 % power) standard errors.
    pub fn detectable(&self) -> Option<f64> {
        let (from, to) = self.logarithms()?;
        let (a, b) = (Moments::of(&from), Moments::of(&to));
        let (square_a, square_b) = (a.standard_error()?.powi(2), b.standard_error()?.powi(2));
        let square = square_a + square_b;
        if square <= RESOLUTION * RESOLUTION {
            return Some(0.0);
        }
        let shares = square_a.powi(2) / (a.n as f64 - 1.0) + square_b.powi(2) / (b.n as f64 - 1.0);
        let df = square.powi(2) / shares;
        Some(((t_quantile(0.025, df) + t_quantile(0.2, df)) * square.sqrt()).exp_m1())
    }
}

/// The geometric mean of the factors of all configurations.
///
/// Blocks hit all configurations of a run alike, so that these are not independent: the mean logarithm of a
/// block is. Blocks in which a configuration is missing are left out.
pub(super) fn overall(all: &[Samples], response: &ResponseChoice) -> Option<Comparison> {
    let measured: Vec<&Samples> = all.iter().filter(|it| !it.from.is_empty() && !it.to.is_empty()).collect();
    if measured.len() < 2 || measured.iter().any(|it| it.logarithms().is_none()) {
        return None;
    }
    let blocks = |own: fn(&Samples) -> &Side| -> Vec<f64> {
        let sides: Vec<&Side> = measured.iter().map(|samples| own(samples)).collect();
        let complete = sides[0].keys().filter_map(|block| {
            let logs: Option<Vec<f64>> = sides.iter().map(|side| side.get(block).map(|it| it.ln())).collect();
            logs.map(|logs| better(response) * mean(&logs))
        });
        complete.collect()
    };
    let (from, to) = (blocks(|it| &it.from), blocks(|it| &it.to));
    let test = if from.len() >= 2 && to.len() >= 2 {
        welch(&from, &to, RESOLUTION)
    } else {
        let difference = |(from, to): (Vec<f64>, Vec<f64>)| better(response) * (mean(&to) - mean(&from));
        let all: Vec<f64> = measured.iter().filter_map(|it| it.logarithms()).map(difference).collect();
        Test { value: mean(&all), interval: None, p_value: None, blocks: 1, method: Method::Point }
    };
    Some(Comparison {
        scale: Scale::Ratio,
        value: test.value.exp(),
        interval: test.interval.map(|it| Interval { low: it.low.exp(), high: it.high.exp() }),
        p_value: test.p_value,
        adjusted_p: None,
        blocks: test.blocks,
        method: test.method,
    })
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn better(response: &ResponseChoice) -> f64 {
    match response.direction {
        Direction::HigherIsBetter => 1.0,
        Direction::LowerIsBetter => -1.0,
    }
}
