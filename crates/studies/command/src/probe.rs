//! The settings of the command probe, and a trial.

use crate::answer::Better;
use crate::job::Job;
use crate::run::Runner;
use crate::set_up::CommandSetUp;
use crate::{lane, outcome};
use engine::Ability;
use experiment::common::PROBE;
use experiment::{Configuration, Invalid, Kind, Value, settings};
use observations::Observations;
use observe::Mark;
use probe::measure::{Subject, measure};
use probe::{Declarations, Probe, ProbeError, SetUp, Target, TrialContext};

/// The command probe.
#[derive(Debug, Clone, Copy)]
pub struct CommandProbe;

const RUNS_KIND: Kind = Kind::Count { min: 1, max: 1_000_000 };

/// The factor whose levels are the commands of `steelbench time`.
pub const FACTOR: &str = "command";

settings! {
    const SETTINGS = [];
    /// The command: a text for the shell, or a list of a program and its arguments, which needs no
    /// shell. `{NAME}` stands for the parameter NAME; `{{NAME}}` for `{NAME}` itself.
    pub COMMAND: Option<Value> =
        "workload.command", Kind::TextList => @Command, Value "\"sleep 0.1\"";
    /// Shell that runs texts: its name or path, with options; it gets -c and the text. `none`: the
    /// text is split into words and executed.
    pub SHELL: String = "workload.shell", Kind::Text, "sh";
    /// Subtract the shell's start-up time, measured in each trial, from the command's times.
    pub SUBTRACT_SHELL: bool = "workload.subtract_shell", Kind::Bool, "false";
    /// Parameters: `{NAME}` in the command and its hooks, and the variable NAME in their
    /// environment.
    pub PARAMETERS: Option<Value> = "workload.parameters.*", Kind::Scalar;
    /// Parameters that are drawn for each block and used like others: a list of values, or a range
    /// that includes both ends, as in `"1..1000"` or `"0.5..2.0"`. All configurations of a block
    /// get the same values.
    pub RANDOM: Option<Value> = "workload.random.*",
        Kind::ScalarList, Shown "\"1..1000\"";
    /// Runs of the command in a trial, including parallel ones. Default: 1, or as many as fit in
    /// workload.duration.
    pub RUNS: Option<u64> = "workload.runs", RUNS_KIND => Measurement;
    /// The command is repeated until this time has passed, hooks included. Give this or
    /// workload.runs.
    pub DURATION: Option<f64> =
        "workload.duration", Kind::PositiveDuration => Measurement, Value "\"10 s\"";
    /// With workload.duration: minimum number of runs in a trial.
    pub MIN_RUNS: Option<u64> = "workload.min_runs", RUNS_KIND => Measurement;
    /// With workload.duration: maximum number of runs in a trial.
    pub MAX_RUNS: Option<u64> = "workload.max_runs", RUNS_KIND => Measurement;
    /// Unmeasured runs at the beginning of each trial.
    pub WARMUP_RUNS: u64 =
        "workload.warmup_runs", Kind::Count { min: 0, max: 1_000_000 }, "0" => Measurement;
    /// Runs in parallel.
    pub CONCURRENCY: u32 = "workload.concurrency", Kind::Count { min: 1, max: 1024 }, "1";
    /// Command that runs before the first trial, and again before a trial whose setup or cleanup
    /// command differs from the previous trial's. On a database, which is recreated for each trial:
    /// before each trial.
    pub SETUP: Option<String> = "workload.setup", Kind::Text => @Command;
    /// Command that runs before each run, warm-ups included.
    pub PREPARE: Option<String> = "workload.prepare", Kind::Text => @Command;
    /// Command that runs after each run, warm-ups included.
    pub CONCLUDE: Option<String> = "workload.conclude", Kind::Text => @Command;
    /// Command that undoes workload.setup: after the last trial that uses it, also after a failure.
    pub CLEANUP: Option<String> = "workload.cleanup", Kind::Text => @Command;
    /// A setup, prepare, conclude or cleanup command that takes longer is killed and counts as
    /// failed.
    pub HOOK_TIMEOUT: f64 = "workload.hook_timeout", Kind::PositiveDuration, "10 min";
    /// Accept exit codes other than 0: true, or a list: "1,2".
    pub IGNORE_FAILURE: Option<Value> = "workload.ignore_failure", Kind::Scalar;
    /// File for the command's standard input. Default: /dev/null.
    pub INPUT: Option<String> = "workload.input", Kind::Text;
    /// Destination of the command's standard output: null, pipe (read and discarded), inherit (that
    /// of steelbench) or a file. Default: null, or pipe if responses are read from it.
    pub OUTPUT: Option<String> = "workload.output", Kind::Text;
    /// Folder in which the command and its hooks run. Default: that of steelbench.
    pub FOLDER: Option<String> = "workload.folder", Kind::Text;
    /// Regular expression for the response NAME in a run's output: its first group; the last match
    /// counts.
    pub RESPONSE_REGEX: Option<String> = "workload.responses.*.regex", Kind::Text;
    /// JSON Pointer to the response NAME in a run's output: /results/0/tps.
    pub RESPONSE_POINTER: Option<String> = "workload.responses.*.pointer", Kind::MaybeEmptyText;
    /// Unit of the response NAME.
    pub RESPONSE_UNIT: Option<String> = "workload.responses.*.unit", Kind::MaybeEmptyText;
    /// Step in which values of the response NAME are rounded, in its unit: 0.01 of hundredths.
    /// Default: inferred from the printed digits and from the values.
    pub RESPONSE_STEP: Option<f64> = "workload.responses.*.step",
        Kind::Number { min: 1e-15, max: 1e15 };
    /// Direction in which values of the response NAME are better: higher or lower.
    pub RESPONSE_DIRECTION: Option<Better> = "workload.responses.*.direction", Better::KIND;
}

