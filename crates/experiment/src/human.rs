//! Values as people write them: `"320k"`, `"4 GiB"`, `"2 min"`, `"5%"`.

use crate::document::{Content, Node};
use crate::nearest::unknown_name;
use crate::{Kind, Value};

const COUNT_UNITS: &[(&str, f64)] =
    &[("", 1.0), ("k", 1e3), ("thousand", 1e3), ("m", 1e6), ("million", 1e6), ("g", 1e9), ("billion", 1e9)];

const SIZE_UNITS: &[(&str, f64)] = &[
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
];

const TIME_UNITS: &[(&str, f64)] = &[
    ("", 1.0),
    ("us", 1e-6),
    ("ms", 1e-3),
    ("s", 1.0),
    ("sec", 1.0),
    ("min", 60.0),
    ("h", 3600.0),
    ("d", 86400.0),
];

const RATE_UNITS: &[(&str, f64)] =
    &[("", 1.0), ("/s", 1.0), ("k/s", 1e3), ("m/s", 1e6), ("k", 1e3), ("/min", 1.0 / 60.0)];

const SHARE_UNITS: &[(&str, f64)] = &[("", 1.0), ("%", 0.01)];

/// Reads a value of the file as its setting wants it. The error says what is allowed.
pub(crate) fn read(kind: Kind, node: &Node) -> Result<Value, String> {
    match kind {
        Kind::Bool => match node.content {
            Content::Bool(value) => Ok(Value::Bool(value)),
            _ => Err(format!("{} is not allowed; allowed are true and false", shown(node))),
        },
        Kind::Count { min, max } => whole(node, COUNT_UNITS, min, max, "\"320k\", \"2 million\""),
        Kind::Size { min, max } => whole(node, SIZE_UNITS, min, max, "\"64 KiB\", \"4 GB\", bytes"),
        Kind::Duration => real(node, TIME_UNITS, "\"250 ms\", \"5 s\", \"2 min\", seconds", |s| s >= 0.0),
        Kind::Rate => real(node, RATE_UNITS, "\"5000/s\", \"5k/s\", a number above 0", |rate| rate > 0.0),
        Kind::Share => real(node, SHARE_UNITS, "\"2%\", a number from 0 to 1", |s| (0.0..=1.0).contains(&s)),
        Kind::Text => text(node).map(Value::Text),
        Kind::TextList => match &node.content {
            Content::List(nodes) if nodes.is_empty() => Err("the list is empty".into()),
            Content::List(nodes) => nodes
                .iter()
                .map(|node| text(node).map(Value::Text))
                .collect::<Result<_, _>>()
                .map(Value::List),
            _ => text(node).map(Value::Text),
        },
        Kind::Choice(words) => {
            let given = text(node)
                .map_err(|_| format!("{} is not allowed; allowed are {}", shown(node), words.join(", ")))?;
            if words.contains(&given.as_str()) {
                return Ok(Value::Text(given));
            }
            Err(unknown_name("value", &given, words))
        }
        Kind::Scalar => match &node.content {
            Content::Bool(value) => Ok(Value::Bool(*value)),
            Content::Integer(value) => Ok(Value::Integer(*value)),
            Content::Float(value) => Ok(Value::Float(*value)),
            Content::Text(value) => Ok(Value::Text(value.clone())),
            Content::List(_) | Content::Table(_) => {
                Err(format!("{} is not allowed; allowed are true, false, a number or text", node.kind()))
            }
        },
    }
}

/// A value of a setting that stands in a text, as defaults do.
pub(crate) fn read_default(kind: Kind, default: &str) -> Option<Value> {
    let content = match kind {
        Kind::Bool => Content::Bool(default == "true"),
        _ => Content::Text(default.into()),
    };
    read(kind, &Node { span: 0..0, content }).ok()
}

/// How a level is labelled: as it is written, without quotes.
pub(crate) fn label(node: &Node) -> String {
    match &node.content {
        Content::Bool(value) => value.to_string(),
        Content::Integer(value) => value.to_string(),
        Content::Float(value) => value.to_string(),
        Content::Text(value) => value.clone(),
        Content::List(nodes) => nodes.iter().map(label).collect::<Vec<_>>().join("+"),
        Content::Table(_) => "table".into(),
    }
}

