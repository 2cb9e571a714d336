//! Factors whose levels are numbers with a unit, coded -1 at the low level of the file and +1 at
//! the high one: those of response surfaces, and of screenings with a centre.

use crate::mathematics::Coding;
use crate::settings::LOG_SCALE;
use experiment::{DesignFile, DesignPlace, Factor, Fault, Node, value_in_source};

/// Digits of levels on a log scale that are not whole numbers.
const DIGITS: usize = 4;
/// Places behind the first digit of a range to which other levels are rounded.
const PLACES: i32 = 3;

/// A number as a level has it: `64 MiB`, `-500`, `0.25`.
#[derive(Debug, Clone, PartialEq)]
struct Quantity {
    number: f64,
    /// The text after the number, blanks included.
    unit: String,
    is_whole: bool,
}

impl Quantity {
    fn parse(label: &str) -> Option<Self> {
        let label = label.trim();
        let end = label.find(|c: char| !(c.is_ascii_digit() || "+-._".contains(c)));
        let (number, unit) = label.split_at(end.unwrap_or(label.len()));
        let number = number.replace('_', "");
        let is_whole = !number.contains('.');
        let number = number.parse().ok().filter(|number: &f64| number.is_finite())?;
        Some(Self { number, unit: unit.to_owned(), is_whole })
    }
}

/// A factor whose levels are numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct NumericFactor {
    /// The name.
    pub name: String,
    unit: String,
    coding: Coding,
}

/// Levels that are not the ends of a range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RangeError {
    /// Another number of levels.
    #[error("{0} levels in a response surface, which takes a low and a high one")]
    Levels(usize),
    /// A level that is not a number.
    #[error("`{0}` is not a number; a response surface takes numbers, with or without a unit")]
    Number(String),
    /// Levels in different units.
    #[error("`{0}` and `{1}` have different units; write both in the smaller one")]
    Units(String, String),
    /// The first level is not below the second.
    #[error("`{0}` is not below `{1}`; give the low level first")]
    Order(String, String),
    /// A logarithm of a number that has none.
    #[error("`{0}` has no logarithm; remove the factor from design.log_scale")]
    Logarithm(String),
}

impl NumericFactor {
    /// A factor with the labels of its low and its high level.
    ///
    /// # Errors
    /// When they are not the ends of a range.
    pub fn new(name: &str, labels: &[String], is_log: bool) -> Result<Self, RangeError> {
        let [low_label, high_label] = labels else { return Err(RangeError::Levels(labels.len())) };
        let read = |label: &String| {
            Quantity::parse(label).ok_or_else(|| RangeError::Number(label.clone()))
        };
        let (low, high) = (read(low_label)?, read(high_label)?);
        if low.unit != high.unit {
            return Err(RangeError::Units(low_label.clone(), high_label.clone()));
        }
        if is_log && low.number <= 0.0 {
            return Err(RangeError::Logarithm(low_label.clone()));
        }
        let is_whole = low.is_whole && high.is_whole;
        let coding = Coding { low: low.number, high: high.number, is_log, is_whole };
        if !coding.is_sound() {
            return Err(RangeError::Order(low_label.clone(), high_label.clone()));
        }
        Ok(Self { name: name.to_owned(), unit: low.unit, coding })
    }

    /// The factors of a recorded file; empty where it cannot be read.
    pub fn from_source(source: &str) -> Vec<Self> {
        let all = Self::numeric_from_source(source).into_iter();
        all.map(|(_, factor)| factor).collect::<Result<_, _>>().unwrap_or_default()
    }

    /// Each plain factor of a recorded file as a numeric one, where it can be one.
    pub fn numeric_from_source(source: &str) -> Vec<(String, Result<Self, RangeError>)> {
        let logs = value_in_source(source, LOG_SCALE);
        let Ok(root) = Node::parse(source) else { return Vec::new() };
        let factors = root.leaves_of("factors", "").into_iter().map(|leaf| {
            let labels: Vec<String> = leaf.node.elements().iter().map(Node::label).collect();
            let factor = Self::new(&leaf.path, &labels, logs.contains(&leaf.path));
            (leaf.path, factor)
        });
        factors.collect()
    }

    /// The factor of a file at this position; `None` after an error.
    pub fn read(file: &mut DesignFile<'_>, factor: usize) -> Option<Self> {
        let Factor { name, levels, .. } = &file.factors[factor];
        let labels: Vec<String> = levels.iter().map(|level| level.label.clone()).collect();
        let range = if file.is_plain(factor) {
            let is_log = file.get(LOG_SCALE).contains(name);
            Self::new(name, &labels, is_log).map_err(|error| error.to_string())
        } else {
            let linked =
                "linked levels have no order; a response surface takes factors of [factors]";
            Err(linked.to_owned())
        };
        match range {
            Ok(range) => return Some(range),
            // A factor without levels is an error of its own.
            Err(_) if labels.is_empty() => {}
            Err(message) => file.error_of_factor(factor, message),
        }
        None
    }

