//! Figures for people: three significant digits and a unit that fits. Sentences of the analysis and
//! cells of reports use the same functions. Programs get exact figures elsewhere.

use crate::Interval;

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

/// A number with this many decimals; a residue of rounding has no sign.
pub fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(rest) if rest.bytes().all(|byte| matches!(byte, b'0' | b'.')) => rest.to_owned(),
        _ => text,
    }
}

/// Formats a value with its sign: `+1.30`, `-12.4`, `0.00`.
pub fn signed(value: f64, decimals: usize) -> String {
    let text = fixed(value, decimals);
    let is_zero = !text.bytes().any(|byte| matches!(byte, b'1'..=b'9'));
    if value > 0.0 && !is_zero { format!("+{text}") } else { text }
}

/// A share as percent with this many decimals: `31.0 %`.
pub fn percent(share: f64, decimals: usize) -> String {
    format!("{} %", fixed(100.0 * share, decimals))
}

/// A share as whole percent, or with one decimal below 10: `91 %`, `4.6 %`.
pub fn short_percent(share: f64) -> String {
    percent(share, usize::from(share.abs() < 0.0995))
}

/// A configured share, with as few decimals as it needs: `5 %`, `2.5 %`.
pub fn plain_percent(share: f64) -> String {
    let text = fixed(100.0 * share, 3);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

/// `p < 0.001` or `p = 0.012`.
pub fn p_value(p: f64) -> String {
    if p < 0.001 { "p < 0.001".to_owned() } else { format!("p = {p:.3}") }
}

/// A factor: three digits, and two decimals below 1, because the difference from 1 is what matters.
pub fn ratio(value: f64) -> String {
    if (0.1..1.0).contains(&value) { fixed(value, 2) } else { figure(value) }
}

/// A relative difference beyond which the exact size is not useful for planning: tenfold.
pub const TENFOLD: f64 = 9.0;

/// A relative difference. From 100 % on it is a factor: `12 %`, `4.50x`, `>10x`.
pub fn relative(difference: f64) -> String {
    match difference {
        small if small < 1.0 => short_percent(small),
        large if large > TENFOLD => ">10x".to_owned(),
        factor => format!("{}x", ratio(1.0 + factor)),
    }
}

/// Returns whether a value is as near to another as an open end is: different, but by rounding.
fn is_open_at(value: f64, end: f64) -> bool {
    value.total_cmp(&end).is_ne() && (value - end).abs() < 1e-12
}

/// An interval of a factor; bounds beyond a thousandfold are shown as such, and an open end at 1:
/// `[1.88, 1.99]`, `[<0.001, >1000]`, `[>1, 1.99]`.
pub fn ratio_ends(interval: Interval) -> String {
    let end = |end: f64| match end {
        open if is_open_at(open, 1.0) => format!("{}1", if open > 1.0 { ">" } else { "<" }),
        small if small < 1e-3 => "<0.001".to_owned(),
        large if large > 1e3 => ">1000".to_owned(),
        factor => ratio(factor),
    };
    format!("[{}, {}]", end(interval.low), end(interval.high))
}

/// An interval in percent. Ends beyond tenfold have no exact value: `[-12, 30]`, `[<-1000, 99]`.
pub fn percent_ends(interval: Interval, show: impl Fn(f64) -> String) -> String {
    let end = |end: f64| match end {
        open if is_open_at(open, 0.0) => format!("{}0", if open > 0.0 { ">" } else { "<" }),
        small if small < -1e3 => format!("<{}", show(-1e3)),
        large if large > 1e3 => format!(">{}", show(1e3)),
        percent => show(percent),
    };
    format!("[{}, {}]", end(interval.low), end(interval.high))
}

/// The interval of a figure that stands before it: `± 2.0 %`; one as wide as the figure has ends:
/// `[0, 33.3]`.
pub fn around(mean: f64, Interval { low, high }: Interval) -> String {
    let half = (high - low) / 2.0 / mean.abs();
    // Infinite or NaN for a mean of 0.
    if half < 1.0 {
        format!("± {}", short_percent(half))
    } else {
        format!("[{}, {}]", grouped(low), grouped(high))
    }
}

/// A whole number with separators: `1,234,567`.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let groups = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy);
    groups.collect::<Vec<_>>().join(",")
}

