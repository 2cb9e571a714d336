//! The SQL of a script: where commands end, as psql finds them, and the variables in them.

use crate::compile::Keep;
use crate::mix::{Located, Protocol};
use crate::names::{Names, Slot, begins_name, continues_name, is_name};
use std::ops::Range;
use work::UserStatement;

/// What a part of a command is to SQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Region {
    Code,
    /// A literal or a quoted name.
    Quoted,
    Comment,
}

/// A SQL command as it stands in the script. Empty when there is none.
#[derive(Debug, Default)]
pub(super) struct Command {
    /// Its text, without what separates it from the next one; `\;` is left with its semicolon.
    pub parts: Vec<(Region, Range<usize>)>,
    /// Where a `\;` joins two statements.
    pub joint: Option<usize>,
}

/// What ends a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Semicolon,
    /// The backslash of a meta command.
    Backslash,
    EndOfText,
}

/// The next command, what ends it, and the offset of what follows the end (of a backslash, its
/// own).
pub(super) fn next_command(text: &str, from: usize) -> Result<(Command, Ending, usize), Located> {
    let start = skip_empty(text, from);
    let mut splitter =
        Splitter { text, at: start, start, parentheses: 0, command: Command::default() };
    let ending = splitter.run()?;
    let end = splitter.at;
    splitter.close(Region::Code);
    Ok((splitter.command, ending, if ending == Ending::Semicolon { end + 1 } else { end }))
}

/// Skips blanks and comments of one line before a command.
fn skip_empty(text: &str, mut at: usize) -> usize {
    loop {
        let rest = text[at..].trim_ascii_start();
        at = text.len() - rest.len();
        if !rest.starts_with("--") {
            return at;
        }
        at += rest.find('\n').unwrap_or(rest.len());
    }
}

struct Splitter<'a> {
    text: &'a str,
    at: usize,
    /// Where the part that is being read begins.
    start: usize,
    parentheses: u32,
    command: Command,
}

