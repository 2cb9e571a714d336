use super::error::{Located, line_and_column};
use super::expression::Expression;
use super::meta::{self, Keep, Meta, Sleep};
use super::mix::Protocol;
use super::names::{Names, Slot};
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
        let end = meta::line_end(self.text, backslash);
        match meta::parse(self.text, backslash, end, self.names)? {
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
