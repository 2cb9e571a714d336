//! Settings that a search varies within ranges, instead of levels that a grid runs.

use crate::optimiser::Domain;
use crate::relation::{Relation, unit_factor};
use experiment::{Budget, Kind, Value};

/// The search that an experiment file declares.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    /// Settings that vary, in the order of the file.
    pub knobs: Vec<Knob>,
    /// Relations that every configuration keeps.
    pub constraints: Vec<Relation>,
    /// Limits on responses.
    pub subject_to: Vec<Relation>,
    /// How much may be run.
    pub budget: Budget,
    /// Share below which an improvement does not matter.
    pub worth: f64,
}

/// A setting that varies.
#[derive(Debug, Clone, PartialEq)]
pub struct Knob {
    /// Dotted path of the setting.
    pub setting: String,
    /// Numbers of its range, or positions in the list.
    pub domain: Domain,
    /// All its values, instead of a range.
    pub listed: Vec<Value>,
    /// Values that the setting accepts.
    pub kind: Kind,
    /// Unit that numbers of the range are written with.
    pub unit: Option<String>,
    /// Values of earlier knobs with which it has an effect: the position of a knob, and its values.
    pub when: Vec<(usize, Vec<Value>)>,
}

impl Knob {
    /// The last part of its path.
    pub fn name(&self) -> &str {
        self.setting.rsplit('.').next().unwrap_or(&self.setting)
    }

    /// The value of the setting for a number of the range, or for a position in the list.
    pub fn value(&self, number: f64) -> Value {
        match (&self.domain, &self.unit) {
            (Domain::Choice(_), _) => self.listed.get(number as usize).cloned().unwrap_or_default(),
            // A special value, such as -1, has no unit.
            (Domain::Numbers { special, .. }, Some(unit)) if !special.contains(&number) => {
                Value::Text(format!("{number}{unit}"))
            }
            _ if number.fract() == 0.0 => Value::Integer(number as i64),
            _ => Value::Float(number),
        }
    }

    /// A value as people write it: `200 us`, `128MB`; `default` where the setting is left alone.
    pub fn text(&self, number: Option<f64>) -> String {
        let written = number.map(|number| self.kind.write(self.value(number)).to_string());
        written.unwrap_or_else(|| "default".to_owned())
    }

    /// The number of the range, or the position in the list, of a value of the setting.
    pub fn number(&self, value: &Value) -> Option<f64> {
        if matches!(self.domain, Domain::Choice(_)) {
            return self.listed.iter().position(|listed| listed == value).map(|at| at as f64);
        }
        let number = value.as_f64().or_else(|| {
            let text = value.to_string();
            let digits = text.find(|c: char| c.is_alphabetic()).unwrap_or(text.len());
            let (digits, unit) = text.split_at(digits);
            let factor_of_unit = unit_factor(self.unit.as_deref()?)?;
            Some(digits.trim().parse::<f64>().ok()? * unit_factor(unit)? / factor_of_unit)
        });
        number.filter(|number| number.is_finite())
    }

    /// The bytes, seconds or plain number of a number of the range, or of a position in the list.
    pub fn quantity(&self, number: f64) -> Option<f64> {
        if matches!(self.domain, Domain::Choice(_)) {
            return self.listed.get(number as usize)?.as_f64();
        }
        Some(number * self.unit.as_deref().and_then(unit_factor).unwrap_or(1.0))
    }

    /// The values to test before anything runs: bounds, special and listed ones.
    pub fn extremes(&self) -> Vec<Value> {
        match &self.domain {
            Domain::Choice(_) => self.listed.clone(),
            Domain::Numbers { low, high, special, .. } => {
                [low, high].into_iter().chain(special).map(|number| self.value(*number)).collect()
            }
        }
    }
}
