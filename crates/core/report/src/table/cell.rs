//! A cell of a table: its value, its interval, and the text that people read.

use super::Kind;
use crate::{Text, number, text};
use analysis::{Comparison, Estimate, Interval, Standing, Summary};

/// A cell.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cell {
    /// For programs.
    pub value: Datum,
    /// Unit of the value where the column does not name it.
    pub unit: String,
    /// Both ends of its 95 % interval.
    pub interval: Option<Interval>,
    /// For people; `None`: as the value is written.
    pub(super) shown: Option<Text>,
    /// How it is meant.
    pub tone: Tone,
}

/// The value of a cell.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Datum {
    /// Not known, or not applicable.
    #[default]
    Empty,
    /// Text.
    Text(String),
    /// Yes or no.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// Up to 2^64 - 1.
    Count(u64),
    /// A number.
    Number(f64),
    /// From 0 to 1; shown to people as percent.
    Share(f64),
    /// Milliseconds since 1970 UTC.
    Time(i64),
}

/// How a text is meant; a renderer without colour ignores it, so it never carries information
/// alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Tone {
    /// As it is.
    #[default]
    Plain,
    /// Better, or the best.
    Good,
    /// Worse, or failed.
    Bad,
    /// To be careful with.
    Warning,
    /// Detail.
    Muted,
}
impl Cell {
    /// A word or a few, and how they are meant.
    pub fn new(text: impl Into<String>, tone: Tone) -> Self {
        Self::from(text.into()).toned(tone)
    }

    /// The cell with another text for people.
    #[must_use]
    pub fn shown(self, text: impl Into<Text>) -> Self {
        Self { shown: Some(text.into()), ..self }
    }

    /// The cell in a tone.
    #[must_use]
    pub fn toned(self, tone: Tone) -> Self {
        Self { tone, ..self }
    }

    /// The cell with the interval of its value.
    #[must_use]
    pub fn within(self, interval: Option<Interval>) -> Self {
        Self { interval, ..self }
    }

    /// Returns the printed text.
    pub fn text(&self) -> Text {
        if let Some(shown) = &self.shown {
            return shown.clone();
        }
        match &self.value {
            Datum::Empty => Text::default(),
            Datum::Text(text) => text.as_str().into(),
            Datum::Bool(value) => value.to_string().into(),
            Datum::Count(value) => value.to_string().into(),
            Datum::Integer(value) => value.to_string().into(),
            Datum::Number(value) | Datum::Share(value) if !value.is_finite() => Text::default(),
            Datum::Number(value) => number::grouped(*value).into(),
            Datum::Share(value) => number::percent(*value, 1).into(),
            Datum::Time(value) => text::utc(*value).into(),
        }
    }

    /// The value as a number, by which a page sorts.
    pub fn number(&self) -> Option<f64> {
        match self.value {
            Datum::Count(value) => Some(value as f64),
            Datum::Integer(value) | Datum::Time(value) => Some(value as f64),
            Datum::Number(value) | Datum::Share(value) => {
                Some(value).filter(|value| value.is_finite())
            }
            Datum::Empty | Datum::Text(_) | Datum::Bool(_) => None,
        }
    }

    /// `78.4 s`, `4.08k rows/s`.
    pub fn quantity(value: f64, unit: &str) -> Self {
        Self { unit: unit.to_owned(), ..Self::from(value) }.shown(number::quantity(value, unit))
    }

    /// `1.23 ms`.
    pub fn seconds(value: f64) -> Self {
        Self::quantity(value, "s")
    }

    /// A change as a share: `+1.5 %`.
    pub fn change(share: f64) -> Self {
        Self::percent(share, 1).shown(format!("{} %", number::signed(100.0 * share, 1)))
    }

    /// `31.0 %`.
    pub fn percent(share: f64, decimals: usize) -> Self {
        Self::from(Share(share)).shown(number::percent(share, decimals))
    }

    /// `1,234,567`.
    pub fn count(value: u64) -> Self {
        Self::from(value).shown(number::count(value))
    }

