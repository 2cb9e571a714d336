use super::expression::Expression;
use super::function::Function;
use super::names::Names;
use super::random::{self, Bounds};
use super::{Fault, Value, arithmetic, hash, permute};
use rand_xoshiro::Xoshiro256PlusPlus;

/// So many values of `debug()` are kept: it is for trying a script out.
const DEBUG_LINES_MAX: usize = 1_000;

/// A random function with a parameter.
type Draw = fn(Bounds, f64, &mut Xoshiro256PlusPlus) -> Result<i64, Fault>;

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
                arithmetic::apply(*operator, &left, &right)
            }
            Expression::Call(function, arguments) => self.call(*function, arguments),
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

    fn call(&mut self, function: Function, arguments: &[Expression]) -> Result<Value, Fault> {
        match function {
            Function::Greatest | Function::Least => return self.extreme(function, arguments),
            Function::Debug => {
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
        match *values {
            [ref value] => one(function, value),
            [ref left, ref right] => self.two(function, left, right),
            [ref first, ref second, ref third] => self.three(function, first, second, third),
            _ => Ok(Value::Double(std::f64::consts::PI)),
        }
    }

    fn two(&mut self, function: Function, left: &Value, right: &Value) -> Result<Value, Fault> {
        if function == Function::Power {
            return Ok(Value::Double(left.to_double()?.powf(right.to_double()?)));
        }
        let (left, right) = (left.to_integer()?, right.to_integer()?);
        Ok(Value::Integer(match function {
            Function::HashFnv1a => hash::fnv1a(left, right),
            Function::HashMurmur2 => hash::murmur2(left, right),
            _ => random::uniform(Bounds::new("random", left, right)?, self.random),
        }))
    }

    fn three(&mut self, function: Function, a: &Value, b: &Value, c: &Value) -> Result<Value, Fault> {
        let (first, second) = (a.to_integer()?, b.to_integer()?);
        let (name, draw): (_, Draw) = match function {
            Function::RandomExponential => ("random_exponential", random::exponential),
            Function::RandomGaussian => ("random_gaussian", random::gaussian),
            Function::RandomZipfian => ("random_zipfian", random::zipfian),
            _ => return permuted(first, second, c.to_integer()?),
        };
        draw(Bounds::new(name, first, second)?, c.to_double()?, self.random).map(Value::Integer)
    }

    /// The greatest or least of numbers: a double if one of them is, NULL if one of them is.
    fn extreme(&mut self, function: Function, arguments: &[Expression]) -> Result<Value, Fault> {
        let mut best: Option<Value> = None;
        let mut null = false;
        for argument in arguments {
            let value = self.evaluate(argument)?;
            if value == Value::Null {
                null = true;
            } else if !null {
                best = Some(further(function, best, &value)?);
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

fn one(function: Function, value: &Value) -> Result<Value, Fault> {
    let double = |result: f64| Ok(Value::Double(result));
    match function {
        Function::Abs => match value {
            Value::Double(number) => double(number.abs()),
            // pgbench lets the absolute value of the smallest integer overflow, too.
            number => Ok(Value::Integer(number.to_integer()?.wrapping_abs())),
        },
        Function::Int => Ok(Value::Integer(value.to_integer()?)),
        Function::Exp => double(value.to_double()?.exp()),
        Function::Ln => double(value.to_double()?.ln()),
        Function::Sqrt => double(value.to_double()?.sqrt()),
        _ => double(value.to_double()?),
    }
}

fn permuted(value: i64, size: i64, seed: i64) -> Result<Value, Fault> {
    if size <= 0 {
        let message = format!("the size has to be above 0, not {size}");
        return Err(Fault::Argument { function: "permute", message });
    }
    Ok(Value::Integer(permute::permute(value, size, seed)))
}

/// The greater (or smaller) of what was best so far and another number.
fn further(function: Function, best: Option<Value>, value: &Value) -> Result<Value, Fault> {
    let greatest = function == Function::Greatest;
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
