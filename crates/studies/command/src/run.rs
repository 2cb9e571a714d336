//! A run of a command or a hook.

use crate::error::{CommandEnd, CommandError, output_end};
use crate::job::{Job, Sink};
use crate::template::command;
use engine::EngineError;
use observations::redacted_message;
use observe::Mark;
use observe::child::{self, Capture, Exit, Ready, Streams};
use observe::profiler::Instructions;
use probe::ProbeError;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use work::Cancel;

/// The number of times that the shell is started to know how long it takes.
const SHELL_STARTS: u32 = 20;
/// The variable that tells a command which run it is.
const ITERATION: &str = "STEELBENCH_ITERATION";

/// Start time of the command's shell; zero if it is not subtracted.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct StartUp {
    pub elapsed_s: f64,
    pub user_s: f64,
    pub system_s: f64,
}

/// Runs what a trial runs.
pub struct Runner<'a> {
    pub job: &'a Job,
    cancel: &'a Cancel,
    /// For all processes; `None`: to be absent.
    variables: Vec<(String, Option<String>)>,
    mark: &'a Mark,
}

impl<'a> Runner<'a> {
    /// Returns a runner of a job whose processes get these variables and this mark.
    pub fn new(
        job: &'a Job,
        variables: impl IntoIterator<Item = (String, Option<String>)>,
        mark: &'a Mark,
        cancel: &'a Cancel,
    ) -> Self {
        let mark_variable = (Mark::VARIABLE.to_owned(), Some(mark.value().to_owned()));
        Self {
            job,
            cancel,
            variables: variables.into_iter().chain([mark_variable]).collect(),
            mark,
        }
    }

    /// Runs the setup command, if there is one.
    pub fn set_up(&self) -> Result<(), ProbeError> {
        self.hook("the setup command", self.job.setup.as_deref(), "setup", &|| {
            self.cancel.is_cancelled()
        })
    }

    /// Runs the cleanup command, if there is one, also when the trial is to stop; then kills the
    /// processes that are still there. Their names.
    pub fn clean_up(&self) -> Result<Vec<String>, ProbeError> {
        let cleaned =
            self.hook("the cleanup command", self.job.cleanup.as_deref(), "cleanup", &|| false);
        let names = self.mark.kill();
        cleaned.map(|()| names)
    }

    /// For a thread that runs the command again and again.
    ///
    /// To be called by the thread that runs it: instructions of what this starts are counted, where
    /// the processor does that.
    pub fn turns(&self) -> Turns<'_> {
        Turns { runner: self, ready: None, instructions: Instructions::of_started().ok() }
    }

    /// An error without the secrets that commands were given: a command may print its environment.
    /// Of a hidden command it has neither the line nor what it printed, which may show the line.
    pub fn hide(&self, error: ProbeError) -> ProbeError {
        let is_hidden = self.job.is_hidden;
        let hidden = |text: &str| {
            if is_hidden {
                return "\nits output is not recorded (observe.commands)".to_owned();
            }
            redacted_message(text)
        };
        match error {
            ProbeError::Study(error) => match error.downcast().map(|error| *error) {
                Ok(CommandError::Failed { what, line, end, output: text }) => {
                    let line = if is_hidden { "...".to_owned() } else { line };
                    CommandError::Failed { what, line, end, output: hidden(&text) }.into()
                }
                Ok(CommandError::Start { source, .. }) if is_hidden => {
                    CommandError::Start { program: "...".to_owned(), source }.into()
                }
                Ok(CommandError::NoResponse { name, cause, output: text }) => {
                    let (cause, hidden) = (cause.hidden(hidden), hidden(&text));
                    CommandError::NoResponse { name, cause, output: hidden }.into()
                }
                Ok(error) => error.into(),
                Err(error) => ProbeError::Study(error),
            },
            error => error,
        }
    }

    /// Returns the average time that the shell takes to start and end, where that is subtracted.
    pub fn shell_start_up(&self) -> Result<Option<StartUp>, ProbeError> {
        let Some(words) = &self.job.shell_alone else { return Ok(None) };
        let mut sum = StartUp::default();
        let mut shell = self.ready(words, false)?;
        started(shell.set(ITERATION, "shell"), words)?;
        for _ in 0..SHELL_STARTS {
            let ended = started(shell.run(&|| self.cancel.is_cancelled()), words)?;
            if ended.stopped {
                return Err(EngineError::Cancelled.into());
            }
            if !ended.status.success() {
                return Err(failed(
                    "the shell",
                    &words.join(" "),
                    CommandEnd::Status(ended.status),
                    &ended,
                ));
            }
            sum.elapsed_s += ended.elapsed.as_secs_f64();
            sum.user_s += ended.used.user_s;
            sum.system_s += ended.used.system_s;
        }
        let mean = |sum: f64| sum / f64::from(SHELL_STARTS);
        Ok(Some(StartUp {
            elapsed_s: mean(sum.elapsed_s),
            user_s: mean(sum.user_s),
            system_s: mean(sum.system_s),
        }))
    }

    /// Runs a hook, no longer than it may take. Processes that it leaves behind are the command's
    /// company until the end of the trial: a server that prepare starts and conclude ends.
    fn hook(
        &self,
        what: &'static str,
        words: Option<&[String]>,
        iteration: &str,
        stop: &dyn Fn() -> bool,
    ) -> Result<(), ProbeError> {
        let Some(words) = words else { return Ok(()) };
        let end = Instant::now() + Duration::from_secs_f64(self.job.hook_timeout_s);
        let late = || Instant::now() >= end;
        let mut hook = self.command(words);
        hook.env(ITERATION, iteration);
        let streams = [Some(null()?), None, None];
        let received = Capture { stdout: true, stderr: true };
        let ended =
            started(child::run_beside(&hook, streams, received, &|| stop() || late()), words)?;
        let line = words.last().map_or("", String::as_str);
        if ended.stopped && !late() {
            return Err(EngineError::Cancelled.into());
        }
        if ended.stopped {
            let end = CommandEnd::Timeout(self.job.hook_timeout_s);
            return Err(failed(what, line, end, &ended));
        }
        if ended.status.success() {
            Ok(())
        } else {
            Err(failed(what, line, CommandEnd::Status(ended.status), &ended))
        }
    }

    /// Makes words ready to be run, with the input and, if it is wanted, the output of the command.
    fn ready(&self, words: &[String], with_output: bool) -> Result<Ready, ProbeError> {
        let input = match &self.job.input {
            Some(path) => opened(File::options().read(true), path)?,
            None => null()?,
        };
        let output = match &self.job.output {
            Sink::Inherit if with_output => None,
            Sink::File(path) if with_output => {
                Some(opened(File::options().write(true).create(true).truncate(true), path)?)
            }
            _ => Some(null()?),
        };
        let streams: Streams = [Some(input), output, None];
        let is = |sink| with_output && self.job.output == sink;
        let received = Capture { stdout: is(Sink::Pipe), stderr: !is(Sink::Inherit) };
        started(Ready::new(&self.command(words), streams, received), words)
    }

    fn command(&self, words: &[String]) -> Command {
        let mut command = command(words);
        child::set_variables(&mut command, &self.variables);
        if let Some(folder) = &self.job.folder {
            command.current_dir(folder);
        }
        command
    }
}

