//! The values of one configuration on two sides.

use analysis::compare::{RESOLUTION, Sample, Values, welch_error};
use analysis::estimate::{Moments, Precision, mean};
use analysis::grid::Figures;
use analysis::response::resolution;
use analysis::{Comparison, Estimate, ResponseChoice};
use statistics::t_quantile;
use std::collections::BTreeMap;

/// The values of a response in both runs.
pub(super) struct Samples {
    pub from: Side,
    pub to: Side,
}

/// The values of a configuration: of one run by block, or, where the run has factors that are hard
/// to change, by set-up; of several runs by run.
pub(super) struct Side {
    values: BTreeMap<u32, f64>,
    /// True if trials timed out: true values are larger.
    pub timed_out: bool,
    first: usize,
    resolution: f64,
}

impl Side {
    pub fn from_figures(Figures { grid, .. }: &Figures, configuration: usize) -> Self {
        let figures = grid.cells[configuration].iter();
        let figures = figures.map(|(block, figure)| (*block, configuration, *figure));
        let (units, first) = grid.units(figures, grid.unit_of_levels());
        // Without values where nothing is known of a time-out.
        let values = units.iter().map(|(unit, cells)| {
            Some((*unit, mean(cells.iter().map(|cell| cell.known).collect::<Option<Vec<f64>>>()?)))
        });
        let all = || units.iter().flat_map(|(_, cells)| cells);
        Self {
            first,
            values: values.collect::<Option<_>>().unwrap_or_default(),
            timed_out: all().any(|cell| cell.timed_out),
            resolution: resolution(all().filter(|cell| !cell.timed_out)),
        }
    }

    /// A value for each run, its mean: blocks of a run share what was special about it.
    pub fn of_runs<'g>(runs: impl Iterator<Item = (&'g Figures, Option<usize>)>) -> Self {
        let runs = (1..)
            .zip(runs)
            .filter_map(|(run, (figures, at))| Some((run, Self::from_figures(figures, at?))));
        let runs: Vec<(u32, Self)> = runs.filter(|(_, side)| !side.values.is_empty()).collect();
        let resolutions: Vec<f64> = runs.iter().map(|(_, side)| side.resolution).collect();
        Self {
            values: runs.iter().map(|(run, side)| (*run, mean(side.values.values()))).collect(),
            timed_out: runs.iter().any(|(_, side)| side.timed_out),
            first: usize::MAX,
            resolution: if resolutions.is_empty() { 0.0 } else { mean(&resolutions) },
        }
    }

    /// The mean over all.
    pub fn estimate(&self, response: &ResponseChoice) -> Option<Estimate> {
        let values: Vec<f64> = self.values.values().copied().filter(|_| !self.timed_out).collect();
        Estimate::from_values(&values, &response.unit, response.direction)
    }

    fn values(&self) -> Values {
        let blocks = self.values.values().map(|value| vec![*value]).collect();
        Values { blocks, first: self.first, resolution: self.resolution }
    }

    /// `None` where a value has no logarithm, or there is none.
    fn logarithms(&self) -> Option<Sample> {
        let logs = self.values.values().map(|value| (*value > 0.0).then(|| value.ln()));
        let values = logs.collect::<Option<Vec<f64>>>().filter(|logs| !logs.is_empty())?;
        let rounding = (self.resolution / mean(self.values.values())).powi(2) / 12.0;
        Some(Sample { values, precision: Precision { first: self.first, rounding } })
    }
}

impl Samples {
    /// The second run against the first.
    pub fn compare(&self, response: &ResponseChoice) -> Option<Comparison> {
        let (from, to) = (self.from.values(), self.to.values());
        Comparison::of_values(false, &from, &to, response.direction)?
            .with_timeouts(self.timed_out())
    }

    /// Returns the sides with time-outs.
    pub fn timed_out(&self) -> [bool; 2] {
        [self.from.timed_out, self.to.timed_out]
    }

    /// Logarithms of both sides; `None` where a value has none, or there is none.
    pub fn logarithms(&self) -> Option<[Sample; 2]> {
        Some([self.from.logarithms()?, self.to.logarithms()?])
    }

    /// The relative difference that Welch's test finds with a probability of 80 %: (t for 5 %
    /// two-sided + t for 80 % power) standard errors.
    pub fn detectable(&self) -> Option<f64> {
        let [from, to] =
            self.logarithms()?.map(|side| Moments::known(&side.values, side.precision));
        let (error, df) = welch_error(&from, &to)?;
        Some(if error <= RESOLUTION {
            0.0
        } else {
            ((t_quantile(0.025, df) + t_quantile(0.2, df)) * error).exp_m1()
        })
    }
}

/// The geometric mean of the factors of all configurations.
///
/// Blocks hit all configurations of a run alike, so that these are not independent: the mean
/// logarithm of a block is. Blocks in which a configuration is missing are left out. `None` where a
/// trial timed out.
pub(super) fn overall(all: &[Samples], response: &ResponseChoice) -> Option<Comparison> {
    let measured = all
        .iter()
        .filter(|samples| !samples.from.values.is_empty() && !samples.to.values.is_empty());
    let measured: Vec<&Samples> = measured.collect();
    let logs: Vec<[Sample; 2]> =
        measured.iter().map(|measurement| measurement.logarithms()).collect::<Option<_>>()?;
    if measured.len() < 2 || all.iter().any(|samples| samples.timed_out().contains(&true)) {
        return None;
    }
    let side = |side_of: fn(&Samples) -> &Side| -> Values {
        let complete = side_of(measured[0]).values.keys().filter_map(|block| {
            let logs = measured
                .iter()
                .map(|samples| side_of(samples).values.get(block).map(|value| value.ln()));
            logs.collect::<Option<Vec<f64>>>().map(|logs| vec![mean(&logs).exp()])
        });
        let first = measured.iter().map(|samples| side_of(samples).first).min();
        Values { blocks: complete.collect(), first: first.unwrap_or(usize::MAX), resolution: 0.0 }
    };
    let (mut from, mut to) = (side(|samples| &samples.from), side(|samples| &samples.to));
    if from.blocks.len() < 2 || to.blocks.len() < 2 {
        let all = |side: usize| mean(logs.iter().map(|logs| mean(&logs[side].values))).exp();
        (from, to) = (Values::each([&all(0)]), Values::each([&all(1)]));
    }
    Comparison::of_values(false, &from, &to, response.direction)
}
