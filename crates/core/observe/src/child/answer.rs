//! Programs that are asked something, and have a time for their answer.

use rustix::fs::{MemfdFlags, memfd_create};
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek};
use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// The time that a program may take that answers from what it knows: `--version`.
const ANSWER: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// Runs a program that answers from what it knows, without input. One that takes longer than a
/// minute is killed.
///
/// # Errors
/// When it cannot be started, or does not end in its time.
pub fn answer(command: &mut Command) -> io::Result<Output> {
    output_within(command, ANSWER, &|| false)
}

/// Runs a program to its end and returns what it printed. When its time is over, or `stop` says so,
/// it is killed with its process group. Processes that it leaves behind are not waited for.
///
/// # Errors
/// When it cannot be started; [`ErrorKind::TimedOut`]; [`ErrorKind::Interrupted`] after a stop.
pub fn output_within(
    command: &mut Command,
    at_most: Duration,
    stop: &dyn Fn() -> bool,
) -> io::Result<Output> {
    // No pipes: what it leaves behind could keep them open.
    let (mut stdout, mut stderr) = (memory()?, memory()?);
    command.stdin(Stdio::null()).stdout(stdout.try_clone()?).stderr(stderr.try_clone()?);
    let mut child = command.process_group(0).spawn()?;
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        let is_late = begun.elapsed() > at_most;
        if is_late || stop() {
            // SAFETY: a system call without pointers; the child leads this group and was not waited
            // for.
            unsafe { libc::killpg(child.id() as libc::pid_t, libc::SIGKILL) };
            child.wait()?;
            let late = format!("no end within {} s", at_most.as_secs());
            return Err(if is_late {
                io::Error::new(ErrorKind::TimedOut, late)
            } else {
                ErrorKind::Interrupted.into()
            });
        }
        std::thread::sleep(LOOK_EVERY);
    };
    Ok(Output { status, stdout: content(&mut stdout)?, stderr: content(&mut stderr)? })
}

fn memory() -> io::Result<File> {
    Ok(memfd_create("output", MemfdFlags::CLOEXEC)?.into())
}

fn content(file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::{answer, output_within};
    use std::io::ErrorKind;
    use std::process::Command;
    use std::time::Duration;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn both_outputs_and_the_status_are_returned() {
        let output = answer(&mut shell("cat; echo out; echo err >&2; exit 3")).unwrap();
        assert_eq!((output.stdout, output.stderr), (b"out\n".into(), b"err\n".into()));
        assert_eq!(output.status.code(), Some(3));
    }

    #[test]
    fn what_a_program_leaves_behind_is_not_waited_for() {
        let output = answer(&mut shell("sleep 1000 & echo $!")).unwrap();
        let left = String::from_utf8(output.stdout).unwrap().trim().parse().unwrap();
        // SAFETY: a system call; the number is that of a process that runs for long.
        assert_eq!(unsafe { libc::kill(left, libc::SIGKILL) }, 0);
    }

    #[test]
    fn a_program_that_does_not_end_is_killed_with_its_group() {
        let limit = Duration::from_millis(50);
        let mut endless = shell("sleep 1000 & sleep 1000");
        let error = output_within(&mut endless, limit, &|| false).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        let error = output_within(&mut endless, Duration::MAX, &|| true).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Interrupted);
    }
}
