//! The release build of ourselves and of the peer, and running experiments with it.

use crate::process::{cargo, succeed, target};
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;

/// Environment of the measurements.
pub struct Bench {
    /// Our program.
    pub steelbench: PathBuf,
    /// A folder for the files of all measurements, on the file system of the target folder.
    pub folder: PathBuf,
    /// Scale factor of data sets.
    pub scale: f64,
}

/// One finished trial, as announced by `run --json`.
pub struct Trial {
    pub configuration: String,
    pub block: u64,
    pub wall_s: f64,
    responses: Value,
}

impl Trial {
    fn from_event(event: &Value) -> Option<Self> {
        Some(Self {
            configuration: event["trial"]["configuration"].as_str()?.to_owned(),
            block: event["trial"]["block"].as_u64()?,
            wall_s: event["wall_s"].as_f64()?,
            responses: event["responses"].clone(),
        })
    }

    /// A response by its name.
    pub fn response(&self, name: &str) -> Result<f64, String> {
        let found =
            self.responses.as_array().into_iter().flatten().find(|known| known["name"] == name);
        found
            .and_then(|response| response["value"].as_f64())
            .ok_or_else(|| format!("the trial has no response {name}"))
    }
}

/// Result of an experiment.
pub struct Ran {
    /// Finished trials.
    pub trials: Vec<Trial>,
    /// CPU seconds of the whole process, start and report included.
    pub cpu_s: f64,
    /// The most memory that it had at once, in megabytes.
    pub peak_mb: f64,
}

impl Ran {
    /// The only trial.
    pub fn trial(&self) -> Result<&Trial, String> {
        self.trials.first().ok_or_else(|| "no trial was finished".into())
    }

    /// A response of the trials with a setting on and off, for each block.
    pub fn on_and_off(&self, response: &str) -> Vec<(f64, f64)> {
        let value = |block: u64, level: &str| {
            let mut of_block = self.trials.iter().filter(|trial| trial.block == block);
            of_block.find(|trial| trial.configuration.ends_with(level))?.response(response).ok()
        };
        let last = self.trials.iter().map(|trial| trial.block).max().unwrap_or(0);
        (1..=last).filter_map(|block| value(block, "=true").zip(value(block, "=false"))).collect()
    }
}

impl Bench {
    /// Builds our program in release mode as users do.
    pub fn build(scale: f64) -> Result<Self, String> {
        succeed(&mut cargo(&["build", "--quiet", "--release", "--bin", "steelbench"]))?;
        let folder = target().join("bench");
        std::fs::create_dir_all(&folder)
            .map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(Self { steelbench: target().join("release/steelbench"), folder, scale })
    }

    /// Runs an experiment from scratch, with flags of `run`.
    pub fn experiment(&self, name: &str, text: &str, flags: &[&str]) -> Result<Ran, String> {
        let file = self.folder.join(format!("{name}.toml"));
        std::fs::write(&file, format!("[experiment]\nname = \"{name}\"\n{text}"))
            .map_err(|error| format!("{}: {error}", file.display()))?;
        let mut run = self.command(&["run"]);
        let Used { cpu_s, peak_mb, printed } =
            used(run.arg(&file).args(["--fresh", "--json"]).args(flags))?;
        let events = printed.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let finished = events.filter(|event| event["event"] == "trial_finished");
        let trials = finished.filter_map(|event| Trial::from_event(&event)).collect();
        Ok(Ran { trials, cpu_s, peak_mb })
    }

    /// Our program, in the folder of the measurements, where its cache is too.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.steelbench);
        command.current_dir(&self.folder).env("XDG_CACHE_HOME", self.cache()).args(arguments);
        command
    }

    /// Returns the cache folder of our program.
    pub fn cache(&self) -> PathBuf {
        self.folder.join("cache")
    }
}

/// Builds an example in release mode, and says where it is.
pub fn example(package: &str, name: &str) -> Result<PathBuf, String> {
    succeed(&mut cargo(&["build", "--quiet", "--release", "-p", package, "--example", name]))?;
    Ok(target().join("release/examples").join(name))
}

/// CPU use of a program.
pub struct Used {
    /// Seconds in user mode and in the kernel.
    pub cpu_s: f64,
    /// The most memory that it had at once, in megabytes.
    pub peak_mb: f64,
    /// The output.
    pub printed: String,
}

/// Says on the last line of standard error what a command used: seconds of processor time and KiB,
/// as getrusage(2) has it.
const USED: &str = "import resource, subprocess, sys\ncode = \
                    subprocess.run(sys.argv[1:]).returncode\nown = \
                    resource.getrusage(resource.RUSAGE_CHILDREN)\nprint(f'\\n{own.ru_utime + \
                    own.ru_stime} {own.ru_maxrss}', file=sys.stderr)\nsys.exit(code != 0)\n";

/// Another program, which gets a command as its last arguments and runs it where and with what that
/// would run.
pub fn run_by<'a>(program: &'a mut Command, command: &Command) -> &'a mut Command {
    program.arg(command.get_program()).args(command.get_args());
    program.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    program.current_dir(command.get_current_dir().unwrap_or("/".as_ref()))
}

/// Runs a command to its end and says what it used.
pub fn used(command: &Command) -> Result<Used, String> {
    let mut python = Command::new("python3");
    let result = run_by(python.args(["-c", USED]), command)
        .output()
        .map_err(|error| format!("python3: {error}"))?;
    let text = String::from_utf8_lossy(&result.stderr);
    if !result.status.success() {
        return Err(format!("{command:?}: {}\n{text}", result.status));
    }
    let times = text.lines().last().unwrap_or_default();
    let used = times
        .split_once(' ')
        .and_then(|(s, kib)| Some((s.parse().ok()?, kib.parse::<f64>().ok()?)));
    let (cpu_s, kib) = used.ok_or_else(|| format!("python3 counted {times:?}"))?;
    let printed = String::from_utf8_lossy(&result.stdout).into_owned();
    Ok(Used { cpu_s, peak_mb: kib * 1024.0 / 1e6, printed })
}
