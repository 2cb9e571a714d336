//! A response at several levels in the same blocks, on the scale of logarithms.
//!
//! Levels and blocks are the two effects of a randomised complete block design; what they leave is
//! the error, common to all levels (D. C. Montgomery, "Design and Analysis of Experiments", chapter
//! 4). With the three blocks that are usual this is what tells anything: the spread of one pair of
//! levels has 2 degrees of freedom, the common one has 12 at seven levels, and a bootstrap over
//! three blocks holds the truth far less often than it says. Where a pair spreads more than
//! the common error, its own spread counts.
//!
//! The level that is the best by chance is not known to be so: each bound holds against all levels
//! at once (Bonferroni).

use analysis::estimate::{Moments, mean};
use analysis::grid::Grid;
use analysis::{Interval, ResponseChoice};
use observations::Observations;
use statistics::t_quantile;
use std::collections::BTreeMap;

/// The error at each end of a 95 % interval.
const ONE_SIDED: f64 = 0.025;

/// Levels in the blocks that all of them have.
pub(super) struct Levels {
    /// Logarithms by level and block.
    logs: Vec<Vec<f64>>,
    /// Mean of each level.
    means: Vec<f64>,
    /// Variance of the error, and its degrees of freedom.
    error: f64,
    df: f64,
    /// Variance of a level's value from block to block, and its degrees of freedom.
    spread: f64,
    spread_df: f64,
}

impl Levels {
    /// `None` with fewer than two levels or common blocks, or where a value is not above 0.
    pub fn from_grid(
        grid: &Grid<&Observations>,
        configurations: &[usize],
        response: &str,
    ) -> Option<Self> {
        let trials = grid.trials(*configurations.first()?);
        let choice = trials.iter().find_map(|trial| ResponseChoice::named(response, trial))?;
        let value = |(block, observations): &(u32, &Observations)| {
            Some((*block, choice.value(observations)?))
        };
        let cells: Vec<BTreeMap<u32, f64>> = configurations
            .iter()
            .map(|configuration| grid.cells[*configuration].iter().filter_map(value).collect())
            .collect();
        let common =
            cells.first()?.keys().filter(|block| cells.iter().all(|cell| cell.contains_key(block)));
        let common: Vec<u32> = common.copied().collect();
        let logs = cells.iter().map(|cell| {
            let values = common.iter().map(|block| cell[block]);
            values.map(|value| (value > 0.0).then(|| value.ln())).collect()
        });
        let logs: Vec<Vec<f64>> = logs.collect::<Option<_>>()?;
        (logs.len() > 1 && common.len() > 1).then(|| Self::new(logs))
    }

    fn new(logs: Vec<Vec<f64>>) -> Self {
        let (levels, blocks) = (logs.len() as f64, logs[0].len() as f64);
        let means: Vec<f64> = logs.iter().map(mean).collect();
        let all = mean(&means);
        let effects: Vec<f64> = (0..logs[0].len())
            .map(|block: usize| mean(logs.iter().map(|log| log[block]).collect::<Vec<f64>>()) - all)
            .collect();
        let df = (levels - 1.0) * (blocks - 1.0);
        let error = logs
            .iter()
            .zip(&means)
            .map(|(log, mean)| {
                log.iter()
                    .zip(&effects)
                    .map(|(log, effect)| (log - mean - effect).powi(2))
                    .sum::<f64>()
            })
            .sum::<f64>()
            / df;
        // Of a level's value: the mean squares between blocks and of the error, by their
        // expectations.
        let between = effects.iter().map(|effect| effect * effect).sum::<f64>() / (blocks - 1.0);
        let within = (levels - 1.0) / levels * error;
        let spread = between + within;
        // F. E. Satterthwaite, Biometrics Bulletin 2, 1946.
        let weight = between.powi(2) / (blocks - 1.0) + within.powi(2) / df;
        let spread_df = if weight > 0.0 { spread.powi(2) / weight } else { df };
        Self { logs, means, error, df, spread, spread_df }
    }

    fn blocks(&self) -> f64 {
        self.logs[0].len() as f64
    }

    /// Standard errors of a bound that holds for the choice among all levels.
    fn simultaneous(&self, df: f64) -> f64 {
        t_quantile(ONE_SIDED / (self.logs.len() - 1) as f64, df)
    }

    /// Returns the excess of another level over this one, as a logarithm, with half the width of
    /// its interval.
    fn over(&self, other: usize, level: usize) -> (f64, f64) {
        let differences: Vec<f64> =
            self.logs[other].iter().zip(&self.logs[level]).map(|(a, b)| a - b).collect();
        let of_pair = Moments::from_values(&differences).error.unwrap_or(0.0);
        let common = (2.0 * self.error / self.blocks()).sqrt();
        (self.means[other] - self.means[level], self.simultaneous(self.df) * common.max(of_pair))
    }

    fn others(&self, level: usize) -> impl Iterator<Item = (f64, f64)> {
        (0..self.logs.len())
            .filter(move |other| *other != level)
            .map(move |other| self.over(other, level))
    }

    /// No level is larger than this one by more than this share.
    pub fn others_at_most(&self, level: usize) -> f64 {
        largest(self.others(level).map(|(log, half)| log + half)).exp_m1()
    }

    /// Some level is larger than this one by at least this share.
    pub fn others_at_least(&self, level: usize) -> f64 {
        largest(self.others(level).map(|(log, half)| log - half)).exp_m1()
    }

    /// The value at the highest level: the choice of the level makes the estimate too high by its
    /// error.
    pub fn highest(&self) -> Interval {
        let highest = largest(self.means.iter().copied());
        let half = t_quantile(ONE_SIDED, self.spread_df) * (self.spread / self.blocks()).sqrt();
        Interval { low: highest - half - self.choice(), high: highest + half }.map(f64::exp)
    }

    /// Widens an interval for the choice among the levels.
    fn choice(&self) -> f64 {
        let more = self.simultaneous(self.df) - t_quantile(ONE_SIDED, self.df);
        more * (self.error / self.blocks()).sqrt()
    }

    /// The value at the highest level times that of `other` at its lowest, of which `value` is the
    /// estimate.
    pub fn highest_times_lowest(&self, other: &Self, value: f64) -> Option<Interval> {
        if self.logs[0].len() != other.logs[0].len() {
            return None;
        }
        let by_mean =
            |levels: &Self, a: &usize, b: &usize| levels.means[*a].total_cmp(&levels.means[*b]);
        let highest = (0..self.logs.len()).max_by(|a, b| by_mean(self, a, b))?;
        let lowest = (0..other.logs.len()).min_by(|a, b| by_mean(other, a, b))?;
        let sums = self.logs[highest].iter().zip(&other.logs[lowest]).map(|(a, b)| a + b);
        let of_blocks = Moments::from_values(&sums.collect::<Vec<f64>>()).error?;
        let common = ((self.error + other.error) / self.blocks()).sqrt();
        let half = t_quantile(ONE_SIDED, self.df.min(other.df)) * common.max(of_blocks);
        Some(
            Interval { low: -half - self.choice(), high: half + other.choice() }
                .map(|log| value * log.exp()),
        )
    }
}

fn largest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(f64::NEG_INFINITY, f64::max)
}
