//! Errors in a file and their presentation.

use observations::{order, redacted};
use std::fmt::{self, Write as _};
use std::ops::Range;

/// A problem of an experiment file, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileError {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Length in characters, at least 1.
    pub length: usize,
    /// Dotted path of the setting; empty for the file as a whole.
    pub path: String,
    /// The error and the accepted values.
    pub message: String,
    /// A suggested replacement, where there is one.
    pub help: Option<String>,
}

/// Everything that is wrong in an experiment file, in the order of the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct FileErrors {
    /// Each with its position.
    pub errors: Vec<FileError>,
}

impl FileError {
    fn headline(&self) -> String {
        if self.path.is_empty() {
            self.message.clone()
        } else {
            format!("{}: {}", self.path, self.message)
        }
    }
}

/// Errors that are shown; the rest are counted.
const SHOWN_MAX: usize = 20;
/// Characters of a line of the file that are shown: with its number they fit into 80 columns.
const WIDTH_MAX: usize = 70;
/// Most characters of an error's text, which may quote a long value.
const CHARACTERS_MAX: usize = 2_000;

impl fmt::Display for FileErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self
            .errors
            .iter()
            .take(SHOWN_MAX)
            .map(|error| {
                let help = error.help.as_ref().map_or_else(String::new, |help| format!("; {help}"));
                format!(
                    "line {}, column {}: {}",
                    error.line,
                    error.column,
                    one_line(&(error.headline() + &help))
                )
            })
            .chain(self.more());
        f.write_str(&shown.collect::<Vec<_>>().join("\n"))
    }
}

impl FileErrors {
    /// The errors as a compiler shows them: message, position, the line and carets below it. Plain
    /// text; control characters of the file do not reach a terminal. Of many errors the first, of
    /// long lines the part around the error.
    pub fn render(&self, file_name: &str, source: &str) -> String {
        let lines: Vec<&str> = source.lines().collect();
        let mut text = String::new();
        for error in self.errors.iter().take(SHOWN_MAX) {
            let line = lines.get(error.line - 1).copied().unwrap_or_default();
            let (line, indent, length) = excerpt(&printable(&redacted(line)), error);
            let gutter = error.line.to_string().len();
            // Writing to a string cannot fail.
            let _ = write!(
                text,
                "error: {}\n{:gutter$}--> {}:{}:{}\n{:gutter$} |\n{} | {line}\n{:gutter$} | \
                 {:indent$}{}\n",
                one_line(&error.headline()),
                "",
                printable(file_name),
                error.line,
                error.column,
                "",
                error.line,
                "",
                "",
                "^".repeat(length),
            );
            if let Some(help) = &error.help {
                let _ = writeln!(text, "{:gutter$} = help: {}", "", one_line(help));
            }
        }
        text.extend(self.more().map(|more| more + "\n"));
        text
    }

    /// Summarises the errors that are too many to show.
    fn more(&self) -> Option<String> {
        let more = self.errors.len().saturating_sub(SHOWN_MAX);
        (more > 0).then(|| format!("and {more} more errors"))
    }
}

/// The part of a line around an error, with an ellipsis where it is cut; how far the error is
/// indented in it, and how many of its characters are shown.
fn excerpt(line: &str, error: &FileError) -> (String, usize, usize) {
    let before = error.column - 1;
    let width = line.chars().count();
    let start = if width > WIDTH_MAX { before.saturating_sub(WIDTH_MAX / 4) } else { 0 };
    let shown: String = line.chars().skip(start).take(WIDTH_MAX).collect();
    let (left, right) =
        (if start > 0 { "…" } else { "" }, if width > start + WIDTH_MAX { "…" } else { "" });
    let indent = before - start + left.chars().count();
    (
        format!("{left}{shown}{right}"),
        indent,
        error.length.min(WIDTH_MAX.saturating_sub(indent)).max(1),
    )
}

