//! What expressions come to.

use super::expression::{Expression, Operator};
use super::names::Names;
use super::random::{self, Bounds};
use super::value::apply;
use super::{Fault, Value};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::cmp::Ordering;

/// So many values of `debug()` are kept: it is for trying a script out.
const DEBUG_LINES_MAX: usize = 1_000;

/// A random function with a parameter.
type Draw = fn(Bounds, f64, &mut Xoshiro256PlusPlus) -> Result<i64, Fault>;

/// A function of expressions.
#[derive(Debug)]
pub(super) struct Function {
    pub name: &'static str,
    call: Call,
}

/// How a function is calculated.
#[derive(Debug, Clone, Copy)]
enum Call {
    Pi,
    Debug,
    Abs,
    Int,
    /// Of a double.
    Double(fn(f64) -> f64),
    Power,
    Operator(Operator),
    /// The one of any numbers that compares so with the others.
    Extreme(Ordering),
    Uniform,
    /// Of a range and a parameter.
    Draw(Draw),
    /// Of an integer and a seed.
    Hash(fn(i64, i64) -> i64),
    Permute,
}

const fn function(name: &'static str, call: Call) -> Function {
    Function { name, call }
}

/// All functions, by name.
pub(super) const FUNCTIONS: &[Function] = &[
    function("abs", Call::Abs),
    function("debug", Call::Debug),
    function("double", Call::Double(std::convert::identity)),
    function("exp", Call::Double(f64::exp)),
    function("greatest", Call::Extreme(Ordering::Greater)),
    function("hash", Call::Hash(random::murmur2)),
    function("hash_fnv1a", Call::Hash(random::fnv1a)),
    function("hash_murmur2", Call::Hash(random::murmur2)),
    function("int", Call::Int),
    function("least", Call::Extreme(Ordering::Less)),
    function("ln", Call::Double(f64::ln)),
    function("mod", Call::Operator(Operator::Remainder)),
    function("permute", Call::Permute),
    function("pi", Call::Pi),
    function("pow", Call::Power),
    function("power", Call::Power),
    function("random", Call::Uniform),
    function("random_exponential", Call::Draw(random::exponential)),
    function("random_gaussian", Call::Draw(random::gaussian)),
    function("random_zipfian", Call::Draw(random::zipfian)),
    function("sqrt", Call::Double(f64::sqrt)),
];

impl Function {
    /// The function with this name, in any case.
    pub fn by_name(name: &str) -> Option<&'static Self> {
        FUNCTIONS.iter().find(|function| function.name.eq_ignore_ascii_case(name))
    }

    /// Fewest and most arguments.
    pub fn arguments(&self) -> (usize, usize) {
        match self.call {
            Call::Pi => (0, 0),
            Call::Debug | Call::Abs | Call::Int | Call::Double(_) => (1, 1),
            Call::Power | Call::Operator(_) | Call::Uniform => (2, 2),
            Call::Draw(_) => (3, 3),
            Call::Hash(_) => (1, 2),
            Call::Permute => (2, 3),
            Call::Extreme(_) => (1, usize::MAX),
        }
    }

    /// Whether the last argument may be left out and is `:default_seed` then.
    pub fn is_seeded(&self) -> bool {
        matches!(self.call, Call::Hash(_) | Call::Permute)
    }
}

/// What an expression can see and change.
pub(super) struct Scope<'a> {
    pub variables: &'a [Option<Value>],
    pub names: &'a Names,
    pub random: &'a mut Xoshiro256PlusPlus,
    /// What `debug()` has said.
    pub debug: &'a mut Vec<String>,
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
            Expression::And(sides) => self.logical(sides, false),
            Expression::Or(sides) => self.logical(sides, true),
            Expression::Is(operand, constant) => Ok(Value::Bool(self.evaluate(operand)? == *constant)),
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
        let name = || self.names.name(slot).to_owned();
        let value = self.variables[slot].as_ref().ok_or_else(|| Fault::Undefined(name()))?;
        value.typed().ok_or_else(|| Fault::Malformed { name: name(), text: value.to_string() })
    }

    /// AND (decided by FALSE) and OR (decided by TRUE). As in pgbench, and unlike SQL, a NULL on the
    /// left is the answer.
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

    fn call(&mut self, function: &'static Function, arguments: &[Expression]) -> Result<Value, Fault> {
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
        let bounds =
            |least: &Value, most: &Value| Bounds::new(function.name, least.to_integer()?, most.to_integer()?);
        Ok(match (function.call, &*values) {
            (Call::Operator(operator), [left, right]) => apply(operator, left, right)?,
            (Call::Abs, [Value::Double(number)]) => Value::Double(number.abs()),
            // pgbench lets the absolute value of the smallest integer overflow, too.
            (Call::Abs, [number]) => Value::Integer(number.to_integer()?.wrapping_abs()),
            (Call::Int, [number]) => Value::Integer(number.to_integer()?),
            (Call::Double(of), [number]) => Value::Double(of(number.to_double()?)),
            (Call::Power, [base, power]) => Value::Double(base.to_double()?.powf(power.to_double()?)),
            (Call::Hash(of), [number, seed]) => Value::Integer(of(number.to_integer()?, seed.to_integer()?)),
            (Call::Uniform, [least, most]) => {
                Value::Integer(random::uniform(bounds(least, most)?, self.random))
            }
            (Call::Draw(draw), [least, most, parameter]) => {
                Value::Integer(draw(bounds(least, most)?, parameter.to_double()?, self.random)?)
            }
            (Call::Permute, [number, size, seed]) => permuted(number, size, seed)?,
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

fn permuted(number: &Value, size: &Value, seed: &Value) -> Result<Value, Fault> {
    let (number, size, seed) = (number.to_integer()?, size.to_integer()?, seed.to_integer()?);
    if size <= 0 {
        let message = format!("the size has to be above 0, not {size}");
        return Err(Fault::Argument { function: "permute", message });
    }
    Ok(Value::Integer(random::permute(number, size, seed)))
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
