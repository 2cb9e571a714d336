//! Steady state: whether the throughput has changed its level within the measurement.

use observations::{Observations, Warning, WarningKind, number};
use statistics::change_points::change_points;
use statistics::mean;

/// A warning for each trial whose throughput by interval has a change point (E-divisive, 5 %): its
/// figures are means of two states, and depend on the length of the measurement. Terminals worked
/// for `worked_s` of it.
pub fn warning(observations: &Observations, worked_s: f64) -> Option<Warning> {
    let series = observations.series.iter().find(|series| series.name == "throughput")?;
    if series.interval_s <= 0.0 {
        return None;
    }
    let warmup = (-series.start_s / series.interval_s).round() as usize;
    // The last interval is cut short and has fewer transactions to average.
    let whole = (worked_s / series.interval_s) as usize;
    let measured: Vec<f64> = series.values.iter().copied().skip(warmup).take(whole).collect();
    let first = change_points(&measured).iter().map(|change| change.at).min()?;
    let detail = format!(
        "throughput changed after {} of {} s, from {} to {} {}",
        number::figure(first as f64 * series.interval_s),
        number::figure(worked_s),
        number::figure(mean(&measured[..first])),
        number::figure(mean(&measured[first..])),
        series.unit
    );
    Some(Warning { kind: WarningKind::NotSteady, detail })
}

#[cfg(test)]
mod tests {
    use observations::{Observations, Series, Warning};

    fn warning(observations: &Observations) -> Option<Warning> {
        super::warning(observations, observations.elapsed_s)
    }

    /// Five intervals of ramp-up, then these; the last one is cut short.
    fn trial(values: impl Iterator<Item = f64>) -> Observations {
        let measured: Vec<f64> = values.collect();
        let elapsed_s = measured.len() as f64 + 0.5;
        let values = [vec![0.0, 10.0, 20.0, 40.0, 80.0], measured, vec![300.0]].concat();
        let series = Series {
            name: "throughput".into(),
            unit: "transactions/s".into(),
            start_s: -5.0,
            interval_s: 1.0,
            values,
        };
        Observations { elapsed_s, series: vec![series], ..Observations::default() }
    }

    /// Noise of a few percent without any order.
    fn noise(second: usize) -> f64 {
        ((second * 7919 + 13) % 17) as f64 - 8.0
    }

    #[test]
    fn a_change_of_level_is_found_and_a_ramp_up_is_cut() {
        assert_eq!(warning(&trial((0..40).map(|at| 200.0 + noise(at)))), None);
        let falls = (0..40).map(|at| if at < 25 { 200.0 } else { 120.0 } + noise(at));
        let detail = warning(&trial(falls)).unwrap().detail;
        assert!(
            detail.starts_with("throughput changed after 25.0 of 40.5 s, from 200 to 1"),
            "{detail}"
        );
        assert_eq!(warning(&trial(std::iter::empty())), None);
    }
}
