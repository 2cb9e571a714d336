//! Figures for people: three significant digits and a unit that fits. Programs get exact ones from `json`.

use analysis::{Comparison, Estimate, Interval, Scale};

/// Three significant digits without an exponent: `1755`, `12.3`, `0.0123`.
pub fn figure(value: f64) -> String {
    if value.is_finite() { fixed(value, places(value, 3)) } else { value.to_string() }
}

/// Decimals that show this many significant digits.
pub fn places(value: f64, digits: i32) -> usize {
    if value == 0.0 || !value.is_finite() {
        return 0;
    }
    // Through the rounded text, so that 9.996 counts as 10.0.
    let exponent = format!("{:.*e}", (digits - 1).max(0) as usize, value.abs());
    let magnitude: i32 = exponent.split('e').nth(1).and_then(|e| e.parse().ok()).unwrap_or(0);
    (digits - 1 - magnitude).clamp(0, 15) as usize
}

/// A number with so many decimals; a residue of rounding has no sign.
pub fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(rest) if rest.bytes().all(|byte| matches!(byte, b'0' | b'.')) => rest.to_owned(),
        _ => text,
    }
}

/// The same with its sign: `+1.30`, `-12.4`, `0.00`.
pub fn signed(value: f64, decimals: usize) -> String {
    let text = fixed(value, decimals);
    let says_something = text.bytes().any(|byte| matches!(byte, b'1'..=b'9'));
    if value > 0.0 && says_something { format!("+{text}") } else { text }
}

/// A share as percent with so many decimals: `31.0 %`.
pub fn percent(share: f64, decimals: usize) -> String {
    format!("{} %", fixed(100.0 * share, decimals))
}

/// A whole number with separators: `1,234,567`.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let first = digits.len() % 3;
    let (head, tail) = digits.split_at(first);
    let groups = tail.as_bytes().chunks(3).map(String::from_utf8_lossy);
    let all: Vec<_> = Some(head.into()).filter(|_| first > 0).into_iter().chain(groups).collect();
    all.join(",")
}

/// A figure for reading against others: four digits and separators from 1,000 on, three below.
pub fn grouped(value: f64) -> String {
    if !value.is_finite() || value.abs() < 999.5 {
        return figure(value);
    }
    let digits = value.abs().log10().floor() as i32 + 1;
    let unit = 10_f64.powi((digits - 4).max(0));
    let sign = if value < 0.0 { "-" } else { "" };
    format!("{sign}{}", count(((value.abs() / unit).round() * unit) as u64))
}

/// `1 trial`, `2 trials`.
pub fn plural(n: usize, singular: &str) -> String {
    format!("{} {singular}{}", count(n as u64), if n == 1 { "" } else { "s" })
}

/// Bytes in binary units: `31.3 GiB`.
pub fn bytes(value: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let power = (value.checked_ilog2().unwrap_or(0) / 10) as usize;
    format!("{} {}", figure(value as f64 / 1024_f64.powi(power as i32)), units[power])
}

/// Seconds: `78.4 s`, `1.23 ms`, `42.0 us`.
pub fn seconds(value: f64) -> String {
    quantity(value, "s")
}

/// A figure with its unit: seconds in the unit that fits, large numbers of anything else with SI thousands.
pub fn quantity(value: f64, unit: &str) -> String {
    let scale = UnitScale::of(value, unit);
    scale.with_unit(&format!("{}{}", figure(value * scale.factor), scale.prefix))
}

/// The factor and the unit in which figures of which this is the largest are shown beside each other.
pub fn common_unit(largest: f64, unit: &str) -> (f64, String) {
    let scale = UnitScale::of(largest, unit);
    if scale.prefix.is_empty() { (scale.factor, scale.unit) } else { (1.0, scale.unit) }
}

/// A mean with its 95 % interval: `78.4 ± 1.2 s`, `4.08k ± 0.06k rows/s`.
pub fn estimate(estimate: &Estimate) -> String {
    let scale = UnitScale::of(estimate.mean, &estimate.unit);
    scale.with_unit(&mean_and_half(estimate, &scale))
}

/// The same without its unit, for a column that names it.
pub fn estimate_without_unit(estimate: &Estimate) -> String {
    mean_and_half(
        estimate,
        &UnitScale { factor: 1.0, prefix: "", unit: String::new() }.thousands(estimate.mean),
    )
}

