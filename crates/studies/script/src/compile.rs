//! Makes a script's text into commands: SQL statements, and lines that begin with a backslash.

use crate::error::{Fault, Problem};
use crate::expression::{Expression, parse_expression, skip_blanks};
use crate::names::{Names, Slot, is_name};
use crate::sql::{Ending, Keep, Protocol, Region, Statement, next_command, statement};
use crate::value::Value;
use work::UserStatement;

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
    pub statements: Vec<Statement>,
}

/// A compiled command. Conditional blocks have become forward jumps.
#[derive(Debug)]
pub(super) enum Action {
    /// Asks the server: the position in the list of statements.
    Ask(usize),
    Set {
        slot: Slot,
        expression: Expression,
    },
    Sleep {
        amount: Amount,
        unit_us: u64,
    },
    /// Adds to a counter when the transaction is committed.
    Count {
        counter: usize,
        amount: Expression,
    },
    /// Jumps to this command unless the condition holds.
    Unless {
        condition: Expression,
        target: usize,
    },
    /// Jumps to this command.
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
) -> Result<Body, Problem> {
    let mut compiler = Compiler {
        text,
        protocol,
        names,
        prepared,
        body: Body::default(),
        blocks: Vec::new(),
        after_sql: false,
        last: (0, 1, 1),
    };
    compiler.run()?;
    if let Some(open) = compiler.blocks.last() {
        return Err(Problem::new(open.offset, "\\if without \\endif"));
    }
    if compiler.body.commands.is_empty() {
        return Err(Problem::new(0, "the script has no commands"));
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
    /// Offset, line and column of the last command: from there on they are counted, so that each
    /// character is counted once, however long a script is.
    last: (usize, usize, usize),
}

impl Compiler<'_> {
    fn run(&mut self) -> Result<(), Problem> {
        let mut at = 0;
        loop {
            let (command, ending, next) = next_command(self.text, at)?;
            let empty = command.parts.iter().all(|(region, range)| {
                *region == Region::Comment || self.text[range.clone()].trim_ascii().is_empty()
            });
            if !empty || ending == Ending::Semicolon {
                let statement =
                    statement(self.text, &command, self.protocol, self.names, self.prepared)?;
                let offset = command.parts.first().map_or(next - 1, |(_, range)| range.start);
                self.push(offset, Action::Ask(self.body.statements.len()));
                self.body.statements.push(statement);
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
        let (last, line, column) = self.last;
        let since = &self.text[last..offset];
        let (line, column) = match since.rfind('\n') {
            None => (line, column + since.chars().count()),
            Some(end) => (line + since.matches('\n').count(), since[end..].chars().count()),
        };
        self.last = (offset, line, column);
        self.body.commands.push(Command { line, column, action });
    }

    /// The meta command at this backslash; gives the offset of what follows.
    fn meta(&mut self, backslash: usize) -> Result<usize, Problem> {
        let end = line_end(self.text, backslash);
        let mut words = Words { text: self.text, at: backslash + 1, end };
        let Some((name, _)) = words.next() else {
            return Err(Problem::new(backslash, "a command is missing after the backslash"));
        };
        match name.to_ascii_lowercase().as_str() {
            "set" => {
                let (variable, offset) = words.required("a variable's name")?;
                let expression = words.expression(self.names)?;
                check_name(variable, offset)?;
                let slot = self.names.assign(variable);
                self.push(backslash, Action::Set { slot, expression });
            }
            "sleep" => {
                let sleep = sleep(&mut words, self.names)?;
                self.push(backslash, sleep);
            }
            "if" => {
                let unless = Some(self.unless(backslash, &words)?);
                self.blocks.push(Block { offset: backslash, unless, jumps: Vec::new() });
            }
            "elif" => {
                self.end_branch(backslash, "\\elif")?;
                let unless = Some(self.unless(backslash, &words)?);
                if let Some(block) = self.blocks.last_mut() {
                    block.unless = unless;
                }
            }
            "else" => {
                words.nothing_more()?;
                self.end_branch(backslash, "\\else")?;
            }
            "endif" => {
                words.nothing_more()?;
                let Some(block) = self.blocks.pop() else {
                    return Err(Problem::new(backslash, "\\endif without \\if"));
                };
                for jump in block.jumps.into_iter().chain(block.unless) {
                    self.land(jump);
                }
            }
            "count" => {
                let (name, offset) = words.required("a counter's name")?;
                check_name(name, offset)?;
                let amount = if words.is_at_end() {
                    Expression::Constant(Value::Integer(1))
                } else {
                    words.expression(self.names)?
                };
                let counter = self.names.counter(name);
                self.push(backslash, Action::Count { counter, amount });
            }
            "refused" => {
                let (name, offset) = words.required("a counter's name")?;
                check_name(name, offset)?;
                words.nothing_more()?;
                let counter = self.names.counter(name);
                let statement = self.body.statements.last_mut().filter(|_| self.after_sql);
                let statement = statement.ok_or_else(|| {
                    Problem::new(backslash, "\\refused must follow a SQL command")
                })?;
                statement.refused = Some(counter);
            }
            "gset" => self.keep(backslash, &mut words, false)?,
            "aset" => self.keep(backslash, &mut words, true)?,
            other => return Err(Problem::new(backslash, refusal(other))),
        }
        self.after_sql = false;
        Ok(end)
    }

    /// A condition that does not know yet where to go when it does not hold.
    fn unless(&mut self, offset: usize, words: &Words<'_>) -> Result<usize, Problem> {
        let condition = words.expression(self.names)?;
        self.push(offset, Action::Unless { condition, target: usize::MAX });
        Ok(self.body.commands.len() - 1)
    }

    /// Ends the branch before an `\elif` or `\else`, to which its condition goes.
    fn end_branch(&mut self, offset: usize, name: &str) -> Result<(), Problem> {
        let Some(block) = self.blocks.last_mut() else {
            return Err(Problem::new(offset, format!("{name} without \\if")));
        };
        let Some(unless) = block.unless.take() else {
            return Err(Problem::new(offset, format!("{name} after \\else")));
        };
        block.jumps.push(self.body.commands.len());
        self.push(offset, Action::Jump { target: usize::MAX });
        self.land(unless);
        Ok(())
    }

    /// This jump goes to the next command.
    fn land(&mut self, jump: usize) {
        let next = self.body.commands.len();
        if let Action::Unless { target, .. } | Action::Jump { target } =
            &mut self.body.commands[jump].action
        {
            *target = next;
        }
    }

    fn keep(&mut self, backslash: usize, words: &mut Words<'_>, each: bool) -> Result<(), Problem> {
        let (prefix, offset) = words.next().unwrap_or_default();
        if !prefix.is_empty() {
            check_name(prefix, offset)?;
        }
        words.nothing_more()?;
        self.names.note_prefix(prefix);
        let Some(statement) = self.body.statements.last_mut().filter(|_| self.after_sql) else {
            return Err(Problem::new(backslash, "\\gset and \\aset must follow a SQL command"));
        };
        statement.keep = Some(Keep { prefix: prefix.to_owned(), each });
        Ok(())
    }
}

/// The time that `\sleep` takes, in its unit.
#[derive(Debug, Clone, Copy)]
pub(super) enum Amount {
    Fixed(i64),
    Variable(Slot),
}

const COMMANDS: &[&str] =
    &["set", "sleep", "count", "refused", "if", "elif", "else", "endif", "gset", "aset"];

/// Where the meta command at this backslash ends: at the end of its line, unless that is a
/// backslash.
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

fn refusal(name: &str) -> String {
    match name {
        "shell" | "setshell" => format!(
            "\\{name} is not supported: a program started in a transaction would be part of the \
             measurement; run it in the experiment's hooks"
        ),
        "startpipeline" | "endpipeline" | "syncpipeline" => format!(
            "\\{name} is not supported: a script sends its statements one by one; `\\;` combines \
             several in the simple protocol"
        ),
        _ => experiment::unknown_name("meta command", name, COMMANDS),
    }
}

fn check_name(name: &str, offset: usize) -> Result<(), Problem> {
    if is_name(name) {
        Ok(())
    } else {
        Err(Problem { offset, fault: Fault::NotAName(name.to_owned()) })
    }
}

/// `10 ms`, `10ms`, `:variable us`, or seconds.
fn sleep(words: &mut Words<'_>, names: &mut Names) -> Result<Action, Problem> {
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
            Problem::new(offset, format!("`{word}` is not a time: a whole number or a :variable"))
        })?)
    };
    if unit.is_none() {
        unit = words.next();
    }
    words.nothing_more()?;
    let (unit, offset) = unit.unwrap_or(("s", 0));
    let unit_us = match unit.to_ascii_lowercase().as_str() {
        "us" => 1,
        "ms" => 1_000,
        "s" => 1_000_000,
        unknown => {
            return Err(Problem::new(
                offset,
                format!("`{unknown}` is not a unit of time: us, ms or s"),
            ));
        }
    };
    Ok(Action::Sleep { amount, unit_us })
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

    fn required(&mut self, what: &str) -> Result<(&'a str, usize), Problem> {
        self.next().ok_or_else(|| Problem::new(self.end, format!("{what} is missing")))
    }

    fn is_at_end(&self) -> bool {
        skip_blanks(self.text, self.at, self.end) == self.end
    }

    fn nothing_more(&mut self) -> Result<(), Problem> {
        match self.next() {
            None => Ok(()),
            Some((word, offset)) => {
                Err(Problem::new(offset, format!("unexpected argument `{word}`")))
            }
        }
    }

    fn expression(&self, names: &mut Names) -> Result<Expression, Problem> {
        parse_expression(self.text, self.at, self.end, names)
    }
}
