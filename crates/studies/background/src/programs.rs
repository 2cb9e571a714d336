//! Backup programs beside a load: started with their environment, timed, and killed at a stop.

use engine::{EngineError, Result};
use observations::redacted_message;
use observe::child::{self, Capture, Streams};
use observe::run_marked;
use std::fs::{DirBuilder, File, Permissions};
use std::io::{ErrorKind, PipeReader, PipeWriter, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;
use std::process::Command;
use std::thread::{Builder, scope};
use std::time::{Duration, Instant};
use work::Cancel;

/// Characters of its output that an error quotes.
const QUOTED_CHARS_MAX: usize = 800;
/// Input of programs that read none.
const NOTHING: &str = "/dev/null";
/// Bytes that a limited output is passed on in: as many as a pipe holds.
const CHUNK_BYTES: usize = 64 << 10;
/// Words by which programs report a full disk.
const FULL: [&str; 2] = ["No space left on device", "Errcode: 28"];

/// Input and output of a program; `None`: nothing, and what it prints is not kept.
#[derive(Debug, Default)]
pub struct Pipes {
    /// The standard input.
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
) -> Result<f64> {
    command.env("LC_ALL", "C");
    child::set_variables(&mut command, environment);
    let name = Path::new(command.get_program()).file_name().unwrap_or_default();
    let name = name.to_string_lossy().into_owned();
    let received = Capture { stdout: pipes.output.is_none(), stderr: true };
    let input = match pipes.input {
        Some(input) => input,
        None => File::open(NOTHING).map_err(EngineError::at(Path::new(NOTHING)))?.into(),
    };
    let streams: Streams = [Some(input), pipes.output, None];
    let ended = run_marked(&mut command, streams, received, &|| cancel.is_cancelled());
    let ended = ended.map_err(|error| EngineError::failed(format!("starting {name}"), error))?;
    if ended.stopped {
        return Err(EngineError::Cancelled);
    }
    if !ended.status.success() {
        let text = redacted_message(ended.stderr.text().trim());
        if FULL.iter().any(|words| text.contains(words)) {
            return Err(EngineError::DiskFull { doing: name });
        }
        let before = text.chars().count().saturating_sub(QUOTED_CHARS_MAX);
        let end: String = text.chars().skip(before).collect();
        return Err(EngineError::failed(name, format!("{}: {end}", ended.status)));
    }
    Ok(ended.used.user_s + ended.used.system_s)
}

/// Runs a program whose output we pass on, at no more than `rate` bytes a second; returns its CPU
/// seconds without those of passing it on. `None`: no limit.
///
/// # Errors
/// As [`run`], or when the output cannot be written.
pub fn run_limited(
    command: Command,
    environment: &[(String, Option<String>)],
    pipes: Pipes,
    rate: Option<f64>,
    cancel: &Cancel,
) -> Result<f64> {
    let (rate, output) = match (rate, pipes.output) {
        (Some(rate), Some(output)) => (rate, File::from(output)),
        (_, output) => return run(command, environment, Pipes { output, ..pipes }, cancel),
    };
    let (reader, writer) = pipe()?;
    let from = Pipes { input: pipes.input, output: Some(writer.into()) };
    let (passed, written) = scope(|scope| {
        let name = Builder::new().name("limiter".into());
        let passing = name.spawn_scoped(scope, || pass_on(reader, output, rate, cancel));
        let passing = passing.map_err(|error| EngineError::no_thread(&error))?;
        let written = run(command, environment, from, cancel);
        let passed = passing
            .join()
            .unwrap_or_else(|_| Err(EngineError::failed("limiting a rate", "its thread panicked")));
        Ok::<_, EngineError>((passed, written))
    })?;
    // A program whose output cannot be written fails too.
    passed.and(written)
}

/// Passes bytes on, no more than `rate` of them a second. When the reader has ended, its own error
/// says why.
fn pass_on(mut from: PipeReader, mut to: File, rate: f64, cancel: &Cancel) -> Result<()> {
    let (start, mut bytes) = (Instant::now(), 0_u64);
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let read = from.read(&mut chunk);
        let length = read.map_err(|error| EngineError::failed("reading a backup", error))?;
        if length == 0 || cancel.is_cancelled() {
            return Ok(());
        }
        match to.write_all(&chunk[..length]) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(()),
            Err(error) if error.kind() == ErrorKind::StorageFull => {
                return Err(EngineError::DiskFull { doing: "writing a backup".into() });
            }
            Err(error) => return Err(EngineError::failed("writing a backup", error)),
        }
        bytes += length as u64;
        cancel.wait_until(start + Duration::from_secs_f64(bytes as f64 / rate));
    }
}

fn pipe() -> Result<(PipeReader, PipeWriter)> {
    std::io::pipe().map_err(|error| EngineError::failed("making a pipe", error.to_string()))
}

/// Runs two programs, the second on the output of the first, at no more than `rate` bytes a second
/// between them; returns the CPU seconds of both.
///
/// # Errors
/// As [`run`]; of two failures that of the first program, unless it only lost its reader.
pub fn run_piped(
    [first, second]: [Command; 2],
    environment: &[(String, Option<String>)],
    pipes: Pipes,
    rate: Option<f64>,
    cancel: &Cancel,
) -> Result<f64> {
    let (reader, writer) = pipe()?;
    let from = Pipes { input: pipes.input, output: Some(writer.into()) };
    let to = Pipes { input: Some(reader.into()), output: pipes.output };
    let (read, written) = scope(|scope| {
        let name = Builder::new().name("pipe".into());
        let reading = name.spawn_scoped(scope, || run(second, environment, to, cancel));
        let reading = reading.map_err(|error| EngineError::no_thread(&error))?;
        let written = run_limited(first, environment, from, rate, cancel);
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
pub fn make_folder(path: &Path) -> Result<()> {
    DirBuilder::new().mode(0o700).create(path).map_err(EngineError::at(path))
}

/// Makes a file that others cannot read.
///
/// # Errors
/// When it exists or cannot be made.
pub fn make_file(path: &Path) -> Result<File> {
    let file = File::options().write(true).create_new(true).open(path);
    let file = file.and_then(|file| {
        file.set_permissions(Permissions::from_mode(0o600))?;
        Ok(file)
    });
    file.map_err(EngineError::at(path))
}
