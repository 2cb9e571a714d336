//! Values as people write them: `"320k"`, `"4 GiB"`, `"2 min"`, `"5%"`.

use crate::document::{Content, Node};
use crate::error::Fault;
use crate::{Kind, Value};

/// Names of units and what they stand for.
type Units = &'static [(&'static str, f64)];

const COUNT_UNITS: Units = &[
    ("", 1.0),
    ("k", 1e3),
    ("thousand", 1e3),
    ("m", 1e6),
    ("million", 1e6),
    ("g", 1e9),
    ("billion", 1e9),
];

const SIZE_UNITS: Units = &[
    ("", 1.0),
    ("b", 1.0),
    ("kb", 1e3),
    ("mb", 1e6),
    ("gb", 1e9),
    ("tb", 1e12),
    ("kib", 1024.0),
    ("mib", 1_048_576.0),
    ("gib", 1_073_741_824.0),
    ("tib", 1_099_511_627_776.0),
    ("pb", 1e15),
];

const BANDWIDTH_UNITS: Units = &[
    ("", 1.0),
    ("b/s", 1.0),
    ("kb/s", 1e3),
    ("mb/s", 1e6),
    ("gb/s", 1e9),
    ("kib/s", 1024.0),
    ("mib/s", 1_048_576.0),
    ("gib/s", 1_073_741_824.0),
];

/// A page a second: with less, one page would hold up a trial for longer than anybody waits. A
/// number that lacks its unit, as 125 for 125 MB/s, is below it.
pub(crate) const BANDWIDTH_MIN: i64 = 4096;
pub(crate) const BANDWIDTH_MAX: i64 = 1_000_000_000_000_000;

const TIME_UNITS: Units = &[
    ("", 1.0),
    ("ns", 1e-9),
    ("us", 1e-6),
    ("µs", 1e-6),
    ("ms", 1e-3),
    ("s", 1.0),
    ("sec", 1.0),
    ("seconds", 1.0),
    ("min", 60.0),
    ("minutes", 60.0),
    ("h", 3600.0),
    ("hours", 3600.0),
    ("d", 86400.0),
    ("days", 86400.0),
];

const RATE_UNITS: Units = &[
    ("", 1.0),
    ("/s", 1.0),
    ("k", 1e3),
    ("k/s", 1e3),
    ("m/s", 1e6),
    ("/min", 1.0 / 60.0),
    ("/h", 1.0 / 3600.0),
];

const NUMBER_UNITS: Units = &[("", 1.0)];

const SHARE_UNITS: Units = &[("", 1.0), ("%", 0.01)];

/// 1000 days: longer than any trial, and far from what a clock cannot add.
pub(crate) const DURATION_S_MAX: f64 = 86_400_000.0;

/// Once in 12 days, and once in a nanosecond.
pub(crate) const RATE_MIN: f64 = 1e-6;
pub(crate) const RATE_MAX: f64 = 1e9;

impl Kind {
    /// The units of a kind; empty if it is not numeric.
    pub(crate) fn units(self) -> Units {
        match self {
            Kind::Count { .. } => COUNT_UNITS,
            Kind::Size { .. } => SIZE_UNITS,
            Kind::Bandwidth => BANDWIDTH_UNITS,
            Kind::Duration | Kind::PositiveDuration => TIME_UNITS,
            Kind::Rate => RATE_UNITS,
            Kind::Share => SHARE_UNITS,
            Kind::Number { .. } => NUMBER_UNITS,
            _ => &[],
        }
    }

