//! The command of a configuration, read from its settings.

use crate::answer::Answer;
use crate::draws::{Draws, Source};
use crate::template::{Parameters, Shell, WordsError, escaped, is_name, substituted, uses};
use crate::{
    CLEANUP, COMMAND, CONCLUDE, CONCURRENCY, DURATION, FOLDER, HOOK_TIMEOUT, IGNORE_FAILURE, INPUT,
    MAX_RUNS, MIN_RUNS, OUTPUT, PREPARE, RUNS, SETUP, SHELL, SUBTRACT_SHELL, WARMUP_RUNS,
};
use experiment::common::OBSERVE_COMMANDS;
use experiment::{Configuration, Invalid, Setting, Value, nearest};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

/// Where the settings of parameters lie.
const PARAMETERS: &str = "workload.parameters.";
/// Where those of drawn parameters lie.
const RANDOM: &str = "workload.random.";

/// The command that a configuration's trials run.
#[derive(Debug)]
pub struct Job {
    /// The command, as it is executed.
    pub(super) words: Vec<String>,
    /// The command line as typed, with parameters filled in.
    pub line: String,
    /// Command lines, and output that may show them, are not recorded.
    pub is_hidden: bool,
    /// The shell that starts and ends, where its time is subtracted.
    pub(super) shell_alone: Option<Vec<String>>,
    pub(super) setup: Option<Vec<String>>,
    pub(super) prepare: Option<Vec<String>>,
    pub(super) conclude: Option<Vec<String>>,
    pub(super) cleanup: Option<Vec<String>>,
    pub(super) hook_timeout_s: f64,
    /// Names of the parameters that the setup and the cleanup command use.
    set_up_uses: Vec<String>,
    /// Values of parameters by name.
    pub parameters: Parameters,
    /// Parameters that were drawn.
    pub(super) draws: Draws,
    pub(super) concurrency: u32,
    pub(super) warmup_runs: u64,
    pub(super) accepted: ExitCodes,
    pub(super) input: Option<PathBuf>,
    pub(super) output: Sink,
    pub(super) folder: Option<PathBuf>,
    pub(super) answers: Vec<Answer>,
    runs: Runs,
}

/// The number of times that the command is run in a trial.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Runs {
    min: u64,
    max: u64,
    /// Between these, no run begins later than this.
    duration_s: f64,
}

/// How a run may end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExitCodes {
    /// With 0.
    Zero,
    /// With 0 or one of these.
    Codes(Vec<i32>),
    /// In any way.
    Any,
}

/// The destination of standard output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Sink {
    /// To /dev/null.
    Null,
    /// To a pipe that is read.
    Pipe,
    /// To Steelbench's own standard output.
    Inherit,
    /// To a file, which each run truncates.
    File(PathBuf),
}

impl ExitCodes {
    /// From the text of the setting or option: `true`, `1,2`; `None`: it is neither.
    pub fn parse(text: &str) -> Option<Self> {
        match text.trim() {
            "true" | "all-non-zero" => Some(Self::Any),
            "false" => Some(Self::Zero),
            codes => codes
                .split(',')
                .map(|code| code.trim().parse().ok().filter(|code| (0..256).contains(code)))
                .collect::<Option<_>>()
                .map(Self::Codes),
        }
    }

    /// Returns whether a run may end with this status.
    pub fn takes(&self, status: ExitStatus) -> bool {
        status.success()
            || match self {
                Self::Zero => false,
                Self::Codes(codes) => status.code().is_some_and(|code| codes.contains(&code)),
                Self::Any => true,
            }
    }
}

impl Sink {
    /// From the text of the setting.
    pub fn parse(text: &str) -> Self {
        match text {
            "null" => Self::Null,
            "pipe" => Self::Pipe,
            "inherit" => Self::Inherit,
            path => Self::File(path.into()),
        }
    }
}

/// Reads settings and keeps what is wrong with them.
struct Reader<'a> {
    configuration: &'a Configuration,
    parameters: Parameters,
    draws: Draws,
    shell: Shell,
    invalid: Vec<Invalid>,
}