/// The command as one thread runs it again and again. What is the same each time is made ready
/// once: between two short runs that would take longer than anything else.
pub struct Turns<'a> {
    runner: &'a Runner<'a>,
    ready: Option<Ready>,
    instructions: Option<Instructions>,
}

/// A run that has ended.
pub struct Turn {
    pub ended: Exit,
    /// Instructions that it executed in user mode, where they are counted.
    pub instructions: Option<u64>,
}

impl Turns<'_> {
    /// Runs the command with its hooks; `iteration` tells it which run this is.
    pub fn run(&mut self, iteration: &str, stop: &dyn Fn() -> bool) -> Result<Turn, ProbeError> {
        let runner = self.runner;
        let Job { line, prepare, conclude, accepted, .. } = runner.job;
        runner.hook("the prepare command", prepare.as_deref(), iteration, stop)?;
        // Those of the hook.
        self.count();
        let ended = self.run_command(iteration, stop);
        let instructions = self.count();
        // What prepare has started is ended whatever became of the run.
        let concluded =
            runner.hook("the conclude command", conclude.as_deref(), iteration, &|| false);
        let ended = ended?;
        if ended.stopped {
            return Err(EngineError::Cancelled.into());
        }
        if !accepted.takes(ended.status) {
            return Err(failed("the command", line, CommandEnd::Status(ended.status), &ended));
        }
        concluded.map(|()| Turn { ended, instructions })
    }

    fn count(&mut self) -> Option<u64> {
        self.instructions.as_mut()?.since_last().ok().flatten()
    }

    fn run_command(
        &mut self,
        iteration: &str,
        stop: &dyn Fn() -> bool,
    ) -> Result<Exit, ProbeError> {
        let words = &self.runner.job.words;
        let mut ready = self.ready.take().map_or_else(|| self.runner.ready(words, true), Ok)?;
        started(ready.set(ITERATION, iteration), words)?;
        let ended = started(ready.run(stop), words)?;
        // Each run reopens its files. A process left behind by this run may print into the pipes,
        // where the next run's answers are read.
        let Job { input, output, answers, .. } = self.runner.job;
        let has_files = input.is_some() || matches!(output, Sink::File(_));
        if !has_files && answers.is_empty() && !ended.left_group {
            self.ready = Some(ready);
        }
        Ok(ended)
    }
}

fn started<T>(result: io::Result<T>, words: &[String]) -> Result<T, ProbeError> {
    let program = words.first().cloned().unwrap_or_default();
    result.map_err(|source| CommandError::Start { program, source }.into())
}

fn null() -> Result<OwnedFd, CommandError> {
    opened(File::options().read(true).write(true), Path::new("/dev/null"))
}

fn opened(options: &mut OpenOptions, path: &Path) -> Result<OwnedFd, CommandError> {
    child::open_at_once(options, path)
        .map(OwnedFd::from)
        .map_err(|source| CommandError::File { path: path.to_owned(), source })
}

fn failed(what: &'static str, line: &str, end: CommandEnd, ended: &Exit) -> ProbeError {
    let message = output_end(&ended.stdout, &ended.stderr);
    CommandError::Failed { what, line: line.to_owned(), end, output: message }.into()
}
