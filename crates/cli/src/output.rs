//! Writing to the terminal, or to whatever reads us.

use crate::exit_code::{ExitCode, Failure};
use clap::Args;
use observations::redacted;
use observe::child;
use report::{Document, Style};
use serde_json::Value;
use std::fmt::Display;
use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, ErrorKind, IsTerminal, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Columns of lines and charts where the output is no terminal; tables have as many as they need,
/// unless COLUMNS says how many there are.
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
    print_as_it_is(&report::lines(&redacted(lines)))
}

/// The same with no line wider than COLUMNS or the terminal.
pub fn print_wrapped(lines: &str) -> Result<ExitCode, Failure> {
    let safe = report::lines(&redacted(lines));
    print_as_it_is(
        &columns().map_or_else(|| safe.clone(), |columns| report::wrapped(&safe, columns)),
    )
}

/// The columns to keep to: COLUMNS, or those of the terminal. What goes elsewhere is not cut.
fn columns() -> Option<usize> {
    let asked = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    asked.or_else(|| columns_of(std::io::stdout()))
}

fn columns_of(output: impl IsTerminal + AsFd) -> Option<usize> {
    let size = output.is_terminal().then(|| terminal_size::terminal_size_of(output)).flatten();
    size.map(|(width, _)| width.0.into())
}

/// Lines for standard error: no wider than the terminal, if it is one.
pub fn wrapped_for_complaints(lines: &str) -> String {
    let wrapped = columns_of(std::io::stderr()).map(|columns| report::wrapped(lines, columns));
    wrapped.map_or_else(|| lines.to_owned(), |wrapped| wrapped.trim_end_matches('\n').to_owned())
}

/// Prints what holds nothing of others, or has been made safe. A reader that has gone (`| head`)
/// has seen enough.
pub fn print_as_it_is(text: &str) -> Result<ExitCode, Failure> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::failed(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(ExitCode::Ok),
    }
}

/// Passwords of arguments, with the signs around them.
static HIDDEN: OnceLock<Vec<String>> = OnceLock::new();

/// Has complaints leave out these passwords, which stand between a colon and an `@`, whatever they
/// hold.
pub fn hide(passwords: Vec<String>) {
    HIDDEN.get_or_init(|| passwords);
}

/// Prints lines to standard error; there is nobody to tell when that fails. Errors may quote
/// anything, such as a message of a server: what could command a terminal is spelled out, and
/// passwords are not shown.
pub fn complain(lines: &str) {
    let hidden = HIDDEN.get().into_iter().flatten();
    let lines = hidden.fold(lines.to_owned(), |lines, password| lines.replace(password, ":***@"));
    let _ = writeln!(
        std::io::stderr(),
        "{}",
        wrapped_for_complaints(&report::lines(&redacted(&lines)))
    );
}

/// What a file that is written may replace. Each permits what those before it do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub enum Replace {
    /// Nothing.
    Nothing,
    /// A file of ours, known by its content: [`report::is_ours`].
    Ours,
    /// The same under a name that the user gave; a device or a pipe of that name is written to as
    /// it is.
    Named,
    /// Any file.
    Any,
}

/// Writes a file under another name beside it and renames it when it is complete: nobody ever reads
/// half of it, and a failure (a full disk) leaves the previous file alone.
pub fn replace_file<E: Display>(
    path: &Path,
    may: Replace,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), E>,
) -> Result<(), Failure> {
    let written = is_written_in_place(path, may).and_then(|in_place| {
        if in_place {
            return fill(opened_in_place(path)?, write).map(drop);
        }
        remove_remains(path);
        let (partial, file) = partial(path).map_err(in_words)?;
        let synced = fill(file, write).and_then(|file| file.sync_all().map_err(in_words));
        synced.and_then(|()| fs::rename(&partial, path).map_err(in_words)).inspect_err(|_| {
            // The failure is reported; that its remains cannot be removed adds nothing.
            let _ = fs::remove_file(&partial);
        })
    });
    written.map_err(|error| Failure::failed(format!("cannot write {}: {error}", path.display())))
}

