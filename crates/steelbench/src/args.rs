//! What can be typed.

mod compare;
mod disk;
mod profile;
mod survey;
mod sync;

pub use compare::{Compare, History};
pub use disk::{Disk, Files, Load, Output};
pub use profile::{ComparedProfiles, Profile, ProfileCommand};
pub use survey::{Merge, Survey, SurveyCommand};
pub use sync::Sync;

use crate::output::Form;
use clap::{Args, Parser, Subcommand, ValueEnum};
use experiment::{FromValue, Setting};
use std::net::IpAddr;
use std::path::PathBuf;

/// Which storage, layout, setting or engine is faster for this work, by how much, how sure are
/// we, and why.
#[derive(Debug, Parser)]
#[command(name = "steelbench", version, max_term_width = 100)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run or resume an experiment, then show what was found
    Run(Run),
    /// Validate an experiment file; print configurations, trials, order and an estimate
    Check(Check),
    /// Show what a run found, read from its results file
    Show(Show),
    /// Compare two configurations head to head and say why they differ, or two runs before and after a change
    Compare(Box<Compare>),
    /// Show how an experiment's runs changed over time, and where
    History(History),
    /// Write what a run found as one HTML file with figures, which needs no network
    Report(Report),
    /// Show recorded runs in the browser, also while they go on
    Serve(Serve),
    /// Write trials, waits and latencies as CSV, JSON or Parquet
    Export(Export),
    /// Show what the sessions of a live server wait for; changes nothing on it
    Waits(Waits),
    /// Measure how fast storage is for what databases do to it
    Disk(Box<Disk>),
    /// Measure how locks, atomics and partitioned counters scale with threads on this machine
    Sync(Sync),
    /// Take the inventory of this machine and of servers; merge the inventories of many machines
    Survey(Survey),
    /// Sample where processes or a command spend their processor time; compare two such profiles
    Profile(Profile),
    /// Print the JSON Schema of experiment files, for editors
    Schema,
    /// Write a commented experiment file to start from
    Init(Init),
    /// Print completions for a shell
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

/// Run or resume an experiment.
#[derive(Debug, Args)]
pub struct Run {
    /// The experiment file
    pub file: PathBuf,
    /// The results file [default: results/NAME.steelbench]
    #[arg(long, value_name = "FILE")]
    pub results: Option<PathBuf>,
    /// Start over: begin a new run in the results file; earlier runs are kept
    #[arg(long)]
    pub fresh: bool,
    /// The manual step at which the run stopped has been done
    #[arg(long)]
    pub manual_done: bool,
    /// This existing file of `target.paths` may be written to
    #[arg(long, value_name = "FILE")]
    pub overwrite: Vec<PathBuf>,
    /// This block device of `target.paths` may be written to; everything on it is lost
    #[arg(long, value_name = "DEVICE")]
    pub destroy: Vec<PathBuf>,
    /// Print events and the summary as JSON, one object a line
    #[arg(long)]
    pub json: bool,
}

/// Validate an experiment file.
#[derive(Debug, Args)]
pub struct Check {
    /// The experiment file
    pub file: PathBuf,
    /// How much of the order of trials to print
    #[arg(long, value_enum, default_value_t = Order::First)]
    pub order: Order,
    /// The results file whose trials the estimate is based on [default: results/NAME.steelbench]
    #[arg(long, value_name = "FILE")]
    pub results: Option<PathBuf>,
    /// Print everything as JSON
    #[arg(long)]
    pub json: bool,
}

/// How much of the order of trials to print.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Order {
    /// The first block of each group
    First,
    /// Every trial
    All,
}

/// Which recorded run.
#[derive(Debug, Args)]
pub struct Recorded {
    /// Name of an experiment, or path of a results file [default: the newest in results/]
    pub name: Option<String>,
    /// Number of the run [default: the latest]
    #[arg(long)]
    pub run: Option<i64>,
}

/// Show what a run found.
#[derive(Debug, Args)]
pub struct Show {
    /// Which recorded run.
    #[command(flatten)]
    pub recorded: Recorded,
    /// Only configurations with all of these levels, as in `data_files=4`
    #[arg(long = "only", value_name = "FACTOR=LEVEL")]
    pub only: Vec<String>,
    /// List the runs of the results file
    #[arg(long)]
    pub runs: bool,
    /// How it is printed.
    #[command(flatten)]
    pub form: Form,
}

/// Write a report.
#[derive(Debug, Args)]
pub struct Report {
    /// Which recorded run.
    #[command(flatten)]
    pub recorded: Recorded,
    /// Format of the report
    #[arg(long, value_enum, default_value_t = ReportFormat::Html)]
    pub format: ReportFormat,
    /// Where to write it [default: beside the results file, NAME.html]
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Show recorded runs in the browser.
#[derive(Debug, Args)]
pub struct Serve {
    /// Name of an experiment, a results file, or a folder with results files [default: results/]
    pub name: Option<String>,
    /// Port to listen on; 0 takes one that is free
    #[arg(long, value_name = "N", default_value_t = 8421)]
    pub port: u16,
    /// Address to listen on. There is no password: whoever can connect to this address can read the results
    #[arg(long, value_name = "IP", default_value = "127.0.0.1")]
    pub listen: IpAddr,
}

/// Formats of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// One self-contained file for browsers
    Html,
}

/// Write recorded figures for other programs.
#[derive(Debug, Args)]
pub struct Export {
    /// Which recorded run.
    #[command(flatten)]
    pub recorded: Recorded,
    /// Format of the files
    #[arg(long, value_enum)]
    pub format: Format,
    /// Folder for the files (CSV, Parquet) or the file (JSON: default standard output; XLSX: default NAME.xlsx)
    #[arg(long, value_name = "PATH")]
    pub output: Option<PathBuf>,
}

/// Formats of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// One file a table
    Csv,
    /// The whole run as one document
    Json,
    /// One file a table, with typed columns
    Parquet,
    /// One workbook with filters and charts
    Xlsx,
}

/// Show what the sessions of a live server wait for.
#[derive(Debug, Args)]
pub struct Waits {
    /// The server: postgres://user@host:port/database or keyword=value pairs [default: PG* variables]
    pub url: Option<String>,
    /// How long to watch; Ctrl-C ends it earlier and shows what was seen
    #[arg(long, value_name = "N", default_value_t = 10.0, value_parser = positive::<86_400>)]
    pub seconds: f64,
    /// Samples a second
    #[arg(long, value_name = "HZ", default_value_t = 100.0, value_parser = positive::<1000>)]
    pub rate: f64,
    /// Also show who waits for what and is blocked by whom when the time is over
    #[arg(long)]
    pub tasks: bool,
    /// Watch on the whole screen, a new picture each second
    #[arg(long, conflicts_with_all = ["json", "tasks", "seconds"])]
    pub watch: bool,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

/// Reads the value of an option as that of the setting that it stands for.
fn setting<V, T>(setting: Setting<T>) -> impl Fn(&str) -> Result<V, String> + Clone
where
    V: FromValue,
    T: FromValue + From<V>,
{
    move |text| setting.read(text)
}

/// A number above 0 that is not larger than `MAX`.
fn positive<const MAX: u32>(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| *number > 0.0 && *number <= f64::from(MAX));
    number.ok_or_else(|| format!("not a number above 0 and up to {MAX}"))
}

/// Write a commented experiment file.
#[derive(Debug, Args)]
pub struct Init {
    /// Where to write it
    #[arg(default_value = "experiment.toml")]
    pub file: PathBuf,
}
