use super::expression::Operator;
use super::{Fault, Value};
use std::cmp::Ordering;

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
