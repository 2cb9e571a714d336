use super::error::Located;
use super::names::continues_name;

/// A word or sign of an expression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Token<'a> {
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

/// Two characters first: the longest sign that fits is meant.
const SIGNS: &[&str] = &[
    "<>", "!=", "<=", ">=", "<<", ">>", "<", ">", "=", "|", "#", "&", "~", "+", "-", "*", "/", "%", "(", ")",
    ",",
];

/// Takes an expression apart.
pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
    end: usize,
}

impl<'a> Lexer<'a> {
    /// Of the part of a script's text between two offsets.
    pub fn new(text: &'a str, start: usize, end: usize) -> Self {
        Self { text, at: start, end }
    }

    /// The next token and where it begins.
    pub fn next(&mut self) -> Result<(Token<'a>, usize), Located> {
        self.at = skip_blanks(self.text, self.at, self.end);
        let start = self.at;
        let rest = &self.text[start..self.end];
        let Some(first) = rest.bytes().next() else { return Ok((Token::End, start)) };
        let (token, length) = if first.is_ascii_digit() || first == b'.' {
            let length = number_length(rest);
            (number(&rest[..length], start)?, length)
        } else if first == b':' {
            let length = name_length(&rest[1..]);
            if length == 0 {
                return Err(Located::new(start, "a variable's name is missing after the colon"));
            }
            (Token::Variable(&rest[1..=length]), length + 1)
        } else if continues_name(first) {
            let length = name_length(rest);
            (Token::Word(&rest[..length]), length)
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            (Token::Sign(sign), sign.len())
        } else {
            let unknown = rest.chars().next().unwrap_or_default();
            return Err(Located::new(start, format!("`{unknown}` has no meaning in an expression")));
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
        let continuation = ["\\\n", "\\\r\n"].iter().find(|mark| rest[blanks..].starts_with(**mark));
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

fn number(text: &str, start: usize) -> Result<Token<'static>, Located> {
    let error = |message: &str| Located::new(start, format!("`{text}` {message}"));
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