impl Splitter<'_> {
    fn run(&mut self) -> Result<Ending, Located> {
        while let Some(&byte) = self.text.as_bytes().get(self.at) {
            match byte {
                b';' if self.parentheses == 0 => return Ok(Ending::Semicolon),
                b'\\' if self.rest().starts_with("\\;") => {
                    self.command.joint.get_or_insert(self.at);
                    self.close(Region::Code);
                    self.start += 1;
                    self.at += 2;
                }
                b'\\' => return Ok(Ending::Backslash),
                b'\'' => self.quoted(0, "'", false)?,
                b'"' => self.quoted(0, "\"", false)?,
                b'$' => self.dollar()?,
                b'-' if self.rest().starts_with("--") => {
                    let length = self.rest().find('\n').unwrap_or(self.rest().len());
                    self.part(Region::Comment, length);
                }
                b'/' if self.rest().starts_with("/*") => self.comment()?,
                b'0'..=b'9' => self.at += word_length(self.rest()),
                byte if begins_name(byte) => self.word()?,
                byte => {
                    match byte {
                        b'(' => self.parentheses += 1,
                        b')' => self.parentheses = self.parentheses.saturating_sub(1),
                        _ => {}
                    }
                    self.at += 1;
                }
            }
        }
        Ok(Ending::EndOfText)
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    /// Ends the part that is being read.
    fn close(&mut self, region: Region) {
        if self.start < self.at {
            self.command.parts.push((region, self.start..self.at));
        }
        self.start = self.at;
    }

    /// The next so many bytes are a part of their own.
    fn part(&mut self, region: Region, length: usize) {
        self.close(Region::Code);
        self.at += length;
        self.close(region);
    }

    /// A literal or name in quotes, whose opening quote is `before` bytes ahead. Without escapes, a
    /// doubled quote ends it and begins the next, which comes to the same.
    fn quoted(&mut self, before: usize, quote: &str, escapes: bool) -> Result<(), Located> {
        let body = &self.rest()[before + quote.len()..];
        let mut at = 0;
        let length = loop {
            let Some(found) = body[at..].find(['\\', '\'', '"', '$']) else { break None };
            at += found;
            if escapes && body[at..].starts_with('\\') {
                at += 1;
                at += body[at..].chars().next().map_or(0, char::len_utf8);
            } else if escapes && body[at..].starts_with("''") {
                at += 2;
            } else if body[at..].starts_with(quote) {
                break Some(at);
            } else {
                at += 1;
            }
        };
        let Some(length) = length else {
            let message = format!("the closing {quote} is missing");
            return Err(Located::new(self.at + before, message));
        };
        self.part(Region::Quoted, before + quote.len() + length + quote.len());
        Ok(())
    }

    /// A word, which may be the `E` of a literal with escapes.
    fn word(&mut self) -> Result<(), Located> {
        let length = word_length(self.rest());
        let word = &self.rest()[..length];
        if word.eq_ignore_ascii_case("e") && self.rest()[length..].starts_with('\'') {
            return self.quoted(length, "'", true);
        }
        self.at += length;
        Ok(())
    }

    /// `$tag$...$tag$`, or a dollar that is none.
    fn dollar(&mut self) -> Result<(), Located> {
        let tag = self.rest()[1..].find('$').map(|length| &self.rest()[..length + 2]);
        let is_tag = |tag: &&str| {
            let name = &tag[1..tag.len() - 1];
            name.is_empty() || is_name(name)
        };
        if let Some(tag) = tag.filter(is_tag).map(str::to_owned) {
            return self.quoted(0, &tag, false);
        }
        self.at += 1;
        Ok(())
    }

    /// `/* */`, which may be nested.
    fn comment(&mut self) -> Result<(), Located> {
        let mut depth = 0_u32;
        let mut length = 0;
        loop {
            let rest = &self.rest()[length..];
            let step = if rest.starts_with("/*") {
                depth += 1;
                2
            } else if rest.starts_with("*/") {
                depth -= 1;
                2
            } else {
                let Some(next) = rest.chars().next() else {
                    return Err(Located::new(self.at, "the closing */ is missing"));
                };
                next.len_utf8()
            };
            length += step;
            if depth == 0 {
                self.part(Region::Comment, length);
                return Ok(());
            }
        }
    }
}

/// Letters, digits, underscores and dollars: what no quote begins in.
fn word_length(text: &str) -> usize {
    text.bytes()
        .take_while(|byte| begins_name(*byte) || byte.is_ascii_digit() || *byte == b'$')
        .count()
}

/// Statements that are prepared at most: each connection keeps all of them on the server.
const PREPARED_MAX: usize = 10_000;

/// A statement for the server.
#[derive(Debug)]
pub(super) struct Statement {
    /// As it stands in the script.
    pub source: String,
    /// Position in the mix's list of statements to be prepared; `None`: it is sent as text with
    /// the values filled in.
    pub prepared: Option<usize>,
    /// What it is made of: a text, then a variable and a text for each variable. None of a
    /// prepared one.
    pub texts: Vec<String>,
    pub slots: Vec<Slot>,
    pub keep: Option<Keep>,
}

/// The statement that a command of a script stands for; prepared ones are added to `prepared`.
pub(super) fn statement(
    text: &str,
    command: &Command,
    protocol: Protocol,
    names: &mut Names,
    prepared: &mut Vec<UserStatement>,
) -> Result<Statement, Located> {
    let first = command.parts.first().map_or(0, |(_, range)| range.start);
    let last = command.parts.last().map_or(0, |(_, range)| range.end);
    let (source, keep) = (text[first..last].trim_ascii().to_owned(), None);
    match (protocol, command.joint) {
        // Variables are replaced everywhere, also in quotes and comments.
        (Protocol::Simple, _) => {
            let (texts, slots) = parts(text, command, |name, _, _| Some(names.slot(name)));
            Ok(Statement { source, prepared: None, texts, slots, keep })
        }
        (Protocol::Prepared, Some(joint)) => {
            let message = "`\\;` sends two statements at once, which needs the simple protocol";
            Err(Located::new(joint, message))
        }
        // Every use of a variable is a parameter of its own, so that each can have another type.
        (Protocol::Prepared, None) => {
            let (texts, slots) = parts(text, command, |name, region, at| {
                let quoted = region == Region::Quoted;
                let slot = (region != Region::Comment).then(|| names.note(name, at, quoted))?;
                (!quoted).then_some(slot)
            });
            let statement = UserStatement { texts };
            let known = prepared.iter().position(|known| *known == statement);
            let number = known.unwrap_or(prepared.len());
            if known.is_none() {
                if prepared.len() >= PREPARED_MAX {
                    let offset = command.parts.first().map_or(0, |(_, range)| range.start);
                    let message = format!(
                        "more than {PREPARED_MAX} different statements to prepare; use the simple \
                         protocol, or load data before the trial"
                    );
                    return Err(Located::new(offset, message));
                }
                prepared.push(statement);
            }
            Ok(Statement { source, prepared: Some(number), texts: Vec::new(), slots, keep })
        }
    }
}

