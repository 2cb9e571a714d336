//! Parameters whose values are drawn for each block: from a list, or from a range.
//!
//! All configurations of a block get the same values, because they get the same seed: a difference
//! between two of them within a block is not one of what was drawn.

use crate::template::Parameters;
use experiment::Value;
use observations::{Fact, FactFamily};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// The drawn value of each parameter; of a list with texts its position, from 1.
pub const DRAWN: FactFamily = FactFamily::new("drawn:", "");

/// Decimal places of a range at most: a double has about 15 digits.
const PLACES_MAX: usize = 9;
/// Ends of a range, so that all its values are exact.
const END_MAX: f64 = 1e15;

/// Why a parameter cannot be drawn.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DrawError {
    /// Neither a list nor a range.
    #[error("expected a list of values, or a range as in \"1..1000\" or \"0.5..2.0\"; got `{0}`")]
    Neither(String),
    /// The ends of a range that is empty.
    #[error("the range is empty: its end {to} is not above its beginning {from}")]
    Empty {
        /// The beginning.
        from: String,
        /// The end.
        to: String,
    },
    /// A range with more digits than can be drawn.
    #[error(
        "the range `{0}` has ends beyond 10^15, or more than {PLACES_MAX} decimal places; give \
         fewer digits"
    )]
    TooFine(String),
    /// A list without a choice.
    #[error("a list needs two different values at least; put one value into workload.parameters")]
    Constant,
}

/// The source of the values of a parameter, all equally likely.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// A list.
    List(Vec<String>),
    /// Multiples of a power of ten from one end to the other, both included.
    Range {
        /// Steps from 0 to the first value.
        first: i64,
        /// Steps from 0 to the last value.
        last: i64,
        /// Decimal places of the step.
        places: usize,
    },
}

/// A drawn value.
#[derive(Debug, Clone, PartialEq)]
pub struct Draw {
    /// The text, as commands get it.
    pub text: String,
    /// The number; of a list with texts its position, from 1.
    pub number: f64,
}

impl Source {
    /// Reads the value of a setting.
    ///
    /// # Errors
    /// When it is neither a list nor a range, or has fewer than two values.
    pub fn parse(value: &Value) -> Result<Self, DrawError> {
        let Value::List(values) = value else { return Self::range(&value.to_string()) };
        let values: Vec<String> = values.iter().map(ToString::to_string).collect();
        let first = values.first().ok_or(DrawError::Constant)?;
        if values.iter().all(|value| value == first) {
            return Err(DrawError::Constant);
        }
        Ok(Self::List(values))
    }

    fn range(text: &str) -> Result<Self, DrawError> {
        let neither = || DrawError::Neither(text.to_owned());
        let (from, to) = text.split_once("..").ok_or_else(neither)?;
        let ends = [from.trim(), to.trim()];
        let places = ends.map(|end| end.split_once('.').map_or(0, |(_, fraction)| fraction.len()));
        let places = places[0].max(places[1]);
        let scale = 10_f64.powi(places.min(PLACES_MAX) as i32);
        let number = |end: &str| {
            let is_plain =
                !end.is_empty() && end.chars().all(|c| matches!(c, '0'..='9' | '.' | '-'));
            end.parse::<f64>().ok().filter(|end| is_plain && end.is_finite()).ok_or_else(neither)
        };
        let [first, last] = [number(ends[0])?, number(ends[1])?];
        if places > PLACES_MAX || [first, last].iter().any(|end| (end * scale).abs() > END_MAX) {
            return Err(DrawError::TooFine(text.to_owned()));
        }
        if last <= first {
            return Err(DrawError::Empty { from: ends[0].to_owned(), to: ends[1].to_owned() });
        }
        let steps = |end: f64| (end * scale).round() as i64;
        Ok(Self::Range { first: steps(first), last: steps(last), places })
    }

    /// Draws the value of a parameter; the same for the same seed and name.
    pub fn draw(&self, seed: u64, name: &str) -> Draw {
        // FNV-1a: parameters of a block are drawn independently.
        let of_name = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let random = Xoshiro256PlusPlus::seed_from_u64(seed ^ of_name).next_u64();
        let below = |n: u64| ((u128::from(random) * u128::from(n)) >> 64) as u64;
        match self {
            Self::List(values) => {
                let at = below(values.len() as u64) as usize;
                let numbers: Option<Vec<f64>> = values
                    .iter()
                    .map(|value| value.parse().ok().filter(|value: &f64| value.is_finite()))
                    .collect();
                let number = numbers.map_or(at as f64 + 1.0, |numbers| numbers[at]);
                Draw { text: values[at].clone(), number }
            }
            Self::Range { first, last, places } => {
                let steps = first + below(first.abs_diff(*last) + 1) as i64;
                let number = steps as f64 / 10_f64.powi(*places as i32);
                Draw { text: format!("{number:.places$}"), number }
            }
        }
    }
}

