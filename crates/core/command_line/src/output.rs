//! Output to the terminal, or to the program that reads it.

use crate::{ExitCode, Failure};
use clap::Args;
use observations::{redact_json, redacted, redacted_message};
use report::{Document, Style};
use serde_json::Value;
use std::io::{ErrorKind, IsTerminal, Write};
use std::os::fd::AsFd;

/// Columns of lines and charts where the output is not a terminal; tables have as many as they
/// need, unless COLUMNS sets the number.
const WIDTH: usize = 100;

/// The form of what is printed.
#[derive(Debug, Clone, Copy, Args)]
pub struct Form {
    /// Print as JSON
    #[arg(long, conflicts_with = "md")]
    pub json: bool,
    /// Print as Markdown, to paste into an issue
    #[arg(long)]
    pub md: bool,
}

/// How much is printed: by default what fits a screen.
#[derive(Debug, Clone, Default, Args)]
pub struct Extent {
    /// Print every section
    #[arg(long)]
    pub full: bool,
    /// Print this section, one of those that the last line names; repeatable
    #[arg(long = "section", value_name = "NAME", conflicts_with = "full")]
    pub sections: Vec<String>,
    /// True for a command that names sections without the option: `show NAME SECTION`.
    #[arg(skip)]
    pub positional: bool,
}

/// The identifier of the argument for sections, in [`Extent`] and in `show`.
pub(crate) const SECTIONS: &str = "sections";

impl Extent {
    /// The part of a document that is asked for.
    ///
    /// # Errors
    /// The document has no section of a name that is asked for.
    pub fn part_of(&self, document: Document) -> Result<Document, Failure> {
        if self.full {
            return Ok(document);
        }
        if self.sections.is_empty() {
            return Ok(document.screen(if self.positional { "" } else { "--section " }));
        }
        let names = document.names();
        match self.sections.iter().find(|name| !names.contains(&name.as_str())) {
            Some(name) => Err(Failure::usage(format!(
                "nothing to show for section {name}; the sections are: {}",
                names.join(", ")
            ))),
            None => Ok(document.only(&self.sections)),
        }
    }
}

/// Prints lines to standard output. What could command a terminal is spelled out.
pub fn print(lines: &str) -> Result<ExitCode, Failure> {
    print_as_it_is(&report::lines(&redacted(lines)))
}

/// Prints with no line wider than COLUMNS or the terminal.
pub fn print_wrapped(lines: &str) -> Result<ExitCode, Failure> {
    let safe = report::lines(&redacted(lines));
    print_as_it_is(
        &columns().map_or_else(|| safe.clone(), |columns| report::wrapped(&safe, columns)),
    )
}

/// The columns to keep to: COLUMNS, or those of the terminal. What goes elsewhere is not cut.
fn columns() -> Option<usize> {
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    columns.or_else(|| columns_of(std::io::stdout()))
}

fn columns_of(output: impl IsTerminal + AsFd) -> Option<usize> {
    let size = output.is_terminal().then(|| terminal_size::terminal_size_of(output)).flatten();
    size.map(|(width, _)| width.0.into())
}

/// Lines for standard error: no wider than the terminal, if it is one.
pub(crate) fn wrapped_for_complaints(lines: &str) -> String {
    let wrapped = columns_of(std::io::stderr()).map(|columns| report::wrapped(lines, columns));
    wrapped.map_or_else(|| lines.to_owned(), |wrapped| wrapped.trim_end_matches('\n').to_owned())
}

/// Prints text without further escaping: it holds no foreign content, or is escaped already. A
/// reader that has closed the pipe (`| head`) is not an error.
pub fn print_as_it_is(text: &str) -> Result<ExitCode, Failure> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::failed(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(ExitCode::Ok),
    }
}

/// Prints lines to standard error; a failure cannot be reported anywhere. Errors may quote any
/// text, such as a message of a server: terminal control characters are spelled out, and passwords
/// are hidden.
pub fn complain(lines: &str) {
    let lines = report::lines(&redacted_message(lines));
    let _ = writeln!(std::io::stderr(), "{}", wrapped_for_complaints(&lines));
}

/// Reports a failure; the exit code of the program.
pub(crate) fn report(failure: &Failure) -> ExitCode {
    let message = failure.message();
    let prefix = if message.starts_with("error:") { "" } else { "error: " };
    complain(&format!("{prefix}{message}"));
    failure.code()
}

/// The columns that lines and charts have.
pub fn width() -> usize {
    columns().unwrap_or(WIDTH)
}

/// Prints a JSON value in one line, without passwords.
pub fn print_json(mut value: Value) -> Result<ExitCode, Failure> {
    redact_json(&mut value);
    print_object(&value)
}

/// Prints a JSON value of which the passwords are hidden already in one line.
fn print_object(value: &Value) -> Result<ExitCode, Failure> {
    print_as_it_is(&format!("{}\n", report::escaped(&value.to_string())))
}

/// Prints an experiment file, without passwords.
pub fn print_source(source: &str) -> Result<ExitCode, Failure> {
    print_as_it_is(&report::escaped(&redacted(source)))
}

/// Prints what a command found in the form that the user asks for.
pub fn show(
    form: Form,
    json: impl FnOnce() -> serde_json::Result<Value>,
    document: impl FnOnce() -> Document,
) -> Result<ExitCode, Failure> {
    match form {
        Form { json: true, .. } => print_object(&json().map_err(Failure::failed)?),
        Form { md: true, .. } => print_as_it_is(&report::markdown(&document())),
        Form { .. } => print_document(&document()),
    }
}

/// Prints what a command found in the form that the user asks for, as text as much as is asked for.
pub fn show_part(
    form: Form,
    extent: &Extent,
    json: impl FnOnce() -> serde_json::Result<Value>,
    document: impl FnOnce() -> Document,
) -> Result<ExitCode, Failure> {
    if form.json || form.md && extent.sections.is_empty() {
        return show(form, json, document);
    }
    let part = extent.part_of(document())?;
    show(form, json, || part)
}

/// Prints a report as wide as COLUMNS or the terminal, in colour where that is wanted, in ASCII
/// where the locale is not UTF-8. What goes elsewhere is not cut.
pub fn print_document(document: &Document) -> Result<ExitCode, Failure> {
    let terminal = std::io::stdout().is_terminal();
    // https://no-color.org: any value but an empty one means no colour.
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let columns = columns();
    let style = match (terminal, columns) {
        (true, _) if !no_color => Style::Colour,
        (false, None) => Style::Piped,
        _ => Style::Plain,
    };
    let render = if unicode() { report::terminal } else { report::ascii };
    print_as_it_is(&render(document, columns.unwrap_or(WIDTH), style))
}

/// Returns whether the locale uses UTF-8; without a locale it is assumed. POSIX: the first of these
/// variables that is not empty counts.
fn unicode() -> bool {
    let variables = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(std::env::var_os);
    let locale = variables
        .map(|value| value.to_string_lossy().to_lowercase())
        .find(|value| !value.is_empty());
    locale.is_none_or(|locale| locale.contains("utf-8") || locale.contains("utf8"))
}
