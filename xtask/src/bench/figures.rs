//! Pairs of measurements, and what is printed of them.

use std::time::{Duration, Instant};

/// Measures A and B in turn, which of them first in turn too. Both get the number of the round.
pub fn pairs<T>(
    rounds: u64,
    a: impl Fn(u64) -> Result<T, String>,
    b: impl Fn(u64) -> Result<T, String>,
) -> Result<Vec<(T, T)>, String> {
    pairs_while(|round| round < rounds, a, b)
}

/// The ratios A / B of interleaved measurements, A B B A, of all rounds that begin within a time.
/// Each ratio is one of the sums of a round, so that a linear drift of the machine cancels out.
pub fn ratios_within(
    limit: Duration,
    a: impl Fn() -> Result<f64, String>,
    b: impl Fn() -> Result<f64, String>,
) -> Result<Vec<f64>, String> {
    let begun = Instant::now();
    let pairs = pairs_while(
        |round: u64| !round.is_multiple_of(2) || begun.elapsed() < limit,
        |_| a(),
        |_| b(),
    )?;
    Ok(pairs
        .chunks(2)
        .map(|two: &[(f64, f64)]| {
            two.iter().map(|(a, _)| a).sum::<f64>() / two.iter().map(|(_, b)| b).sum::<f64>()
        })
        .collect())
}

fn pairs_while<T>(
    goes_on: impl Fn(u64) -> bool,
    a: impl Fn(u64) -> Result<T, String>,
    b: impl Fn(u64) -> Result<T, String>,
) -> Result<Vec<(T, T)>, String> {
    (0..)
        .take_while(|round| goes_on(*round))
        .map(|round: u64| {
            if round.is_multiple_of(2) {
                let first = a(round)?;
                Ok((first, b(round)?))
            } else {
                let first = b(round)?;
                Ok((a(round)?, first))
            }
        })
        .collect()
}

/// Processor seconds of a process so far: of the fields from 14 on of `/proc/PID/stat` (proc(5)),
/// in hundredths on Linux, the first 2 are its own, the next 2 of children that have ended.
pub fn cpu_s(pid: &str, fields: usize) -> Result<f64, String> {
    let path = format!("/proc/{pid}/stat");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    let all = text.rsplit_once(") ").map_or("", |(_, rest)| rest).split(' ');
    let ticks: f64 = all.skip(11).take(fields).filter_map(|field| field.parse::<f64>().ok()).sum();
    Ok(ticks / 100.0)
}

/// The ratios A / B of some pairs.
pub fn ratios(pairs: &[(f64, f64)]) -> Vec<f64> {
    pairs.iter().map(|(a, b)| a / b).collect()
}

/// Prints median and range of some figures.
pub fn print(what: &str, figures: &[f64], decimals: usize, unit: &str) {
    print_goal(what, figures, decimals, unit, f64::INFINITY);
}

/// Prints figures next to their upper limit; without a limit that is infinite.
pub fn print_goal(what: &str, figures: &[f64], decimals: usize, unit: &str, goal: f64) {
    let goal = match goal {
        f64::INFINITY => String::new(),
        goal if median(figures) <= goal => format!("; goal {goal}{unit}"),
        goal => format!("; goal {goal}{unit}: not reached"),
    };
    println!("{what}: {}{goal}", spread(figures, decimals, unit));
}

/// Prints median and range of some ratios, and their geometric mean with its 95 % interval.
pub fn print_ratios(what: &str, ratios: &[f64]) {
    let (mean, low, high) = mean_and_interval(ratios);
    println!("{what}: {}; geometric mean {mean:.4} [{low:.4}, {high:.4}]", spread(ratios, 3, ""));
}

/// Prints the median of some ratios with its 95 % interval, which supposes nothing of how they are
/// distributed.
pub fn print_median(what: &str, ratios: &[f64]) {
    let (low, high) = interval_of_median(ratios);
    println!("{what}: median {:.4} [{low:.4}, {high:.4}] (n = {})", median(ratios), ratios.len());
}

/// Between which two figures the median lies that they are drawn around: fewer are below the lower
/// one than heads come up in 2.5 % of as many throws of a coin (David and Nagaraja, "Order
/// Statistics", 7.1). Without bounds for fewer than six.
fn interval_of_median(figures: &[f64]) -> (f64, f64) {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    let (mut below, mut heads, mut at_most) = (0, 0.5_f64.powi(n as i32), 0.0);
    while at_most + heads <= 0.025 {
        at_most += heads;
        heads *= (n - below) as f64 / (below + 1) as f64;
        below += 1;
    }
    match below {
        0 => (f64::NEG_INFINITY, f64::INFINITY),
        rank => (sorted[rank - 1], sorted[n - rank]),
    }
}

/// `median 1.2 ms (range 1.1 to 1.4 ms, n = 21)`
fn spread(figures: &[f64], decimals: usize, unit: &str) -> String {
    let low = figures.iter().copied().fold(f64::INFINITY, f64::min);
    let high = figures.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (median, n) = (median(figures), figures.len());
    format!(
        "median {median:.decimals$}{unit} (range {low:.decimals$} to {high:.decimals$}{unit}, n = \
         {n})"
    )
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
    const T: [f64; 14] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
        2.145,
    ];
    let logs: Vec<f64> = ratios.iter().map(|ratio| ratio.ln()).collect();
    let n = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / n;
    let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (n - 1.0);
    // Beyond the table its last value, which is wider than need be.
    let t = logs.len().checked_sub(2).and_then(|freedom| T.get(freedom).or(T.last()));
    let half = t.copied().unwrap_or(f64::NAN) * (variance / n).sqrt();
    (mean.exp(), (mean - half).exp(), (mean + half).exp())
}

#[cfg(test)]
mod tests {
    use super::interval_of_median;

    /// Ranks from tables of the sign test (Conover, "Practical Nonparametric Statistics", A3).
    #[test]
    fn the_interval_of_a_median_is_that_of_the_sign_test() {
        for (n, rank) in
            [(5, None), (6, Some(1)), (10, Some(2)), (20, Some(6)), (50, Some(18)), (100, Some(40))]
        {
            let figures: Vec<f64> = (1..=n).rev().map(f64::from).collect();
            let expected = rank.map_or((f64::NEG_INFINITY, f64::INFINITY), |rank| {
                (f64::from(rank), f64::from(n + 1 - rank))
            });
            assert_eq!(interval_of_median(&figures), expected, "{n}");
        }
    }
}
