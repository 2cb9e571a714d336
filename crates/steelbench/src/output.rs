//! Writing to the terminal, or to whatever reads us.

use crate::exit_code::{ExitCode, Failure};
use clap::Args;
use report::{Document, Style};
use serde_json::Value;
use std::fmt::Display;
use std::fs::{self, File};
use std::io::{BufWriter, ErrorKind, IsTerminal, Write};
use std::path::Path;

/// Columns of an output that is not a terminal.
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

/// Prints lines to standard output. What could command a terminal is spelled out.
pub fn print(lines: &str) -> Result<ExitCode, Failure> {
    print_as_it_is(&report::lines(lines))
}

/// Prints what holds nothing of others, or has been made safe. A reader that has gone (`| head`) has seen enough.
pub fn print_as_it_is(text: &str) -> Result<ExitCode, Failure> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::failed(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(ExitCode::Ok),
    }
}

/// Prints lines to standard error; there is nobody to tell when that fails. Errors may quote anything, such as
/// a message of a server: what could command a terminal is spelled out.
pub fn complain(lines: &str) {
    let _ = writeln!(std::io::stderr(), "{}", report::lines(lines));
}

/// Writes a file under another name beside it and renames it when it is complete: nobody ever reads half of it, and a
/// failure (a full disk) leaves the previous file alone. A device or a pipe is written to as it is.
pub fn replace_file<E: Display>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), E>,
) -> Result<(), Failure> {
    let in_place = path.exists() && !path.is_file();
    let mut target = path.as_os_str().to_owned();
    if !in_place {
        target.push(".partial");
    }
    let written = File::create(&target).map_err(|error| error.to_string()).and_then(|file| {
        let mut writer = BufWriter::new(file);
        write(&mut writer).map_err(|error| error.to_string())?;
        writer.flush().map_err(|error| error.to_string())?;
        if in_place {
            return Ok(());
        }
        writer
            .get_ref()
            .sync_all()
            .and_then(|()| fs::rename(&target, path))
            .map_err(|error| error.to_string())
    });
    written.map_err(|error| {
        if !in_place {
            // The failure is reported; that its remains cannot be removed adds nothing.
            let _ = fs::remove_file(&target);
        }
        Failure::failed(format!("cannot write {}: {error}", path.display()))
    })
}

/// Prints a JSON value in one line.
pub fn print_json(value: &Value) -> Result<ExitCode, Failure> {
    print_as_it_is(&format!("{}\n", report::escaped(&value.to_string())))
}

/// Prints what a command found in the form that the user asks for.
pub fn show(
    form: Form,
    json: impl FnOnce() -> serde_json::Result<Value>,
    document: impl FnOnce() -> Document,
) -> Result<ExitCode, Failure> {
    match form {
        Form { json: true, .. } => print_json(&json().map_err(Failure::failed)?),
        Form { md: true, .. } => print_as_it_is(&report::markdown(&document())),
        Form { .. } => print_document(&document()),
    }
}

/// Prints a report as wide as the terminal, in colour where that is wanted, in ASCII where the locale is not UTF-8.
pub fn print_document(document: &Document) -> Result<ExitCode, Failure> {
    let terminal = std::io::stdout().is_terminal();
    // https://no-color.org: any value but an empty one means no colour.
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let style = if terminal && !no_color { Style::Colour } else { Style::Plain };
    let width =
        terminal.then(terminal_size::terminal_size).flatten().map_or(WIDTH, |(width, _)| width.0.into());
    let render = if unicode() { report::terminal } else { report::ascii };
    print_as_it_is(&render(document, width, style))
}

/// Whether the locale is one of UTF-8, and where none is set: terminals have been that for long. POSIX: the first
/// of these variables that is not empty counts.
fn unicode() -> bool {
    let variables = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(std::env::var_os);
    let locale =
        variables.map(|value| value.to_string_lossy().to_lowercase()).find(|value| !value.is_empty());
    locale.is_none_or(|locale| locale.contains("utf-8") || locale.contains("utf8"))
}
