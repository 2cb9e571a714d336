//! Makes a script's text into commands: SQL statements, and lines that begin with a backslash.

use super::error::{Located, line_and_column};
use super::expression::{Expression, parse_expression, skip_blanks};
use super::mix::Protocol;
use super::names::{Names, Slot, is_name};
use super::split::{Ending, Region, next_command};
use super::statement::{self, Statement};
use engines::UserStatement;

/// A command with its place in the script.
#[derive(Debug)]
pub(super) struct Command {
    pub line: usize,
    pub column: usize,
    pub action: Action,
}

/// A script's commands and the statements among them.
#[derive(Debug, Default)]
pub(super) struct Body {
    pub commands: Vec<Command>,
    pub asks: Vec<Ask>,
}

/// A statement for the server.
#[derive(Debug)]
pub(super) struct Ask {
    pub statement: Statement,
    pub keep: Keep,
}

/// What a command does. Conditional blocks have become jumps, all of them forward.
#[derive(Debug)]
pub(super) enum Action {
    /// Asks the server: the position in the list of statements.
    Ask(usize),
    Set {
        slot: Slot,
        expression: Expression,
    },
    Sleep(Sleep),
    /// Goes on at this command unless the condition holds.
    Unless {
        condition: Expression,
        target: usize,
    },
    /// Goes on at this command.
    Jump {
        target: usize,
    },
}

/// Turns a script's text into its commands; statements to be prepared are added to `prepared`.
pub(super) fn compile(
    text: &str,
    protocol: Protocol,
    names: &mut Names,
    prepared: &mut Vec<UserStatement>,
) -> Result<Body, Located> {
    let mut compiler = Compiler {
        text,
        protocol,
        names,
        prepared,
        body: Body::default(),
        blocks: Vec::new(),
        after_sql: false,
    };
    compiler.run()?;
    if let Some(open) = compiler.blocks.last() {
        return Err(Located::new(open.offset, "\\if without \\endif"));
    }
    if compiler.body.commands.is_empty() {
        return Err(Located::new(0, "the script has no commands"));
    }
    Ok(compiler.body)
}

/// An `\if` that has not come to its `\endif`.
struct Block {
    offset: usize,
    /// The condition that still needs to know where to go when it does not hold.
    unless: Option<usize>,
    /// Ends of branches, which go to the `\endif`.
    jumps: Vec<usize>,
}

struct Compiler<'a> {
    text: &'a str,
    protocol: Protocol,
    names: &'a mut Names,
    prepared: &'a mut Vec<UserStatement>,
    body: Body,
    blocks: Vec<Block>,
    /// The command before is a statement whose results can be kept.
    after_sql: bool,
}

impl Compiler<'_> {
    fn run(&mut self) -> Result<(), Located> {
        let mut at = 0;
        loop {
            let (command, ending, next) = next_command(self.text, at)?;
            let empty = command.parts.iter().all(|(region, range)| {
                *region == Region::Comment || self.text[range.clone()].trim_ascii().is_empty()
            });
            if !empty || ending == Ending::Semicolon {
                let statement =
                    statement::build(self.text, &command, self.protocol, self.names, self.prepared)?;
                let offset = command.parts.first().map_or(next - 1, |(_, range)| range.start);
                self.push(offset, Action::Ask(self.body.asks.len()));
                self.body.asks.push(Ask { statement, keep: Keep::Nothing });
                self.after_sql = true;
            }
            at = match ending {
                Ending::Semicolon => next,
                Ending::Backslash => self.meta(next)?,
                Ending::EndOfText => return Ok(()),
            };
        }
    }

    fn push(&mut self, offset: usize, action: Action) {
        let (line, column) = line_and_column(self.text, offset);
        self.body.commands.push(Command { line, column, action });
    }

    /// The meta command at this backslash; gives the offset of what follows.
    fn meta(&mut self, backslash: usize) -> Result<usize, Located> {
        let end = line_end(self.text, backslash);
        match parse_meta(self.text, backslash, end, self.names)? {
            Meta::Set { slot, expression } => self.push(backslash, Action::Set { slot, expression }),
            Meta::Sleep(sleep) => self.push(backslash, Action::Sleep(sleep)),
            Meta::If(condition) => {
                let unless = Some(self.unless(backslash, condition));
                self.blocks.push(Block { offset: backslash, unless, jumps: Vec::new() });
            }
            Meta::Elif(condition) => {
                self.end_branch(backslash, "\\elif")?;
                let unless = Some(self.unless(backslash, condition));
                if let Some(block) = self.blocks.last_mut() {
                    block.unless = unless;
                }
            }
            Meta::Else => self.end_branch(backslash, "\\else")?,
            Meta::Endif => {
                let Some(block) = self.blocks.pop() else {
                    return Err(Located::new(backslash, "\\endif without \\if"));
                };
                for jump in block.jumps.into_iter().chain(block.unless) {
                    self.land(jump);
                }
            }
            Meta::Keep(keep) => self.keep(backslash, keep)?,
        }
        self.after_sql = false;
        Ok(end)
    }

    /// A condition that does not know yet where to go when it does not hold.
    fn unless(&mut self, offset: usize, condition: Expression) -> usize {
        self.push(offset, Action::Unless { condition, target: usize::MAX });
        self.body.commands.len() - 1
    }

    /// Ends the branch before an `\elif` or `\else`, to which its condition goes.
    fn end_branch(&mut self, offset: usize, name: &str) -> Result<(), Located> {
        let Some(block) = self.blocks.last_mut() else {
            return Err(Located::new(offset, format!("{name} without \\if")));
        };
        let Some(unless) = block.unless.take() else {
            return Err(Located::new(offset, format!("{name} after \\else")));
        };
        block.jumps.push(self.body.commands.len());
        self.push(offset, Action::Jump { target: usize::MAX });
        self.land(unless);
        Ok(())
    }

    /// This jump goes to the next command.
    fn land(&mut self, jump: usize) {
        let next = self.body.commands.len();
        if let Action::Unless { target, .. } | Action::Jump { target } = &mut self.body.commands[jump].action
        {
            *target = next;
        }
    }

    fn keep(&mut self, backslash: usize, wanted: Keep) -> Result<(), Located> {
        match self.body.asks.last_mut() {
            Some(ask) if self.after_sql => {
                ask.keep = wanted;
                Ok(())
            }
            _ => Err(Located::new(backslash, "\\gset and \\aset have to follow a SQL command")),
        }
    }
}

/// A line that begins with a backslash.
#[derive(Debug)]
enum Meta {
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
fn line_end(text: &str, backslash: usize) -> usize {
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
fn parse_meta(text: &str, backslash: usize, end: usize, names: &mut Names) -> Result<Meta, Located> {
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
