//! The test of curvature: centre points against the runs of a two-level design, whose mean they
//! share if every factor acts along a straight line.

use analysis::estimate::t_test;
use observations::Interval;
use serde::Serialize;
use statistics::mean;

/// Sums of values are exact to about this share of them.
const ROUNDING: f64 = 1e-12;

/// Values of the runs of a design and of its centre points in each of its blocks.
#[derive(Debug, Clone, PartialEq)]
pub struct CentredBlocks {
    /// Values of the runs in each block.
    pub runs: Vec<Vec<f64>>,
    /// Values of the centre points in each block.
    pub centre: Vec<Vec<f64>>,
}

/// The difference between the centre and the mean of the runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Curvature {
    /// Mean of the centre points less that of the runs.
    pub value: f64,
    /// 95 % interval.
    pub interval: Interval,
    /// The p-value of "no curvature".
    pub p_value: f64,
    /// Degrees of freedom.
    pub df: f64,
}

impl Curvature {
    /// Compares the centre points with the runs of all parts (a design, its fold-over). `None`
    /// without repeats of the runs: the spread of a few centre points alone errs too often where
    /// noise is skewed.
    ///
    /// With one centre point in a block the differences of the blocks are the sample. With several,
    /// the spread of the centre within blocks and that of the runs over blocks are the error: each
    /// of its own mean (Welch), or one for both; the wider interval counts.
    pub fn new(parts: &[CentredBlocks]) -> Option<Self> {
        let all = || parts.iter().flat_map(|part| part.runs.iter().zip(&part.centre));
        let differences: Vec<f64> = all().map(|(runs, centre)| mean(centre) - mean(runs)).collect();
        let blocks = differences.len() as f64;
        let (runs, centre) = all().next().filter(|(_, centre)| !centre.is_empty())?;
        let (runs, centre) = (runs.len() as f64, centre.len() as f64);
        let repeated = || parts.iter().filter(|part| part.runs.len() > 1);
        let df_runs: f64 =
            repeated().map(|part| (part.runs.len() as f64 - 1.0) * (runs - 1.0)).sum();
        if df_runs < 1.0 {
            return None;
        }
        let largest = all().flat_map(|(runs, _)| runs).map(|value| value.abs()).fold(0.0, f64::max);
        // Without any noise (a scripted engine) there is rounding.
        let value = Some(mean(&differences)).filter(|mean| mean.abs() > ROUNDING * largest);
        let value = value.unwrap_or(0.0);
        if centre < 2.0 {
            let df = blocks - 1.0;
            let squares = squares_around_mean(&differences);
            return Some(Self::tested(value, squares / df / blocks, df));
        }
        let of_centre: f64 = all().map(|(_, centre)| squares_around_mean(centre)).sum();
        let of_runs: f64 = repeated().map(|part| interaction_squares(&part.runs)).sum();
        let df_centre = blocks * (centre - 1.0);
        let [mean_square, other] = [of_centre / df_centre / centre, of_runs / df_runs / runs];
        let shares = mean_square.powi(2) / df_centre + other.powi(2) / df_runs;
        let both = df_centre + df_runs;
        let df = if shares > 0.0 { (mean_square + other).powi(2) / shares } else { both };
        let apart = Self::tested(value, (mean_square + other) / blocks, df);
        let pooled = (of_centre + of_runs) / both * (1.0 / centre + 1.0 / runs);
        let together = Self::tested(value, pooled / blocks, both);
        let is_wider = together.interval.high > apart.interval.high;
        Some(if is_wider { together } else { apart })
    }

    fn tested(value: f64, variance: f64, df: f64) -> Self {
        let (interval, p_value) = t_test(value, variance.sqrt(), df);
        Self { value, interval, p_value, df }
    }
}

fn squares_around_mean(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

/// Squares of what neither the run nor the block explains.
fn interaction_squares(blocks: &[Vec<f64>]) -> f64 {
    let deviations: Vec<Vec<f64>> = blocks
        .iter()
        .map(|block| {
            let mean = mean(block);
            block.iter().map(|value| value - mean).collect()
        })
        .collect();
    let runs = (0..blocks[0].len()).map(|run| deviations.iter().map(|block| block[run]).collect());
    runs.map(|run: Vec<f64>| squares_around_mean(&run)).sum()
}
