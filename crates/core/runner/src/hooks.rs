//! Shell commands of the user, run with the trial's settings in their environment.

use crate::catalog::{FOLDER, folder};
use crate::error::{HookEnd, HookError};
use crate::trial::Interrupt;
use experiment::{Configuration, Experiment};
use observations::{HookOutput, holds_secret, redacted_message};
use std::io::{PipeReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// The bytes of a hook's output that are kept: the end of it, where the error is.
const OUTPUT_BYTES_MAX: usize = 64 << 10;
/// Runs the command in a variable, which its own processes do not see: they may print theirs.
const EVALUATE: &str = "steelbench_command=$STEELBENCH_COMMAND; unset STEELBENCH_COMMAND; \
                        eval \"$steelbench_command\"";
const LOOK_EVERY: Duration = Duration::from_millis(10);
const DRAIN_TIME_MAX: Duration = Duration::from_millis(200);

/// A hook that is to run.
#[derive(Debug, Clone)]
pub struct Hook<'a> {
    /// The purpose: `before_trial`, `volume fast: prepare`.
    pub name: String,
    /// Shell command.
    pub command: &'a str,
    /// The command line is not recorded.
    pub is_hidden: bool,
    /// Variables for it.
    pub variables: Vec<(String, String)>,
    /// When it is killed.
    pub limit: HookLimit,
}

/// The time that a hook may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HookLimit {
    /// The setting that says so.
    pub setting: &'static str,
    /// Seconds after which the hook is killed.
    pub timeout_s: f64,
}

/// Variables that tell a hook its experiment: the name and the folder of the file.
pub fn variables_of_run(experiment: &Experiment) -> Vec<(String, String)> {
    vec![
        ("STEELBENCH_EXPERIMENT".into(), experiment.name.clone()),
        (FOLDER.into(), folder(experiment)),
    ]
}

/// Variables that tell a hook also the settings of a trial: `STEELBENCH_TARGET_DATA_FILES=4`.
pub fn variables_of_trial(
    experiment: &Experiment,
    configuration: &Configuration,
    block: u32,
) -> Vec<(String, String)> {
    let configuration = experiment.recorded_form(configuration);
    let mut variables = variables_of_run(experiment);
    variables.push(("STEELBENCH_BLOCK".into(), block.to_string()));
    // A factor that is a setting shows its value, one of linked levels its name.
    variables.extend(
        configuration.levels.iter().map(|level| (variable(&level.factor), level.label.clone())),
    );
    variables.extend(
        configuration.settings.iter().map(|(path, value)| (variable(path), value.to_string())),
    );
    variables
}

fn variable(path: &str) -> String {
    let name: String = path
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' })
        .collect();
    format!("STEELBENCH_{name}")
}

impl Hook<'_> {
    /// Runs the command to its end, or kills it and all that it started at the timeout or when the
    /// user interrupts. Adds to `outputs` what it printed.
    ///
    /// # Errors
    /// When it does not end by itself, or reports a failure.
    pub fn run(
        &self,
        interrupt: &Interrupt,
        outputs: &mut Vec<HookOutput>,
    ) -> Result<(), HookError> {
        let start = Instant::now();
        let mut printed = Vec::new();
        let ended = self.run_and_read(start, interrupt, &mut printed);
        let exit_code = ended.as_ref().ok().and_then(ExitStatus::code);
        let result =
            ended.and_then(
                |status| {
                    if status.success() { Ok(()) } else { Err(HookEnd::Status(status)) }
                },
            );
        // A line of it may become an error's.
        let output = redacted_message(&String::from_utf8_lossy(&printed));
        let result = result.map_err(|cause| HookError {
            name: self.name.clone(),
            cause,
            last_line: output
                .lines()
                .rfind(|line| !line.trim().is_empty())
                .map(|line| line.trim().to_owned()),
        });
        outputs.push(HookOutput {
            hook: self.name.clone(),
            command: if self.is_hidden { String::new() } else { self.command.to_owned() },
            exit_code,
            elapsed_s: start.elapsed().as_secs_f64(),
            output,
        });
        result
    }

    /// Runs the command to its end, and reads what it prints.
    fn run_and_read(
        &self,
        start: Instant,
        interrupt: &Interrupt,
        printed: &mut Vec<u8>,
    ) -> Result<ExitStatus, HookEnd> {
        let spawned = self.spawn().map_err(|error| HookEnd::System("start a shell", error));
        let (mut child, chunks) = spawned?;
        let ended = self.wait(&mut child, start, interrupt, || {
            for chunk in chunks.try_iter() {
                keep_end(printed, &chunk);
            }
        });
        let drained = Instant::now() + DRAIN_TIME_MAX;
        // A process that the command left behind can hold the pipe open and print to it, for ever.
        while let Some(left) = drained.checked_duration_since(Instant::now())
            && let Ok(chunk) = chunks.recv_timeout(left)
        {
            keep_end(printed, &chunk);
        }
        ended
    }

    /// Starts the command in a process group of its own. Both its streams are one pipe, so that
    /// what it prints stays in order: the last line is where the error is.
    fn spawn(&self) -> std::io::Result<(Child, Receiver<Vec<u8>>)> {
        let (reader, writer) = std::io::pipe()?;
        let chunks = read(reader)?;
        let mut shell = Command::new("sh");
        // Everybody on the machine can read the words of a process (`ps`), and its owner alone its
        // variables.
        if !self.is_hidden && !holds_secret(self.command) {
            shell.args(["-c", self.command]);
        } else {
            shell.args(["-c", EVALUATE]).env("STEELBENCH_COMMAND", self.command);
        }
        let child = shell
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(writer.try_clone()?)
            .stderr(writer)
            .process_group(0)
            .spawn()?;
        Ok((child, chunks))
    }

    fn wait(
        &self,
        child: &mut Child,
        start: Instant,
        interrupt: &Interrupt,
        mut while_waiting: impl FnMut(),
    ) -> Result<ExitStatus, HookEnd> {
        let HookLimit { setting, timeout_s } = self.limit;
        let timeout = Duration::from_secs_f64(timeout_s);
        loop {
            match child.try_wait() {
                Ok(Some(status)) => return Ok(status),
                Err(error) => return Err(HookEnd::System("wait for it", error)),
                Ok(None) => {}
            }
            let cause = if interrupt.requested() {
                "interrupted".to_owned()
            } else if start.elapsed() > timeout {
                format!("killed after {timeout_s} s ({setting})")
            } else {
                while_waiting();
                std::thread::sleep(LOOK_EVERY);
                continue;
            };
            // SAFETY: the child leads a process group of its own, so this reaches it and what it
            // started.
            unsafe { libc::killpg(child.id() as libc::pid_t, libc::SIGKILL) };
            let _ = child.wait();
            return Err(HookEnd::Killed(cause));
        }
    }
}

/// Reads on a thread of its own, and to the end, so that a full pipe never stops a process.
fn read(mut stream: PipeReader) -> std::io::Result<Receiver<Vec<u8>>> {
    let (sender, chunks) = channel();
    std::thread::Builder::new().name("hook output".into()).spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(length @ 1..) = stream.read(&mut buffer) {
            let _ = sender.send(buffer[..length].to_vec());
        }
    })?;
    Ok(chunks)
}

fn keep_end(printed: &mut Vec<u8>, chunk: &[u8]) {
    printed.extend_from_slice(chunk);
    let surplus = printed.len().saturating_sub(OUTPUT_BYTES_MAX);
    printed.drain(..surplus);
}