impl Job {
    /// Reads the command of a configuration, with the parameters that any trial could draw.
    ///
    /// # Errors
    /// All faults of its settings.
    pub fn from_settings(configuration: &Configuration) -> Result<Self, Vec<Invalid>> {
        Self::for_trial(configuration, 0)
    }

    /// Reads the command of a trial, which draws parameters by its seed.
    ///
    /// # Errors
    /// All faults of its settings.
    pub fn for_trial(configuration: &Configuration, seed: u64) -> Result<Self, Vec<Invalid>> {
        let parameters = configuration.below(PARAMETERS);
        let parameters =
            parameters.map(|(name, value)| (name.to_owned(), value.to_string())).collect();
        let mut reader = Reader {
            configuration,
            parameters,
            draws: Draws::default(),
            shell: Shell::None,
            invalid: Vec::new(),
        };
        reader.draw(seed);
        let job = reader.job();
        let invalid = reader.invalid;
        if invalid.is_empty() { Ok(job) } else { Err(invalid) }
    }

    /// A name with the parameters in it replaced; other braces stay.
    pub fn filled(&self, name: &str) -> String {
        let text = escaped(name, |name| self.parameters.contains_key(name));
        substituted(&text, &self.parameters).unwrap_or_default()
    }

    /// The parameters that the setup and the cleanup command use.
    pub(super) fn set_up_parameters(&self) -> impl Iterator<Item = (&String, &String)> {
        self.parameters.iter().filter(|(name, _)| self.set_up_uses.contains(name))
    }

    /// The setup and the cleanup command with everything that they depend on: jobs in which it is
    /// equal can share what the setup command makes.
    pub(super) fn set_up_identity(&self) -> String {
        let parameters: Vec<_> = self.set_up_parameters().collect();
        format!("{:?}", (&self.setup, &self.cleanup, &self.folder, parameters))
    }

    /// Returns whether run `number`, from 0, starts at this second of the measurement.
    pub fn continues(&self, number: u64, elapsed_s: f64) -> bool {
        let Runs { min, max, duration_s } = self.runs;
        number < min || (number < max && elapsed_s < duration_s)
    }

    /// Runs in a trial, where their number is fixed.
    pub fn exact_runs(&self) -> Option<u64> {
        (self.runs.min == self.runs.max).then_some(self.runs.max)
    }

    /// Seconds of the measurement, where these decide.
    pub fn duration_s(&self) -> Option<f64> {
        self.exact_runs().is_none().then_some(self.runs.duration_s)
    }
}

