//! Programs that do a step of preparation: psql, `pg_restore`, a command that restarts a server.

use crate::progress::{self, GroupMember};
use engine::{EngineError, Result};
use observations::redacted_message;
use std::collections::BTreeMap;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use work::Stop;

/// Between two looks whether it has ended.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Between two looks at its progress, at most, and how many there are before a silence ends it.
const PROGRESS_EVERY: Duration = Duration::from_millis(500);
const LOOKS: u32 = 10;

/// Bytes at the end of the output that are examined.
const OUTPUT_BYTES_MAX: u64 = 64 << 10;
/// Characters of the output that an error quotes.
const CHARACTERS_MAX: usize = 2000;
/// A program with more output is killed.
const PRINTED_BYTES_MAX: u64 = 64 << 20;

/// Ends of a program other than its own.
struct Limits<'a> {
    /// The time that it may take in all.
    at_most: Duration,
    /// The limit of its silence, where it may work for long.
    silence: Option<Silence<'a>>,
    stop: &'a Stop,
}

/// A limit of a program's silence: of the time in which it neither computes nor reads nor writes,
/// and nothing works for it.
struct Silence<'a> {
    at_most: Duration,
    /// Says whether a server works for the program.
    works: &'a dyn Fn() -> bool,
    last: Progress,
    since: Instant,
    looked: Instant,
}

/// The progress of a group of processes.
type Progress = BTreeMap<i32, GroupMember>;

/// Runs a program to its end. After this time it is killed with all that it has started.
///
/// # Errors
/// When it cannot be started, does not end in time, or fails: with its exit status and its output
/// from the first error on.
pub fn run(command: Command, doing: &str, at_most: Duration) -> Result<()> {
    let limits = Limits { at_most, silence: None, stop: &Stop::when(|| false) };
    run_within(command, Stdio::null(), doing, limits)
}

/// Runs a program that may work for long, with this standard input. It is killed with all that it
/// has started when `stop` is asked for, and after a silence: so long it neither computes, nor
/// reads, nor writes, and `works` does not say that a server works for it.
///
/// # Errors
/// As those of [`run`].
pub fn run_long(
    command: Command,
    input: Stdio,
    doing: &str,
    works: &dyn Fn() -> bool,
    stop: &Stop,
) -> Result<()> {
    let silence = Some(Silence::new(work::silence_max(), works));
    run_within(command, input, doing, Limits { at_most: Duration::MAX, silence, stop })
}

fn run_within(
    mut command: Command,
    input: Stdio,
    doing: &str,
    mut limits: Limits<'_>,
) -> Result<()> {
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
        if let Some(status) = child.try_wait().map_err(|error| failed(error.to_string()))? {
            break status;
        }
        let prints_on = output.metadata().is_ok_and(|output| output.len() > PRINTED_BYTES_MAX);
        let why = if limits.stop.is_asked() {
            Some(EngineError::Cancelled)
        } else if prints_on {
            Some(failed(format!(
                "{program}: killed after printing {} MiB",
                PRINTED_BYTES_MAX >> 20
            )))
        } else {
            let reached = limits.reached(started, child.id() as i32);
            reached.map(|limit| failed(format!("{program}: killed after {limit}")))
        };
        if let Some(why) = why {
            // SAFETY: the child leads a process group of its own, so this reaches it and what it
            // started.
            unsafe { libc::killpg(child.id() as libc::pid_t, libc::SIGKILL) };
            let _ = child.wait();
            return Err(why);
        }
        std::thread::sleep(LOOK_EVERY);
    };
    if status.success() { Ok(()) } else { Err(failed(messages(&program, status, &mut output))) }
}

impl<'a> Silence<'a> {
    fn new(at_most: Duration, works: &'a dyn Fn() -> bool) -> Self {
        let now = Instant::now();
        Self { at_most, works, last: Progress::new(), since: now, looked: now }
    }
}

impl Limits<'_> {
    /// The limit that a program has reached, if any.
    fn reached(&mut self, started: Instant, group: i32) -> Option<String> {
        if started.elapsed() > self.at_most {
            return Some(format!("{} s", self.at_most.as_secs()));
        }
        let silence = self.silence.as_mut()?;
        if silence.looked.elapsed() < (silence.at_most / LOOKS).min(PROGRESS_EVERY) {
            return None;
        }
        silence.looked = Instant::now();
        let now = progress::group(group);
        if now != silence.last {
            (silence.last, silence.since) = (now, silence.looked);
        }
        if silence.since.elapsed() < silence.at_most {
            return None;
        }
        if (silence.works)() {
            silence.since = Instant::now();
            return None;
        }
        Some(format!(
            "{} s without progress: it neither computed, read nor wrote, and the server did not \
             work for it",
            silence.at_most.as_secs_f64()
        ))
    }
}

/// Returns a failed program's output from its first error on.
fn messages(program: &str, status: ExitStatus, output: &mut (impl Read + Seek)) -> String {
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
    let characters: String =
        redacted_message(printed[line..].trim()).chars().take(CHARACTERS_MAX).collect();
    let name = program.rsplit('/').next().unwrap_or(program);
    format!("{name} ended with {status}: {characters}")
}

#[cfg(test)]
mod tests {
    use super::{Limits, Silence, run_within};
    use engine::{EngineError, Result};
    use std::cell::Cell;
    use std::process::{Command, Stdio};
    use std::time::Duration;
    use work::Stop;

    const LIMIT: Duration = Duration::from_millis(300);

    fn run(script: &str, works: &dyn Fn() -> bool) -> Result<()> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let (stop, silence) = (Stop::when(|| false), Some(Silence::new(LIMIT, works)));
        let limits = Limits { at_most: Duration::MAX, silence, stop: &stop };
        run_within(command, Stdio::null(), "testing", limits)
    }

    #[test]
    fn a_silent_program_is_killed_with_all_that_it_has_started() {
        let error = run("sleep 1000 & sleep 1000", &|| false).unwrap_err().to_string();
        assert!(error.contains("sh: killed after 0.3 s without progress"), "{error}");
    }

    #[test]
    fn a_program_that_comes_on_may_take_longer_than_the_limit() {
        // Each round starts a program.
        run("for n in 1 2 3 4 5 6 7 8 9 10; do sleep 0.1; done", &|| false).unwrap();
    }

    #[test]
    fn a_program_that_a_server_works_for_is_not_silent() {
        let requests = Cell::new(0);
        let works = || {
            requests.set(requests.get() + 1);
            requests.get() < 3
        };
        let error = run("sleep 1000", &works).unwrap_err().to_string();
        assert!(error.contains("without progress") && requests.get() == 3, "{error}");
    }

    #[test]
    fn a_stop_ends_it() {
        let (stop, works) = (Stop::when(|| true), || true);
        let silence = Some(Silence::new(LIMIT, &works));
        let limits = Limits { at_most: Duration::MAX, silence, stop: &stop };
        let mut command = Command::new("sleep");
        command.arg("1000");
        let ended = run_within(command, Stdio::null(), "testing", limits);
        assert!(matches!(ended, Err(EngineError::Cancelled)), "{ended:?}");
    }
}