/// Takes a command apart at its variables: `:name`, but not after another colon (`::text`).
/// `variable` hears the name, where it stands and the offset of its colon; what it knows no slot
/// for stays text.
fn parts(
    text: &str,
    command: &Command,
    mut variable: impl FnMut(&str, Region, usize) -> Option<Slot>,
) -> (Vec<String>, Vec<Slot>) {
    let (mut texts, mut current, mut slots) = (Vec::new(), String::new(), Vec::new());
    for (region, range) in &command.parts {
        let mut at = range.start;
        while at < range.end {
            let rest = &text[at..range.end];
            let behind = rest.trim_start_matches(':');
            let colons = rest.len() - behind.len();
            let name = &behind[..behind.bytes().take_while(|byte| continues_name(*byte)).count()];
            let slot =
                if colons == 1 && is_name(name) { variable(name, *region, at) } else { None };
            if let Some(slot) = slot {
                texts.push(std::mem::take(&mut current));
                slots.push(slot);
                at += colons + name.len();
            } else {
                let length = colons + behind.find(':').unwrap_or(behind.len());
                current.push_str(&rest[..length]);
                at += length;
            }
        }
    }
    current.truncate(current.trim_ascii_end().len());
    texts.push(current);
    (texts, slots)
}

#[cfg(test)]
mod tests {
    use super::{Ending, next_command};

    fn commands(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        let mut at = 0;
        loop {
            let (command, ending, next) = next_command(text, at).unwrap();
            let whole: String =
                command.parts.iter().map(|(_, range)| &text[range.clone()]).collect();
            if ending != Ending::EndOfText || !whole.is_empty() {
                found.push(whole);
            }
            if ending != Ending::Semicolon {
                return found;
            }
            at = next;
        }
    }

    #[test]
    fn semicolons_in_quotes_comments_and_parentheses_do_not_end_a_command() {
        for text in [
            "select ';', \"a;b\"",
            "select 'it''s;'",
            r"select 'a\', 2",
            r"select E'a\';b', e'\\', e'a''\';'",
            "select $$;$$ || $a$;$$;$b$;$a$, $1",
            "select a$b, 1 -- no; end\n + 1",
            "select /* ; /* ; */ ; */ 1",
            "create rule r as on insert to t do (select 1; select 2)",
            "select 'Ö;', Ö",
        ] {
            assert_eq!(commands(&format!("{text};select 2")), [text, "select 2"]);
        }
    }

    #[test]
    fn what_does_not_end_is_reported_at_its_beginning() {
        for (text, offset) in
            [("select 'abc;", 7), ("select $a$ $b$", 7), ("/* a /* */", 0), ("select E'\\'", 8)]
        {
            assert_eq!(next_command(text, 0).unwrap_err().offset, offset, "{text}");
        }
    }

    #[test]
    fn a_backslash_ends_a_command_but_joins_two_before_a_semicolon() {
        let (command, ending, next) = next_command("select 1 \\; select 2 \\gset", 0).unwrap();
        assert_eq!((ending, next, command.joint), (Ending::Backslash, 21, Some(9)));
        assert_eq!(command.parts.len(), 2);
    }
}
