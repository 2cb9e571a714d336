/// Rounds over which steadiness is judged.
pub const STEADY_ROUNDS: usize = 5;

/// Largest less smallest rate of the window, at most this share of their mean.
const RANGE_MAX: f64 = 0.20;

/// Change of the fitted line over the window, at most this share of the mean.
const SLOPE_MAX: f64 = 0.10;

/// Whether a drive has settled, by the rates (IOPS) of its rounds so far; `None` when there are fewer
/// than [`STEADY_ROUNDS`].
///
/// The steady state of the SNIA Solid State Storage Performance Test Specification (Enterprise,
/// version 1.1, 2.1.24): over the last five rounds, the largest and the smallest rate differ by no more
/// than 20 % of the mean, and the line of least squares through them changes by no more than 10 % of the
/// mean from the first to the last.
pub fn steady(rates: &[f64]) -> Option<bool> {
    let window = rates.last_chunk::<STEADY_ROUNDS>()?;
    let mean = window.iter().sum::<f64>() / STEADY_ROUNDS as f64;
    let (least, most) = window.iter().fold((f64::MAX, f64::MIN), |(a, b), rate| (a.min(*rate), b.max(*rate)));
    let middle = (STEADY_ROUNDS - 1) as f64 / 2.0;
    let (mut products, mut squares) = (0.0, 0.0);
    for (round, rate) in window.iter().enumerate() {
        products += (round as f64 - middle) * (rate - mean);
        squares += (round as f64 - middle).powi(2);
    }
    let change = products / squares * (STEADY_ROUNDS - 1) as f64;
    Some(most - least <= RANGE_MAX * mean && change.abs() <= SLOPE_MAX * mean)
}

#[cfg(test)]
mod tests {
    use super::steady;

    #[test]
    fn agrees_with_series_worked_by_hand() {
        assert_eq!(steady(&[100.0; 4]), None);
        assert_eq!(steady(&[100.0; 5]), Some(true));
        // Mean 100, range 20, slope 0 (deviations 0 -10 10 0 0: products 0 + 10 + 0 + 0 + 0 over 10 = 1,
        // times 4 rounds: 4 %).
        assert_eq!(steady(&[100.0, 90.0, 110.0, 100.0, 100.0]), Some(true));
        // One more than 20 % of range.
        assert_eq!(steady(&[100.0, 89.0, 111.0, 100.0, 100.0]), Some(false));
        // A line of 2.4 a round: 9.6 % over the window; of 2.6: 10.4 %, although the range is small.
        assert_eq!(steady(&[95.2, 97.6, 100.0, 102.4, 104.8]), Some(true));
        assert_eq!(steady(&[94.8, 97.4, 100.0, 102.6, 105.2]), Some(false));
        // Falling as well as rising.
        assert_eq!(steady(&[105.2, 102.6, 100.0, 97.4, 94.8]), Some(false));
        // Only the last five count.
        assert_eq!(steady(&[900.0, 400.0, 100.0, 100.0, 100.0, 100.0, 100.0]), Some(true));
        assert_eq!(steady(&[100.0, 100.0, 100.0, 100.0, 100.0, 900.0]), Some(false));
    }
}