    /// Reads a value of a file.
    ///
    /// # Errors
    /// When it is not a value of this kind; says what is allowed.
    pub fn read(self, node: &Node) -> Result<Value, Fault> {
        let units = self.units();
        match self {
            Kind::Bool => match node.content {
                Content::Bool(value) => Ok(Value::Bool(value)),
                _ => Err(not_allowed(node, "true or false")),
            },
            Kind::Count { min, max } => whole(node, units, min, max, "\"320k\", \"2 million\""),
            Kind::Size { min, max } => size(node, units, min, max),
            Kind::Bandwidth => {
                whole(node, units, BANDWIDTH_MIN, BANDWIDTH_MAX, "\"125 MB/s\", \"64 MiB/s\"")
            }
            Kind::Duration | Kind::PositiveDuration => {
                let zero = self == Kind::Duration;
                let least = if zero { "0" } else { "above 0" };
                let allowed = format!(
                    "a time such as \"250 ms\", \"5 s\", \"2 min\", or seconds; {least}, at \
                             most 1000 days"
                );
                real(node, units, &allowed, |s| {
                    (0.0..=DURATION_S_MAX).contains(&s) && (zero || s > 0.0)
                })
            }
            Kind::Rate => {
                let allowed = "a rate such as \"5000/s\", \"5k/s\", \"30/min\", or a number; above \
                               0, at most 1 billion per second";
                real(node, units, allowed, |rate| (RATE_MIN..=RATE_MAX).contains(&rate))
            }
            Kind::Share => {
                let allowed = "a share such as \"2%\", or a number from 0 to 1";
                real(node, units, allowed, |share| (0.0..=1.0).contains(&share))
            }
            Kind::Number { min, max } => {
                let allowed = format!("numbers from {min} to {max}");
                real(node, units, &allowed, |number| (min..=max).contains(&number))
            }
            Kind::MaybeEmptyText
                if matches!(&node.content,
                    Content::Text(text) if text.trim().is_empty()) =>
            {
                Ok(Value::Text(node.label()))
            }
            Kind::TextList => list(node, text),
            Kind::ScalarList => list(node, |node| match &node.content {
                Content::Integer(_) | Content::Float(_) => Kind::Scalar.read(node),
                _ => text(node),
            }),
            Kind::Text | Kind::MaybeEmptyText => text(node),
            Kind::Choice(words) => match &node.content {
                Content::Text(text) if words.contains(&text.as_str()) => {
                    Ok(Value::Text(text.clone()))
                }
                Content::Text(text) => Err(Fault::unknown("value", text, words)),
                _ => Err(not_allowed(node, &words.join(", "))),
            },
            Kind::Scalar => match &node.content {
                Content::Bool(value) => Ok(Value::Bool(*value)),
                Content::Integer(value) => Ok(Value::Integer(*value)),
                Content::Float(value) if value.is_finite() => Ok(Value::Float(*value)),
                Content::Text(value) => Ok(Value::Text(value.clone())),
                _ => Err(not_allowed(node, "true, false, a number or text")),
            },
        }
    }

    /// Parses a value from text.
    ///
    /// # Errors
    /// When it is not a value of this kind; says what is allowed.
    pub fn read_text(self, text: &str) -> Result<Value, Fault> {
        let content = match (self, text) {
            (Kind::Bool, "true") => Content::Bool(true),
            (Kind::Bool, "false") => Content::Bool(false),
            _ => Content::Text(text.into()),
        };
        self.read(&Node { span: 0..0, content })
    }

    /// Reads a value once more, as another setting takes it.
    pub(crate) fn read_again(self, value: &Value) -> Result<Value, Fault> {
        self.read(&node_of(value))
    }

    /// A value as people write it, if that is read as the same value, else the value itself.
    pub fn write(self, value: Value) -> Value {
        let units = match self {
            Kind::Size { .. } => &["TiB", "GiB", "MiB", "KiB", "TB", "GB", "MB", "KB"][..],
            Kind::Duration | Kind::PositiveDuration => &["h", "min", "s", "ms", "us", "ns"],
            Kind::Rate => &["/s"],
            Kind::Share => &["%"],
            _ => &[],
        };
        units
            .iter()
            .find_map(|unit| {
                let factor =
                    self.units().iter().find(|(name, _)| name.eq_ignore_ascii_case(unit))?.1;
                // Six decimals: what is beyond them comes from the conversion.
                let number = (value.as_f64()? / factor * 1e6).round() / 1e6;
                let space = if unit.starts_with(char::is_alphabetic) { " " } else { "" };
                let written = Value::Text(format!("{number}{space}{unit}"));
                // 1.5 MiB, but neither 7.8125 KiB nor 0.5 s.
                let round = (number >= 1.0 && (number * 4.0).fract() == 0.0)
                    || (number == 0.0 && *unit == "s");
                let simple = round || units.len() == 1;
                (simple && self.read_again(&written).as_ref() == Ok(&value)).then_some(written)
            })
            .unwrap_or(value)
    }
}

