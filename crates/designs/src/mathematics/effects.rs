//! Effects of a design that was run several times.

use crate::mathematics::{Chain, Lenth};
use observations::Interval;
use statistics::{mean, t_quantile, t_two_sided_p};

/// Sums of values are exact to about this share of them.
const ROUNDING: f64 = 1e-12;

/// Contrasts with the same error: those within whole plots, or those between them.
#[derive(Debug, Clone, PartialEq)]
pub struct Stratum {
    /// The effects in the order of the contrasts.
    pub effects: Vec<Effect>,
    /// Standard error of each.
    pub standard_error: f64,
    /// Degrees of freedom of the error.
    pub df: f64,
}

/// An effect with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effect {
    /// Mean over the repeats.
    pub value: f64,
    /// 95 % interval of this effect alone.
    pub interval: Interval,
    /// The p-value of "no effect".
    pub p_value: f64,
}

impl Stratum {
    /// The effects of contrasts with equal errors, from the values of all runs in each repeat
    /// (block, or set-up of whole plots); `None` with fewer than two. The error is that of the
    /// `first` repeats, where their spread decided how many followed.
    ///
    /// All contrasts have coefficients of the same size, so that their errors are equal even where
    /// some configurations vary more than others: the error is pooled over them, with fewer degrees
    /// of freedom (Satterthwaite) the less even the variation is.
    pub fn new(chains: &[&Chain], repeats: &[Vec<f64>], first: usize) -> Option<Self> {
        let first = first.min(repeats.len());
        if first < 2 || chains.is_empty() {
            return None;
        }
        let n = repeats.len() as f64;
        let by_repeat: Vec<Vec<f64>> = chains
            .iter()
            .map(|chain| repeats.iter().map(|values| chain.effect(values)).collect())
            .collect();
        let residuals: Vec<Vec<f64>> = by_repeat
            .iter()
            .map(|repeat| {
                let mean = mean(&repeat[..first]);
                repeat[..first].iter().map(|value| value - mean).collect()
            })
            .collect();
        let squares: f64 = residuals.iter().flatten().map(|residual| residual * residual).sum();
        let nominal = chains.len() as f64 * (first as f64 - 1.0);
        let standard_error = (squares / nominal / n).sqrt();
        let df = nominal * evenness(chains, &residuals);
        let largest = repeats.iter().flatten().map(|value| value.abs()).fold(0.0, f64::max);
        let half = t_quantile(0.025, df) * standard_error;
        let means = by_repeat.iter().map(mean);
        let effects = means.map(|value| Effect {
            value,
            interval: Interval::around(value, half),
            // Without any noise (a scripted engine) what is not rounding is an effect.
            p_value: if value.abs() <= ROUNDING * largest {
                1.0
            } else {
                t_two_sided_p(value / standard_error, df)
            },
        });
        Some(Self { effects: effects.collect(), standard_error, df })
    }
}

/// Returns the evenness of the variation over the runs: 1 when evenly. From the residuals of each
/// run in the space of the contrasts; their fourth powers are corrected for the few repeats by half
/// of what normal noise needs, as the estimate itself varies.
fn evenness(chains: &[&Chain], residuals: &[Vec<f64>]) -> f64 {
    let (runs, repeats) = (chains[0].coefficients.len(), residuals[0].len());
    let variances: Vec<f64> = (0..runs)
        .map(|run| {
            let of_repeats = (0..repeats).map(|repeat| -> f64 {
                let parts = chains.iter().zip(residuals);
                parts.map(|(chain, value)| f64::from(chain.coefficients[run]) * value[repeat]).sum()
            });
            of_repeats.map(|residual| residual.powi(2)).sum()
        })
        .collect();
    let sum: f64 = variances.iter().sum();
    let squares: f64 = variances.iter().map(|variance| variance * variance).sum();
    if squares == 0.0 {
        return 1.0;
    }
    let excess = 1.0 + 1.0 / (repeats as f64 - 1.0);
    (sum * sum * excess / (runs as f64 * squares)).min(1.0)
}

/// The effect that a design finds with a probability of 80 %, in standard deviations of a trial:
/// tested at 5 % over all `contrasts` (Bonferroni); with one repeat by Lenth's simulated limit for
/// one effect among noise. `None` with too few contrasts for that.
pub fn detectable(runs: usize, contrasts: usize, repeats: usize) -> Option<f64> {
    let standard_error = 2.0 / ((runs * repeats) as f64).sqrt();
    if repeats < 2 {
        return Some(Lenth::known(1.0, contrasts)?.found_with(POWER) * standard_error);
    }
    // The share that [`evenness`] leaves on average where all runs vary alike.
    let evenness = repeats as f64 / (repeats as f64 + 1.0);
    let df = (contrasts * (repeats - 1)) as f64 * evenness;
    let limit = t_quantile(0.025 / contrasts as f64, df) + t_quantile(1.0 - POWER, df);
    Some(limit * standard_error)
}

/// The probability with which an effect is to be found.
const POWER: f64 = 0.8;
