use super::error::Located;
use super::expression::Expression;
use super::lexer::skip_blanks;
use super::names::{Names, Slot, is_name};
use super::parser::parse_expression;

/// A line that begins with a backslash.
#[derive(Debug)]
pub(super) enum Meta {
    Set { slot: Slot, expression: Expression },
    Sleep(Sleep),
    If(Expression),
    Elif(Expression),
    Else,
    Endif,
    Keep(Keep),
}

/// What becomes of a query's results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Keep {
    Nothing,
    /// `\gset`: the columns of the last query's only row.
    One {
        prefix: String,
    },
    /// `\aset`: the columns of each query's last row, if there is one.
    Each {
        prefix: String,
    },
}

/// `\sleep`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sleep {
    pub amount: Amount,
    pub unit_us: u64,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Amount {
    Fixed(i64),
    Variable(Slot),
}

const KNOWN: &[&str] = &["set", "sleep", "if", "elif", "else", "endif", "gset", "aset"];
const SHELLS: &[&str] = &["shell", "setshell"];
const PIPELINES: &[&str] = &["startpipeline", "endpipeline", "syncpipeline"];

/// Where the meta command at this backslash ends: at the end of its line, unless that is a backslash.
pub(super) fn line_end(text: &str, backslash: usize) -> usize {
    let mut at = backslash;
    while let Some(newline) = text[at..].find('\n').map(|found| at + found) {
        let line = &text[backslash + 1..newline];
        if !line.strip_suffix('\r').unwrap_or(line).ends_with('\\') {
            return newline;
        }
        at = newline + 1;
    }
    text.len()
}

/// Parses the meta command between a backslash and the end of its line.
pub(super) fn parse(text: &str, backslash: usize, end: usize, names: &mut Names) -> Result<Meta, Located> {
    let mut words = Words { text, at: backslash + 1, end };
    let Some((name, _)) = words.next() else {
        return Err(Located::new(backslash, "a command is missing after the backslash"));
    };
    match name.to_ascii_lowercase().as_str() {
        "set" => {
            let (variable, offset) = words.required("a variable's name")?;
            let expression = words.expression(names)?;
            check_name(variable, offset)?;
            Ok(Meta::Set { slot: names.assign(variable), expression })
        }
        "if" => Ok(Meta::If(words.expression(names)?)),
        "elif" => Ok(Meta::Elif(words.expression(names)?)),
        "else" => words.nothing_more().map(|()| Meta::Else),
        "endif" => words.nothing_more().map(|()| Meta::Endif),
        "sleep" => sleep(&mut words, names).map(Meta::Sleep),
        "gset" => prefix(&mut words, names).map(|prefix| Meta::Keep(Keep::One { prefix })),
        "aset" => prefix(&mut words, names).map(|prefix| Meta::Keep(Keep::Each { prefix })),
        other => Err(Located::new(backslash, refusal(other))),
    }
}

fn refusal(name: &str) -> String {
    if SHELLS.contains(&name) {
        return format!(
            "\\{name} is not supported: a program started in a transaction would be measured with it; \
             run it before the trial, in the experiment's hooks"
        );
    }
    if PIPELINES.contains(&name) {
        return format!(
            "\\{name} is not supported: a script's statements are sent one by one; `\\;` joins several to one \
             in the simple protocol"
        );
    }
    experiment::unknown_name("meta command", name, KNOWN)
}

fn check_name(name: &str, offset: usize) -> Result<(), Located> {
    if is_name(name) {
        return Ok(());
    }
    let message =
        format!("`{name}` is not a variable's name: letters, digits and underscores, the first no digit");
    Err(Located::new(offset, message))
}

fn prefix(words: &mut Words<'_>, names: &mut Names) -> Result<String, Located> {
    let prefix = match words.next() {
        Some((prefix, offset)) => {
            check_name(prefix, offset)?;
            prefix
        }
        None => "",
    };
    words.nothing_more()?;
    names.note_prefix(prefix);
    Ok(prefix.to_owned())
}

/// `10 ms`, `10ms`, `:variable us`, or seconds.
fn sleep(words: &mut Words<'_>, names: &mut Names) -> Result<Sleep, Located> {
    let (word, offset) = words.required("a time")?;
    let mut unit = None;
    let amount = if let Some(name) = word.strip_prefix(':') {
        check_name(name, offset + 1)?;
        Amount::Variable(names.value(name, offset))
    } else {
        let sign = usize::from(word.starts_with(['+', '-']));
        let digits = word[sign..].bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = word.split_at(sign + digits);
        unit = (!rest.is_empty()).then_some((rest, offset + number.len()));
        let number = number.parse();
        Amount::Fixed(number.map_err(|_| {
            Located::new(offset, format!("`{word}` is not a time: a whole number or a :variable"))
        })?)
    };
    if unit.is_none() {
        unit = words.next();
    }
    words.nothing_more()?;
    let unit_us = match unit.map(|(unit, offset)| (unit.to_ascii_lowercase(), offset)) {
        None => 1_000_000,
        Some((unit, offset)) => match unit.as_str() {
            "us" => 1,
            "ms" => 1_000,
            "s" => 1_000_000,
            _ => {
                let message = format!("`{unit}` is not a unit of time: us, ms or s");
                return Err(Located::new(offset, message));
            }
        },
    };
    Ok(Sleep { amount, unit_us })
}

/// The arguments of a meta command, separated by blanks.
struct Words<'a> {
    text: &'a str,
    at: usize,
    end: usize,
}

impl<'a> Words<'a> {
    /// The next word and its offset.
    fn next(&mut self) -> Option<(&'a str, usize)> {
        let start = skip_blanks(self.text, self.at, self.end);
        let rest = &self.text[start..self.end];
        let length = rest.find(|letter: char| letter.is_ascii_whitespace()).unwrap_or(rest.len());
        self.at = start + length;
        (length > 0).then(|| (&rest[..length], start))
    }

    fn required(&mut self, what: &str) -> Result<(&'a str, usize), Located> {
        self.next().ok_or_else(|| Located::new(self.end, format!("{what} is missing")))
    }

    fn nothing_more(&mut self) -> Result<(), Located> {
        match self.next() {
            None => Ok(()),
            Some((word, offset)) => Err(Located::new(offset, format!("`{word}` is one argument too many"))),
        }
    }

    fn expression(&mut self, names: &mut Names) -> Result<Expression, Located> {
        parse_expression(self.text, self.at, self.end, names)
    }
}
