//! Parts of figure specs, and charts as figures.

use crate::model::{Bar, Chart, ChartKind, Figure, Tone};
use crate::text::joined;
use crate::{Text, chart};
use serde_json::{Value, json};

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

impl Chart {
    /// The chart as a page has it.
    pub(crate) fn figure(&self) -> Figure {
        let heading = self.heading();
        let data = chart::table(self);
        if self.kind == ChartKind::Waterfall {
            return Figure {
                spec: json!({ "kind": "waterfall", "label": heading.as_str(),
                    "steps": self.steps() }),
                caption: "Changes by wait type add up to the difference. Pale bars: not \
                          significant, or client time."
                    .into(),
                alternative: format!("Waterfall: {heading}. {}.", self.description()).into(),
                data,
                data_heading: "Changes with intervals and shares of the total".into(),
                chart: None,
            };
        }
        let bar = |bar: &Bar| {
            let figure = format!("{} {}", self.value(bar), self.interval(bar));
            json!({
                "label": bar.label.as_str(), "value": bar.value,
                "interval": bar.interval.map(|interval| [interval.low, interval.high]),
                "figure": figure.trim_end(), "note": bar.note.as_str(),
            })
        };
        let groups: Vec<Value> = self
            .groups
            .iter()
            .map(|group| {
                let bars: Vec<Value> = group.bars.iter().map(bar).collect();
                json!({ "label": group.label.as_str(), "bars": bars })
            })
            .collect();
        let diverging = self.kind == ChartKind::Diverging;
        Figure {
            spec: json!({
                "kind": "bars", "diverging": diverging, "unit": self.unit.as_str(),
                "groups": groups,
            }),
            caption: "Bars start at zero; thin lines are 95 % CIs.".into(),
            alternative: format!("Bar chart: {heading}. The table below lists its values.").into(),
            data,
            data_heading: "Figures".into(),
            chart: None,
        }
    }

    /// The bars of a waterfall.
    fn steps(&self) -> Vec<Value> {
        let bars: Vec<&Bar> = self.bars().collect();
        bars.iter()
            .zip(chart::steps(&bars))
            .map(|(bar, (from, to))| {
                let doubt =
                    if bar.tone == Tone::Muted { "not significant, or client time" } else { "" };
                json!({
                    "kind": if self.is_total(bar) { "total" } else { "change" },
                    "label": bar.label.as_str(), "from": coordinate(from), "to": coordinate(to),
                    "doubt": doubt,
                    "figure": format!("{} {}", self.value(bar), self.unit),
                    "interval": self.interval(bar),
                    "share": bar.note.as_str(),
                })
            })
            .collect()
    }

    fn description(&self) -> String {
        joined(self.bars().map(|bar| format!("{}: {}", bar.label, self.value(bar))), "; ")
    }
}

#[cfg(test)]
mod tests {
    use super::coordinate;

    #[test]
    fn coordinates_are_short() {
        let shown =
            [(0.0, "0"), (1755.0, "1755"), (0.123_456_789, "0.12346"), (1e20 / 3.0, "3.3333e+19")];
        for (value, text) in shown {
            assert_eq!(coordinate(value).to_string(), text);
        }
        assert!(coordinate(f64::NAN).is_null());
    }
}
