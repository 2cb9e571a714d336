//! Pairs of measurements, and what is printed of them.

/// Measures A and B in turn, which of them first in turn too. Both get the number of the round.
pub fn pairs<T>(
    rounds: u64,
    a: impl Fn(u64) -> Result<T, String>,
    b: impl Fn(u64) -> Result<T, String>,
) -> Result<Vec<(T, T)>, String> {
    let pair = |round: u64| {
        if round.is_multiple_of(2) {
            let first = a(round)?;
            Ok((first, b(round)?))
        } else {
            let first = b(round)?;
            Ok((a(round)?, first))
        }
    };
    (0..rounds).map(pair).collect()
}

/// The ratios A / B of some pairs.
pub fn ratios(pairs: &[(f64, f64)]) -> Vec<f64> {
    pairs.iter().map(|(a, b)| a / b).collect()
}

/// Prints median and range of some figures.
pub fn print(what: &str, figures: &[f64], decimals: usize, unit: &str) {
    println!("{what}: {}", spread(figures, decimals, unit));
}

/// Prints median and range of some ratios, and their geometric mean with its 95 % interval.
pub fn print_ratios(what: &str, ratios: &[f64]) {
    let (mean, low, high) = mean_and_interval(ratios);
    println!("{what}: {}; geometric mean {mean:.4} [{low:.4}, {high:.4}]", spread(ratios, 3, ""));
}

/// `median 1.2 ms (range 1.1 to 1.4 ms, n = 21)`
fn spread(figures: &[f64], decimals: usize, unit: &str) -> String {
    let low = figures.iter().copied().fold(f64::INFINITY, f64::min);
    let high = figures.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (median, n) = (median(figures), figures.len());
    format!("median {median:.decimals$}{unit} (range {low:.decimals$} to {high:.decimals$}{unit}, n = {n})")
}

/// Median of some figures.
pub fn median(figures: &[f64]) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        length if length % 2 == 0 => f64::midpoint(sorted[middle - 1], sorted[middle]),
        _ => sorted[middle],
    }
}

/// Geometric mean of some ratios and its 95 % interval: Student's t of their logarithms.
fn mean_and_interval(ratios: &[f64]) -> (f64, f64, f64) {
    /// Quantiles for 1, 2, .. degrees of freedom, 97.5 %.
    const T: [f64; 14] =
        [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145];
    let logs: Vec<f64> = ratios.iter().map(|ratio| ratio.ln()).collect();
    let n = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / n;
    let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (n - 1.0);
    // Beyond the table its last value, which is wider than need be.
    let t = logs.len().checked_sub(2).and_then(|freedom| T.get(freedom).or(T.last()));
    let half = t.copied().unwrap_or(f64::NAN) * (variance / n).sqrt();
    (mean.exp(), (mean - half).exp(), (mean + half).exp())
}
