//! A figure: what is drawn in the browser, what is said to those who do not see it, and its data.

use crate::Text;
use crate::model::Table;
use serde_json::Value;

/// A figure, or the sentence that stands where there is nothing to draw.
pub enum Figure {
    /// There is something to see.
    Drawn(Drawing),
    /// Why there is nothing.
    Nothing(String),
}

/// What a figure is made of.
pub struct Drawing {
    /// What to draw: `kind` names the function of `report.js` that draws it.
    pub spec: Value,
    /// How to read it.
    pub caption: String,
    /// The main figures in words, for those who cannot see it.
    pub alternative: String,
    /// Its data.
    pub data: Table,
    /// What the data is, or what of it is shown.
    pub data_heading: String,
}

/// A string for a spec: control characters are spelled out.
pub fn string(raw: &str) -> Value {
    Value::String(Text::from(raw).to_string())
}

/// Several strings for a spec.
pub fn strings<'a>(raw: impl IntoIterator<Item = &'a str>) -> Value {
    raw.into_iter().map(string).collect()
}

/// A coordinate: five digits, a hundredth of what can be seen, so that specs stay small.
pub fn coordinate(value: f64) -> Value {
    if !value.is_finite() {
        return Value::Null;
    }
    format!("{value:.4e}").parse::<f64>().map_or(Value::Null, |value| {
        if value.fract() == 0.0 && value.abs() < 1e15 {
            Value::from(value as i64)
        } else {
            Value::from(value)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::coordinate;

    #[test]
    fn coordinates_are_short() {
        let shown = [(0.0, "0"), (1755.0, "1755"), (0.123_456_789, "0.12346"), (1e20 / 3.0, "3.3333e+19")];
        for (value, text) in shown {
            assert_eq!(coordinate(value).to_string(), text);
        }
        assert!(coordinate(f64::NAN).is_null());
    }
}