/// Opens a device or a pipe. A pipe needs its reader before: nobody waits here for one that may
/// never come.
fn opened_in_place(path: &Path) -> Result<File, String> {
    child::open_at_once(OpenOptions::new().write(true), path).map_err(|error| {
        let is_pipe = fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_fifo());
        if is_pipe { format!("nobody reads from this pipe: {error}") } else { error.to_string() }
    })
}

#[expect(clippy::needless_pass_by_value, reason = "as the argument of `map_err`")]
fn in_words(error: impl ToString) -> String {
    error.to_string()
}

fn fill<E: Display>(
    file: File,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), E>,
) -> Result<File, String> {
    let mut writer = BufWriter::new(file);
    write(&mut writer).map_err(in_words)?;
    writer.into_inner().map_err(in_words)
}

/// Whether a path is a device or a pipe; a file or a link there that may not be replaced is an
/// error.
fn is_written_in_place(path: &Path, may: Replace) -> Result<bool, String> {
    let found = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        found => found.map_err(in_words)?,
    };
    // /dev/stdout is a link.
    let real = fs::metadata(path);
    if may >= Replace::Named && real.is_ok_and(|real| !real.is_file() && !real.is_dir()) {
        return Ok(true);
    }
    if found.is_symlink() {
        return Err("it is a link, and links are not followed; name the file itself".into());
    }
    let ours = || found.is_file() && File::open(path).and_then(report::is_ours).unwrap_or(false);
    if may == Replace::Any || (may >= Replace::Ours && ours()) {
        return Ok(false);
    }
    Err("it is there already and not known as written by Steelbench; remove it, or name another \
         with --output"
        .into())
}

/// A new file beside a path: no link that waits under its name is followed.
fn partial(path: &Path) -> std::io::Result<(PathBuf, File)> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let process = std::process::id();
    let paths =
        (0_u32..).map(|number| path.with_file_name(format!(".{name}.{process}-{number}.partial")));
    let created = paths.map(|partial| File::create_new(&partial).map(|file| (partial, file)));
    let mut created =
        created.skip_while(|it| it.as_ref().is_err_and(|e| e.kind() == ErrorKind::AlreadyExists));
    let (partial, file) = created.next().unwrap_or_else(|| Err(ErrorKind::AlreadyExists.into()))?;
    // Held until the file is complete: see below. Where there are no locks, its process tells.
    let _ = file.try_lock();
    Ok((partial, file))
}

/// Removes what processes of ours that were killed had written of a file: neither the process nor
/// its lock is there. The process alone does not tell: it may be in another namespace that shares
/// the volume.
fn remove_remains(path: &Path) {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return };
    let folder =
        path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let of_killed = |entry: &fs::DirEntry| {
        let of = entry.file_name();
        let of = of.to_str()?.strip_prefix('.')?.strip_prefix(name)?.strip_prefix('.')?;
        let process: u32 = of.strip_suffix(".partial")?.split_once('-')?.0.parse().ok()?;
        let is_dead = entry.file_type().ok()?.is_file()
            && !Path::new("/proc").join(process.to_string()).exists();
        let unlocked = is_dead && File::open(entry.path()).ok()?.try_lock().is_ok();
        unlocked.then(|| entry.path())
    };
    for remains in
        fs::read_dir(folder).into_iter().flatten().flatten().filter_map(|entry| of_killed(&entry))
    {
        // What cannot be removed harms nobody.
        let _ = fs::remove_file(remains);
    }
}

/// Prints a JSON value in one line.
pub fn print_json(value: &Value) -> Result<ExitCode, Failure> {
    print_as_it_is(&format!("{}\n", report::escaped(&value.to_string())))
}

/// The same of what holds the words of an experiment file, without the passwords in them.
pub fn print_json_redacted(value: &Value) -> Result<ExitCode, Failure> {
    print_as_it_is(&format!("{}\n", report::escaped(&redacted(&value.to_string()))))
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

/// Whether the locale is one of UTF-8, and where none is set: terminals have been that for long.
/// POSIX: the first of these variables that is not empty counts.
fn unicode() -> bool {
    let variables = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(std::env::var_os);
    let locale = variables
        .map(|value| value.to_string_lossy().to_lowercase())
        .find(|value| !value.is_empty());
    locale.is_none_or(|locale| locale.contains("utf-8") || locale.contains("utf8"))
}
