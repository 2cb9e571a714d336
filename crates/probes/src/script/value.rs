use super::Fault;
use super::expression::Operator;
use engines::Parameter;
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

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
    /// What a text means in an expression: NULL, a boolean (also `t`, `yes`, `off`...: any beginning
    /// that is not ambiguous), an integer or a double. `None` when it is none of these.
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

    /// What it says about conditions: a number other than 0 is true, NULL is false.
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
        let got = match self {
            Self::Null => "NULL",
            Self::Bool(_) => "a boolean",
            Self::Integer(_) => "an integer",
            Self::Double(_) => "a double",
            Self::Text(_) => "a text",
        };
        Fault::Type { wanted, got }
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
        Err(Fault::NotAnInteger(number))
    }
}

/// The text that stands in a statement for a variable: as pgbench writes it.
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

/// C's `%.15g`, with PostgreSQL's words for what is no number.
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
    matches!(operator, O::Remainder | O::BitOr | O::BitXor | O::BitAnd | O::ShiftLeft | O::ShiftRight)
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
    let in_range = |result: Option<i64>, what| result.ok_or(Fault::OutOfRange(what));
    let result = match operator {
        Operator::Add => in_range(left.checked_add(right), "the sum")?,
        Operator::Subtract => in_range(left.checked_sub(right), "the difference")?,
        Operator::Multiply => in_range(left.checked_mul(right), "the product")?,
        Operator::Divide | Operator::Remainder if right == 0 => return Err(Fault::DivisionByZero),
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

/// What a comparison says of this order; `None` is that of not-a-number, which only differs.
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