    /// `31.3 GiB`.
    pub fn bytes(value: u64) -> Self {
        Self { unit: "B".to_owned(), ..Self::from(value) }.shown(number::bytes(value))
    }

    /// A mean with its interval, without its unit, for a column that names it.
    pub fn estimate_without_unit(estimate: &Estimate) -> Self {
        Self::from(estimate).shown(number::estimate_without_unit(estimate))
    }

    /// `30.9k [0, 67.0k]`: a mean that was computed, with its interval.
    pub fn mean(value: f64, interval: Option<Interval>, unit: &str) -> Self {
        Self::from(value).within(interval).shown(number::within(value, interval, unit))
    }

    /// `3.20 s [-1.00, 7.40]`: a prediction with the ends of its interval.
    pub fn prediction(value: f64, interval: Interval, unit: &str) -> Self {
        let interval = Some(interval);
        Self::from(value).within(interval).shown(number::difference(value, interval, unit))
    }

    /// The ends of an interval alone.
    pub fn ends(interval: Interval, shown: impl Into<Text>) -> Self {
        Self::default().within(Some(interval)).shown(shown)
    }

    /// Returns the gain; green or red only where that is supported.
    pub fn comparison(comparison: &Comparison, unit: &str) -> Self {
        let tone = match comparison.supported() {
            false => Tone::Muted,
            true if comparison.is_better() => Tone::Good,
            true => Tone::Bad,
        };
        let unit = if comparison.scale == analysis::Scale::Ratio { "x" } else { unit };
        let shown = number::comparison(comparison, unit);
        let value = Self { unit: unit.to_owned(), ..Self::from(comparison.value) };
        value.within(comparison.interval).shown(shown).toned(tone)
    }

    /// The distance from the best: `best`, `within 5 %` where that is proven, `up to 12 %` where it
    /// is not significant.
    pub fn standing(
        standing: Standing,
        against_best: Option<&Comparison>,
        summary: &Summary,
    ) -> Self {
        let possible = against_best.and_then(|against_best| against_best.possible(summary.unit()));
        match standing {
            Standing::Best => Self::new("best", Tone::Good),
            Standing::Equivalent => {
                Self::new(format!("within {}", number::plain_percent(summary.margin())), Tone::Good)
            }
            Standing::NotDistinguished => Self::from(
                possible.map_or_else(|| "unclear".to_owned(), |size| format!("up to {size}")),
            ),
            Standing::Worse | Standing::Unknown => Self::from(""),
        }
    }
}

/// A value that a cell can hold, with the type of its column.
pub trait Typed: Into<Cell> {
    /// The type of the column.
    const KIND: Kind = Kind::Text;
}

/// From 0 to 1.
pub struct Share(pub f64);
/// Milliseconds since 1970 UTC.
pub struct Time(pub i64);

macro_rules! typed {
    ($($type:ty => $kind:ident, $value:pat => $datum:expr;)*) => {
        $(impl Typed for $type {
            const KIND: Kind = Kind::$kind;
        }
        impl From<$type> for Cell {
            fn from($value: $type) -> Self {
                Self { value: Datum::$kind($datum), ..Self::default() }
            }
        })*
    };
}

typed! {
    &str => Text, text => text.to_owned();
    &String => Text, text => text.clone();
    String => Text, text => text;
    Text => Text, text => text.into();
    bool => Bool, value => value;
    i64 => Integer, value => value;
    u32 => Count, value => value.into();
    u64 => Count, value => value;
    usize => Count, value => value as u64;
    f64 => Number, value => value;
    Share => Share, Share(value) => value;
    Time => Time, Time(value) => value;
}

impl Typed for Cell {}
impl Typed for &Estimate {}

/// A mean with its interval.
impl From<&Estimate> for Cell {
    fn from(estimate: &Estimate) -> Self {
        let value = Self { unit: estimate.unit.clone(), ..Self::from(estimate.mean) };
        value.within(estimate.interval).shown(number::estimate(estimate))
    }
}

impl<T: Typed> Typed for Option<T> {
    const KIND: Kind = T::KIND;
}

impl<T: Typed> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or_else(Self::default, Into::into)
    }
}
