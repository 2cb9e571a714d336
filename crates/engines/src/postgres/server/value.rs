//! Values as people write them in a settings file
//! (<https://www.postgresql.org/docs/current/config-setting.html>).

/// Units of memory in bytes, large ones first.
const MEMORY: &[(&str, f64)] =
    &[("TB", 1_099_511_627_776.0), ("GB", 1_073_741_824.0), ("MB", 1_048_576.0), ("kB", 1024.0), ("B", 1.0)];

/// Units of time in microseconds, large ones first.
const TIME: &[(&str, f64)] =
    &[("d", 86_400e6), ("h", 3_600e6), ("min", 60e6), ("s", 1e6), ("ms", 1e3), ("us", 1.0)];

/// Words for on; each may be shortened while it is clear.
const ON: &[&str] = &["true", "yes", "on", "1"];
/// Words for off.
const OFF: &[&str] = &["false", "no", "off", "0"];

/// The truth of a text: `on`, `TRUE`, `ye`, `0`, ...
pub(super) fn boolean(text: &str) -> Option<bool> {
    let text = text.trim().to_lowercase();
    let is_one = |of: &[&str]| !text.is_empty() && of.iter().any(|word| word.starts_with(&text));
    match (is_one(ON), is_one(OFF)) {
        (true, false) => Some(true),
        (false, true) => Some(false),
        // `o` may be either.
        _ => None,
    }
}

/// A number in units of its setting.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Number {
    value: f64,
    /// By how much the server may round it.
    rounding: f64,
}

impl Number {
    /// Reads `1GB`, `0x10`, `0600` (octal), `1.5 h`, `-1` for a setting in this unit (`8kB`, `ms`).
    pub(super) fn parse(text: &str, unit: Option<&str>) -> Option<Self> {
        let text = text.trim();
        if let Some(value) = other_base(text) {
            return Some(Self { value, rounding: 0.0 });
        }
        let at = text.char_indices().find(|(at, c)| c.is_ascii_alphabetic() && !is_exponent(text, *at));
        let (number, written) = text.split_at(at.map_or(text.len(), |(at, _)| at));
        let value: f64 = number.trim().parse().ok()?;
        if written.is_empty() {
            return Some(Self { value, rounding: 0.0 });
        }
        let (units, base) = base(unit?)?;
        let index = units.iter().position(|(name, _)| *name == written)?;
        // Fractions are rounded to the next smaller unit.
        let smaller = units.get(index + 1).map_or(0.0, |(_, factor)| factor / 2.0);
        let whole = value.fract() == 0.0;
        let rounding = if whole { 0.0 } else { smaller / base };
        Some(Self { value: value * units[index].1 / base, rounding })
    }

    /// Whether a server that was told this may have that: rounded to a whole number.
    pub(super) fn takes_as(self, got: Self) -> bool {
        let tolerance = if got.value.fract() == 0.0 { 0.5 } else { 0.0 };
        let exact = 1e-6 * self.value.abs();
        let differs = (self.value - got.value).abs();
        let is_whole = self.value.fract() == 0.0;
        differs <= self.rounding + exact.min(1e-6) + if is_whole { 0.0 } else { tolerance }
    }
}

fn is_exponent(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    let number_before = at > 0 && (bytes[at - 1].is_ascii_digit() || bytes[at - 1] == b'.');
    let number_after = bytes.get(at + 1).is_some_and(|c| c.is_ascii_digit() || matches!(c, b'+' | b'-'));
    matches!(bytes[at], b'e' | b'E') && number_before && number_after
}

/// A whole number in base 16 or 8, as C writes them.
fn other_base(text: &str) -> Option<f64> {
    let (radix, digits) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => (16, digits),
        None => (8, text.strip_prefix('0').filter(|digits| !digits.is_empty())?),
    };
    i64::from_str_radix(digits, radix).ok().map(|value| value as f64)
}

/// The units that go with the unit of a setting, and its size in the smallest of them.
fn base(unit: &str) -> Option<(&'static [(&'static str, f64)], f64)> {
    let (count, name) = unit.split_at(unit.find(|c: char| !c.is_ascii_digit())?);
    let count: f64 = if count.is_empty() { 1.0 } else { count.parse().ok()? };
    [MEMORY, TIME].into_iter().find_map(|units| {
        let (_, factor) = units.iter().find(|(known, _)| *known == name)?;
        Some((units, count * factor))
    })
}

#[cfg(test)]
mod tests {
    use super::{Number, boolean};

    fn value(text: &str, unit: Option<&str>) -> Option<f64> {
        Number::parse(text, unit).map(|number| number.value)
    }

    #[test]
    fn reads_numbers_with_units() {
        for (text, unit, expected) in [
            ("1GB", Some("8kB"), 131_072.0),
            (" 64 MB ", Some("kB"), 65_536.0),
            ("1TB", Some("MB"), 1_048_576.0),
            ("5min", Some("s"), 300.0),
            ("1.5h", Some("min"), 90.0),
            ("250us", Some("ms"), 0.25),
            ("-1", Some("8kB"), -1.0),
            ("0x10", None, 16.0),
            ("0600", None, 384.0),
            ("1e3", None, 1000.0),
            ("0", None, 0.0),
            ("0.5", None, 0.5),
        ] {
            assert_eq!(value(text, unit), Some(expected), "{text}");
        }
        for (text, unit) in [
            ("1gb", Some("8kB")),
            ("1GB", None),
            ("1min", Some("kB")),
            ("x", None),
            ("", None),
            ("1 2", None),
        ] {
            assert_eq!(value(text, unit), None, "{text}");
        }
    }

    #[test]
    fn knows_what_a_server_may_round() {
        let takes = |wanted, unit, got| {
            let number = |text| Number::parse(text, unit).unwrap();
            number(wanted).takes_as(number(got))
        };
        // To the next smaller unit: 30.1 GB are 30822.4 MB.
        assert!(takes("30.1GB", Some("8kB"), "3945216"));
        assert!(!takes("30.1GB", Some("8kB"), "3945600"));
        assert!(takes("1500us", Some("ms"), "2"));
        assert!(takes("0.1", None, "0.1"));
        assert!(!takes("0.1", None, "0.2"));
        assert!(!takes("100", None, "101"));
    }

    #[test]
    fn reads_truth_as_the_server_does() {
        for text in ["on", "TRUE", "t", "y", "yes", "1", "tru"] {
            assert_eq!(boolean(text), Some(true), "{text}");
        }
        for text in ["off", "of", "False", "n", "0"] {
            assert_eq!(boolean(text), Some(false), "{text}");
        }
        for text in ["o", "", "2", "enable", "onn"] {
            assert_eq!(boolean(text), None, "{text}");
        }
    }
}