    /// The coded number of a level.
    pub fn code(&self, label: &str) -> Option<f64> {
        Some(self.coding.code(Quantity::parse(label)?.number))
    }

    /// The number at a coded one, not rounded to what can be set.
    pub fn number(&self, coded: f64) -> f64 {
        self.coding.exact(coded)
    }

    /// The level that can be set for a coded number, as it is written.
    pub fn label(&self, coded: f64) -> String {
        let number = self.coding.level(coded);
        let number = if self.coding.is_whole { number } else { self.shortened(number) };
        // Not -0.
        format!("{}{}", number + 0.0, self.unit)
    }

    /// A number with few digits, so that levels can be read.
    fn shortened(&self, number: f64) -> f64 {
        let text = if self.is_log() {
            format!("{:.*e}", DIGITS - 1, number)
        } else {
            let range = self.coding.high - self.coding.low;
            let places = PLACES.saturating_sub(range.log10().floor() as i32);
            format!("{:.*}", places.max(0) as usize, number)
        };
        text.parse().unwrap_or(number)
    }

    /// The unit, empty without one.
    pub fn unit(&self) -> &str {
        self.unit.trim()
    }

    /// True if its levels are evenly spaced on a log scale.
    pub fn is_log(&self) -> bool {
        self.coding.is_log
    }
}

/// Names in `design.log_scale` that are not factors are errors.
pub fn check_log_scale(file: &mut DesignFile<'_>) {
    let names: Vec<String> = file.factors.iter().map(|factor| factor.name.clone()).collect();
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    for name in file.get(LOG_SCALE).iter().filter(|name| !known.contains(&name.as_str())) {
        let fault = Fault::unknown("factor", name, &known);
        file.error(DesignPlace::Setting(LOG_SCALE.path()), fault);
    }
}

/// Adds the centre to the two levels of a factor that has none yet; `None` after an error.
pub fn add_centre(file: &mut DesignFile<'_>, factor: usize) -> Option<()> {
    if file.factors[factor].levels.len() > 2 {
        return Some(());
    }
    let label = NumericFactor::read(file, factor)?.label(0.0);
    if file.factors[factor].levels.iter().any(|level| level.label == label) {
        refuse_close(file, factor, &label);
        return None;
    }
    let level = file.level(factor, label)?;
    file.factors[factor].levels.push(level);
    Some(())
}

/// Makes levels that are rounded to the same one an error.
pub fn refuse_close(file: &mut DesignFile<'_>, factor: usize, label: &str) {
    let message = format!(
        "the levels are too close: two levels of the design are rounded to {label}; widen the \
         range, or write it in a smaller unit"
    );
    file.error_of_factor(factor, message);
}

#[cfg(test)]
mod tests {
    use super::{NumericFactor, RangeError};

    fn factor(low: &str, high: &str, is_log: bool) -> Result<NumericFactor, RangeError> {
        NumericFactor::new("x", &[low.to_owned(), high.to_owned()], is_log)
    }

    #[test]
    fn levels_are_written_in_the_unit_of_the_file_and_rounded_to_it() {
        let sizes = factor("64MB", "1024MB", true).unwrap();
        assert_eq!([-1.0, 0.0, 1.0].map(|at| sizes.label(at)), ["64MB", "256MB", "1024MB"]);
        assert_eq!(sizes.label(2.0_f64.sqrt()), "1818MB");
        assert_eq!(sizes.code("256MB"), Some(0.0));
        let shares = factor("0.5", "0.9", false).unwrap();
        assert_eq!([-1.0, 0.0, 0.3].map(|at| shares.label(at)), ["0.5", "0.7", "0.76"]);
        let negative = factor("-16_000", "-500", false).unwrap();
        assert_eq!([-1.0, 0.0].map(|at| negative.label(at)), ["-16000", "-8250"]);
        assert_eq!(factor("-1.0", "1.0", false).unwrap().label(0.0), "0");
        let wide = factor("80.0", "90.0", false).unwrap();
        assert_eq!([-2.0_f64.sqrt(), 0.0].map(|at| wide.label(at)), ["77.93", "85"]);
        assert_eq!(factor("10 ms", "1000 ms", true).unwrap().label(0.0), "100 ms");
    }

    #[test]
    fn other_levels_are_no_range() {
        for (low, high, is_log, part) in [
            ("wal", "delete", false, "`wal` is not a number"),
            ("64MB", "1GB", false, "different units"),
            ("8", "4", false, "is not below"),
            ("0", "4", true, "no logarithm"),
        ] {
            let error = factor(low, high, is_log).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
        let three = ["1", "2", "3"].map(str::to_owned);
        assert_eq!(NumericFactor::new("x", &three, false), Err(RangeError::Levels(3)));
    }
}
