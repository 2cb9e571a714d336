//! `steelbench profile`: its arguments, and the sampling of processes or a command.

use crate::compare::compare_profiles;
use crate::document::{folded, profile_comparison, profile_document};
use crate::flame::{flame, svg};
use crate::summary;
use clap::{Parser, Subcommand};
use command_line::arguments::positive;
use command_line::files::{Replace, check_replaceable, replace_file};
use command_line::output::{self, Form};
use command_line::{Context, ExitCode, Failure, Tool, signals};
use observations::Profile;
use observe::profiler::{self, ProfileError, Profiler};
use report::json::object;
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Kind of a profile with all its stacks, for programs.
const SAMPLES: &str = "samples";
/// Largest saved profile that is read.
const FILE_BYTES_MAX: u64 = 256 << 20;
/// The time after which a signal, or its end, ends the sampling of a command.
const NAP: Duration = Duration::from_millis(50);

/// Profile the CPU time of processes or a command; compare profiles
#[derive(Debug, Parser)]
#[command(name = "profile")]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct ProfileTool {
    #[command(subcommand)]
    command: Option<ProfileCommand>,
    /// Process to sample, with all its threads and child processes; repeatable
    #[arg(
        short,
        long,
        value_name = "PID",
        value_parser = clap::value_parser!(i32).range(1..),
        required_unless_present = "words",
    )]
    pid: Vec<i32>,
    /// How long to sample processes; Ctrl-C stops earlier and shows the results so far
    #[arg(
        long,
        value_name = "N",
        default_value_t = 10.0,
        value_parser = positive::<86_400>,
        conflicts_with = "words",
    )]
    seconds: f64,
    /// Samples per second of CPU time
    #[arg(
        long,
        value_name = "HZ",
        default_value_t = 99,
        value_parser = clap::value_parser!(u32)
            .range(i64::from(profiler::HZ_MIN)..=i64::from(profiler::HZ_MAX)),
    )]
    rate: u32,
    /// Also write the stacks to this file: .folded for flame graph tools, .svg as a flame graph,
    /// else as JSON for `profile compare`. Only an .svg or JSON file written by Steelbench is
    /// replaced
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    form: Form,
    /// A command to start and sample to its end
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "pid")]
    words: Vec<std::ffi::OsString>,
}

/// Commands on saved profiles.
#[derive(Debug, Subcommand)]
pub(crate) enum ProfileCommand {
    /// Compare two profiles and mark the differences that exceed sampling error
    #[command(
        after_long_help = "Examples:\n  steelbench profile compare before.json after.json\n  \
                                 steelbench profile compare before.json after.json --md"
    )]
    Compare {
        /// JSON file written by `profile --output`
        a: PathBuf,
        /// The profile to compare it with
        b: PathBuf,
        /// The form of the page.
        #[command(flatten)]
        form: Form,
    },
}

