//! Evaluation of expressions.

use crate::error::Fault;
use crate::expression::Expression;
use crate::names::Names;
use crate::random::{self, Bounds};
use crate::shared::{DrawnNumbers, Sequence};
use crate::value::{Call, Function, Operator, Value};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::cmp::Ordering;

/// Most values of `debug()` that are kept: it is for trying a script out.
const DEBUG_LINES_MAX: usize = 1_000;

/// Variables that an expression can read and change.
pub(super) struct Scope<'a> {
    pub variables: &'a [Option<Value>],
    pub names: &'a Names,
    pub random: &'a mut Xoshiro256PlusPlus,
    /// Output of `debug()`.
    pub debug: &'a mut Vec<String>,
    pub sequence: &'a Sequence,
    pub numbers: &'a mut DrawnNumbers,
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
            Expression::Is(operand, constant) => {
                Ok(Value::Bool(self.evaluate(operand)? == *constant))
            }
            Expression::Binary(operator, sides) => {
                let left = self.evaluate(&sides[0])?;
                // As in pgbench, and unlike SQL, a NULL on the left ends AND and OR.
                if let Operator::Logical(decisive) = operator
                    && (left == Value::Null || left.to_bool()? == *decisive)
                {
                    return Ok(left);
                }
                operator.apply(&left, &self.evaluate(&sides[1])?)
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
            (Call::Operator(operator), [left, right]) => operator.apply(left, right)?,
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
                size => return Err(Fault::PermuteSize(size)),
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
