use super::Value;
use super::error::Located;
use super::expression::{Expression, Operator};
use super::function::{self, FUNCTIONS, Function};
use super::lexer::{Lexer, Token};
use super::names::Names;

/// So many operands an expression may have, and so deep it may be nested: it is parsed and evaluated
/// recursively, on a thread's stack.
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

/// Parses the expression between two offsets of a script's text.
pub(super) fn parse_expression(
    text: &str,
    start: usize,
    end: usize,
    names: &mut Names,
) -> Result<Expression, Located> {
    let mut lexer = Lexer::new(text, start, end);
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
    fn advance(&mut self) -> Result<Token<'a>, Located> {
        let (token, offset) = self.lexer.next()?;
        self.offset = offset;
        Ok(std::mem::replace(&mut self.token, token))
    }

    fn at_word(&self, word: &str) -> bool {
        matches!(self.token, Token::Word(next) if next.eq_ignore_ascii_case(word))
    }

    fn eat_word(&mut self, word: &str) -> Result<bool, Located> {
        let found = self.at_word(word);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn eat_sign(&mut self, sign: &str) -> Result<bool, Located> {
        let found = self.token == Token::Sign(sign);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn expect_word(&mut self, word: &str) -> Result<(), Located> {
        if self.eat_word(word)? { Ok(()) } else { Err(self.unexpected(&format!("`{word}`"))) }
    }

    fn unexpected(&self, wanted: &str) -> Located {
        let found = match self.token {
            Token::Integer(number) => format!("`{number}`"),
            Token::BeyondInteger => "9223372036854775808, which is too large for a 64 bit integer".to_owned(),
            Token::Double(number) => format!("`{number}`"),
            Token::Variable(name) => format!("`:{name}`"),
            Token::Word(word) | Token::Sign(word) => format!("`{word}`"),
            Token::End => "the end".to_owned(),
        };
        Located::new(self.offset, format!("{wanted} is expected in the expression, not {found}"))
    }

    /// An operand and the operators that bind at least as tightly as `least`.
    fn expression(&mut self, least: u8) -> Result<Expression, Located> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            let message = format!("an expression is nested at most {DEPTH_MAX} deep");
            return Err(Located::new(self.offset, message));
        }
        let expression = self.operators(least);
        self.depth -= 1;
        expression
    }

    fn operators(&mut self, least: u8) -> Result<Expression, Located> {
        let mut left = self.operand()?;
        let mut compared = false;
        loop {
            if least <= IS && (self.at_word("is") || self.at_word("isnull") || self.at_word("notnull")) {
                left = self.test(left)?;
                compared = false;
                continue;
            }
            let Some((power, make)) = binary(self.token) else { return Ok(left) };
            if power < least {
                return Ok(left);
            }
            if power == COMPARISON && compared {
                return Err(self.unexpected("no second comparison"));
            }
            compared = power == COMPARISON;
            self.advance()?;
            let right = self.expression(power + 1)?;
            left = make.of(Box::new([left, right]));
        }
    }

    /// `IS [NOT] NULL|TRUE|FALSE`, `ISNULL`, `NOTNULL`.
    fn test(&mut self, operand: Expression) -> Result<Expression, Located> {
        let is = |value| Expression::Is(Box::new(operand), value);
        if self.eat_word("isnull")? {
            return Ok(is(Value::Null));
        }
        if self.eat_word("notnull")? {
            return Ok(Expression::Not(Box::new(is(Value::Null))));
        }
        self.expect_word("is")?;
        let negated = self.eat_word("not")?;
        let Some(constant) = self.constant()? else {
            return Err(self.unexpected("NULL, TRUE or FALSE"));
        };
        Ok(if negated { Expression::Not(Box::new(is(constant))) } else { is(constant) })
    }

    fn constant(&mut self) -> Result<Option<Value>, Located> {
        for (word, value) in
            [("null", Value::Null), ("true", Value::Bool(true)), ("false", Value::Bool(false))]
        {
            if self.eat_word(word)? {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }

    fn operand(&mut self) -> Result<Expression, Located> {
        self.operands += 1;
        if self.operands > OPERANDS_MAX {
            let message = format!("an expression has at most {OPERANDS_MAX} operands");
            return Err(Located::new(self.offset, message));
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
                if self.eat_sign(")")? { Ok(inner) } else { Err(self.unexpected("`)`")) }
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

    fn literal(&mut self, value: Value) -> Result<Expression, Located> {
        self.advance()?;
        Ok(Expression::Constant(value))
    }

    /// What follows a sign before a value: `-x` is `0 - x`, `~x` is `-1 # x`.
    fn signed(&mut self, sign: &str) -> Result<Expression, Located> {
        let (operator, left, power) = match sign {
            "~" => (Operator::BitXor, -1, BITWISE + 1),
            "-" if self.token == Token::BeyondInteger => return self.literal(Value::Integer(i64::MIN)),
            "-" => (Operator::Subtract, 0, UNARY),
            _ => return self.expression(UNARY),
        };
        let right = self.expression(power)?;
        Ok(Expression::Binary(operator, Box::new([Expression::Constant(Value::Integer(left)), right])))
    }

    fn case(&mut self) -> Result<Expression, Located> {
        self.expect_word("case")?;
        let mut branches = Vec::new();
        while branches.is_empty() || self.at_word("when") {
            self.expect_word("when")?;
            let condition = self.expression(OR)?;
            self.expect_word("then")?;
            branches.push([condition, self.expression(OR)?]);
        }
        let otherwise = if self.eat_word("else")? { Some(Box::new(self.expression(OR)?)) } else { None };
        self.expect_word("end")?;
        Ok(Expression::Case { branches, otherwise })
    }

    fn call(&mut self, name: &str) -> Result<Expression, Located> {
        let start = self.offset;
        let Some(signature) = function::by_name(name) else {
            let known: Vec<&str> = FUNCTIONS.iter().map(|signature| signature.name).collect();
            return Err(Located::new(start, experiment::unknown_name("function", name, &known)));
        };
        self.advance()?;
        if !self.eat_sign("(")? {
            return Err(self.unexpected(&format!("`(` after the function `{}`", signature.name)));
        }
        let mut arguments = Vec::new();
        while !self.eat_sign(")")? {
            if !arguments.is_empty() && !self.eat_sign(",")? {
                return Err(self.unexpected("`,` or `)`"));
            }
            arguments.push(self.expression(OR)?);
        }
        if !(signature.min..=signature.max).contains(&arguments.len()) {
            let wanted = match (signature.min, signature.max) {
                (min, usize::MAX) => format!("at least {min}"),
                (min, max) if min < max => format!("{min} or {max}"),
                (min, _) => min.to_string(),
            };
            let message =
                format!("{} takes {wanted} arguments, but here are {}", signature.name, arguments.len());
            return Err(Located::new(start, message));
        }
        if signature.seeded && arguments.len() < signature.max {
            arguments.push(Expression::Variable(self.names.value("default_seed", start)));
        }
        Ok(match signature.function {
            Function::Mod => binary_call(arguments),
            function => Expression::Call(function, arguments),
        })
    }
}

/// `mod(a, b)` is `a % b`.
fn binary_call(arguments: Vec<Expression>) -> Expression {
    match <[Expression; 2]>::try_from(arguments) {
        Ok(sides) => Expression::Binary(Operator::Remainder, Box::new(sides)),
        Err(arguments) => Expression::Call(Function::Mod, arguments),
    }
}

/// What a sign or word between two operands makes of them.
#[derive(Clone, Copy)]
enum Maker {
    And,
    Or,
    Operator(Operator),
}

impl Maker {
    fn of(self, sides: Box<[Expression; 2]>) -> Expression {
        match self {
            Self::And => Expression::And(sides),
            Self::Or => Expression::Or(sides),
            Self::Operator(operator) => Expression::Binary(operator, sides),
        }
    }
}

fn binary(token: Token<'_>) -> Option<(u8, Maker)> {
    let (power, operator) = match token {
        Token::Word(word) if word.eq_ignore_ascii_case("or") => return Some((OR, Maker::Or)),
        Token::Word(word) if word.eq_ignore_ascii_case("and") => return Some((AND, Maker::And)),
        Token::Sign("=") => (COMPARISON, Operator::Equal),
        Token::Sign("<>" | "!=") => (COMPARISON, Operator::NotEqual),
        Token::Sign("<") => (COMPARISON, Operator::Less),
        Token::Sign("<=") => (COMPARISON, Operator::LessOrEqual),
        Token::Sign(">") => (COMPARISON, Operator::Greater),
        Token::Sign(">=") => (COMPARISON, Operator::GreaterOrEqual),
        Token::Sign("|") => (BITWISE, Operator::BitOr),
        Token::Sign("#") => (BITWISE, Operator::BitXor),
        Token::Sign("&") => (BITWISE, Operator::BitAnd),
        Token::Sign("<<") => (BITWISE, Operator::ShiftLeft),
        Token::Sign(">>") => (BITWISE, Operator::ShiftRight),
        Token::Sign("+") => (SUM, Operator::Add),
        Token::Sign("-") => (SUM, Operator::Subtract),
        Token::Sign("*") => (PRODUCT, Operator::Multiply),
        Token::Sign("/") => (PRODUCT, Operator::Divide),
        Token::Sign("%") => (PRODUCT, Operator::Remainder),
        _ => return None,
    };
    Some((power, Maker::Operator(operator)))
}
