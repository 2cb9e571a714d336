//! Numbers as fio reads them.

/// Names of units with what they stand for. fio's `kb_base` is 1024 unless a job says otherwise, and then `k`
/// is 1024 and `Ki`, for compatibility with old job files, 1000.
const BYTES: &[(&str, u64)] = &[
    ("", 1),
    ("b", 1),
    ("k", 1 << 10),
    ("kb", 1 << 10),
    ("m", 1 << 20),
    ("mb", 1 << 20),
    ("g", 1 << 30),
    ("gb", 1 << 30),
    ("t", 1 << 40),
    ("tb", 1 << 40),
    ("p", 1 << 50),
    ("pb", 1 << 50),
    ("ki", 1_000),
    ("kib", 1_000),
    ("mi", 1_000_000),
    ("mib", 1_000_000),
    ("gi", 1_000_000_000),
    ("gib", 1_000_000_000),
    ("ti", 1_000_000_000_000),
    ("tib", 1_000_000_000_000),
    ("pi", 1_000_000_000_000_000),
    ("pib", 1_000_000_000_000_000),
];

/// Microseconds.
const TIMES: &[(&str, u64)] = &[
    ("", 1_000_000),
    ("us", 1),
    ("usec", 1),
    ("ms", 1_000),
    ("msec", 1_000),
    ("s", 1_000_000),
    ("m", 60_000_000),
    ("h", 3_600_000_000),
    ("d", 86_400_000_000),
];

/// A size in bytes, or a count.
pub fn bytes(text: &str) -> Result<u64, String> {
    read(text, BYTES).ok_or_else(|| format!("`{text}` is not a number as in 4096, 8k or 1g"))
}

/// A time in seconds; a number alone is seconds.
pub fn seconds(text: &str) -> Result<f64, String> {
    let us = read(text, TIMES).ok_or_else(|| format!("`{text}` is not a time as in 30, 500ms or 5m"))?;
    Ok(us as f64 / 1e6)
}

/// A number that fits in 32 bits and is not 0.
pub fn count(text: &str) -> Result<u32, String> {
    let number = bytes(text)?;
    u32::try_from(number).ok().filter(|number| *number > 0).ok_or_else(|| format!("`{text}` is out of range"))
}

/// `0` or `1`; the option alone means 1.
pub fn flag(value: Option<&str>) -> Result<bool, String> {
    match value {
        None | Some("1") => Ok(true),
        Some("0") => Ok(false),
        Some(text) => Err(format!("`{text}` is neither 0 nor 1")),
    }
}

/// A number from 0 to 100.
pub fn percent(text: &str) -> Result<u8, String> {
    let number = text.strip_suffix('%').unwrap_or(text).parse().ok().filter(|percent| *percent <= 100);
    number.ok_or_else(|| format!("`{text}` is not a number from 0 to 100"))
}

fn read(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let text = text.to_ascii_lowercase();
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok()?.checked_mul(units[0].1);
    }
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (_, factor) = units.iter().find(|(name, _)| *name == text[end..].trim())?;
    text[..end].parse::<u64>().ok()?.checked_mul(*factor)
}

#[cfg(test)]
mod tests {
    use super::{bytes, seconds};

    #[test]
    fn sizes_are_read_as_fio_reads_them() {
        // From `fio --parse-only --debug=parse`, fio 3.33.
        for (text, size) in [
            ("8k", 8192),
            ("8KiB", 8000),
            ("1MiB", 1_000_000),
            ("1M", 1 << 20),
            ("0x10", 16),
            ("512", 512),
            ("4kb", 4096),
        ] {
            assert_eq!(bytes(text), Ok(size), "{text}");
        }
        for wrong in ["", "k", "-1", "1.5k", "8x", "50%", "99999999p"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_time_without_a_unit_is_seconds() {
        for (text, s) in [("30", 30.0), ("30s", 30.0), ("5m", 300.0), ("500ms", 0.5), ("1d", 86_400.0)] {
            assert_eq!(seconds(text), Ok(s), "{text}");
        }
    }
}