fn mean_and_half(estimate: &Estimate, scale: &UnitScale) -> String {
    let mean = estimate.mean * scale.factor;
    let prefix = scale.prefix;
    let Some(interval) = estimate.interval else { return format!("{}{prefix}", figure(mean)) };
    let half = (interval.high - interval.low) / 2.0 * scale.factor;
    // What the last bits of equal values differ by is no spread.
    let half = if half < mean.abs() * 1e-9 { 0.0 } else { half };
    // Enough decimals to see a narrow interval at all, but not noise.
    let decimals = places(mean, 3).max(places(half, 1).min(places(mean, 6)));
    format!("{}{prefix} ± {}{prefix}", fixed(mean, decimals), fixed(half, decimals))
}

/// How a figure is scaled before it is printed.
struct UnitScale {
    factor: f64,
    /// SI thousands, written at the number: `4.08k`.
    prefix: &'static str,
    unit: String,
}

impl UnitScale {
    fn of(value: f64, unit: &str) -> Self {
        if unit == "s" {
            let (factor, unit) = match value.abs() {
                small if small > 0.0 && small < 1e-6 => (1e9, "ns"),
                small if small > 0.0 && small < 1e-3 => (1e6, "us"),
                small if small > 0.0 && small < 1.0 => (1e3, "ms"),
                _ => (1.0, "s"),
            };
            return Self { factor, prefix: "", unit: unit.to_owned() };
        }
        let own = Self { factor: 1.0, prefix: "", unit: unit.to_owned() };
        // Other units of time have no thousands: 1.2k ms is nothing that people say.
        if matches!(unit, "ns" | "us" | "ms" | "%") { own } else { own.thousands(value) }
    }

    fn thousands(self, value: f64) -> Self {
        // From 999.5 on, three digits would be rounded to 1000.
        let (factor, prefix) = match value.abs() {
            large if large >= 999.5e9 => (1e-12, "T"),
            large if large >= 999.5e6 => (1e-9, "G"),
            large if large >= 999.5e3 => (1e-6, "M"),
            large if large >= 999.5 => (1e-3, "k"),
            _ => (1.0, ""),
        };
        Self { factor, prefix, ..self }
    }

    fn with_unit(&self, figure: &str) -> String {
        format!("{figure} {}", self.unit).trim_end().to_owned()
    }
}

/// `1.93x [1.88, 1.99]`; for a difference, which is better above 0, `+3.20 s [2.90, 3.50]`.
pub fn comparison(comparison: &Comparison, unit: &str) -> String {
    let interval = |show: fn(f64) -> String| {
        let show = |Interval { low, high }| format!(" [{}, {}]", show(low), show(high));
        comparison.interval.map(show).unwrap_or_default()
    };
    match comparison.scale {
        Scale::Ratio => format!("{}x{}", ratio(comparison.value), interval(ratio)),
        Scale::Difference => {
            let sign = if comparison.value > 0.0 { "+" } else { "" };
            format!("{sign}{} {unit}{}", figure(comparison.value), interval(figure))
        }
    }
}

/// A factor: at least two decimals, because the difference from 1 is what matters.
pub fn ratio(value: f64) -> String {
    if (0.1..100.0).contains(&value) { fixed(value, 2) } else { figure(value) }
}

