//! `steelbench profile`

use crate::args::{Profile as Arguments, ProfileCommand};
use crate::exit_code::{ExitCode, Failure};
use crate::output::{self, Form, Replace};
use crate::signals;
use observations::Profile;
use profile::{ProfileError, Profiler};
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Largest saved profile that is read.
const FILE_BYTES_MAX: u64 = 256 << 20;
/// How soon a signal, or its end, ends the sampling of a command.
const NAP: Duration = Duration::from_millis(50);

/// Samples processes or a command, or compares saved profiles.
pub fn profile(arguments: &Arguments) -> Result<ExitCode, Failure> {
    if let Some(ProfileCommand::Compare { a, b, form }) = &arguments.command {
        return compare(a, b, *form);
    }
    let stop = signals::stop_flag()?;
    let (profile, code) = match arguments.words.split_first() {
        Some((program, rest)) => {
            let mut command = Command::new(program);
            command.args(rest);
            sample_command(command, arguments.rate, &stop)?
        }
        None => (sample_processes(arguments, &stop)?, ExitCode::Ok),
    };
    if let Some(path) = &arguments.output {
        write(&profile, path)?;
    }
    let summary = analysis::profile(&profile);
    output::show(arguments.form, || report::json::profile(&summary), || report::profile(&summary))?;
    Ok(code)
}

fn sample_processes(arguments: &Arguments, stop: &AtomicBool) -> Result<Profile, Failure> {
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
            output::complain("warning: the command goes on");
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
    let compared = analysis::compare_profiles(&read(a)?, &read(b)?);
    let names = (a.to_string_lossy(), b.to_string_lossy());
    let document = || report::profile_comparison(&compared, &names.0, &names.1);
    output::show(form, || report::json::profile_comparison(&compared), document)
}

/// What is not there is a wrong argument.
fn failure(error: ProfileError) -> Failure {
    match error {
        ProfileError::NoProcess(_) | ProfileError::Command { .. } => Failure::usage(error),
        _ => Failure::failed(error),
    }
}

/// Writes a profile in the format that the name ends in.
fn write(profile: &Profile, path: &Path) -> Result<(), Failure> {
    let (text, may) = match path.extension().and_then(|ending| ending.to_str()) {
        // These bear no sign of who wrote them.
        Some("folded") => (report::folded(profile), Replace::Any),
        Some("svg") => (report::flame::svg(&analysis::flame(profile)), Replace::Any),
        _ => (
            format!("{}\n", report::json::samples(profile).map_err(Failure::failed)?),
            Replace::Named,
        ),
    };
    output::replace_file(path, may, |writer| writer.write_all(text.as_bytes()))
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
    if value["kind"] != report::json::SAMPLES {
        return Err(foreign("its kind is another one"));
    }
    let profile: Profile =
        serde_json::from_value(value).map_err(|error| foreign(&error.to_string()))?;
    if profile.is_consistent() {
        Ok(profile)
    } else {
        Err(foreign("its stacks point to no function"))
    }
}