impl Probe for CommandProbe {
    fn declarations(&self) -> &'static Declarations {
        const { &Declarations::new("command", SETTINGS) }
    }

    fn connections(&self, configuration: &Configuration) -> u32 {
        configuration.get(CONCURRENCY)
    }

    fn plan(&self, configuration: &Configuration, target: &Target) -> Vec<Invalid> {
        let mut invalid = Job::from_settings(configuration).err().unwrap_or_default();
        let has = |ability| target.abilities.contains(&ability);
        if (has(Ability::Tables) || has(Ability::Files)) && !has(Ability::Clients) {
            let message =
                "this engine cannot pass its address to a command: set target.engine = \"none\"";
            invalid.push(Invalid::new(PROBE.path(), message));
        }
        invalid
    }

    fn set_up(&self, configuration: &Configuration, target: &Target) -> Option<Box<dyn SetUp>> {
        if is_recreated(target) {
            None
        } else {
            let set_up = CommandSetUp::for_configuration(configuration)?;
            Some(Box::new(set_up))
        }
    }

    fn run(&self, context: &TrialContext<'_>) -> Result<Observations, ProbeError> {
        // The plan has had these objections.
        let job = Job::for_trial(context.configuration, context.seed)
            .map_err(|mut invalid| invalid.remove(0))?;
        let mark = Mark::with_limit();
        let seed = ("STEELBENCH_SEED".to_owned(), context.seed.to_string());
        let parameters = job.parameters.clone().into_iter().chain([seed]);
        let variables = parameters.map(|(name, value)| (name, Some(value)));
        let variables = context.instance.client_environment().into_iter().chain(variables);
        let runner = Runner::new(&job, variables, &mark, context.cancel);
        let is_recreated = is_recreated(&context.target);
        let measured = if is_recreated { runner.set_up() } else { Ok(()) }.and_then(|()| {
            let shell = runner.shell_start_up()?;
            let subject = Subject {
                storage: context.storage,
                units: job.exact_runs(),
                duration_s: job.duration_s(),
                rate_unit: "runs/s",
                rate_scale: 1.0,
            };
            let load = measure(context, subject, |director| lane::conduct_all(&runner, director))?;
            Ok((shell, load))
        });
        // Cleans up after success and failure; the first error is returned.
        let cleaned = if is_recreated { runner.clean_up() } else { Ok(mark.kill()) };
        let (shell, (lanes, surroundings)) = measured.map_err(|error| runner.hide(error))?;
        let left_behind = cleaned.map_err(|error| runner.hide(error))?;
        Ok(outcome::observations(&job, shell, &lanes, &left_behind, surroundings))
    }
}

/// Returns whether each trial starts with a new target, so that the effects of a setup command end
/// with the trial.
fn is_recreated(target: &Target) -> bool {
    target.abilities.contains(&Ability::Clients)
}
