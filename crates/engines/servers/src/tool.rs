//! Backup programs beside a load: started with their environment, timed, and killed at a stop.

use engine::EngineError;
use observe::Mark;
use observe::child::{self, Heard, Streams};
use std::fs::{DirBuilder, File, Permissions};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;
use std::process::Command;
use std::thread::{Builder, scope};
use work::Cancel;

/// Characters of its output that an error quotes.
const QUOTED_CHARS_MAX: usize = 800;
/// Input of programs that read none.
const NOTHING: &str = "/dev/null";
/// Words by which programs report a full disk.
const FULL: [&str; 2] = ["No space left on device", "Errcode: 28"];

/// Input and output of a program; `None`: nothing, and what it prints is not kept.
#[derive(Debug, Default)]
pub struct Pipes {
    /// Its standard input.
    pub input: Option<OwnedFd>,
    /// For its standard output.
    pub output: Option<OwnedFd>,
}

/// Runs a program to its end; returns its CPU seconds, with those of the programs that it started.
/// A password may be in the environment, which nothing prints; it is taken out of errors.
///
/// # Errors
/// When it fails, with the end of its messages, or is stopped.
pub fn run(
    mut command: Command,
    environment: &[(String, Option<String>)],
    pipes: Pipes,
    cancel: &Cancel,
) -> Result<f64, EngineError> {
    let mark = Mark::new();
    command.env(Mark::VARIABLE, mark.value()).env("LC_ALL", "C");
    child::set_variables(&mut command, environment);
    let name = Path::new(command.get_program()).file_name().unwrap_or_default();
    let name = name.to_string_lossy().into_owned();
    let heard = Heard { stdout: pipes.output.is_none(), stderr: true };
    let input = match pipes.input {
        Some(input) => input,
        None => File::open(NOTHING).map_err(EngineError::at(Path::new(NOTHING)))?.into(),
    };
    let streams: Streams = [Some(input), pipes.output, None];
    let ended = child::run(&command, streams, heard, &|| cancel.is_cancelled());
    mark.kill();
    let ended = ended.map_err(|error| EngineError::failed(format!("starting {name}"), error))?;
    if ended.stopped {
        return Err(EngineError::Cancelled);
    }
    if !ended.status.success() {
        let given = environment.iter().filter_map(|(name, own)| Some((name.clone(), own.clone()?)));
        let said = child::without(ended.stderr.text().trim(), given);
        if FULL.iter().any(|words| said.contains(words)) {
            return Err(EngineError::DiskFull { doing: name });
        }
        let before = said.chars().count().saturating_sub(QUOTED_CHARS_MAX);
        let end: String = said.chars().skip(before).collect();
        return Err(EngineError::failed(name, format!("{}: {end}", ended.status)));
    }
    Ok(ended.used.user_s + ended.used.system_s)
}

/// Runs two programs, the second on the output of the first; returns the CPU seconds of both.
///
/// # Errors
/// As [`run`]; of two failures that of the first program, unless it only lost its reader.
pub fn run_piped(
    [first, second]: [Command; 2],
    environment: &[(String, Option<String>)],
    pipes: Pipes,
    cancel: &Cancel,
) -> Result<f64, EngineError> {
    let (reader, writer) =
        std::io::pipe().map_err(|error| EngineError::failed("making a pipe", error.to_string()))?;
    let from = Pipes { input: pipes.input, output: Some(writer.into()) };
    let to = Pipes { input: Some(reader.into()), output: pipes.output };
    let (read, written) = scope(|scope| {
        let name = Builder::new().name("pipe".into());
        let reading = name.spawn_scoped(scope, || run(second, environment, to, cancel));
        let reading = reading.map_err(|error| EngineError::no_thread(&error))?;
        let written = run(first, environment, from, cancel);
        let read = reading.join().unwrap_or_else(|_| {
            Err(EngineError::failed("reading from a pipe", "its thread panicked"))
        });
        Ok::<_, EngineError>((read, written))
    })?;
    match (written, read) {
        // A program whose reader has failed ends too, by a signal or an error of writing.
        (Err(_), Err(error @ EngineError::DiskFull { .. })) => Err(error),
        (written, read) => Ok(written? + read?),
    }
}

/// Makes a folder that others cannot read: a backup has all the data.
///
/// # Errors
/// When it exists or cannot be made.
pub fn make_folder(path: &Path) -> Result<(), EngineError> {
    DirBuilder::new().mode(0o700).create(path).map_err(EngineError::at(path))
}

/// Makes a file that others cannot read.
///
/// # Errors
/// When it exists or cannot be made.
pub fn make_file(path: &Path) -> Result<File, EngineError> {
    let file = File::options().write(true).create_new(true).open(path);
    let file = file.and_then(|file| {
        file.set_permissions(Permissions::from_mode(0o600))?;
        Ok(file)
    });
    file.map_err(EngineError::at(path))
}
