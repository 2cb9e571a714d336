//! Values, and the operators and functions that give them.

use crate::error::Fault;
use crate::random::{self, Bounds};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::cmp::Ordering;
use std::fmt;
use std::ops::Sub as _;
use std::sync::Arc;
use work::Parameter;

/// The value of a variable or an expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// NULL.
    Null,
    /// A truth value.
    Bool(bool),
    /// An integer.
    Integer(i64),
    /// A double.
    Double(f64),
    /// The text of a variable that was given from outside or taken from a query's result. In an
    /// expression it counts as what it says: see [`Value::typed`].
    Text(Arc<str>),
}

impl Value {
    /// Parses a text as a value of an expression: NULL, a boolean (also `t`, `yes`, `off`...: any
    /// unambiguous beginning), an integer or a double. Else `None`.
    pub fn typed(&self) -> Option<Self> {
        let Self::Text(text) = self else { return Some(self.clone()) };
        let lower = text.to_ascii_lowercase();
        match lower.as_str() {
            "" => None,
            "null" => Some(Self::Null),
            "on" => Some(Self::Bool(true)),
            "of" | "off" => Some(Self::Bool(false)),
            word if "true".starts_with(word) || "yes".starts_with(word) => Some(Self::Bool(true)),
            word if "false".starts_with(word) || "no".starts_with(word) => Some(Self::Bool(false)),
            number => typed_number(number.trim_ascii_start()),
        }
    }

    /// Returns its truth value: a number other than 0 is true, NULL is false.
    pub(super) fn is_truthy(&self) -> bool {
        match self {
            Self::Bool(truth) => *truth,
            Self::Integer(number) => *number != 0,
            Self::Double(number) => *number != 0.0,
            Self::Null | Self::Text(_) => false,
        }
    }

    pub(super) fn to_integer(&self) -> Result<i64, Fault> {
        match self {
            Self::Integer(number) => Ok(*number),
            Self::Double(number) => double_to_integer(*number),
            other => Err(other.is_not_a("number")),
        }
    }

    pub(super) fn to_double(&self) -> Result<f64, Fault> {
        match self {
            Self::Integer(number) => Ok(*number as f64),
            Self::Double(number) => Ok(*number),
            other => Err(other.is_not_a("number")),
        }
    }

    pub(super) fn to_bool(&self) -> Result<bool, Fault> {
        match self {
            Self::Bool(truth) => Ok(*truth),
            other => Err(other.is_not_a("boolean")),
        }
    }

    pub(super) fn to_parameter(&self) -> Parameter {
        match self {
            Self::Null => Parameter::Null,
            Self::Bool(truth) => Parameter::Bool(*truth),
            Self::Integer(number) => Parameter::Integer(*number),
            Self::Double(number) => Parameter::Double(*number),
            Self::Text(text) => Parameter::Text(text.to_string()),
        }
    }

    fn is_not_a(&self, text: &'static str) -> Fault {
        let found = match self {
            Self::Null => "NULL",
            Self::Bool(_) => "a boolean",
            Self::Integer(_) => "an integer",
            Self::Double(_) => "a double",
            Self::Text(_) => "a text",
        };
        Fault::Type { expected: text, found }
    }
}

fn typed_number(text: &str) -> Option<Value> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.parse().ok().map(Value::Integer);
    }
    text.parse().ok().map(Value::Double)
}

/// Rounds to the nearest integer, halves to the even one.
fn double_to_integer(number: f64) -> Result<i64, Fault> {
    let rounded = number.round_ties_even();
    // -2^63 is a double, 2^63 - 1 is not.
    if (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&rounded) {
        Ok(rounded as i64)
    } else {
        Err(Fault::NoInteger(number))
    }
}

/// The text that replaces a variable in a statement, in pgbench's format.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("NULL"),
            Self::Bool(truth) => write!(f, "{truth}"),
            Self::Integer(number) => write!(f, "{number}"),
            Self::Double(number) => write_double(f, *number),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// Significant digits of a double: as many as any double keeps.
const DIGITS: i32 = 15;

/// Writes a double as C's `%.15g`, with PostgreSQL's words for NaN and infinity.
fn write_double(f: &mut fmt::Formatter<'_>, number: f64) -> fmt::Result {
    if !number.is_finite() {
        let word = if number.is_nan() { "NaN" } else { "Infinity" };
        return write!(f, "{}{word}", if number == f64::NEG_INFINITY { "-" } else { "" });
    }
    let scientific = format!("{number:.*e}", DIGITS as usize - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..DIGITS).contains(&exponent) {
        let fixed = format!("{number:.*}", (DIGITS - 1 - exponent) as usize);
        f.write_str(without_trailing_zeros(&fixed))
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        write!(f, "{}e{sign}{:02}", without_trailing_zeros(mantissa), exponent.abs())
    }
}

fn without_trailing_zeros(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}

/// An operator of two values; its result is NULL if one of them is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Operator {
    /// AND and OR with the truth value that decides: where the first value does not, the result is
    /// the second one.
    Logical(bool),
    /// A comparison that holds for this order; `None` is that of not-a-number, which only differs.
    Comparison(fn(Option<Ordering>) -> bool),
    /// Integers only; `None`: the second one is 0.
    Integers(fn(i64, i64) -> Option<i64>),
    /// Integers, or doubles if one of them is; of integers that overflow, the name of the result.
    Numbers(fn(i64, i64) -> Option<i64>, fn(f64, f64) -> f64, &'static str),
}

