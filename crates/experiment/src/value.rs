use serde::{Deserialize, Serialize};
use std::fmt;

/// The value of a setting after human forms were read: `"320k"` is 320000, `"4 GiB"` is
/// 4294967296, `"2 min"` is 120.0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// `true` or `false`.
    Bool(bool),
    /// Counts and sizes in bytes.
    Integer(i64),
    /// Rates, percentages as shares, durations in seconds.
    Float(f64),
    /// Names, choices, paths, commands.
    Text(String),
    /// A list, where the setting takes one (volumes, round robin).
    List(Vec<Value>),
}

impl Value {
    /// The value as a number, if it is one.
    pub fn as_f64(&self) -> Option<f64> {
        match *self {
            Self::Integer(integer) => Some(integer as f64),
            Self::Float(float) => Some(float),
            _ => None,
        }
    }

    /// The value as JSON text, for records.
    pub fn to_json(&self) -> String {
        // Plain values can always be written.
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => write!(f, "{value}"),
            Self::Integer(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value}"),
            Self::Text(value) => f.write_str(value),
            Self::List(values) => {
                for (i, value) in values.iter().enumerate() {
                    if i > 0 {
                        f.write_str("+")?;
                    }
                    write!(f, "{value}")?;
                }
                Ok(())
            }
        }
    }
}
