use super::error::Located;
use super::mix::Protocol;
use super::names::{Names, Slot, begins_name, continues_name};
use super::split::{Command, Region};
use engines::UserStatement;

/// How a statement is put to the server.
#[derive(Debug)]
pub(super) enum Statement {
    Prepared {
        /// Position in the mix's list of statements.
        number: usize,
        parameters: Vec<Slot>,
    },
    /// Text with variables to be filled in.
    Text(Vec<Piece>),
}

#[derive(Debug)]
pub(super) enum Piece {
    Text(String),
    /// Where the variable is not set, its name with the colon stays.
    Variable(Slot),
}

/// The statement that a command of a script stands for; prepared ones are added to `prepared`.
pub(super) fn build(
    text: &str,
    command: &Command,
    protocol: Protocol,
    names: &mut Names,
    prepared: &mut Vec<UserStatement>,
) -> Result<Statement, Located> {
    match (protocol, command.joint) {
        (Protocol::Simple, _) => Ok(Statement::Text(pieces(text, command, names))),
        (Protocol::Prepared, Some(joint)) => {
            let message = "`\\;` sends two statements at once, which needs the simple protocol";
            Err(Located::new(joint, message))
        }
        (Protocol::Prepared, None) => {
            let (statement, parameters) = with_parameters(text, command, names);
            let known = prepared.iter().position(|known| *known == statement);
            let number = known.unwrap_or(prepared.len());
            if known.is_none() {
                prepared.push(statement);
            }
            Ok(Statement::Prepared { number, parameters })
        }
    }
}

/// Every use of a variable is a parameter of its own, so that each can have another type.
fn with_parameters(text: &str, command: &Command, names: &mut Names) -> (UserStatement, Vec<Slot>) {
    let (mut texts, mut current, mut parameters) = (Vec::new(), String::new(), Vec::new());
    for (region, range) in &command.parts {
        for part in Parts::new(&text[range.clone()]) {
            match (part, region) {
                (Part::Variable { name, at }, Region::Code) => {
                    parameters.push(names.value(name, range.start + at));
                    texts.push(std::mem::take(&mut current));
                    continue;
                }
                (Part::Variable { name, at }, Region::Quoted) => names.note_quoted(name, range.start + at),
                _ => {}
            }
            part.write_as_it_is(&mut current);
        }
    }
    current.truncate(current.trim_ascii_end().len());
    texts.push(current);
    (UserStatement { texts }, parameters)
}

/// Variables are replaced everywhere, also in quotes and comments.
fn pieces(text: &str, command: &Command, names: &mut Names) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut plain = String::new();
    for (_, range) in &command.parts {
        for part in Parts::new(&text[range.clone()]) {
            if let Part::Variable { name, .. } = part {
                pieces.push(Piece::Text(std::mem::take(&mut plain)));
                pieces.push(Piece::Variable(names.slot(name)));
            } else {
                part.write_as_it_is(&mut plain);
            }
        }
    }
    plain.truncate(plain.trim_ascii_end().len());
    pieces.push(Piece::Text(plain));
    pieces.retain(|piece| !matches!(piece, Piece::Text(text) if text.is_empty()));
    pieces
}

#[derive(Debug, Clone, Copy)]
enum Part<'a> {
    Plain(&'a str),
    Variable {
        name: &'a str,
        /// Offset of its colon.
        at: usize,
    },
}

impl Part<'_> {
    fn write_as_it_is(self, text: &mut String) {
        match self {
            Part::Plain(plain) => text.push_str(plain),
            Part::Variable { name, .. } => {
                text.push(':');
                text.push_str(name);
            }
        }
    }
}

/// Tells `:name` from the rest of a text; colons in a row (`::text`) are no variable's.
struct Parts<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parts<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }
}

impl<'a> Iterator for Parts<'a> {
    type Item = Part<'a>;

    fn next(&mut self) -> Option<Part<'a>> {
        let start = self.at;
        let rest = &self.text[start..];
        if rest.is_empty() {
            return None;
        }
        let name = |text: &'a str| {
            text.strip_prefix(':').filter(|name| name.bytes().next().is_some_and(begins_name))
        };
        if let Some(name) = name(rest) {
            let length = name.bytes().take_while(|byte| continues_name(*byte)).count();
            self.at += 1 + length;
            return Some(Part::Variable { name: &name[..length], at: start });
        }
        // All colons at the beginning, then up to the next one.
        let colons = rest.len() - rest.trim_start_matches(':').len();
        let length = rest[colons..].find(':').map_or(rest.len(), |next| colons + next);
        self.at += length;
        Some(Part::Plain(&rest[..length]))
    }
}
