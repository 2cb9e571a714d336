//! The one formatter of numbers, and how estimates and comparisons are written with it.

pub use observations::number::*;

use analysis::{Comparison, Estimate, Scale};

/// A mean with its 95 % interval: `78.4 ± 1.2 s`, `4.08k ± 0.06k rows/s`; with trials that timed
/// out `at least 3.20 s`.
pub fn estimate(estimate: &Estimate) -> String {
    shown(estimate, &estimate.unit)
}

/// Formats an estimate without its unit, for a column that names it.
pub fn estimate_without_unit(estimate: &Estimate) -> String {
    shown(estimate, "")
}

fn shown(estimate: &Estimate, unit: &str) -> String {
    let figure = within(estimate.mean, estimate.interval, unit);
    match estimate.bound {
        Some(bound) => format!("{} {figure}", bound.words()),
        None if estimate.timeouts > 0 => {
            format!("{figure} without {}", plural(estimate.timeouts, "time-out"))
        }
        None => figure,
    }
}

/// The interval of a mean that stands before it: ` ± 2.0 %`, ` [0, 33.3]`; nothing where there is
/// none.
pub fn interval(estimate: &Estimate) -> String {
    let ends = estimate.interval.map(|interval| around(estimate.mean, interval));
    ends.map_or_else(String::new, |ends| format!(" {ends}"))
}

/// [`analysis::wording::comparison`], but for a difference, which is better above 0:
/// `+3.20 s [2.90, 3.50]`.
pub fn comparison(comparison: &Comparison, unit: &str) -> String {
    match (comparison.scale, comparison.bound) {
        (Scale::Ratio, _) => analysis::wording::comparison(comparison, unit),
        (Scale::Difference, Some(bound)) => {
            let limit = comparison.limit();
            format!("{} {} {unit}", bound.words(), signed(limit, places(limit, 3)))
        }
        (Scale::Difference, None) => {
            let sign = if comparison.value > 0.0 { "+" } else { "" };
            format!("{sign}{}", difference(comparison.value, comparison.interval, unit))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::{Interval, Method};
    use observations::Direction;

    fn sample(mean: f64, half: Option<f64>, unit: &str) -> Estimate {
        Estimate {
            n: 5,
            timeouts: 0,
            bound: None,
            mean,
            interval: half.map(|half| Interval { low: mean - half, high: mean + half }),
            sd: None,
            median: mean,
            min: mean,
            max: mean,
            unit: unit.to_owned(),
            direction: Direction::LowerIsBetter,
        }
    }

    #[test]
    fn estimates_carry_their_interval() {
        assert_eq!(estimate(&sample(78.42, Some(1.2), "s")), "78.4 ± 1.2 s");
        assert_eq!(estimate(&sample(78.42, Some(0.004), "s")), "78.420 ± 0.004 s");
        assert_eq!(estimate(&sample(78.42, Some(0.0), "s")), "78.4 ± 0.0 s");
        assert_eq!(estimate(&sample(24.576, Some(4e-15), "MB/s")), "24.6 ± 0.0 MB/s");
        assert_eq!(estimate(&sample(0.0784, Some(0.0012), "s")), "78.4 ± 1.2 ms");
        assert_eq!(estimate(&sample(4081.63, Some(62.0), "rows/s")), "4.08k ± 0.06k rows/s");
        assert_eq!(estimate(&sample(4081.63, None, "rows/s")), "4.08k rows/s");
        assert_eq!(estimate_without_unit(&sample(4081.63, Some(62.0), "rows/s")), "4.08k ± 0.06k");
    }

    #[test]
    fn comparisons_are_ratios_or_differences() {
        let mut single = Comparison {
            scale: Scale::Ratio,
            value: 1755.0 / 909.0,
            interval: Some(Interval { low: 1.876, high: 1.994 }),
            p_value: None,
            adjusted_p: None,
            equivalence_p: None,
            bound: None,
            blocks: 5,
            df: None,
            method: Method::PairedT,
        };
        assert_eq!(comparison(&single, "s"), "1.93x [1.88, 1.99]");
        single.interval = None;
        assert_eq!(comparison(&single, "s"), "1.93x");
        single = Comparison {
            scale: Scale::Difference,
            value: 3.2,
            interval: Some(Interval { low: -1.0, high: 7.4 }),
            ..single
        };
        assert_eq!(comparison(&single, "s"), "+3.20 s [-1.00, 7.40]");
        assert_eq!([ratio(0.0123), ratio(0.5), ratio(123.4)], ["0.0123", "0.50", "123"]);
    }
}