/// Rounds parts to so many decimals so that the printed parts add up to the printed total: the
/// rounding that is left goes to the parts with the largest remainder, none moves by a whole last digit.
pub fn parts_that_add_up(parts: &[f64], decimals: usize) -> (Vec<f64>, f64) {
    let unit = 10_f64.powi(decimals as i32);
    let total = (parts.iter().sum::<f64>() * unit).round();
    let mut rounded: Vec<f64> = parts.iter().map(|part| (part * unit).floor()).collect();
    let mut by_remainder: Vec<usize> = (0..parts.len()).collect();
    let remainder = |i: usize| parts[i] * unit - (parts[i] * unit).floor();
    by_remainder.sort_by(|left, right| remainder(*right).total_cmp(&remainder(*left)));
    let missing = (total - rounded.iter().sum::<f64>()).clamp(0.0, parts.len() as f64) as usize;
    for i in by_remainder.into_iter().take(missing) {
        rounded[i] += 1.0;
    }
    (rounded.into_iter().map(|part| part / unit).collect(), total / unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::Method;
    use observations::Direction;

    fn sample(mean: f64, half: Option<f64>, unit: &str) -> Estimate {
        Estimate {
            n: 5,
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
    fn figures_have_three_digits() {
        let figures = [
            (1755.4, "1755"),
            (12.345, "12.3"),
            (9.996, "10.0"),
            (0.012_345, "0.0123"),
            (-2.5, "-2.50"),
            (-1e-20, "0.000000000000000"),
            (0.0, "0"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-inf"),
        ];
        for (value, text) in figures {
            assert_eq!(figure(value), text);
        }
    }

    #[test]
    fn quantities_carry_the_unit_that_fits() {
        let quantities = [
            (78.4, "s", "78.4 s"),
            (1755.0, "s", "1755 s"),
            (0.001_234, "s", "1.23 ms"),
            (0.000_042, "s", "42.0 us"),
            (3e-9, "s", "3.00 ns"),
            (0.0, "s", "0 s"),
            (4081.63, "rows/s", "4.08k rows/s"),
            (999.4, "rows/s", "999 rows/s"),
            (999.6, "rows/s", "1.00k rows/s"),
            (2.5e9, "B", "2.50G B"),
            (1234.0, "ms", "1234 ms"),
            (0.5, "", "0.500"),
        ];
        for (value, unit, text) in quantities {
            assert_eq!(quantity(value, unit), text);
        }
        assert_eq!([bytes(0), bytes(1023), bytes(32 << 30)], ["0 B", "1023 B", "32.0 GiB"]);
        assert_eq!(bytes(u64::MAX), "16.0 EiB");
        assert_eq!([count(0), count(999), count(1000), count(1_234_567)], ["0", "999", "1,000", "1,234,567"]);
        assert_eq!((plural(1, "trial"), plural(1200, "trial")), ("1 trial".into(), "1,200 trials".into()));
        for (value, text) in [
            (61_234.0, "61,230"),
            (8123.4, "8,123"),
            (1_234_567.0, "1,235,000"),
            (999.6, "1,000"),
            (999.4, "999"),
            (0.5, "0.500"),
            (-61_234.0, "-61,230"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(grouped(value), text);
        }
        assert_eq!(percent(-0.0049, 1), "-0.5 %");
        assert_eq!(percent(-0.0001, 1), "0.0 %");
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
        let mut one = Comparison {
            scale: Scale::Ratio,
            value: 1755.0 / 909.0,
            interval: Some(Interval { low: 1.876, high: 1.994 }),
            p_value: None,
            adjusted_p: None,
            blocks: 5,
            method: Method::PairedT,
        };
        assert_eq!(comparison(&one, "s"), "1.93x [1.88, 1.99]");
        one.interval = None;
        assert_eq!(comparison(&one, "s"), "1.93x");
        one = Comparison {
            scale: Scale::Difference,
            value: 3.2,
            interval: Some(Interval { low: -1.0, high: 7.4 }),
            ..one
        };
        assert_eq!(comparison(&one, "s"), "+3.20 s [-1.00, 7.40]");
        assert_eq!([ratio(0.0123), ratio(0.5), ratio(123.4)], ["0.0123", "0.50", "123"]);
    }

    #[test]
    fn printed_parts_add_up_and_stay_within_their_last_digit() {
        // Thirds and halves, of both signs, in thousands of combinations.
        let figures = [1.0 / 3.0, 2.0 / 3.0, 0.125, -0.375, 0.0, 17.5, -0.05];
        for code in 0..figures.len().pow(4) {
            let parts: Vec<f64> =
                (0..4).map(|i| figures[code / figures.len().pow(i) % figures.len()]).collect();
            let (rounded, total) = parts_that_add_up(&parts, 2);
            assert_eq!(fixed(rounded.iter().sum(), 2), fixed(total, 2), "{parts:?}");
            assert!((total - parts.iter().sum::<f64>()).abs() <= 0.005 + 1e-9);
            for (printed, part) in rounded.iter().zip(&parts) {
                assert!((printed - part).abs() < 0.01, "{printed} for {part} of {parts:?}");
            }
        }
    }
}
