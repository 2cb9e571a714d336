//! Expressions: their words and signs, and what they mean together.

use crate::error::Problem;
use crate::names::{Names, Slot, continues_name};
use crate::value::{FUNCTIONS, Function, Operator, Value};
use std::cmp::Ordering;
use std::ops::{Add as _, Div as _, Mul as _};

/// An expression of `\set`, `\if` or `\elif`.
#[derive(Debug)]
pub(super) enum Expression {
    Constant(Value),
    Variable(Slot),
    Not(Box<Self>),
    /// Test of the operand for this constant: NULL, TRUE or FALSE.
    Is(Box<Self>, Value),
    Binary(Operator, Box<[Self; 2]>),
    Call(&'static Function, Vec<Self>),
    Case {
        /// Conditions and what they give.
        branches: Vec<[Self; 2]>,
        otherwise: Option<Box<Self>>,
    },
}

/// Most operands of an expression, and its deepest nesting: it is parsed and evaluated recursively,
/// on a thread's stack.
const OPERANDS_MAX: usize = 1_000;
const DEPTH_MAX: usize = 100;

// How tightly operators bind, as pgbench's manual orders them.
const OR: u8 = 1;
const AND: u8 = 2;
const NOT: u8 = 3;
const IS: u8 = 4;
const COMPARISON: u8 = 5;
const BITWISE: u8 = 6;
const SUM: u8 = 7;
const PRODUCT: u8 = 8;
const UNARY: u8 = 9;

/// Binary operators with their binding strength. Two characters first: the longest operator
/// matches.
const OPERATORS: &[(&str, u8, Operator)] = &[
    ("or", OR, Operator::Logical(true)),
    ("and", AND, Operator::Logical(false)),
    ("<>", COMPARISON, Operator::Comparison(|order| order.is_none_or(Ordering::is_ne))),
    ("!=", COMPARISON, Operator::Comparison(|order| order.is_none_or(Ordering::is_ne))),
    ("<=", COMPARISON, Operator::Comparison(|order| order.is_some_and(Ordering::is_le))),
    (">=", COMPARISON, Operator::Comparison(|order| order.is_some_and(Ordering::is_ge))),
    // As on pgbench's processors: only the lowest six bits of the distance count.
    ("<<", BITWISE, Operator::Integers(|left, right| Some(left.wrapping_shl(right as u32)))),
    (">>", BITWISE, Operator::Integers(|left, right| Some(left.wrapping_shr(right as u32)))),
    ("<", COMPARISON, Operator::Comparison(|order| order.is_some_and(Ordering::is_lt))),
    (">", COMPARISON, Operator::Comparison(|order| order.is_some_and(Ordering::is_gt))),
    ("=", COMPARISON, Operator::Comparison(|order| order.is_some_and(Ordering::is_eq))),
    ("|", BITWISE, Operator::Integers(|left, right| Some(left | right))),
    ("#", BITWISE, Operator::XOR),
    ("&", BITWISE, Operator::Integers(|left, right| Some(left & right))),
    ("+", SUM, Operator::Numbers(i64::checked_add, f64::add, "the sum")),
    ("-", SUM, Operator::SUBTRACT),
    ("*", PRODUCT, Operator::Numbers(i64::checked_mul, f64::mul, "the product")),
    ("/", PRODUCT, Operator::Numbers(i64::checked_div, f64::div, "the quotient")),
    ("%", PRODUCT, Operator::REMAINDER),
];

/// The signs that are not binary operators.
const OTHER_SIGNS: [&str; 4] = ["~", "(", ")", ","];

/// Parses the expression between two offsets of a script's text.
pub(super) fn parse_expression(
    text: &str,
    start: usize,
    end: usize,
    names: &mut Names,
) -> Result<Expression, Problem> {
    let mut lexer = Lexer { text, at: start, end };
    let (token, offset) = lexer.next()?;
    let mut parser = Parser { lexer, token, offset, names, operands: 0, depth: 0 };
    let expression = parser.expression(OR)?;
    if parser.token == Token::End { Ok(expression) } else { Err(parser.unexpected("an operator")) }
}

struct Parser<'a, 'n> {
    lexer: Lexer<'a>,
    /// The next token, and where it begins.
    token: Token<'a>,
    offset: usize,
    names: &'n mut Names,
    operands: usize,
    depth: usize,
}

impl<'a> Parser<'a, '_> {
    fn advance(&mut self) -> Result<Token<'a>, Problem> {
        let (token, offset) = self.lexer.next()?;
        self.offset = offset;
        Ok(std::mem::replace(&mut self.token, token))
    }

    /// Returns whether this word or sign is next.
    fn at(&self, text: &str) -> bool {
        matches!(self.token,
            Token::Word(next) | Token::Sign(next) if next.eq_ignore_ascii_case(text))
    }

    fn eat(&mut self, text: &str) -> Result<bool, Problem> {
        let found = self.at(text);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn expect(&mut self, text: &str) -> Result<(), Problem> {
        if self.eat(text)? { Ok(()) } else { Err(self.unexpected(&format!("`{text}`"))) }
    }

    fn unexpected(&self, text: &str) -> Problem {
        let found = match self.token {
            Token::Integer(number) => format!("`{number}`"),
            Token::BeyondInteger => {
                "9223372036854775808, which is too large for a 64 bit integer".to_owned()
            }
            Token::Double(number) => format!("`{number}`"),
            Token::Variable(name) => format!("`:{name}`"),
            Token::Word(word) | Token::Sign(word) => format!("`{word}`"),
            Token::End => "the end".to_owned(),
        };
        Problem::new(self.offset, format!("{text} expected in the expression, found {found}"))
    }

    /// An operand and the operators that bind at least as tightly as `least`.
    fn expression(&mut self, least: u8) -> Result<Expression, Problem> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            let message = format!("an expression can be nested at most {DEPTH_MAX} deep");
            return Err(Problem::new(self.offset, message));
        }
        let expression = self.operators(least);
        self.depth -= 1;
        expression
    }

    fn operators(&mut self, least: u8) -> Result<Expression, Problem> {
        let mut left = self.operand()?;
        let mut compared = false;
        loop {
            if least <= IS && (self.at("is") || self.at("isnull") || self.at("notnull")) {
                left = self.test(left)?;
                compared = false;
                continue;
            }
            let next = OPERATORS.iter().find(|(text, ..)| self.at(text));
            let Some((_, power, operator)) = next.copied().filter(|(_, power, _)| *power >= least)
            else {
                return Ok(left);
            };
            if power == COMPARISON && compared {
                return Err(self.unexpected("no second comparison"));
            }
            compared = power == COMPARISON;
            self.advance()?;
            let right = self.expression(power + 1)?;
            left = Expression::Binary(operator, Box::new([left, right]));
        }
    }

    /// `IS [NOT] NULL|TRUE|FALSE`, `ISNULL`, `NOTNULL`.
    fn test(&mut self, operand: Expression) -> Result<Expression, Problem> {
        let is = |value| Expression::Is(Box::new(operand), value);
        if self.eat("isnull")? {
            return Ok(is(Value::Null));
        }
        if self.eat("notnull")? {
            return Ok(Expression::Not(Box::new(is(Value::Null))));
        }
        self.expect("is")?;
        let negated = self.eat("not")?;
        let Some(constant) = self.constant()? else {
            return Err(self.unexpected("NULL, TRUE or FALSE"));
        };
        Ok(if negated { Expression::Not(Box::new(is(constant))) } else { is(constant) })
    }

    fn constant(&mut self) -> Result<Option<Value>, Problem> {
        for (word, value) in
            [("null", Value::Null), ("true", Value::Bool(true)), ("false", Value::Bool(false))]
        {
            if self.eat(word)? {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }

    fn operand(&mut self) -> Result<Expression, Problem> {
        self.operands += 1;
        if self.operands > OPERANDS_MAX {
            let message = format!("an expression can have at most {OPERANDS_MAX} operands");
            return Err(Problem::new(self.offset, message));
        }
        if let Some(constant) = self.constant()? {
            return Ok(Expression::Constant(constant));
        }
        let offset = self.offset;
        match self.token {
            Token::Integer(number) => self.literal(Value::Integer(number)),
            Token::Double(number) => self.literal(Value::Double(number)),
            Token::Variable(name) => {
                self.advance()?;
                Ok(Expression::Variable(self.names.value(name, offset)))
            }
            Token::Sign(sign @ ("+" | "-" | "~")) => {
                self.advance()?;
                self.signed(sign)
            }
            Token::Sign("(") => {
                self.advance()?;
                let inner = self.expression(OR)?;
                self.expect(")")?;
                Ok(inner)
            }
            Token::Word(word) if word.eq_ignore_ascii_case("not") => {
                self.advance()?;
                Ok(Expression::Not(Box::new(self.expression(NOT)?)))
            }
            Token::Word(word) if word.eq_ignore_ascii_case("case") => self.case(),
            Token::Word(word) => self.call(word),
            Token::BeyondInteger | Token::Sign(_) | Token::End => Err(self.unexpected("a value")),
        }
    }

    fn literal(&mut self, value: Value) -> Result<Expression, Problem> {
        self.advance()?;
        Ok(Expression::Constant(value))
    }

    /// Parses the value after a sign: `-x` is `0 - x`, `~x` is `-1 # x`.
    fn signed(&mut self, sign: &str) -> Result<Expression, Problem> {
        let (operator, left, power) = match sign {
            "~" => (Operator::XOR, -1, BITWISE + 1),
            "-" if self.token == Token::BeyondInteger => {
                return self.literal(Value::Integer(i64::MIN));
            }
            "-" => (Operator::SUBTRACT, 0, UNARY),
            _ => return self.expression(UNARY),
        };
        let right = self.expression(power)?;
        Ok(Expression::Binary(
            operator,
            Box::new([Expression::Constant(Value::Integer(left)), right]),
        ))
    }

    fn case(&mut self) -> Result<Expression, Problem> {
        self.expect("case")?;
        let mut branches = Vec::new();
        while branches.is_empty() || self.at("when") {
            self.expect("when")?;
            let condition = self.expression(OR)?;
            self.expect("then")?;
            branches.push([condition, self.expression(OR)?]);
        }
        let otherwise = if self.eat("else")? { Some(Box::new(self.expression(OR)?)) } else { None };
        self.expect("end")?;
        Ok(Expression::Case { branches, otherwise })
    }

    fn call(&mut self, name: &str) -> Result<Expression, Problem> {
        let start = self.offset;
        let Some(function) = Function::by_name(name) else {
            let known: Vec<&str> = FUNCTIONS.iter().map(|function| function.name).collect();
            return Err(Problem::new(start, experiment::unknown_name("function", name, &known)));
        };
        self.advance()?;
        if !self.eat("(")? {
            return Err(self.unexpected(&format!("`(` after the function `{}`", function.name)));
        }
        let mut arguments = Vec::new();
        while !self.eat(")")? {
            if !arguments.is_empty() && !self.eat(",")? {
                return Err(self.unexpected("`,` or `)`"));
            }
            arguments.push(self.expression(OR)?);
        }
        let (least, most) = function.arguments;
        if !(least..=most).contains(&arguments.len()) {
            let text = match (least, most) {
                (least, usize::MAX) => format!("at least {least}"),
                (least, most) if least < most => format!("{least} or {most}"),
                (least, _) => least.to_string(),
            };
            let message =
                format!("{} takes {text} arguments, found {}", function.name, arguments.len());
            return Err(Problem::new(start, message));
        }
        if most < usize::MAX && arguments.len() < most {
            arguments.push(Expression::Variable(self.names.value("default_seed", start)));
        }
        Ok(Expression::Call(function, arguments))
    }
}

/// A word or sign of an expression.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Token<'a> {
    Integer(i64),
    /// 9223372036854775808: an integer only behind a minus sign.
    BeyondInteger,
    Double(f64),
    /// A variable, without its colon.
    Variable(&'a str),
    /// A keyword or the name of a function.
    Word(&'a str),
    Sign(&'a str),
    End,
}

/// Takes an expression apart.
struct Lexer<'a> {
    text: &'a str,
    at: usize,
    end: usize,
}

impl<'a> Lexer<'a> {
    /// The next token and where it begins.
    fn next(&mut self) -> Result<(Token<'a>, usize), Problem> {
        self.at = skip_blanks(self.text, self.at, self.end);
        let start = self.at;
        let rest = &self.text[start..self.end];
        let Some(first) = rest.bytes().next() else { return Ok((Token::End, start)) };
        let signs = OPERATORS.iter().map(|(sign, ..)| *sign);
        let (token, length) = if first.is_ascii_digit() || first == b'.' {
            let length = number_length(rest);
            (number(&rest[..length], start)?, length)
        } else if first == b':' {
            let length = name_length(&rest[1..]);
            if length == 0 {
                return Err(Problem::new(start, "a variable's name is missing after the colon"));
            }
            (Token::Variable(&rest[1..=length]), length + 1)
        } else if continues_name(first) {
            let length = name_length(rest);
            (Token::Word(&rest[..length]), length)
        } else if let Some(sign) = signs.chain(OTHER_SIGNS).find(|sign| rest.starts_with(sign)) {
            (Token::Sign(sign), sign.len())
        } else {
            let unknown = rest.chars().next().unwrap_or_default();
            return Err(Problem::new(start, format!("`{unknown}` is not valid in an expression")));
        };
        self.at += length;
        Ok((token, start))
    }
}

/// The first offset that is neither blank nor part of a continuation (a backslash at a line's end).
pub(super) fn skip_blanks(text: &str, mut at: usize, end: usize) -> usize {
    loop {
        let rest = &text[at..end];
        let blanks = rest.len() - rest.trim_ascii_start().len();
        let continuation =
            ["\\\n", "\\\r\n"].iter().find(|mark| rest[blanks..].starts_with(**mark));
        let skipped = blanks + continuation.map_or(0, |mark| mark.len());
        if skipped == 0 {
            return at;
        }
        at += skipped;
    }
}

fn name_length(text: &str) -> usize {
    text.bytes().take_while(|byte| continues_name(*byte)).count()
}

/// Digits, a fraction, an exponent: `12`, `1.`, `.5`, `1.5e-3`.
fn number_length(text: &str) -> usize {
    let digits = |from: usize| text[from..].bytes().take_while(u8::is_ascii_digit).count();
    let mut length = digits(0);
    if text[length..].starts_with('.') {
        length += 1 + digits(length + 1);
    }
    if text[length..].starts_with(['e', 'E']) {
        let sign = usize::from(text[length + 1..].starts_with(['+', '-']));
        let exponent = digits(length + 1 + sign);
        if exponent > 0 {
            length += 1 + sign + exponent;
        }
    }
    length
}

fn number(text: &str, start: usize) -> Result<Token<'static>, Problem> {
    let error = |message: &str| Problem::new(start, format!("`{text}` {message}"));
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        const BEYOND: u64 = i64::MAX.unsigned_abs() + 1;
        return match text.parse::<u64>() {
            Ok(BEYOND) => Ok(Token::BeyondInteger),
            Ok(number) if number < BEYOND => Ok(Token::Integer(number as i64)),
            _ => Err(error("is too large for a 64 bit integer")),
        };
    }
    let number: f64 = text.parse().map_err(|_| error("is not a number"))?;
    let digits = text.split(['e', 'E']).next().unwrap_or_default();
    let written_as_zero = !digits.bytes().any(|byte| (b'1'..=b'9').contains(&byte));
    if number.is_infinite() || (number == 0.0 && !written_as_zero) {
        return Err(error("is too large or too small for a double"));
    }
    Ok(Token::Double(number))
}