/// Formats an error on one line, without secrets.
fn one_line(text: &str) -> String {
    // Before it is cut: what is left of a secret could not be recognised.
    let mut text = printable(&redacted(text));
    if let Some((end, _)) = text.char_indices().nth(CHARACTERS_MAX) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// The text with every character that could command a terminal shown as a space.
fn printable(text: &str) -> String {
    // Bidirectional overrides can make a line read as another one (Unicode TR 36).
    let shown = text.chars().map(|c| match c {
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => ' ',
        c if c.is_control() => ' ',
        c => c,
    });
    shown.collect()
}

/// A setting that an engine or probe rejects. The experiment's owner adds line and column.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {message}")]
pub struct Invalid {
    /// Dotted path of the setting.
    pub path: String,
    /// The error, the accepted values and, if there is one, the nearest name.
    pub message: String,
}

impl Invalid {
    /// An objection to a setting.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into() }
    }
}

/// An error in a value, without its position.
#[derive(Debug, PartialEq, Eq)]
pub struct Fault {
    /// The error and the accepted values.
    pub message: String,
    /// A suggestion, where there is one.
    pub help: Option<String>,
}

impl From<String> for Fault {
    fn from(message: String) -> Self {
        Self { message, help: None }
    }
}

impl From<&str> for Fault {
    fn from(message: &str) -> Self {
        message.to_owned().into()
    }
}

impl Fault {
    /// A name that is not known, with the nearest one.
    pub fn unknown(what: &str, name: &str, known: &[&str]) -> Self {
        Self {
            message: format!("unknown {what} `{name}`"),
            help: crate::nearest::suggestion(name, known),
        }
    }

    /// An error with a suggestion.
    pub fn with_help(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), help: Some(help.into()) }
    }
}

/// Finds lines and columns; knows where the lines begin, so that many errors cost no more than one.
struct Lines<'a> {
    source: &'a str,
    starts: Vec<usize>,
    /// True if every character is one byte, so that characters of long lines need no counting.
    ascii: bool,
}

impl<'a> Lines<'a> {
    fn new(source: &'a str) -> Self {
        let starts =
            std::iter::once(0).chain(source.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { source, starts, ascii: source.is_ascii() }
    }

    /// Line and column, from 1, and length, at least 1, all in characters; of what spans lines, the
    /// length of the part on the first one.
    fn position(&self, span: &Range<usize>) -> (usize, usize, usize) {
        let start = self.boundary(span.start);
        let end = self.boundary(span.end).max(start);
        let line = self.starts.partition_point(|line| *line <= start);
        let before = &self.source[self.starts[line - 1]..start];
        let covered = self.source[start..end].lines().next().unwrap_or_default();
        let length = |text: &str| if self.ascii { text.len() } else { text.chars().count() };
        (line, length(before) + 1, length(covered).max(1))
    }

    /// The beginning of a character, or the end of the file, at or before this byte.
    fn boundary(&self, at: usize) -> usize {
        (0..=at.min(self.source.len()))
            .rev()
            .find(|at| self.source.is_char_boundary(*at))
            .unwrap_or(0)
    }
}

/// Collects errors while a file is read.
#[derive(Debug, Default)]
pub struct Errors(Vec<(Range<usize>, String, Fault)>);

impl Errors {
    /// Adds an error of what stands here.
    pub fn add(&mut self, span: &Range<usize>, path: &str, fault: impl Into<Fault>) {
        self.0.push((span.clone(), path.into(), fault.into()));
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All errors in the order of the file, each once.
    pub fn into_file_errors(mut self, source: &str) -> FileErrors {
        order::sort(&mut self.0, &|(a, path_a, fault_a), (b, path_b, fault_b)| {
            (a.start, a.end, path_a, &fault_a.message).cmp(&(
                b.start,
                b.end,
                path_b,
                &fault_b.message,
            ))
        });
        self.0.dedup();
        let lines = Lines::new(source);
        FileErrors {
            errors: self
                .0
                .into_iter()
                .map(|(span, path, Fault { message, help })| {
                    let (line, column, length) = lines.position(&span);
                    FileError { line, column, length, path, message, help }
                })
                .collect(),
        }
    }
}
