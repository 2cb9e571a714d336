//! The SQL of a script: where commands end, as psql finds them, and the variables in them.

use crate::error::Problem;
use crate::names::{Names, Slot, continues_name, is_name};
use experiment::choice;
use std::ops::Range;
use work::UserStatement;
use work::sql::{Kind, Syntax, tokens};

choice! {
    /// How statements are sent.
    pub enum Protocol {
        /// Prepared once, with variables as parameters.
        Prepared = "prepared",
        /// As text, with the variables' values filled in.
        Simple = "simple",
    }
}

/// Kind of a part of a command in SQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Region {
    Code,
    /// A literal or a quoted name.
    Quoted,
    Comment,
}

/// A SQL command as written in the script. Empty when there is none.
#[derive(Debug, Default)]
pub(super) struct Command {
    /// The text, without what separates it from the next one; `\;` is left with its semicolon.
    pub parts: Vec<(Region, Range<usize>)>,
    /// The position of a `\;` that joins two statements.
    pub joint: Option<usize>,
}

/// End of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Semicolon,
    /// The backslash of a meta command.
    Backslash,
    EndOfText,
}

impl Command {
    fn push(&mut self, region: Region, range: Range<usize>) {
        if !range.is_empty() {
            self.parts.push((region, range));
        }
    }
}

/// The next command, what ends it, and the offset of what follows the end (of a backslash, its
/// own).
pub(super) fn next_command(text: &str, from: usize) -> Result<(Command, Ending, usize), Problem> {
    let start = skip_empty(text, from);
    let mut command = Command::default();
    let (mut part, mut parentheses) = (start, 0_u32);
    let mut tokens = tokens(&text[start..], Syntax::Postgres).peekable();
    while let Some(token) = tokens.next() {
        let (at, end) = (start + token.at, start + token.end());
        let region = match (token.kind, token.text) {
            (Kind::Sign, ";") if parentheses == 0 => {
                command.push(Region::Code, part..at);
                return Ok((command, Ending::Semicolon, end));
            }
            (Kind::Sign, "\\") => {
                command.push(Region::Code, part..at);
                if tokens.next_if(|next| next.text == ";").is_none() {
                    return Ok((command, Ending::Backslash, at));
                }
                command.joint.get_or_insert(at);
                part = end;
                continue;
            }
            (Kind::Sign, "(") => {
                parentheses += 1;
                continue;
            }
            (Kind::Sign, ")") => {
                parentheses = parentheses.saturating_sub(1);
                continue;
            }
            (Kind::Literal | Kind::Name, _) => Region::Quoted,
            (Kind::Comment, _) => Region::Comment,
            _ => continue,
        };
        if !token.is_closed {
            return Err(Problem::new(
                at,
                format!("the closing {} is missing", closing(token.text)),
            ));
        }
        command.push(Region::Code, part..at);
        command.push(region, at..end);
        part = end;
    }
    command.push(Region::Code, part..text.len());
    Ok((command, Ending::EndOfText, text.len()))
}

/// Skips blanks and comments of one line before a command.
fn skip_empty(text: &str, from: usize) -> usize {
    tokens(&text[from..], Syntax::Postgres)
        .find(|token| token.kind != Kind::Space && !token.text.starts_with("--"))
        .map_or(text.len(), |token| from + token.at)
}

/// The end of what begins with an open quote or comment.
fn closing(open: &str) -> &str {
    match open.as_bytes()[0] {
        b'/' => "*/",
        b'$' => open[1..].find('$').map_or(open, |length| &open[..length + 2]),
        _ => &open[..1],
    }
}

/// Statements that are prepared at most: each connection keeps all of them on the server.
const PREPARED_MAX: usize = 10_000;

/// The results of a query that become variables, their names behind this prefix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Keep {
    pub prefix: String,
    /// `\aset`: the columns of each query's last row, if there is one. Else `\gset`: those of the
    /// last query's only row.
    pub each: bool,
}

/// A statement for the server.
#[derive(Debug)]
pub(super) struct Statement {
    /// The text as written in the script.
    pub source: String,
    /// Position in the mix's list of statements to be prepared; `None`: it is sent as text with
    /// the values filled in.
    pub prepared: Option<usize>,
    /// The parts: a text, then a variable and a text for each variable. Empty for a prepared one.
    pub texts: Vec<String>,
    pub slots: Vec<Slot>,
    pub keep: Option<Keep>,
    /// The counter of its refusals by a constraint, which are results.
    pub refused: Option<usize>,
}

/// The statement that a command of a script stands for; prepared ones are added to `prepared`.
pub(super) fn statement(
    text: &str,
    command: &Command,
    protocol: Protocol,
    names: &mut Names,
    prepared: &mut Vec<UserStatement>,
) -> Result<Statement, Problem> {
    let first = command.parts.first().map_or(0, |(_, range)| range.start);
    let last = command.parts.last().map_or(0, |(_, range)| range.end);
    let (source, keep) = (text[first..last].trim_ascii().to_owned(), None);
    match (protocol, command.joint) {
        // Variables are replaced everywhere, also in quotes and comments.
        (Protocol::Simple, _) => {
            let (texts, slots) = parts(text, command, |name, _, _| Some(names.slot(name)));
            Ok(Statement { source, prepared: None, texts, slots, keep, refused: None })
        }
        (Protocol::Prepared, Some(joint)) => {
            let message = "`\\;` sends two statements at once, which needs the simple protocol";
            Err(Problem::new(joint, message))
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
                    return Err(Problem::new(offset, message));
                }
                prepared.push(statement);
            }
            Ok(Statement {
                source,
                prepared: Some(number),
                texts: Vec::new(),
                slots,
                keep,
                refused: None,
            })
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
