//! `steelbench profile`

mod saved;

use super::waits::stop_on_signals;
use crate::args::{ComparedProfiles, Profile as Arguments, ProfileCommand};
use crate::exit_code::{ExitCode, Failure};
use crate::output;
use observations::Profile;
use profile::{ProfileError, Profiler};
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How soon a signal, or the end of what is sampled, ends it.
const NAP: Duration = Duration::from_millis(50);

/// Samples processes or a command, or compares saved profiles.
pub fn profile(arguments: &Arguments) -> Result<ExitCode, Failure> {
    if let Some(ProfileCommand::Compare(files)) = &arguments.command {
        return compare(files);
    }
    let stop = stop_on_signals()?;
    let (profile, code) = match arguments.words.split_first() {
        Some((program, rest)) => {
            let mut command = Command::new(program);
            command.args(rest);
            sample_command(command, arguments.rate, &stop)?
        }
        None => (sample_processes(arguments, &stop)?, ExitCode::Ok),
    };
    if let Some(path) = &arguments.output {
        saved::write(&profile, path)?;
    }
    let summary = analysis::profile(&profile);
    if arguments.json {
        output::print_json(&report::json::profile(&summary).map_err(Failure::failed)?)?;
    } else {
        output::print_document(&report::profile(&summary))?;
    }
    Ok(code)
}

fn sample_processes(arguments: &Arguments, stop: &AtomicBool) -> Result<Profile, Failure> {
    let profiler = Profiler::attach(&arguments.pid, arguments.rate).map_err(failure)?;
    let profiler = profiler.start().map_err(failure)?;
    let end = Instant::now() + Duration::from_secs_f64(arguments.seconds);
    while !stop.load(Ordering::Relaxed) && profiler.is_target_alive() {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        std::thread::sleep(left.min(NAP));
    }
    Ok(profiler.stop().map_err(failure)?.named())
}

/// To the end of the command, or until a signal, which the command gets too where it comes from the terminal.
fn sample_command(command: Command, hz: u32, stop: &AtomicBool) -> Result<(Profile, ExitCode), Failure> {
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
            output::complain("warning: the command goes on");
            ExitCode::Interrupted
        }
    };
    Ok((profile, code))
}

/// How the command ended; `None` when a signal was first.
fn wait(child: &mut Child, stop: &AtomicBool) -> Result<Option<ExitStatus>, Failure> {
    let ended = |child: &mut Child| {
        child.try_wait().map_err(|error| Failure::failed(format!("cannot wait for the command: {error}")))
    };
    loop {
        if let Some(status) = ended(child)? {
            return Ok(Some(status));
        }
        if stop.load(Ordering::Relaxed) {
            // It may be about to end by the same signal.
            std::thread::sleep(NAP);
            return ended(child);
        }
        std::thread::sleep(NAP);
    }
}

fn compare(files: &ComparedProfiles) -> Result<ExitCode, Failure> {
    let (a, b) = (saved::read(&files.a)?, saved::read(&files.b)?);
    let compared = analysis::compare_profiles(&a, &b);
    if files.json {
        output::print_json(&report::json::profile_comparison(&compared).map_err(Failure::failed)?)?;
        return Ok(ExitCode::Ok);
    }
    let document =
        report::profile_comparison(&compared, &files.a.to_string_lossy(), &files.b.to_string_lossy());
    if files.md {
        output::print(&report::markdown(&document))?;
    } else {
        output::print_document(&document)?;
    }
    Ok(ExitCode::Ok)
}

/// What is not there is a wrong argument.
fn failure(error: ProfileError) -> Failure {
    match error {
        ProfileError::NoProcess(_) | ProfileError::Command { .. } => Failure::usage(error),
        _ => Failure::failed(error),
    }
}
