//! Programs that do a step of preparation: psql, `pg_restore`, a command that restarts a server.

use engine::EngineError;
use observe::child::without_secrets;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use work::Cancel;

/// Between two looks whether it has ended.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Bytes at the end of the output that are examined.
const OUTPUT_BYTES_MAX: u64 = 64 << 10;
/// Characters of the output that an error quotes.
const SAID_MAX: usize = 2000;
/// A program with more output is killed.
const PRINTED_BYTES_MAX: u64 = 64 << 20;

/// Runs a program to its end. When the trial is asked to stop, or after this time, it is killed
/// with all that it has started.
///
/// # Errors
/// When it cannot be started, does not end in time, or fails: with its exit status and its output
/// from the first error on.
pub fn run(
    command: Command,
    doing: &str,
    at_most: Duration,
    cancel: &Cancel,
) -> Result<(), EngineError> {
    run_with(command, Stdio::null(), doing, at_most, cancel)
}

/// Runs a command with this standard input.
pub fn run_with(
    mut command: Command,
    input: Stdio,
    doing: &str,
    at_most: Duration,
    cancel: &Cancel,
) -> Result<(), EngineError> {
    let failed = |message: String| EngineError::failed(doing, message);
    let program = command.get_program().to_string_lossy().into_owned();
    // A file: background processes may keep a pipe open for ever.
    let memory = rustix::fs::memfd_create("output", rustix::fs::MemfdFlags::CLOEXEC);
    let mut output = std::fs::File::from(memory.map_err(|error| failed(error.to_string()))?);
    let both = output.try_clone().and_then(|stdout| Ok((stdout, output.try_clone()?)));
    let (stdout, stderr) = both.map_err(|error| failed(error.to_string()))?;
    let command = command.stdin(input).stdout(stdout).stderr(stderr).process_group(0);
    let mut child = command.spawn().map_err(|error| failed(format!("{program}: {error}")))?;
    let started = Instant::now();
    let status = loop {
        let prints_on = output.metadata().is_ok_and(|output| output.len() > PRINTED_BYTES_MAX);
        match child.try_wait().map_err(|error| failed(error.to_string()))? {
            Some(status) => break status,
            None if cancel.is_cancelled() || started.elapsed() > at_most || prints_on => {
                // SAFETY: the child leads a process group of its own, so this reaches it and what
                // it started.
                unsafe { libc::killpg(child.id() as libc::pid_t, libc::SIGKILL) };
                let _ = child.wait();
                if cancel.is_cancelled() {
                    return Err(EngineError::Cancelled);
                }
                let mebibytes = PRINTED_BYTES_MAX >> 20;
                let why = if prints_on {
                    format!("printing {mebibytes} MiB")
                } else {
                    format!("{} s", at_most.as_secs())
                };
                return Err(failed(format!("{program}: killed after {why}")));
            }
            None => std::thread::sleep(LOOK_EVERY),
        }
    };
    if status.success() { Ok(()) } else { Err(failed(said(&program, status, &mut output))) }
}

/// Returns a failed program's output from its first error on.
fn said(program: &str, status: ExitStatus, output: &mut (impl Read + Seek)) -> String {
    let mut printed = Vec::new();
    let length = output.seek(SeekFrom::End(0)).unwrap_or_default();
    let from = SeekFrom::Start(length.saturating_sub(OUTPUT_BYTES_MAX));
    // Unreadable output counts as empty.
    let _ = output.seek(from).and_then(|_| output.read_to_end(&mut printed));
    let printed = String::from_utf8_lossy(&printed);
    let lower = printed.to_ascii_lowercase();
    let error = ["error:", "fatal:", "error "]
        .iter()
        .filter_map(|word| lower.find(word))
        .min()
        .unwrap_or_default();
    let line = printed[..error].rfind('\n').map_or(0, |end| end + 1);
    let said: String = without_secrets(printed[line..].trim()).chars().take(SAID_MAX).collect();
    let name = program.rsplit('/').next().unwrap_or(program);
    format!("{name} ended with {status}: {said}")
}
