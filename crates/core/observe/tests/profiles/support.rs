//! Programs to sample, and what is to be found in their profiles.

use observations::{Profile, UNKNOWN};
use observe::ProcessTimes;
use observe::profiler::{ProfileError, Profiler};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Standard errors that a share may be off by: a correct program fails once in 15,000 times.
const SIGMAS: f64 = 4.0;

/// Nothing that a test waits for takes this long, on the slowest machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Says that a check was left out; `xtask test` collects these lines.
pub fn skipped(reason: &str) {
    println!("SKIPPED: {reason}");
}

/// The example `burn`, which cargo builds beside the tests.
pub fn burn() -> PathBuf {
    let mut path = std::env::current_exe().unwrap();
    path.pop();
    path.pop();
    path.push("examples/burn");
    assert!(path.is_file(), "{}: build the examples too", path.display());
    path
}

pub fn command(program: &Path, kind: &str, milliseconds: u32) -> Command {
    let mut command = Command::new(program);
    command.arg(kind).arg(milliseconds.to_string()).stdin(Stdio::null()).stdout(Stdio::null());
    command
}

/// A program that has said that it is ready.
pub fn started(kind: &str, milliseconds: u32) -> Child {
    let mut child = command(&burn(), kind, milliseconds).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    child
}

/// The profile of a command from its beginning to its end; `None` where the system does not permit
/// it.
pub fn profile_of(command: Command, hz: u32) -> Option<Profile> {
    let (profiler, mut child) = permitted(Profiler::spawn(command, hz))?;
    child.wait().unwrap();
    Some(sound(profiler.stop().unwrap().named()))
}

/// Skips tests that are not permitted.
pub fn permitted<T>(result: Result<T, ProfileError>) -> Option<T> {
    match result {
        Err(error @ (ProfileError::NotPermitted(_) | ProfileError::NotSupported)) => {
            skipped(&error.to_string());
            None
        }
        result => Some(result.unwrap()),
    }
}

/// Checks the invariants of every profile.
pub fn sound(profile: Profile) -> Profile {
    assert!(profile.is_consistent(), "{profile:#?}");
    let sum: u64 = profile.self_and_total().iter().map(|(self_count, _)| self_count).sum();
    assert_eq!(sum, profile.samples());
    profile
}

/// Samples in functions whose names end so.
pub fn samples(profile: &Profile, function: &str) -> u64 {
    let counts = profile.self_and_total();
    let found =
        profile.frames.iter().zip(counts).filter(|(frame, _)| frame.function.ends_with(function));
    found.map(|(_, (self_count, _))| self_count).sum()
}

/// Samples in functions whose names end so, or in what they call.
pub fn total(profile: &Profile, function: &str) -> u64 {
    profile
        .stacks
        .iter()
        .filter(|stack| profile.frames_of(stack).any(|frame| frame.function.ends_with(function)))
        .map(|stack| stack.samples)
        .sum()
}

/// Samples in the kernel.
pub fn kernel(profile: &Profile) -> u64 {
    profile
        .stacks
        .iter()
        .filter(|stack| profile.frames_of(stack).last().unwrap().kernel)
        .map(|stack| stack.samples)
        .sum()
}

/// Samples in a file without a name.
pub fn nameless(profile: &Profile, module: &str) -> u64 {
    let counts = profile.self_and_total();
    let found = profile.frames.iter().zip(counts).filter(|(frame, _)| {
        frame.function == UNKNOWN && profile.module_of(frame).ends_with(module)
    });
    found.map(|(_, (self_count, _))| self_count).sum()
}

/// A share lies where the binomial distribution expects it.
#[track_caller]
pub fn assert_share(part: u64, all: u64, expected: f64) {
    assert!(all > 50, "{all} samples say nothing");
    let share = part as f64 / all as f64;
    let error = (expected * (1.0 - expected) / all as f64).sqrt();
    assert!(
        (share - expected).abs() <= SIGMAS * error,
        "{part} of {all} = {share:.3}, not {expected} ± {error:.3}"
    );
}

/// A program made by the C compiler; `None` where there is none.
pub fn compiled(folder: &Path, source: &str, flags: &[&str]) -> Option<PathBuf> {
    let (code, program) = (folder.join("program.c"), folder.join("program"));
    std::fs::write(&code, source).unwrap();
    let output =
        Command::new("cc").args(["-O0", "-o"]).arg(&program).args(flags).arg(&code).output();
    let Ok(output) = output else {
        skipped("there is no C compiler");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(program)
}

/// Waits until the first thread of a process has been on a processor for `time`.
pub fn wait_for_cpu(pid: i32, time: Duration) {
    let used = || Duration::from_nanos(ProcessTimes::read(pid).unwrap().cpu_ns);
    let (end, start) = (used() + time, Instant::now());
    while used() < end {
        assert!(start.elapsed() < PATIENCE, "it does not run");
        std::thread::sleep(Duration::from_millis(10));
    }
}