/// A number of things that may be a mean over several numbers: `16`, `4.67`.
pub fn whole(value: f64) -> String {
    if value.fract() == 0.0 { fixed(value, 0) } else { figure(value) }
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

const BINARY_UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/// Bytes in binary units: `31.3 GiB`.
pub fn bytes(value: u64) -> String {
    let power = value.checked_ilog2().unwrap_or(0) / 10;
    format!(
        "{} {}",
        figure(value as f64 / 1024_f64.powi(power as i32)),
        BINARY_UNITS[power as usize]
    )
}

/// Every byte of an offset or a size, in the largest unit that it is a multiple of: `32256 B`, `64
/// KiB`.
pub fn exact_bytes(value: u64) -> String {
    let power = if value == 0 { 0 } else { value.trailing_zeros() / 10 };
    format!("{} {}", value >> (10 * power), BINARY_UNITS[power as usize])
}

/// Seconds: `78.4 s`, `1.23 ms`, `42.0 us`.
pub fn seconds(value: f64) -> String {
    quantity(value, "s")
}

/// A time to wait for: `90 s`, `18 min`, `3.5 h`.
pub fn rounded_time(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

/// The unit in which seconds of this size are shown, and its length in seconds.
pub fn seconds_unit(largest_s: f64) -> (f64, &'static str) {
    match largest_s.abs() {
        small if small > 0.0 && small < 1e-6 => (1e-9, "ns"),
        small if small > 0.0 && small < 1e-3 => (1e-6, "us"),
        small if small > 0.0 && small < 1.0 => (1e-3, "ms"),
        _ => (1.0, "s"),
    }
}

/// A figure with its unit: seconds in the unit that fits, large numbers of anything else with SI
/// thousands.
pub fn quantity(value: f64, unit: &str) -> String {
    uncertain(value, None, unit)
}

/// A mean and half the width of its interval, with their unit: `78.4 ± 1.2 s`, `4.08k ± 0.06k
/// rows/s`. Where a heading names the unit, it is empty here.
pub fn uncertain(mean: f64, half: Option<f64>, unit: &str) -> String {
    let (factor, prefix, unit) = unit_scale(mean, unit);
    let with_unit = |figure: String| format!("{figure} {unit}").trim_end().to_owned();
    let mean = mean * factor;
    let Some(half) = half.map(|half| half * factor) else {
        return with_unit(format!("{}{prefix}", figure(mean)));
    };
    // A rounding difference between equal values is not a spread.
    let half = if half < mean.abs() * 1e-9 { 0.0 } else { half };
    // Enough decimals to see a narrow interval at all, but not noise.
    let decimals = places(mean, 3).max(places(half, 1).min(places(mean, 6)));
    with_unit(format!("{}{prefix} ± {}{prefix}", fixed(mean, decimals), fixed(half, decimals)))
}

/// A difference with the ends of its interval, all in one unit: `3.20 s [-1.00, 7.40]`, `30.9k
/// rows/s [-5.17k, 67.0k]`.
pub fn difference(value: f64, interval: Option<Interval>, unit: &str) -> String {
    let largest = interval.map_or(0.0, |interval| interval.low.abs().max(interval.high.abs()));
    let largest = largest.max(value.abs());
    let (factor, prefix, unit) = unit_scale(largest, unit);
    let shown = |value: f64| match value {
        open if open != 0.0 && open.abs() < f64::MIN_POSITIVE => {
            format!("{}0", if open > 0.0 { ">" } else { "<" })
        }
        value => format!("{}{prefix}", figure(value * factor)),
    };
    let ends = interval.map_or_else(String::new, |interval| {
        format!(" [{}, {}]", shown(interval.low), shown(interval.high))
    });
    format!("{} {unit}{ends}", shown(value))
}

/// Formats a mean with both ends of its interval, also where it was cut at zero: `30.9k [0, 67.0k]
/// rows/s`.
pub fn within(mean: f64, interval: Option<Interval>, unit: &str) -> String {
    match interval {
        Some(Interval { low, high }) if low == 0.0 && high > 2.0 * mean => {
            let (factor, prefix, unit) = unit_scale(mean, unit);
            let show = |value: f64| format!("{}{prefix}", figure(value * factor));
            format!("{} [0, {}] {unit}", show(mean), show(high)).trim_end().to_owned()
        }
        _ => uncertain(mean, interval.map(|interval| (interval.high - interval.low) / 2.0), unit),
    }
}

/// The factor and the unit in which figures of which this is the largest are shown beside each
/// other.
pub fn common_unit(largest: f64, unit: &str) -> (f64, String) {
    let (factor, prefix, unit) = unit_scale(largest, unit);
    (if prefix.is_empty() { factor } else { 1.0 }, unit.to_owned())
}

/// How a figure is scaled before it is printed: the factor, SI thousands to be written at the
/// number (`4.08k`), the unit.
fn unit_scale(value: f64, unit: &str) -> (f64, &'static str, &str) {
    if unit == "s" {
        let (length_s, unit) = seconds_unit(value);
        return ((1.0 / length_s).round(), "", unit);
    }
    let (factor, prefix) = match value.abs() {
        // Other units of time have no thousands: 1.2k ms is nothing that people say.
        _ if matches!(unit, "ns" | "us" | "ms" | "%") => (1.0, ""),
        // From 999.5 on, three digits would be rounded to 1000.
        large if large >= 999.5e9 => (1e-12, "T"),
        large if large >= 999.5e6 => (1e-9, "G"),
        large if large >= 999.5e3 => (1e-6, "M"),
        large if large >= 999.5 => (1e-3, "k"),
        _ => (1.0, ""),
    };
    (factor, prefix, unit)
}

/// Rounds parts so that the printed parts add up to the printed total: the remaining rounding goes
/// to the parts with the largest remainder. No part moves by a whole last digit.
pub fn parts_that_add_up(parts: &[f64], decimals: usize) -> (Vec<f64>, f64) {
    let unit = 10_f64.powi(decimals as i32);
    let total = (parts.iter().sum::<f64>() * unit).round();
    let mut rounded: Vec<f64> = parts.iter().map(|part| (part * unit).floor()).collect();
    let mut by_remainder: Vec<usize> = (0..parts.len()).collect();
    let remainder = |i: usize| parts[i] * unit - (parts[i] * unit).floor();
    crate::order::largest_first(&mut by_remainder, &|row| remainder(*row));
    let missing = (total - rounded.iter().sum::<f64>()).clamp(0.0, parts.len() as f64) as usize;
    for i in by_remainder.into_iter().take(missing) {
        rounded[i] += 1.0;
    }
    (rounded.into_iter().map(|part| part / unit).collect(), total / unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(low: f64, high: f64) -> Interval {
        Interval { low, high }
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
    fn figures_have_three_digits_after_rounding() {
        for (value, text) in [
            (9.996, "10.0"),
            (-9.996, "-10.0"),
            (0.099_96, "0.100"),
            (999.95, "1000"),
            (1e20, "100000000000000000000"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(figure(value), text);
        }
        assert_eq!(uncertain(9.996, Some(0.3), "ms"), "10.0 ± 0.3 ms");
        assert_eq!(
            within(30_901.0, Some(interval(0.0, 66_971.0)), "rows/s"),
            "30.9k [0, 67.0k] rows/s"
        );
        assert_eq!(within(10.0, Some(interval(9.0, 11.0)), "s"), "10.0 ± 1.0 s");
        assert_eq!(uncertain(999.95, Some(12.0), "rows/s"), "1.00k ± 0.01k rows/s");
        assert_eq!(uncertain(f64::NAN, Some(f64::NAN), "rows/s"), "NaN ± NaN rows/s");
        assert_eq!(
            [short_percent(0.0456), short_percent(0.0996), short_percent(0.912)],
            ["4.6 %", "10 %", "91 %"]
        );
        assert_eq!([short_percent(0.0), short_percent(-0.0004)], ["0.0 %", "0.0 %"]);
        assert_eq!(
            [0.12, 0.999, 1.0, 3.5, 112_503.0].map(relative),
            ["12 %", "100 %", "2.00x", "4.50x", ">10x"]
        );
        assert_eq!(ratio_ends(interval(1.876, 1.994)), "[1.88, 1.99]");
        assert_eq!(ratio_ends(interval(4e-6, 112_504.0)), "[<0.001, >1000]");
        let [above, below] = [1.0_f64.next_up(), 1.0_f64.next_down()];
        assert_eq!(
            [ratio_ends(interval(above, 1.5)), ratio_ends(interval(0.5, below))],
            ["[>1, 1.50]", "[0.50, <1]"]
        );
        assert_eq!(ratio_ends(interval(1.0, 1.0)), "[1.00, 1.00]");
        assert_eq!(
            difference(2.0, Some(interval(0.0_f64.next_up(), 4.0)), "rows"),
            "2.00 rows [>0, 4.00]"
        );
        assert_eq!(percent_ends(interval(-99_900.0, 12.0), |end| signed(end, 0)), "[<-1000, +12]");
        assert_eq!(percent_ends(interval(-12.0, 99_900.0), |end| signed(end, 0)), "[-12, >+1000]");
        assert_eq!(around(61_200.0, interval(60_000.0, 62_400.0)), "± 2.0 %");
        assert_eq!(around(4.97, interval(0.0, 33.3)), "[0, 33.3]");
        assert_eq!(around(0.0, interval(0.0, 1.5)), "[0, 1.50]");
        assert_eq!([0.05, 0.025, 0.1, 1.0].map(plain_percent), ["5 %", "2.5 %", "10 %", "100 %"]);
        assert_eq!(
            [signed(1.3, 2), signed(-12.4, 1), signed(0.001, 2)],
            ["+1.30", "-12.4", "0.00"]
        );
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
        assert_eq!(
            difference(30_901.0, Some(interval(-5168.0, 66_971.0)), "rows/s"),
            "30.9k rows/s [-5.17k, 67.0k]"
        );
        assert_eq!(difference(0.002, Some(interval(-0.01, 0.014)), "s"), "2.00 ms [-10.0, 14.0]");
        assert_eq!([bytes(0), bytes(1023), bytes(32 << 30)], ["0 B", "1023 B", "32.0 GiB"]);
        assert_eq!(bytes(u64::MAX), "16.0 EiB");
        assert_eq!(
            [count(0), count(999), count(1000), count(1_234_567)],
            ["0", "999", "1,000", "1,234,567"]
        );
        assert_eq!(
            (plural(1, "trial"), plural(1200, "trial")),
            ("1 trial".into(), "1,200 trials".into())
        );
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