fn node_of(value: &Value) -> Node {
    let content = match value {
        Value::Bool(value) => Content::Bool(*value),
        Value::Integer(value) => Content::Integer(*value),
        Value::Float(value) => Content::Float(*value),
        Value::Text(text) => Content::Text(text.clone()),
        Value::List(values) => Content::List(values.iter().map(node_of).collect()),
    };
    Node { span: 0..0, content }
}

fn not_allowed(node: &Node, allowed: &str) -> Fault {
    let kind = match &node.content {
        Content::List(_) | Content::Table(_) => node.kind().into(),
        _ => format!("`{}`", node.label()),
    };
    format!("{kind} is not allowed; expected {allowed}").into()
}

/// Reads a text, or a list with its members.
fn list(node: &Node, member: impl Fn(&Node) -> Result<Value, Fault>) -> Result<Value, Fault> {
    match &node.content {
        Content::List(nodes) if nodes.is_empty() => Err("the list is empty".into()),
        Content::List(nodes) => nodes.iter().map(member).collect::<Result<_, _>>().map(Value::List),
        _ => text(node),
    }
}

fn text(node: &Node) -> Result<Value, Fault> {
    match &node.content {
        Content::Text(text) if text.trim().is_empty() => Err("the text is empty".into()),
        Content::Text(text) => Ok(Value::Text(text.clone())),
        _ => Err(not_allowed(node, "a quoted text")),
    }
}

/// Splits `"-1_000.5 GiB"` into `-1000.5` and what the unit stands for.
fn split(text: &str, units: Units) -> Option<(String, f64)> {
    let text = text.trim().to_lowercase();
    let unit_at = text.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | '-' | '+' | '_'));
    let (number, unit) = text.split_at(unit_at.unwrap_or(text.len()));
    let unit: String = unit.split_whitespace().collect();
    let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
    let number = number.replace('_', "");
    number.contains(|c: char| c.is_ascii_digit()).then_some((number, *factor))
}

/// Parses a whole number, exact also above 2^53 where floats are not; one that does not fit becomes
/// the nearest that does. `None`: not a number, or not whole.
fn whole_of(text: &str, units: Units) -> Option<i128> {
    let (number, factor) = split(text, units)?;
    let (sign, digits) = match number.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, number.strip_prefix('+').unwrap_or(&number)),
    };
    let (before, after) = digits.split_once('.').unwrap_or((digits, ""));
    let (before, after) = (before.trim_start_matches('0'), after.trim_end_matches('0'));
    if !before.bytes().chain(after.bytes()).all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    if before.len() > 20 {
        return Some(sign * i128::MAX);
    }
    // Twelve decimals are what the largest decimal unit makes whole.
    let scale =
        10_i128.checked_pow(u32::try_from(after.len()).ok()?).filter(|_| after.len() <= 12)?;
    // At most 33 digits: with a unit below 2^41 it might not fit.
    let unscaled = format!("0{before}{after}").parse::<i128>().ok()?.checked_mul(factor as i128);
    let Some(unscaled) = unscaled else { return Some(sign * i128::MAX) };
    (unscaled % scale == 0).then_some(sign * (unscaled / scale))
}

fn size(node: &Node, units: Units, min: i64, max: i64) -> Result<Value, Fault> {
    whole(node, units, min, max, "").map_err(|_| {
        let range = match max {
            i64::MAX => format!("of at least {}", size_text(min)),
            max => format!("from {} to {}", size_text(min), size_text(max)),
        };
        not_allowed(node, &format!("a size {range}, as \"64 KiB\" or \"4 GB\""))
    })
}

