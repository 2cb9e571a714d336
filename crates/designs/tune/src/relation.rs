//! Relations between numbers that people write: `shared_buffers + connections * work_mem <= 0.7 *
//! memory`.

use std::fmt;

/// Binary units of sizes, as servers read them, and units of time; the longest name of several that
/// fit first.
const UNITS: &[(&str, f64)] = &[
    ("TB", 1_099_511_627_776.0),
    ("GB", 1_073_741_824.0),
    ("MB", 1_048_576.0),
    ("kB", 1_024.0),
    ("TiB", 1_099_511_627_776.0),
    ("GiB", 1_073_741_824.0),
    ("MiB", 1_048_576.0),
    ("KiB", 1_024.0),
    ("B", 1.0),
    ("T", 1_099_511_627_776.0),
    ("G", 1_073_741_824.0),
    ("M", 1_048_576.0),
    ("K", 1_024.0),
    ("us", 1e-6),
    ("ms", 1e-3),
    ("s", 1.0),
    ("min", 60.0),
    ("h", 3_600.0),
    ("d", 86_400.0),
    ("%", 0.01),
];

/// The bytes or seconds of a unit.
pub fn unit_factor(unit: &str) -> Option<f64> {
    UNITS.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor)
}

/// A comparison of two sums, as it was written.
#[derive(Debug, Clone, PartialEq)]
pub struct Relation {
    text: String,
    left: Term,
    comparison: Comparison,
    right: Term,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Less,
    LessOrEqual,
    Equal,
    GreaterOrEqual,
    Greater,
}

#[derive(Debug, Clone, PartialEq)]
enum Term {
    Number(f64),
    Name(String),
    Binary(char, Box<Term>, Box<Term>),
}

/// A text that is not a relation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RelationError {
    /// Something else stands where a part has to be.
    #[error("expected {expected} at `{at}`")]
    Expected {
        /// The part.
        expected: &'static str,
        /// The text from there on.
        at: String,
    },
    /// The relation is not at the end of the text.
    #[error("unexpected `{at}` after the relation")]
    More {
        /// The rest.
        at: String,
    },
}

impl Relation {
    /// Reads a relation of sums and products with `<`, `<=`, `=`, `>=` or `>`. A number may have a
    /// unit: `4 GB`, `20 ms`.
    ///
    /// # Errors
    /// When the text is not a relation.
    pub fn parse(text: &str) -> Result<Self, RelationError> {
        let mut rest = Rest(text);
        let left = rest.sum()?;
        let comparison = rest.comparison()?;
        let right = rest.sum()?;
        match rest.0.trim() {
            "" => Ok(Self { text: text.trim().to_owned(), left, comparison, right }),
            at => Err(RelationError::More { at: at.to_owned() }),
        }
    }

    /// The names in it, in their order.
    pub fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        self.left.names(&mut names);
        self.right.names(&mut names);
        names
    }

    /// Returns whether it holds for these values; `None` if one of them is not known.
    pub fn holds(&self, value: &dyn Fn(&str) -> Option<f64>) -> Option<bool> {
        let (left, right) = (self.left.value(value)?, self.right.value(value)?);
        Some(match self.comparison {
            Comparison::Less => left < right,
            Comparison::LessOrEqual => left <= right,
            Comparison::Equal => left.total_cmp(&right).is_eq(),
            Comparison::GreaterOrEqual => left >= right,
            Comparison::Greater => left > right,
        })
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Term {
    fn names<'t>(&'t self, names: &mut Vec<&'t str>) {
        match self {
            Self::Number(_) => {}
            Self::Name(name) => names.push(name),
            Self::Binary(_, left, right) => {
                left.names(names);
                right.names(names);
            }
        }
    }

    fn value(&self, of: &dyn Fn(&str) -> Option<f64>) -> Option<f64> {
        Some(match self {
            Self::Number(number) => *number,
            Self::Name(name) => of(name)?,
            Self::Binary(operator, left, right) => {
                let (left, right) = (left.value(of)?, right.value(of)?);
                match operator {
                    '+' => left + right,
                    '-' => left - right,
                    '/' => left / right,
                    _ => left * right,
                }
            }
        })
    }
}

/// The part of a text that is not read yet.
struct Rest<'t>(&'t str);

impl<'t> Rest<'t> {
    fn next(&mut self) -> Option<char> {
        self.0 = self.0.trim_start();
        self.0.chars().next()
    }

