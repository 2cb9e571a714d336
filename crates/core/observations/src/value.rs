use serde::{Deserialize, Serialize};
use std::fmt;

/// The value of a setting after human forms were read: `"320k"` is 320000, `"4 GiB"` is
/// 4294967296, `"2 min"` is 120.0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
// Reading tries one after the other: the most usual first.
#[serde(untagged)]
pub enum Value {
    /// Names, choices, paths, commands.
    Text(String),
    /// Counts and sizes in bytes.
    Integer(i64),
    /// Rates, percentages as shares, durations in seconds.
    Float(f64),
    /// `true` or `false`.
    Bool(bool),
    /// A list, where the setting takes one (volumes, round robin).
    List(Vec<Value>),
}

impl Default for Value {
    fn default() -> Self {
        Self::Text(String::new())
    }
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

    /// The elements of a list; anything else is its own only element.
    pub fn elements(&self) -> &[Self] {
        if let Self::List(values) = self { values } else { std::slice::from_ref(self) }
    }

    /// The value that [`Value::to_json`] wrote.
    ///
    /// # Errors
    /// When the text is not that of a value.
    pub fn from_json(text: &str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
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
                let elements: Vec<String> = values.iter().map(ToString::to_string).collect();
                f.write_str(&elements.join("+"))
            }
        }
    }
}

macro_rules! into_value {
    ($($type:ty: $value:ident => $variant:expr;)*) => {
        $(impl From<$type> for Value {
            fn from($value: $type) -> Self {
                $variant
            }
        })*
    };
}

into_value! {
    bool: value => Self::Bool(value);
    u32: value => Self::Integer(value.into());
    // No setting takes a larger number than its type of the file.
    u64: value => Self::Integer(value.try_into().unwrap_or(i64::MAX));
    usize: value => Self::Integer(value.try_into().unwrap_or(i64::MAX));
    f64: value => Self::Float(value);
    &str: text => Self::Text(text.to_owned());
    String: text => Self::Text(text);
    Vec<String>: texts => Self::List(texts.into_iter().map(Self::Text).collect());
}

/// A type that settings can have. Its default stands for a setting that every file must give, where
/// one does not.
pub trait FromValue: Default {
    /// The type without the possibility that the setting is absent.
    type Present: FromValue;

    /// The value of a setting; `None` where it is absent though the type wants one, or is of
    /// another type.
    fn from_value(value: Option<&Value>) -> Option<Self>;
}

macro_rules! from_value {
    ($($type:ty: $pattern:pat => $value:expr;)*) => {
        $(impl FromValue for $type {
            type Present = Self;

            fn from_value(value: Option<&Value>) -> Option<Self> {
                match value {
                    Some($pattern) => $value,
                    _ => None,
                }
            }
        })*
    };
}

from_value! {
    bool: Value::Bool(value) => Some(*value);
    u16: Value::Integer(value) => u16::try_from(*value).ok();
    u32: Value::Integer(value) => u32::try_from(*value).ok();
    u64: Value::Integer(value) => u64::try_from(*value).ok();
    usize: Value::Integer(value) => usize::try_from(*value).ok();
    f64: value => value.as_f64();
    String: Value::Text(text) => Some(text.clone());
    // Any value, unchanged: for settings that only an engine can judge.
    Value: value => Some(value.clone());
}

impl FromValue for Vec<String> {
    type Present = Self;

    fn from_value(value: Option<&Value>) -> Option<Self> {
        match value {
            None => Some(Self::new()),
            Some(value) => {
                value.elements().iter().map(|text| String::from_value(Some(text))).collect()
            }
        }
    }
}

impl<T: FromValue> FromValue for Option<T> {
    type Present = T;

    fn from_value(value: Option<&Value>) -> Option<Self> {
        match value {
            None => Some(None),
            some => T::from_value(some).map(Some),
        }
    }
}