/// The values drawn for a trial, by the name of their parameter.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Draws(pub Vec<(String, Draw)>);

impl Draws {
    /// Adds their texts to the parameters of commands.
    pub fn add_to(&self, parameters: &mut Parameters) {
        parameters.extend(self.0.iter().map(|(name, draw)| (name.clone(), draw.text.clone())));
    }

    /// The facts of the trial.
    pub fn facts(&self) -> impl Iterator<Item = Fact> {
        self.0.iter().map(|(name, draw)| DRAWN.record(name, draw.number))
    }
}

#[cfg(test)]
mod tests {
    use super::{DrawError, Source};
    use experiment::Value;
    use std::collections::BTreeMap;

    fn list(values: &[&str]) -> Value {
        Value::List(values.iter().map(|value| Value::Text((*value).to_owned())).collect())
    }

    fn text(text: &str) -> Result<Source, DrawError> {
        Source::parse(&Value::Text(text.to_owned()))
    }

    /// Returns the number of times that each text is drawn by 6,000 seeds.
    fn counts(source: &Source) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for seed in 0..6_000 {
            *counts.entry(source.draw(seed, "x").text).or_insert(0) += 1;
        }
        counts
    }

    #[test]
    fn every_value_is_equally_likely() {
        // Chi square with 5 degrees of freedom: 20.5 is exceeded in one of 1,000 cases.
        for (source, expected) in [
            (text("-2..3").unwrap(), ["-1", "-2", "0", "1", "2", "3"]),
            (text("0.5 .. 1.0").unwrap(), ["0.5", "0.6", "0.7", "0.8", "0.9", "1.0"]),
            (
                Source::parse(&list(&["a", "b", "c", "d", "e", "f"])).unwrap(),
                ["a", "b", "c", "d", "e", "f"],
            ),
        ] {
            let counts = counts(&source);
            assert_eq!(counts.keys().collect::<Vec<_>>(), expected);
            let chi2: f64 = counts.values().map(|count| (*count as f64 - 1e3).powi(2) / 1e3).sum();
            assert!(chi2 < 20.5, "{counts:?}");
        }
    }

    #[test]
    fn a_draw_depends_on_seed_and_name_alone() {
        let source = text("1..1000000").unwrap();
        let draw = |seed, name: &str| source.draw(seed, name).text;
        assert!(draw(7, "x") == draw(7, "x") && draw(7, "x") != draw(8, "x"));
        assert!(draw(7, "x") != draw(7, "y"));
        // Resumed runs draw these values again: they never change. Expected: the published
        // algorithms (SplitMix64, xoshiro256++) in Python.
        assert_eq!(
            (source.draw(1, "x").text, source.draw(2, "x").text),
            (FIRST.into(), SECOND.into())
        );
    }

    const FIRST: &str = "85990";
    const SECOND: &str = "217484";

    #[test]
    fn numbers_are_themselves_and_texts_their_positions() {
        let numbers = Source::parse(&list(&["10", "2.5"])).unwrap();
        assert!((0..20).all(|seed| [10.0, 2.5].contains(&numbers.draw(seed, "x").number)));
        let texts = Source::parse(&list(&["10", "all"])).unwrap();
        assert!((0..20).all(|seed| [1.0, 2.0].contains(&texts.draw(seed, "x").number)));
    }

    #[test]
    fn what_cannot_be_drawn_says_why() {
        for (range, expected) in [
            ("5", "expected a list of values, or a range"),
            ("a..b", "expected a list"),
            ("1..", "expected a list"),
            ("1e3..1e4", "expected a list"),
            ("1..inf", "expected a list"),
            ("5..5", "the range is empty: its end 5 is not above its beginning 5"),
            ("9..1", "its end 1 is not above its beginning 9"),
            ("0..99999999999999999", "ends beyond 10^15"),
            ("0.0000000001..1", "more than 9 decimal places"),
        ] {
            let error = text(range).unwrap_err().to_string();
            assert!(error.contains(expected), "{range}: {error}");
        }
        assert_eq!(Source::parse(&list(&["a"])), Err(DrawError::Constant));
        assert_eq!(Source::parse(&list(&["a", "a"])), Err(DrawError::Constant));
    }
}