    /// Takes the longest beginning of which every character fits.
    fn take(&mut self, fits: impl Fn(char) -> bool) -> &'t str {
        let end = self.0.find(|c| !fits(c)).unwrap_or(self.0.len());
        let (taken, rest) = self.0.split_at(end);
        self.0 = rest;
        taken
    }

    fn expected<T>(&self, expected: &'static str) -> Result<T, RelationError> {
        Err(RelationError::Expected { expected, at: self.0.to_owned() })
    }

    fn sum(&mut self) -> Result<Term, RelationError> {
        let mut term = self.product()?;
        while let Some(operator @ ('+' | '-')) = self.next() {
            self.0 = &self.0[1..];
            term = Term::Binary(operator, Box::new(term), Box::new(self.product()?));
        }
        Ok(term)
    }

    fn product(&mut self) -> Result<Term, RelationError> {
        let mut term = self.part()?;
        while let Some(operator @ ('*' | '/')) = self.next() {
            self.0 = &self.0[1..];
            term = Term::Binary(operator, Box::new(term), Box::new(self.part()?));
        }
        Ok(term)
    }

    fn part(&mut self) -> Result<Term, RelationError> {
        match self.next() {
            Some('(') => {
                self.0 = &self.0[1..];
                let inner = self.sum()?;
                if self.next() != Some(')') {
                    return self.expected("`)`");
                }
                self.0 = &self.0[1..];
                Ok(inner)
            }
            Some('-') => {
                self.0 = &self.0[1..];
                let inner = self.part()?;
                Ok(Term::Binary('-', Box::new(Term::Number(0.0)), Box::new(inner)))
            }
            Some('0'..='9' | '.') => self.number(),
            Some(c) if c.is_alphabetic() || c == '_' => {
                let name = self.take(|c| c.is_alphanumeric() || matches!(c, '_' | '.'));
                Ok(Term::Name(name.to_owned()))
            }
            _ => self.expected("a number or a name"),
        }
    }

    fn number(&mut self) -> Result<Term, RelationError> {
        let Ok(number) = self.take(|c| c.is_ascii_digit() || c == '.').parse::<f64>() else {
            return self.expected("a number");
        };
        let before = self.0;
        self.next();
        let unit = self.take(|c| c.is_alphabetic() || c == '%');
        if unit.is_empty() {
            self.0 = before;
            return Ok(Term::Number(number));
        }
        if let Some(factor) = unit_factor(unit) {
            return Ok(Term::Number(number * factor));
        }
        self.0 = before;
        self.expected("a unit such as MB, GB, ms or s")
    }

    fn comparison(&mut self) -> Result<Comparison, RelationError> {
        self.next();
        let comparison = match self.0.as_bytes() {
            [b'<', b'=', ..] => Comparison::LessOrEqual,
            [b'>', b'=', ..] => Comparison::GreaterOrEqual,
            [b'<', ..] => Comparison::Less,
            [b'>', ..] => Comparison::Greater,
            [b'=', ..] => Comparison::Equal,
            _ => return self.expected("<=, <, =, > or >="),
        };
        let is_long = matches!(comparison, Comparison::LessOrEqual | Comparison::GreaterOrEqual);
        self.0 = &self.0[if is_long { 2 } else { 1 }..];
        Ok(comparison)
    }
}

#[cfg(test)]
mod tests {
    use super::{Relation, RelationError};

    fn value(name: &str) -> Option<f64> {
        match name {
            "shared_buffers" => Some(4.0 * 1_073_741_824.0),
            "work_mem" => Some(64.0 * 1_048_576.0),
            "connections" => Some(16.0),
            "memory" => Some(8.0 * 1_073_741_824.0),
            _ => None,
        }
    }

    #[test]
    fn sums_and_products_are_compared_in_their_order() {
        for (text, holds) in [
            ("shared_buffers + connections * work_mem <= 0.7 * memory", Some(true)),
            ("(shared_buffers + connections) * work_mem <= 0.7 * memory", Some(false)),
            ("shared_buffers + connections * work_mem > 4 GB", Some(true)),
            ("memory - shared_buffers = 4 GiB", Some(true)),
            ("work_mem / 2 < 32 MB", Some(false)),
            ("-work_mem < 0", Some(true)),
            ("work_mem <= unknown", None),
        ] {
            assert_eq!(Relation::parse(text).unwrap().holds(&value), holds, "{text}");
        }
        let names = Relation::parse("a + b.c * 2 <= d").unwrap();
        assert_eq!(names.names(), ["a", "b.c", "d"]);
    }

    #[test]
    fn what_is_not_a_relation_is_refused_where_it_ends_to_be_one() {
        for (text, at) in
            [("a + <= b", "<= b"), ("a b", "b"), ("(a < b", "< b"), ("a < 3 parsecs", " parsecs")]
        {
            match Relation::parse(text) {
                Err(RelationError::Expected { at: found, .. }) => assert_eq!(found, at, "{text}"),
                other => panic!("{text}: {other:?}"),
            }
        }
        let more = Relation::parse("a < b < c");
        assert_eq!(more, Err(RelationError::More { at: "< c".into() }));
    }
}