impl Reader<'_> {
    fn job(&mut self) -> Job {
        let configuration = self.configuration;
        self.check_parameters();
        let shell = Shell::parse(&configuration.get(SHELL));
        self.shell = self.value(SHELL, shell).unwrap_or(Shell::None);
        let (words, line) = self.command();
        let is_text = matches!(configuration.get(COMMAND), Some(Value::Text(_)));
        let subtract = configuration.get(SUBTRACT_SHELL) && is_text && self.shell != Shell::None;
        let answers = Answer::all(configuration).map_err(|invalid| self.invalid.extend(invalid));
        let answers = answers.unwrap_or_default();
        let around = [SETUP, CLEANUP].map(|hook| configuration.get(hook).unwrap_or_default());
        let used = self.parameters.keys().filter(|name| around.iter().any(|text| uses(text, name)));
        let set_up_uses = used.cloned().collect();
        let job = Job {
            is_hidden: configuration.get(OBSERVE_COMMANDS) == Some(false),
            shell_alone: subtract.then(|| self.shell.execute("").unwrap_or_default()),
            setup: self.hook(SETUP),
            prepare: self.hook(PREPARE),
            conclude: self.hook(CONCLUDE),
            cleanup: self.hook(CLEANUP),
            hook_timeout_s: configuration.get(HOOK_TIMEOUT),
            set_up_uses,
            concurrency: configuration.get(CONCURRENCY),
            warmup_runs: configuration.get(WARMUP_RUNS),
            accepted: self.accepted(),
            input: configuration.get(INPUT).map(PathBuf::from),
            output: self.output(&answers),
            folder: configuration.get(FOLDER).map(PathBuf::from),
            runs: self.runs(),
            parameters: std::mem::take(&mut self.parameters),
            draws: std::mem::take(&mut self.draws),
            words,
            line,
            answers,
        };
        self.check_machine(&job);
        job
    }

    fn object<T>(&mut self, setting: Setting<T>, message: impl Into<String>)
    where
        T: experiment::FromValue,
    {
        self.invalid.push(Invalid::new(setting.path(), message));
    }

    /// Returns the value, or an objection to its setting.
    fn value<T: experiment::FromValue, V>(
        &mut self,
        setting: Setting<T>,
        read: Result<V, WordsError>,
    ) -> Option<V> {
        read.map_err(|error| self.object(setting, error.to_string())).ok()
    }

    fn check_parameters(&mut self) {
        let wrong = self.parameters.keys().filter(|name| !is_name(name));
        let message = "a parameter name consists of letters, digits, `_` and `-`";
        let wrong = wrong.map(|name| {
            let is_drawn = self.draws.0.iter().any(|(drawn, _)| drawn == name);
            let place = if is_drawn { RANDOM } else { PARAMETERS };
            Invalid::new(format!("{place}{name}"), message)
        });
        self.invalid.extend(wrong.collect::<Vec<_>>());
    }

    /// Adds the drawn parameters. Several trials share a set-up, so that its commands cannot use
    /// them.
    fn draw(&mut self, seed: u64) {
        let around = [SETUP, CLEANUP].map(|hook| (hook, self.configuration.get(hook)));
        for (name, value) in self.configuration.below(RANDOM) {
            let path = format!("{RANDOM}{name}");
            let source = Source::parse(value).map_err(|error| error.to_string());
            let source = source.and_then(|source| {
                if self.parameters.contains_key(name) {
                    return Err(format!("`{name}` is in workload.parameters, too; remove one"));
                }
                Ok(source)
            });
            match source {
                Ok(source) => self.draws.0.push((name.to_owned(), source.draw(seed, name))),
                Err(message) => self.invalid.push(Invalid::new(path, message)),
            }
            for (hook, text) in &around {
                if text.as_ref().is_some_and(|text| uses(text, name)) {
                    let message = format!(
                        "{{{name}}} is drawn for each block, but trials share this command; use \
                         {{{name}}} in the command, workload.prepare or workload.conclude"
                    );
                    self.invalid.push(Invalid::new(hook.path(), message));
                }
            }
        }
        self.draws.add_to(&mut self.parameters);
    }

    /// A text with its parameters in place.
    fn substituted<T: experiment::FromValue>(&mut self, setting: Setting<T>, text: &str) -> String {
        let unknown = match substituted(text, &self.parameters) {
            Ok(text) => return text,
            Err(name) => name,
        };
        let known: Vec<&str> = self.parameters.keys().map(String::as_str).collect();
        let near = nearest(unknown, &known).map_or_else(
            || format!("set workload.parameters.{unknown} or workload.random.{unknown}"),
            |near| format!("a similar name is `{near}`"),
        );
        let message = format!(
            "unknown parameter `{{{unknown}}}`; {near}, or write {{{{{unknown}}}}} for literal \
             braces"
        );
        self.object(setting, message);
        String::new()
    }

    fn command(&mut self) -> (Vec<String>, String) {
        match self.configuration.get(COMMAND) {
            None => self.object(
                COMMAND,
                "missing; give a command for the shell, or a list of a program and its arguments",
            ),
            Some(Value::List(words)) => {
                let words = words.iter().map(|word| self.substituted(COMMAND, &word.to_string()));
                let words: Vec<String> = words.collect();
                let line = words
                    .iter()
                    .map(|word| shlex::try_quote(word).unwrap_or_default())
                    .collect::<Vec<_>>();
                return (words.clone(), line.join(" "));
            }
            Some(text) => {
                let line = self.substituted(COMMAND, &text.to_string());
                let words = self.shell.execute(&line);
                // A text with an unknown parameter is empty here and already has an error.
                let words = if line.is_empty() { Ok(Vec::new()) } else { words };
                return (self.value(COMMAND, words).unwrap_or_default(), line);
            }
        }
        Default::default()
    }

    /// The words that execute a hook.
    fn hook(&mut self, setting: Setting<Option<String>>) -> Option<Vec<String>> {
        let text = self.configuration.get(setting)?;
        let line = self.substituted(setting, &text);
        let words = self.shell.execute(&line);
        if line.is_empty() { None } else { self.value(setting, words) }
    }

    fn accepted(&mut self) -> ExitCodes {
        let Some(configuration) = self.configuration.get(IGNORE_FAILURE) else {
            return ExitCodes::Zero;
        };
        let accepted = ExitCodes::parse(&configuration.to_string());
        if accepted.is_none() {
            self.object(
                IGNORE_FAILURE,
                "expected true, false, or exit codes from 0 to 255: \
                                         \"1,2\"",
            );
        }
        accepted.unwrap_or(ExitCodes::Zero)
    }

    fn output(&mut self, answers: &[Answer]) -> Sink {
        let default = if answers.is_empty() { Sink::Null } else { Sink::Pipe };
        let output = self.configuration.get(OUTPUT).map_or(default, |text| Sink::parse(&text));
        if !answers.is_empty() && output != Sink::Pipe {
            self.object(OUTPUT, "must be \"pipe\": responses are read from the command's output");
        }
        output
    }

    fn runs(&mut self) -> Runs {
        let get = |setting| self.configuration.get(setting);
        let (runs, min, max) = (get(RUNS), get(MIN_RUNS), get(MAX_RUNS));
        match (runs, self.configuration.get(DURATION)) {
            (Some(_), Some(_)) => self.object(RUNS, "give this or workload.duration, not both"),
            (_, None) if min.or(max).is_some() => {
                let setting = if min.is_some() { MIN_RUNS } else { MAX_RUNS };
                self.object(setting, "this needs workload.duration");
            }
            (_, Some(duration_s)) => {
                let max = max.unwrap_or(u64::MAX);
                if min.is_some_and(|min| min > max) {
                    self.object(MIN_RUNS, "this exceeds workload.max_runs");
                }
                return Runs { min: min.unwrap_or(1), max, duration_s };
            }
            _ => {}
        }
        let runs = runs.unwrap_or(1);
        Runs { min: runs, max: runs, duration_s: 0.0 }
    }

    /// Checks for missing programs, unless a hook may create them.
    fn check_machine(&mut self, job: &Job) {
        if !self.invalid.is_empty() || job.setup.is_some() || job.prepare.is_some() {
            return;
        }
        let is_text = matches!(self.configuration.get(COMMAND), Some(Value::Text(_)));
        let program = job.words.first().map_or("", String::as_str);
        let is_path = program.contains('/');
        let path = std::env::var_os("PATH").unwrap_or_default();
        let here = job.folder.as_deref().unwrap_or(Path::new("")).join(program);
        let found = if is_path {
            here.is_file()
        } else {
            std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
        };
        if !found && !job.parameters.contains_key("PATH") {
            let place = if is_path { "no such file" } else { "not in PATH" };
            let message = format!("cannot find the program `{program}`: {place}");
            if is_text && self.shell != Shell::None {
                self.object(SHELL, message);
            } else {
                self.object(COMMAND, message);
            }
        }
        if job.input.as_ref().is_some_and(|input| !input.exists()) {
            self.object(INPUT, "no such file");
        }
        if job.folder.as_ref().is_some_and(|folder| !folder.is_dir()) {
            self.object(FOLDER, "no such folder");
        }
    }
}
