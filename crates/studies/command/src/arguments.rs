//! The arguments of `steelbench time`: hyperfine's options, where they mean the same.

use crate::job::ExitCodes;
use crate::probe::CONCURRENCY;
use clap::{Args, Parser};
use command_line::arguments::{GateOptions, Quick, setting};
use std::path::PathBuf;

/// Measure and compare the run time of commands
///
/// Takes hyperfine's options.
#[derive(Debug, Parser)]
#[command(name = "time")]
pub struct Time {
    /// Commands, run by the shell, interleaved in blocks in random order
    #[arg(
        value_name = "COMMAND", required = true,
        value_parser = clap::builder::NonEmptyStringValueParser::new(),
    )]
    pub commands: Vec<String>,
    /// Print all that was recorded: waits, devices, every response
    #[arg(short, long, conflicts_with = "json")]
    pub verbose: bool,
    /// Record no command line: results and reports show the names of the commands, or numbers
    #[arg(hide_short_help = true, long)]
    pub hide_commands: bool,
    #[command(flatten)]
    pub runs: Runs,
    #[command(flatten)]
    pub around: Around,
    #[command(flatten)]
    pub parameters: Parameters,
    #[command(flatten)]
    pub gate: GateOptions,
    #[command(flatten)]
    pub exports: Exports,
    #[command(flatten)]
    pub quick: Quick,
}

/// How often commands are run.
#[derive(Debug, Args)]
#[command(next_help_heading = "Runs")]
pub struct Runs {
    /// Unmeasured runs at the beginning of each trial
    #[arg(short, long, value_name = "N")]
    pub warmup: Option<u64>,
    /// Measured runs of each command [default: as many as fit in 3 s, at least 10]
    #[arg(
        short, long, value_name = "N", conflicts_with_all = ["min_runs", "max_runs"],
        value_parser = clap::value_parser!(u64).range(1..=1_000_000),
    )]
    pub runs: Option<u64>,
    /// Minimum number of measured runs of each command [default: 10]
    #[arg(
        hide_short_help = true, short, long, value_name = "N",
        value_parser = clap::value_parser!(u64).range(1..=1_000_000),
    )]
    pub min_runs: Option<u64>,
    /// Maximum number of measured runs of each command
    #[arg(
        hide_short_help = true, short = 'M', long, value_name = "N",
        value_parser = clap::value_parser!(u64).range(1..=1_000_000),
    )]
    pub max_runs: Option<u64>,
    /// Parallel runs of a command [default: 1]
    #[arg(hide_short_help = true, long, value_name = "N", value_parser = setting(CONCURRENCY))]
    pub concurrency: Option<u32>,
    /// Accept exit codes other than 0: all, or a list, as in --ignore-failure=1,2
    #[arg(
        short, long, value_name = "CODES", num_args = 0..=1, default_missing_value = "true",
        require_equals = true, value_parser = ignored,
    )]
    pub ignore_failure: Option<String>,
    /// Profile the CPU time by function
    #[arg(hide_short_help = true, long)]
    pub profile: bool,
}

/// Commands around the runs.
#[derive(Debug, Args)]
#[command(next_help_heading = "Around the runs")]
pub(crate) struct Around {
    /// Shell command before the runs; repeated after runs of another command or other parameters
    #[arg(short, long, value_name = "COMMAND")]
    pub setup: Option<String>,
    /// Shell command before each run; once for all commands, or once per command
    #[arg(short, long, value_name = "COMMAND")]
    pub prepare: Vec<String>,
    /// Shell command after each run; once for all commands, or once per command
    #[arg(hide_short_help = true, short = 'C', long, value_name = "COMMAND")]
    pub conclude: Vec<String>,
    /// Shell command after the runs
    #[arg(hide_short_help = true, short, long, value_name = "COMMAND")]
    pub cleanup: Option<String>,
    /// The shell, with options: "bash --norc"; none: commands are split into words and executed.
    /// Its start-up time is measured and subtracted [default: sh]
    #[arg(hide_short_help = true, short = 'S', long, value_name = "SHELL")]
    pub shell: Option<String>,
    /// No shell, same as --shell none
    #[arg(hide_short_help = true, short = 'N', conflicts_with = "shell")]
    pub no_shell: bool,
    /// Standard input of the commands: null or a file [default: null]
    #[arg(hide_short_help = true, long, value_name = "WHERE")]
    pub input: Option<String>,
    /// Standard output of the commands: null, pipe, inherit or a file; once for all commands, or
    /// once per command [default: null]
    #[arg(hide_short_help = true, long, value_name = "WHERE")]
    pub output: Vec<String>,
    /// Same as --output inherit
    #[arg(hide_short_help = true, long, conflicts_with_all = ["output", "json"])]
    pub show_output: bool,
}

/// Varied parameters.
#[derive(Debug, Args)]
#[command(next_help_heading = "Parameters: {NAME} in commands, and variables in their environment")]
pub struct Parameters {
    /// Name of a command, in the order of the commands
    #[arg(short = 'n', long, value_name = "NAME")]
    pub command_name: Vec<String>,
    /// Numbers from MIN to MAX
    #[arg(
        short = 'P', long, num_args = 3, value_names = ["NAME", "MIN", "MAX"],
        allow_hyphen_values = true,
    )]
    pub parameter_scan: Option<Vec<String>>,
    /// Step between the numbers [default: 1]
    #[arg(
        hide_short_help = true,
        short = 'D',
        long,
        value_name = "STEP",
        requires = "parameter_scan"
    )]
    pub parameter_step_size: Option<String>,
    /// Values, separated by commas; repeatable: every combination is measured
    #[arg(
        short = 'L', long, num_args = 2, value_names = ["NAME", "VALUES"],
        allow_hyphen_values = true, conflicts_with = "parameter_scan",
    )]
    pub parameter_list: Vec<String>,
}

/// Files in hyperfine's formats.
#[derive(Debug, Args)]
#[command(next_help_heading = "Export files (as in hyperfine)")]
pub(crate) struct Exports {
    /// Every run as JSON
    #[arg(hide_short_help = true, long, value_name = "FILE")]
    pub export_json: Option<PathBuf>,
    /// Means, extremes and medians as CSV
    #[arg(hide_short_help = true, long, value_name = "FILE")]
    pub export_csv: Option<PathBuf>,
    /// A table as Markdown
    #[arg(hide_short_help = true, long, value_name = "FILE")]
    pub export_markdown: Option<PathBuf>,
}

/// Exit codes that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("exit codes from 0 to 255, separated by commas, or all-non-zero")]
struct ExitCodesError;

fn ignored(text: &str) -> Result<String, ExitCodesError> {
    match ExitCodes::parse(text) {
        Some(ExitCodes::Any) => Ok("true".into()),
        Some(_) => Ok(text.to_owned()),
        None => Err(ExitCodesError),
    }
}