impl Tool for ProfileTool {
    const EXAMPLES: [&'static str; 2] =
        ["steelbench profile --pid 4711 --seconds 10", "steelbench profile -- ./load.sh"];

    fn run(&self, _: &Context) -> Result<ExitCode, Failure> {
        if let Some(ProfileCommand::Compare { a, b, form }) = &self.command {
            return compare(a, b, *form);
        }
        if let Some(path) = &self.output {
            check_replaceable(path, Replace::Named)?;
        }
        let stop = signals::stop_flag()?;
        let (profile, code) = match self.words.split_first() {
            Some((program, rest)) => {
                let mut command = Command::new(program);
                command.args(rest);
                sample_command(command, self.rate, &stop)?
            }
            None => (sample_processes(self, &stop)?, ExitCode::Ok),
        };
        if let Some(path) = &self.output {
            write(&profile, path)?;
        }
        let summary = summary::profile(&profile);
        output::show(
            self.form,
            || object("profile", &summary, Value::Null),
            || profile_document(&summary),
        )?;
        Ok(code)
    }
}

fn sample_processes(arguments: &ProfileTool, stop: &AtomicBool) -> Result<Profile, Failure> {
    let profiler = Profiler::attach(&arguments.pid, arguments.rate).map_err(failure)?;
    let profiler = profiler.start().map_err(failure)?;
    signals::pause(arguments.seconds, stop, || !profiler.is_target_alive());
    Ok(profiler.stop().map_err(failure)?.named())
}

/// To the end of the command, or until a signal, which the command gets too where it comes from the
/// terminal.
fn sample_command(
    command: Command,
    hz: u32,
    stop: &AtomicBool,
) -> Result<(Profile, ExitCode), Failure> {
    let (profiler, mut child) = Profiler::spawn(command, hz).map_err(failure)?;
    let ended = wait(&mut child, stop)?;
    let profile = profiler.stop().map_err(failure)?.named();
    let code = match ended {
        Some(status) if status.success() => ExitCode::Ok,
        Some(status) => {
            output::complain(&format!("warning: the command ended with {status}"));
            ExitCode::Failed
        }
        None => {
            output::complain("warning: the command is still running");
            ExitCode::Interrupted
        }
    };
    Ok((profile, code))
}

/// How the command ended; `None` when a signal was first.
fn wait(child: &mut Child, stop: &AtomicBool) -> Result<Option<ExitStatus>, Failure> {
    loop {
        // Looked at first: the command may be about to end by the same signal.
        let stopped = stop.load(Ordering::Relaxed);
        std::thread::sleep(NAP);
        let ended = child.try_wait();
        let ended = ended
            .map_err(|error| Failure::failed(format!("cannot wait for the command: {error}")))?;
        if ended.is_some() || stopped {
            return Ok(ended);
        }
    }
}

fn compare(a: &Path, b: &Path, form: Form) -> Result<ExitCode, Failure> {
    let compared = compare_profiles(&read(a)?, &read(b)?);
    let names = (a.to_string_lossy(), b.to_string_lossy());
    output::show(
        form,
        || object("profile_comparison", &compared, Value::Null),
        || profile_comparison(&compared, &names.0, &names.1),
    )
}

/// Converts an error; a missing item is a wrong argument.
fn failure(error: ProfileError) -> Failure {
    match error {
        ProfileError::NoProcess(_) | ProfileError::Command { .. } => Failure::usage(error),
        _ => Failure::failed(error),
    }
}

/// Writes a profile in the format that the name ends in.
fn write(profile: &Profile, path: &Path) -> Result<(), Failure> {
    let text = match path.extension().and_then(|ending| ending.to_str()) {
        Some("folded") => folded(profile),
        Some("svg") => svg(&flame(profile)),
        _ => format!("{}\n", object(SAMPLES, profile, Value::Null).map_err(Failure::failed)?),
    };
    replace_file(path, Replace::Named, |writer| writer.write_all(text.as_bytes()))
}

/// Reads what `profile --output` wrote as JSON.
fn read(path: &Path) -> Result<Profile, Failure> {
    let text = experiment::read_text(path, FILE_BYTES_MAX)
        .map_err(|error| Failure::usage(format!("{}: {error}", path.display())))?;
    let foreign = |what: &str| {
        let how = "`steelbench profile --output FILE.json` writes one";
        Failure::usage(format!("{}: not a profile: {what}; {how}", path.display()))
    };
    let value: serde_json::Value =
        serde_json::from_str(&text).map_err(|error| foreign(&error.to_string()))?;
    if value["kind"] != SAMPLES {
        return Err(foreign("the file is of another kind"));
    }
    let profile: Profile =
        serde_json::from_value(value).map_err(|error| foreign(&error.to_string()))?;
    if !profile.has_rate() {
        return Err(foreign("its rate of samples is not above 0"));
    }
    if !profile.is_consistent() {
        return Err(foreign("its stacks refer to missing functions"));
    }
    Ok(profile)
}