/// Bytes in the largest unit without a fraction.
fn size_text(bytes: i64) -> String {
    let units = [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let fitting = units.into_iter().find(|(unit, _)| bytes >= *unit && bytes % unit == 0);
    match fitting {
        Some((unit, name)) => format!("{} {name}", bytes / unit),
        None => format!("{bytes} B"),
    }
}

fn whole(node: &Node, units: Units, min: i64, max: i64, forms: &str) -> Result<Value, Fault> {
    let value = match &node.content {
        Content::Integer(value) => Some(i128::from(*value)),
        // A conversion that does not fit takes the nearest that does.
        Content::Float(value) if value.fract() == 0.0 || value.is_infinite() => {
            Some(*value as i128)
        }
        Content::Text(text) => whole_of(text, units),
        _ => None,
    };
    let Some(value) = value else {
        let allowed = format!("whole numbers from {min} to {max}, as {forms} or in digits");
        return Err(not_allowed(node, &allowed));
    };
    match i64::try_from(value) {
        Ok(value) if (min..=max).contains(&value) => Ok(Value::Integer(value)),
        _ => Err(not_allowed(node, &format!("{min} to {max}"))),
    }
}

fn real(
    node: &Node,
    units: Units,
    allowed: &str,
    fits: impl Fn(f64) -> bool,
) -> Result<Value, Fault> {
    let value = match &node.content {
        Content::Integer(value) => Some(*value as f64),
        Content::Float(value) => Some(*value),
        Content::Text(text) => split(text, units).and_then(|(number, factor)| {
            let number = number.parse::<f64>().ok()?;
            // Divided by parts of a unit: 200 us are exactly what 0.0002 is.
            Some(if factor < 1.0 { number / factor.recip().round() } else { number * factor })
        }),
        _ => None,
    };
    match value.filter(|value| fits(*value)) {
        // Adding 0 makes a negative zero a plain one.
        Some(value) => Ok(Value::Float(value + 0.0)),
        None => Err(not_allowed(node, allowed)),
    }
}

#[cfg(test)]
mod tests {
    use super::{Content, Node};
    use crate::{Kind, Value};

    const COUNT: Kind = Kind::Count { min: 1, max: i64::MAX };
    const SIZE: Kind = Kind::Size { min: 0, max: i64::MAX };

    fn value(kind: Kind, content: Content) -> Result<Value, String> {
        kind.read(&Node { span: 0..0, content }).map_err(|fault| match fault.help {
            Some(help) => format!("{}; {help}", fault.message),
            None => fault.message,
        })
    }

    fn text(text: &str) -> Content {
        Content::Text(text.into())
    }

    #[test]
    fn reads_what_people_write() {
        for (kind, written, expected) in [
            (COUNT, "320k", Value::Integer(320_000)),
            (COUNT, "2 million", Value::Integer(2_000_000)),
            (COUNT, "1_000", Value::Integer(1000)),
            (COUNT, "1.5k", Value::Integer(1500)),
            (COUNT, " +7 ", Value::Integer(7)),
            (COUNT, "12.000", Value::Integer(12)),
            // One more than a float can tell from its neighbour (2^53 + 1), and the largest.
            (COUNT, "9007199254740993", Value::Integer(9_007_199_254_740_993)),
            (COUNT, "9223372036854775807", Value::Integer(i64::MAX)),
            (COUNT, "9.223372036 billion", Value::Integer(9_223_372_036)),
            (SIZE, "4 GiB", Value::Integer(4_294_967_296)),
            (SIZE, "64KB", Value::Integer(64_000)),
            (SIZE, "64 KiB", Value::Integer(65_536)),
            (SIZE, "1.5 KiB", Value::Integer(1536)),
            (SIZE, "0", Value::Integer(0)),
            (Kind::Bandwidth, "125 MB/s", Value::Integer(125_000_000)),
            (Kind::Bandwidth, "1.5 MiB / s", Value::Integer(1_572_864)),
            (Kind::Bandwidth, "4096", Value::Integer(4096)),
            (Kind::Duration, "250 ms", Value::Float(0.25)),
            (Kind::Duration, "2 min", Value::Float(120.0)),
            (Kind::Duration, "0", Value::Float(0.0)),
            (Kind::PositiveDuration, "1 h", Value::Float(3600.0)),
            (Kind::Rate, "5k/s", Value::Float(5000.0)),
            (Kind::Rate, "5000 / s", Value::Float(5000.0)),
            (Kind::Rate, "30/min", Value::Float(0.5)),
            (Kind::Share, "2%", Value::Float(0.02)),
            (Kind::Number { min: 0.001, max: 10.0 }, "0.05", Value::Float(0.05)),
            (Kind::TextList, "fast", Value::Text("fast".into())),
            (Kind::ScalarList, "1..9", Value::Text("1..9".into())),
        ] {
            assert_eq!(value(kind, text(written)), Ok(expected), "{written}");
        }
        assert_eq!(value(COUNT, Content::Float(1e6)), Ok(Value::Integer(1_000_000)));
        assert_eq!(
            value(Kind::Duration, Content::Float(-0.0)).map(|zero| zero.to_json()),
            Ok("0.0".into())
        );
    }

    #[test]
    fn times_are_written_with_the_unit_that_fits() {
        for (seconds, written) in [(0.0002, "200 us"), (0.25, "250 ms"), (7e-8, "70 ns")] {
            assert_eq!(Kind::Duration.write(Value::Float(seconds)).to_string(), written);
        }
    }

    #[test]
    fn says_what_is_allowed() {
        const BLOCK: Kind = Kind::Size { min: 512, max: 64 << 20 };
        let hundred = Kind::Count { min: 1, max: 100 };
        let overflow = "expected a size of at least 0 B, as \"64 KiB\" or \"4 GB\"";
        for (kind, content, part) in [
            (hundred, text("0"), "`0` is not allowed; expected 1 to 100"),
            (hundred, text("-5"), "expected 1 to 100"),
            (hundred, Content::Integer(-5), "`-5` is not allowed; expected 1 to 100"),
            (hundred, text("101"), "expected 1 to 100"),
            (hundred, text("1.5"), "whole numbers from 1 to 100"),
            (hundred, Content::Float(f64::NAN), "whole numbers"),
            (hundred, Content::Float(f64::INFINITY), "expected 1 to 100"),
            (hundred, text("many"), "whole numbers"),
            (hundred, text("1e400"), "whole numbers"),
            (hundred, text("--1"), "whole numbers"),
            (hundred, text("1.2.3"), "whole numbers"),
            (hundred, text("k"), "whole numbers"),
            (hundred, Content::Bool(true), "`true` is not allowed"),
            (hundred, Content::List(Vec::new()), "a list is not allowed"),
            (hundred, Content::Time("2026-01-01".into()), "`2026-01-01` is not allowed"),
            (SIZE, text("8388608 TiB"), overflow),
            (SIZE, text("99999999999999999999999999999999999999999"), overflow),
            (SIZE, text("0.0000000000000001 KiB"), overflow),
            (BLOCK, text("3"), "expected a size from 512 B to 64 MiB"),
            (Kind::Bandwidth, text("125 MB"), "as \"125 MB/s\", \"64 MiB/s\" or in digits"),
            (Kind::Bandwidth, text("125"), "`125` is not allowed; expected 4096 to"),
            (Kind::Duration, text("-1 s"), "\"250 ms\""),
            (Kind::Duration, text("5 parsecs"), "\"250 ms\""),
            (Kind::Duration, text("1001 days"), "at most 1000 days"),
            (Kind::Duration, Content::Float(f64::NAN), "\"250 ms\""),
            (Kind::PositiveDuration, Content::Integer(0), "above 0"),
            (Kind::Rate, text("0"), "above 0"),
            (Kind::Rate, Content::Float(1e300), "at most 1 billion"),
            (Kind::Share, text("200%"), "from 0 to 1"),
            (Kind::Share, Content::Float(-0.1), "from 0 to 1"),
            (Kind::Number { min: 0.5, max: 10.0 }, Content::Integer(0), "numbers from 0.5 to 10"),
            (Kind::Bool, text("true"), "expected true or false"),
            (Kind::Choice(&["random", "sequential"]), text("randon"), "did you mean `random`?"),
            (
                Kind::Choice(&["random", "sequential"]),
                Content::Integer(1),
                "expected random, sequential",
            ),
            (Kind::Text, text(" "), "empty"),
            (Kind::Text, Content::Integer(1), "a quoted text"),
            (Kind::TextList, Content::List(Vec::new()), "empty"),
            (Kind::ScalarList, Content::List(Vec::new()), "empty"),
            (Kind::ScalarList, Content::Bool(true), "a quoted text"),
            (Kind::Scalar, Content::List(Vec::new()), "a number or text"),
        ] {
            let message = value(kind, content.clone()).unwrap_err();
            assert!(message.contains(part), "{content:?}: {message}");
        }
    }
}