fn shown(node: &Node) -> String {
    match &node.content {
        Content::List(_) | Content::Table(_) => node.kind().into(),
        _ => format!("`{}`", label(node)),
    }
}

fn text(node: &Node) -> Result<String, String> {
    match &node.content {
        Content::Text(text) if text.trim().is_empty() => Err("the text is empty".into()),
        Content::Text(text) => Ok(text.clone()),
        _ => Err(format!("{} is not allowed; a text in quotes is", shown(node))),
    }
}

/// Splits `"4 GiB"` into 4 and what the unit stands for.
fn number(node: &Node, units: &[(&str, f64)]) -> Option<f64> {
    match &node.content {
        Content::Integer(value) => Some(*value as f64),
        Content::Float(value) => Some(*value),
        Content::Text(text) => {
            let plain: String = text.trim().replace('_', "").to_lowercase();
            let digits = plain.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | '-' | '+'));
            let (number, unit) = plain.split_at(digits.unwrap_or(plain.len()));
            let (_, factor) = units.iter().find(|(name, _)| *name == unit.trim())?;
            number.trim().parse::<f64>().ok().map(|number| number * factor)
        }
        _ => None,
    }
}

fn whole(node: &Node, units: &[(&str, f64)], min: i64, max: i64, forms: &str) -> Result<Value, String> {
    // An integer of the file is exact; above 2^53 a float would not be.
    let value = match (&node.content, number(node, units)) {
        (Content::Integer(value), _) => Some(*value),
        (_, Some(value)) if value.fract() == 0.0 && value.abs() < 9.2e18 => Some(value as i64),
        _ => None,
    };
    let value =
        value.ok_or_else(|| format!("{} is not a whole number; write {forms} or digits", shown(node)))?;
    if (min..=max).contains(&value) {
        return Ok(Value::Integer(value));
    }
    Err(format!("{} is not allowed; allowed are {min} to {max}", shown(node)))
}

fn real(node: &Node, units: &[(&str, f64)], forms: &str, allowed: fn(f64) -> bool) -> Result<Value, String> {
    match number(node, units) {
        Some(value) if value.is_finite() && allowed(value) => Ok(Value::Float(value)),
        _ => Err(format!("{} is not allowed; allowed are {forms}", shown(node))),
    }
}

#[cfg(test)]
mod tests {
    use super::{Content, Node, read};
    use crate::{Kind, Value};

    fn value(kind: Kind, text: &str) -> Result<Value, String> {
        read(kind, &Node { span: 0..0, content: Content::Text(text.into()) })
    }

    #[test]
    fn reads_what_people_write() {
        let count = Kind::Count { min: 1, max: i64::MAX };
        let size = Kind::Size { min: 0, max: i64::MAX };
        for (kind, text, expected) in [
            (count, "320k", Value::Integer(320_000)),
            (count, "2 million", Value::Integer(2_000_000)),
            (count, "1_000", Value::Integer(1000)),
            (count, "1.5k", Value::Integer(1500)),
            (size, "4 GiB", Value::Integer(4_294_967_296)),
            (size, "64KB", Value::Integer(64_000)),
            (size, "64 KiB", Value::Integer(65_536)),
            (Kind::Duration, "250 ms", Value::Float(0.25)),
            (Kind::Duration, "2 min", Value::Float(120.0)),
            (Kind::Rate, "5k/s", Value::Float(5000.0)),
            (Kind::Share, "2%", Value::Float(0.02)),
        ] {
            assert_eq!(value(kind, text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn says_what_is_allowed() {
        let count = Kind::Count { min: 1, max: 100 };
        for (kind, text, part) in [
            (count, "0", "allowed are 1 to 100"),
            (count, "-5", "allowed are 1 to 100"),
            (count, "101", "allowed are 1 to 100"),
            (count, "1.5", "not a whole number"),
            (count, "many", "not a whole number"),
            (count, "1e400", "not a whole number"),
            (Kind::Duration, "-1 s", "\"250 ms\""),
            (Kind::Duration, "5 parsecs", "\"250 ms\""),
            (Kind::Rate, "0", "above 0"),
            (Kind::Share, "200%", "from 0 to 1"),
            (Kind::Choice(&["random", "sequential"]), "randon", "did you mean `random`?"),
            (Kind::Text, " ", "empty"),
        ] {
            let message = value(kind, text).unwrap_err();
            assert!(message.contains(part), "{text}: {message}");
        }
    }
}