impl Operator {
    pub const XOR: Self = Self::Integers(|left, right| Some(left ^ right));
    pub const SUBTRACT: Self = Self::Numbers(i64::checked_sub, f64::sub, "the difference");
    pub const REMAINDER: Self =
        Self::Integers(|left, right| (right != 0).then(|| left.wrapping_rem(right)));

    /// The value of the operator: NULL with NULL, doubles if one side is a double, integers
    /// otherwise.
    pub fn apply(self, left: &Value, right: &Value) -> Result<Value, Fault> {
        if matches!((left, right), (Value::Null, _) | (_, Value::Null)) {
            return Ok(Value::Null);
        }
        let is_double = matches!((left, right), (Value::Double(_), _) | (_, Value::Double(_)));
        let (integers, result) = match self {
            Self::Logical(_) => return right.to_bool().map(Value::Bool),

            Self::Comparison(holds) if is_double => {
                let order = left.to_double()?.partial_cmp(&right.to_double()?);
                return Ok(Value::Bool(holds(order)));
            }
            Self::Comparison(holds) => {
                let order = left.to_integer()?.cmp(&right.to_integer()?);
                return Ok(Value::Bool(holds(Some(order))));
            }
            Self::Numbers(_, doubles, _) if is_double => {
                return Ok(Value::Double(doubles(left.to_double()?, right.to_double()?)));
            }
            Self::Integers(integers) => (integers, ""),
            Self::Numbers(integers, _, result) => (integers, result),
        };
        let (left, right) = (left.to_integer()?, right.to_integer()?);
        let fault = if right == 0 { Fault::DivisionByZero } else { Fault::Overflow(result) };
        integers(left, right).map(Value::Integer).ok_or(fault)
    }
}

/// A random function with a parameter.
type Draw = fn(Bounds, f64, &mut Xoshiro256PlusPlus) -> Result<i64, Fault>;

/// A function of expressions.
#[derive(Debug)]
pub(super) struct Function {
    pub name: &'static str,
    /// Fewest and most arguments. The last one of two numbers of them is a seed, `:default_seed`
    /// if left out.
    pub arguments: (usize, usize),
    pub call: Call,
}

/// The calculation of a function.
#[derive(Debug, Clone, Copy)]
pub(super) enum Call {
    Pi,
    Debug,
    Abs,
    Int,
    /// A function of a double.
    Double(fn(f64) -> f64),
    Power,
    Operator(Operator),
    /// The one of any numbers that compares so with the others.
    Extreme(Ordering),
    /// A function of a range.
    Range(fn(Bounds, &mut Xoshiro256PlusPlus) -> i64),
    /// A function of the number of groups and of digits in each.
    Digits,
    /// A random text of this length.
    Text,
    /// The text of a number with zeros before it up to this length.
    ZeroPad,
    /// The next key of the shared sequence, which begins with this one.
    NewKey,
    /// The last key of that sequence before which no transaction is running.
    LatestKey,
    /// A function of a range and a parameter.
    Draw(Draw),
    /// A function of an integer and a seed.
    Hash(fn(i64, i64) -> i64),
    Permute,
}

const fn function(name: &'static str, least: usize, most: usize, call: Call) -> Function {
    Function { name, arguments: (least, most), call }
}

/// All functions, by name.
pub(super) const FUNCTIONS: &[Function] = &[
    function("abs", 1, 1, Call::Abs),
    function("debug", 1, 1, Call::Debug),
    function("double", 1, 1, Call::Double(std::convert::identity)),
    function("exp", 1, 1, Call::Double(f64::exp)),
    function("greatest", 1, usize::MAX, Call::Extreme(Ordering::Greater)),
    function("hash", 1, 2, Call::Hash(random::murmur2)),
    function("hash_fnv1a", 1, 2, Call::Hash(random::fnv1a)),
    function("hash_murmur2", 1, 2, Call::Hash(random::murmur2)),
    function("int", 1, 1, Call::Int),
    function("latest_key", 1, 1, Call::LatestKey),
    function("least", 1, usize::MAX, Call::Extreme(Ordering::Less)),
    function("ln", 1, 1, Call::Double(f64::ln)),
    function("mod", 2, 2, Call::Operator(Operator::REMAINDER)),
    function("new_key", 1, 1, Call::NewKey),
    function("permute", 2, 3, Call::Permute),
    function("pi", 0, 0, Call::Pi),
    function("pow", 2, 2, Call::Power),
    function("power", 2, 2, Call::Power),
    function("random", 2, 2, Call::Range(random::uniform)),
    function("random_digits", 2, 2, Call::Digits),
    function("random_exponential", 3, 3, Call::Draw(random::exponential)),
    function("random_gaussian", 3, 3, Call::Draw(random::gaussian)),
    function("random_pareto", 3, 3, Call::Draw(random::pareto)),
    function("random_special", 2, 2, Call::Range(random::special)),
    function("random_text", 1, 1, Call::Text),
    function("random_zipfian", 3, 3, Call::Draw(random::zipfian)),
    function("sqrt", 1, 1, Call::Double(f64::sqrt)),
    function("zero_pad", 2, 2, Call::ZeroPad),
];

impl Function {
    /// The function with this name, in any case.
    pub fn by_name(name: &str) -> Option<&'static Self> {
        FUNCTIONS.iter().find(|function| function.name.eq_ignore_ascii_case(name))
    }
}
