//! Values, and what expressions come to.

use crate::error::Fault;
use crate::expression::{Expression, Operator};
use crate::names::Names;
use crate::random::{self, Bounds};
use crate::shared::{OwnNumbers, Sequence};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::cmp::Ordering;
use std::fmt;
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

    fn is_not_a(&self, wanted: &'static str) -> Fault {
        let found = match self {
            Self::Null => "NULL",
            Self::Bool(_) => "a boolean",
            Self::Integer(_) => "an integer",
            Self::Double(_) => "a double",
            Self::Text(_) => "a text",
        };
        Fault::Type { wanted, found }
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
        Err(Fault::NoInteger { number })
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

/// The value of a binary operator: NULL with NULL, doubles if one side is a double, integers
/// otherwise. `%` and the operators on bits are of integers only.
pub(super) fn apply(operator: Operator, left: &Value, right: &Value) -> Result<Value, Fault> {
    if matches!((left, right), (Value::Null, _) | (_, Value::Null)) {
        return Ok(Value::Null);
    }
    let is_double = matches!((left, right), (Value::Double(_), _) | (_, Value::Double(_)));
    if is_double && !of_integers_only(operator) {
        return Ok(doubles(operator, left.to_double()?, right.to_double()?));
    }
    integers(operator, left.to_integer()?, right.to_integer()?)
}

fn of_integers_only(operator: Operator) -> bool {
    use Operator as O;
    matches!(
        operator,
        O::Remainder | O::BitOr | O::BitXor | O::BitAnd | O::ShiftLeft | O::ShiftRight
    )
}

fn doubles(operator: Operator, left: f64, right: f64) -> Value {
    match operator {
        Operator::Add => Value::Double(left + right),
        Operator::Subtract => Value::Double(left - right),
        Operator::Multiply => Value::Double(left * right),
        Operator::Divide => Value::Double(left / right),
        comparison => Value::Bool(compares(comparison, left.partial_cmp(&right))),
    }
}

fn integers(operator: Operator, left: i64, right: i64) -> Result<Value, Fault> {
    let in_range = |number: Option<i64>, result| number.ok_or(Fault::Overflow { result });
    let result = match operator {
        Operator::Add => in_range(left.checked_add(right), "the sum")?,
        Operator::Subtract => in_range(left.checked_sub(right), "the difference")?,
        Operator::Multiply => in_range(left.checked_mul(right), "the product")?,
        Operator::Divide | Operator::Remainder if right == 0 => {
            return Err(Fault::DivisionByZero);
        }
        Operator::Divide => in_range(left.checked_div(right), "the quotient")?,
        Operator::Remainder => left.wrapping_rem(right),
        Operator::BitOr => left | right,
        Operator::BitXor => left ^ right,
        Operator::BitAnd => left & right,
        // As on pgbench's processors: only the lowest six bits of the distance count.
        Operator::ShiftLeft => left.wrapping_shl(right as u32),
        Operator::ShiftRight => left.wrapping_shr(right as u32),
        comparison => return Ok(Value::Bool(compares(comparison, Some(left.cmp(&right))))),
    };
    Ok(Value::Integer(result))
}

/// Returns the result of a comparison for this order; `None` is that of not-a-number, which only
/// differs.
fn compares(operator: Operator, order: Option<Ordering>) -> bool {
    match operator {
        Operator::Equal => order == Some(Ordering::Equal),
        Operator::NotEqual => order != Some(Ordering::Equal),
        Operator::Less => order == Some(Ordering::Less),
        Operator::LessOrEqual => order.is_some_and(Ordering::is_le),
        Operator::Greater => order == Some(Ordering::Greater),
        _ => order.is_some_and(Ordering::is_ge),
    }
}

/// Most values of `debug()` that are kept: it is for trying a script out.
const DEBUG_LINES_MAX: usize = 1_000;

/// A random function with a parameter.
type Draw = fn(Bounds, f64, &mut Xoshiro256PlusPlus) -> Result<i64, Fault>;

/// A function of expressions.
#[derive(Debug)]
pub(super) struct Function {
    pub name: &'static str,
    /// Fewest and most arguments. The last one of two numbers of them is a seed, `:default_seed`
    /// if left out.
    pub arguments: (usize, usize),
    call: Call,
}

/// The calculation of a function.
#[derive(Debug, Clone, Copy)]
enum Call {
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
    function("mod", 2, 2, Call::Operator(Operator::Remainder)),
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

/// Variables that an expression can read and change.
pub(super) struct Scope<'a> {
    pub variables: &'a [Option<Value>],
    pub names: &'a Names,
    pub random: &'a mut Xoshiro256PlusPlus,
    /// Output of `debug()`.
    pub debug: &'a mut Vec<String>,
    pub sequence: &'a Sequence,
    pub numbers: &'a mut OwnNumbers,
}

impl Scope<'_> {
    pub fn evaluate(&mut self, expression: &Expression) -> Result<Value, Fault> {
        match expression {
            Expression::Constant(value) => Ok(value.clone()),
            Expression::Variable(slot) => self.variable(*slot),
            Expression::Not(operand) => match self.evaluate(operand)? {
                Value::Null => Ok(Value::Null),
                value => Ok(Value::Bool(!value.to_bool()?)),
            },
            Expression::Binary(Operator::And, sides) => self.logical(sides, false),
            Expression::Binary(Operator::Or, sides) => self.logical(sides, true),
            Expression::Is(operand, constant) => {
                Ok(Value::Bool(self.evaluate(operand)? == *constant))
            }
            Expression::Binary(operator, sides) => {
                let (left, right) = (self.evaluate(&sides[0])?, self.evaluate(&sides[1])?);
                apply(*operator, &left, &right)
            }
            Expression::Call(function, arguments) => self.call(function, arguments),
            Expression::Case { branches, otherwise } => {
                for [condition, result] in branches {
                    if self.evaluate(condition)?.is_truthy() {
                        return self.evaluate(result);
                    }
                }
                otherwise.as_ref().map_or(Ok(Value::Null), |result| self.evaluate(result))
            }
        }
    }

    fn variable(&self, slot: usize) -> Result<Value, Fault> {
        let value = self.variables[slot].as_ref().ok_or_else(|| self.names.not_set(slot))?;
        value.typed().ok_or_else(|| {
            let name = self.names.name(slot);
            Fault::NotTyped { name: name.to_owned(), value: value.to_string() }
        })
    }

    /// AND (decided by FALSE) and OR (decided by TRUE). As in pgbench, and unlike SQL, a NULL on
    /// the left is the answer.
    fn logical(&mut self, sides: &[Expression; 2], decisive: bool) -> Result<Value, Fault> {
        for side in sides {
            match self.evaluate(side)? {
                Value::Null => return Ok(Value::Null),
                value if value.to_bool()? == decisive => return Ok(Value::Bool(decisive)),
                _ => {}
            }
        }
        Ok(Value::Bool(!decisive))
    }

    fn call(
        &mut self,
        function: &'static Function,
        arguments: &[Expression],
    ) -> Result<Value, Fault> {
        match function.call {
            Call::Extreme(order) => return self.extreme(order, arguments),
            Call::Debug => {
                let value = self.evaluate(&arguments[0])?;
                self.show(&value);
                return Ok(value);
            }
            _ => {}
        }
        // No other function takes more than three.
        let mut values = [Value::Null, Value::Null, Value::Null];
        let values = &mut values[..arguments.len()];
        for (value, argument) in values.iter_mut().zip(arguments) {
            *value = self.evaluate(argument)?;
        }
        if values.contains(&Value::Null) {
            return Ok(Value::Null);
        }
        let bounds = |least: &Value, most: &Value| {
            Bounds::new(function.name, least.to_integer()?, most.to_integer()?)
        };
        Ok(match (function.call, &*values) {
            (Call::Operator(operator), [left, right]) => apply(operator, left, right)?,
            (Call::Abs, [Value::Double(number)]) => Value::Double(number.abs()),
            // pgbench lets the absolute value of the smallest integer overflow, too.
            (Call::Abs, [number]) => Value::Integer(number.to_integer()?.wrapping_abs()),
            (Call::Int, [number]) => Value::Integer(number.to_integer()?),
            (Call::Double(of), [number]) => Value::Double(of(number.to_double()?)),
            (Call::Power, [base, power]) => {
                Value::Double(base.to_double()?.powf(power.to_double()?))
            }
            (Call::Hash(of), [number, seed]) => {
                Value::Integer(of(number.to_integer()?, seed.to_integer()?))
            }
            (Call::Range(draw), [least, most]) => {
                Value::Integer(draw(bounds(least, most)?, self.random))
            }
            (Call::Digits, [groups, digits]) => Value::Text(
                random::digits(groups.to_integer()?, digits.to_integer()?, self.random)?.into(),
            ),
            (Call::Text, [length]) => {
                Value::Text(random::text(length.to_integer()?, self.random)?.into())
            }
            (Call::ZeroPad, [number, length]) => {
                let length = random::length(function.name, length.to_integer()?)?;
                Value::Text(format!("{:0length$}", number.to_integer()?).into())
            }
            (Call::NewKey, [first]) => {
                let number = self.numbers.next(self.sequence) as i64;
                Value::Integer(first.to_integer()?.wrapping_add(number))
            }
            (Call::LatestKey, [first]) => {
                let ended = self.sequence.ended_below() as i64;
                Value::Integer(first.to_integer()?.wrapping_add(ended) - 1)
            }
            (Call::Draw(draw), [least, most, parameter]) => {
                Value::Integer(draw(bounds(least, most)?, parameter.to_double()?, self.random)?)
            }
            (Call::Permute, [number, size, seed]) => match size.to_integer()? {
                size if size > 0 => {
                    Value::Integer(random::permute(number.to_integer()?, size, seed.to_integer()?))
                }
                size => return Err(Fault::PermuteSize { size }),
            },
            _ => Value::Double(std::f64::consts::PI),
        })
    }

    /// The greatest or least of numbers: a double if one of them is, NULL if one of them is.
    fn extreme(&mut self, order: Ordering, arguments: &[Expression]) -> Result<Value, Fault> {
        let mut best: Option<Value> = None;
        let mut null = false;
        for argument in arguments {
            let value = self.evaluate(argument)?;
            if value == Value::Null {
                null = true;
            } else if !null {
                best = Some(further(order, best, &value)?);
            }
        }
        Ok(best.filter(|_| !null).unwrap_or(Value::Null))
    }

    fn show(&mut self, value: &Value) {
        if self.debug.len() < DEBUG_LINES_MAX {
            self.debug.push(match value {
                Value::Null => "null".to_owned(),
                Value::Bool(_) => format!("boolean {value}"),
                Value::Integer(_) => format!("int {value}"),
                Value::Double(_) => format!("double {value}"),
                Value::Text(_) => format!("text {value}"),
            });
        }
    }
}

/// The greater (or smaller) of what was best so far and another number.
fn further(order: Ordering, best: Option<Value>, value: &Value) -> Result<Value, Fault> {
    let greatest = order == Ordering::Greater;
    match (best, value) {
        (None, Value::Double(number)) => Ok(Value::Double(*number)),
        (None, number) => Ok(Value::Integer(number.to_integer()?)),
        (Some(Value::Integer(best)), Value::Integer(number)) => {
            Ok(Value::Integer(if greatest { best.max(*number) } else { best.min(*number) }))
        }
        (Some(best), number) => {
            let (best, number) = (best.to_double()?, number.to_double()?);
            Ok(Value::Double(if greatest { best.max(number) } else { best.min(number) }))
        }
    }
}
