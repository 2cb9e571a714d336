//! What can be typed.

mod mariadb;
mod pg;
mod psql;
mod queries;
mod quick;
mod time;
mod try_change;

pub use mariadb::MariaDb;
pub use pg::{Pg, Scripts, Variation};
pub use psql::Psql;
pub use queries::{Between, Limits, Queries, QueriesCommand};
pub use quick::{Disk, Files, Load, Output, Quick, Sync};
pub use time::Time;
pub use try_change::Try;

use crate::output::Form;
use analysis::runs::Limit;
use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use experiment::{FromValue, Setting};
use probe::data::{COLUMNS, DATA_SEED, ROWS, SCALE};
use std::net::IpAddr;
use std::path::PathBuf;

/// Which storage, layout, setting or engine is faster for this work, by how much, how sure are
/// we, and why.
#[derive(Debug, Parser)]
#[command(name = "steelbench", version, max_term_width = 100)]
pub struct Arguments {
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
    /// Compare two configurations head to head and say why they differ, or two runs before and
    /// after a change
    Compare(Box<Compare>),
    /// Show how an experiment's runs changed over time, and where
    History(History),
    /// Write what a run found as one HTML file with figures, which needs no network
    Report(Report),
    /// Show recorded runs in the browser, also while they go on
    Serve(Serve),
    /// Write all that a run recorded for other programs: as CSV, JSON, Parquet or XLSX
    Export(Export),
    /// Show what the sessions of a server wait for, and who blocks whom; changes nothing on it
    Waits(Waits),
    /// Write what a server is, what its sessions wait for and what it counts of statements and
    /// indexes as one file, which `waits`, `queries` and `survey merge` read
    Capture(Capture),
    /// Measure how fast storage is for what databases do to it
    Disk(Box<Disk>),
    /// Run pgbench's load, or your own scripts, by pgbench's options
    Pg(Box<Pg>),
    /// Measure how locks, atomics and partitioned counters scale with threads on this machine
    Sync(Sync),
    /// Measure how long commands take and what they use, and which is faster; takes hyperfine's
    /// options
    Time(Box<Time>),
    /// Say how many disks, links and processors a demand needs, which link is the narrowest, and
    /// the price
    Size(Size),
    /// Explain plans in files: SQL Server's ShowPlan XML, EXPLAIN of PostgreSQL, MariaDB and MySQL;
    /// needs no server
    Plan(Plan),
    /// Show which statements of a server cost what, their plans, and which indexes earn their keep;
    /// changes nothing on it
    Queries(Box<Queries>),
    /// Say what a recorded run would do with other connections, processors or devices, with the
    /// error of the model
    Predict(Predict),
    /// Compare published benchmark results: TPC-C, TPC-E, TPC-H, or any file of scores
    Results(Results),
    /// In which order the rows of a Parquet file, or of a DuckDB table, would take the least
    SortOrder(SortOrder),
    /// Take the inventory of this machine and of servers; merge the inventories of many machines
    Survey(Survey),
    /// Sample where processes or a command spend their processor time; compare two such profiles
    Profile(Profile),
    /// Write a data set as files, a table each: TPC-H, pgbench's tables, those of the published
    /// studies
    Data(Data),
    /// Print the JSON Schema of experiment files, for editors
    Schema,
    /// Write a commented experiment file to start from
    Init {
        /// Where to write it
        #[arg(default_value = "experiment.toml")]
        file: PathBuf,
        /// The engine under test [default: sqlite, or the first one that the probe can work on]
        #[arg(long, value_name = "NAME")]
        engine: Option<String>,
        /// What a trial does [default: the first probe that can work on the engine]
        #[arg(long, value_name = "NAME")]
        probe: Option<String>,
    },
    /// Print completions for a shell
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
pub struct Run {
    /// The experiment file
    pub file: PathBuf,
    /// The results file [default: results/NAME.steelbench]
    #[arg(short = 'o', long, value_name = "FILE")]
    pub results: Option<PathBuf>,
    /// Start over: begin a new run in the results file; earlier runs are kept
    #[arg(long)]
    pub fresh: bool,
    /// Run trials again that have failed as often as `repeats.retries` permits
    #[arg(long, conflicts_with = "fresh")]
    pub retry_failed: bool,
    /// What the run is called in comparisons and histories: "after patch"
    #[arg(long, value_name = "TEXT")]
    pub label: Option<String>,
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
    /// Number of the run, or of the observation of a server [default: the latest]
    #[arg(long)]
    pub run: Option<i64>,
}

#[derive(Debug, Args)]
pub struct Show {
    #[command(flatten)]
    pub recorded: Recorded,
    /// Only configurations with all of these levels, as in `data_files=4`
    #[arg(long = "only", value_name = "FACTOR=LEVEL")]
    pub only: Vec<String>,
    /// List the runs of the results file
    #[arg(long)]
    pub runs: bool,
    /// Print the experiment file of the run, and the files that it names, as they were
    #[arg(long, conflicts_with_all = ["runs", "only"])]
    pub source: bool,
    #[command(flatten)]
    pub form: Form,
}

#[derive(Debug, Args)]
pub struct Report {
    #[command(flatten)]
    pub recorded: Recorded,
    /// Format of the report
    #[arg(long, value_enum, default_value_t = ReportFormat::Html)]
    pub format: ReportFormat,
    /// Where to write it [default: beside the results file, NAME.html]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Serve {
    /// Name of an experiment, a results file, or a folder with results files [default: results/]
    pub name: Option<String>,
    /// Port to listen on; 0 takes one that is free
    #[arg(long, value_name = "N", default_value_t = 8421)]
    pub port: u16,
    /// Address to listen on. There is no password: whoever can connect to this address can read
    /// the results
    #[arg(long, value_name = "IP", default_value = "127.0.0.1")]
    pub listen: IpAddr,
}

/// Formats of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// One self-contained file for browsers
    Html,
}

#[derive(Debug, Args)]
pub struct Export {
    #[command(flatten)]
    pub recorded: Recorded,
    /// Format of the files
    #[arg(long, value_enum)]
    pub format: Format,
    /// Where to write: a folder for CSV and Parquet, a file for JSON and XLSX [default:
    /// NAME-export, standard output, NAME.xlsx, where NAME is that of the results file]. Only
    /// what Steelbench wrote is replaced
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Data {
    /// Data set: all tables of TPC-H (tpch) or one of them, pgbench's (pgbench), those of the
    /// studies, or a synthetic one
    #[arg(
        value_name = "NAME",
        value_parser = clap::builder::PossibleValuesParser::new(datasets::NAMES)
    )]
    pub name: String,
    /// Scale factor of TPC-H (1: 6 million rows of LINEITEM) and of pgbench (1: 100,000 accounts)
    #[arg(long, value_name = "N", default_value = "1", value_parser = setting::<f64, _>(SCALE))]
    pub scale: f64,
    /// Rows of the data sets synthetic, mybigtable and one-row-per-page, as in 2M
    #[arg(long, value_name = "N", default_value = "100k", value_parser = setting::<u64, _>(ROWS))]
    pub rows: u64,
    /// Columns of the synthetic table, from 3 to 18; the last one, which only fills pages, is not
    /// written
    #[arg(long, value_name = "N", default_value = "6", value_parser = setting::<usize, _>(COLUMNS))]
    pub columns: usize,
    /// Seed of the values of synthetic and mybigtable
    #[arg(long, value_name = "N", default_value = "1", value_parser = setting::<u64, _>(DATA_SEED))]
    pub seed: u64,
    /// Format of the files
    #[arg(long, value_enum, default_value = "csv")]
    pub format: DataFormat,
    /// Folder for the files, one a table, which must not be there yet; "-" writes the only table
    /// as CSV to standard output
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    pub output: PathBuf,
}

/// Formats of a data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DataFormat {
    /// Comma-separated values, with the names of the columns in the first line
    Csv,
    /// With the types of the columns
    Parquet,
}

/// Formats of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A folder with one file for each table: trials, responses, waits, latencies and others
    Csv,
    /// The whole run as one document
    Json,
    /// The same tables as CSV, with typed columns
    Parquet,
    /// One workbook with a sheet for each table, filters and charts
    Xlsx,
}

#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
pub struct Waits {
    /// The server: postgres://, mariadb:// or mssql://user@host:port/database, keyword=value pairs
    /// or the name of a database [default: PG* variables]; or a results file that --output
    /// wrote, of several observations in it `FILE@2`; or a file of `capture`
    pub server: Option<String>,
    /// How long to watch; Ctrl-C ends it earlier and shows what was seen
    #[arg(long, value_name = "N", default_value_t = 10.0, value_parser = positive::<86_400>)]
    pub seconds: f64,
    /// Show each interval of so many seconds by itself
    #[arg(long, value_name = "N", value_parser = positive::<86_400>)]
    pub interval: Option<f64>,
    /// Samples a second; of SQL Server 20 at most
    #[arg(long, value_name = "HZ", default_value_t = 100.0, value_parser = positive::<1000>)]
    pub rate: f64,
    /// Also show who waits, but for nobody, when the time is over
    #[arg(long)]
    pub tasks: bool,
    /// Also show the whole texts of statements, without the constants in them
    #[arg(long)]
    pub statements: bool,
    /// Leave the constants in statements, which may be anybody's data, in what is shown and
    /// recorded
    #[arg(long)]
    pub literals: bool,
    /// Also record what was seen in this results file, for `waits FILE`, `show`, `report` and
    /// `compare`; what it holds is kept
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Watch on the whole screen, a new picture each second
    #[arg(
        long,
        conflicts_with_all = ["json", "md", "tasks", "statements", "seconds", "interval", "output"]
    )]
    pub watch: bool,
    #[command(flatten)]
    pub form: Form,
    #[command(flatten)]
    pub psql: Psql,
    #[command(flatten)]
    pub mariadb: MariaDb,
    /// Print this help
    #[arg(long, action = ArgAction::Help)]
    pub help: Option<bool>,
}

#[derive(Debug, Args)]
pub struct Capture {
    /// The server: postgres:// or mssql://user@host:port/database, or a connection string
    #[arg(value_name = "URL")]
    pub server: String,
    /// The file to write. It holds no password, and no statement unless that is asked for
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// How long to watch
    #[arg(long, value_name = "N", default_value_t = 10.0, value_parser = positive::<86_400>)]
    pub seconds: f64,
    /// Also write the texts of statements, without the constants in them
    #[arg(long)]
    pub statements: bool,
    /// Leave the constants in these texts, which may be anybody's data
    #[arg(long, requires = "statements")]
    pub literals: bool,
    #[command(flatten)]
    pub limits: Limits,
}

#[derive(Debug, Args)]
pub struct Compare {
    /// Two configurations (`data_files=1`, `data_files=1,log=synced`) or levels (`sync=on`: the
    /// mean over the other factors), with the run that they are of before them; or two runs
    /// (an experiment's name, a results file, either with `@3`, `@latest` or `@previous`);
    /// or two observations of a server, by the files that `waits --output` wrote
    #[arg(
        value_names = ["A", "B", "B"], num_args = 2..=3, required_unless_present = "baseline",
        conflicts_with = "baseline"
    )]
    pub sides: Vec<String>,
    /// Several runs of one side: each counts once, so that what runs differ by is in the intervals
    #[arg(long, value_name = "RUN", num_args = 1.., requires = "candidate")]
    pub baseline: Vec<String>,
    /// Several runs of the other side
    #[arg(long, value_name = "RUN", num_args = 1.., requires = "baseline")]
    pub candidate: Vec<String>,
    /// Name of an experiment, or path of a results file, of configurations and of `@3` alone
    /// [default: the newest in results/]
    #[arg(long = "in", value_name = "NAME")]
    pub name: Option<String>,
    /// Number of the run that configurations are of [default: the latest]
    #[arg(long)]
    pub run: Option<i64>,
    /// Of two runs: the response to compare [default: the first run's]
    #[arg(long, value_name = "NAME")]
    pub response: Option<String>,
    /// Of two runs: compare every response that both have
    #[arg(long, conflicts_with = "response")]
    pub all: bool,
    /// Of two runs: exit code 1 when a configuration changed by more than this beyond doubt:
    /// `slower:3%`, `faster:3%`, or of a response `latency_p99:+5%`, `iops:-3%`; repeatable
    #[arg(long, value_name = "LIMIT")]
    pub fail_if: Vec<Limit>,
    /// Exit code 1 also when a change may be beyond the limit
    #[arg(long, requires = "fail_if")]
    pub fail_if_unsure: bool,
    #[command(flatten)]
    pub form: Form,
}

impl Compare {
    /// Whether anything is asked for that only two runs have.
    pub fn is_for_runs(&self) -> bool {
        self.response.is_some() || self.all || !self.fail_if.is_empty()
    }
}

#[derive(Debug, Args)]
pub struct History {
    /// Name of an experiment, or paths of results files with its runs [default: the newest in
    /// results/]; or of those that `queries --every` wrote
    pub names: Vec<String>,
    /// The response to show [default: the one that the latest run compares on]
    #[arg(long, value_name = "NAME")]
    pub response: Option<String>,
    /// Only the last so many runs, or intervals
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub last: Option<u32>,
    #[command(flatten)]
    pub between: Between,
    /// Also write this as a page to this file
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    #[command(flatten)]
    pub form: Form,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Profile {
    #[command(subcommand)]
    pub command: Option<ProfileCommand>,
    /// A process to sample with all its threads and the processes below it; repeatable
    #[arg(
        short, long, value_name = "PID", value_parser = clap::value_parser!(i32).range(1..),
        required_unless_present = "words"
    )]
    pub pid: Vec<i32>,
    /// How long to sample processes; Ctrl-C ends it earlier and shows what was seen
    #[arg(
        long, value_name = "N", default_value_t = 10.0, value_parser = positive::<86_400>,
        conflicts_with = "words"
    )]
    pub seconds: f64,
    /// Samples for each second on a processor
    #[arg(
        long, value_name = "HZ", default_value_t = 99,
        value_parser =
            clap::value_parser!(u32).range(i64::from(profile::HZ_MIN)..=i64::from(profile::HZ_MAX))
    )]
    pub rate: u32,
    /// Also write the stacks to this file: .folded for flame graph tools, .svg as a flame graph,
    /// else as JSON for `profile compare`
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub form: Form,
    /// A command to start and sample to its end
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "pid")]
    pub words: Vec<std::ffi::OsString>,
}

/// What can be done with profiles that were saved.
#[derive(Debug, Subcommand)]
pub enum ProfileCommand {
    /// Show two profiles side by side, and which differences are beyond the error of sampling
    Compare {
        /// A file that `profile --output` wrote as JSON
        a: PathBuf,
        /// The one that it is compared with
        b: PathBuf,
        #[command(flatten)]
        form: Form,
    },
}

#[derive(Debug, Args)]
pub struct SortOrder {
    /// A Parquet file, or with the table named behind it a DuckDB or SQLite database, or the URL
    /// of a PostgreSQL server
    #[arg(value_name = "FILE|URL")]
    pub file: PathBuf,
    /// The table; libduckdb is found as by `run`
    pub table: Option<String>,
    /// Rows to look at, at most: whole row groups, blocks or pages that are spread over the table.
    /// They are kept in memory
    #[arg(long, value_name = "N", default_value = "1M", value_parser = setting::<u64, _>(ROWS))]
    pub rows: u64,
    /// Write these rows as they lie and in the best orders, to temporary files, and measure size
    /// and reading
    #[arg(long)]
    pub measure: bool,
    /// Orders to show, and to measure with --measure
    #[arg(
        long, value_name = "N", default_value = "5",
        value_parser = clap::value_parser!(u8).range(1..=8)
    )]
    pub orders: u8,
    #[command(flatten)]
    pub form: Form,
}

#[derive(Debug, Args)]
pub struct Plan {
    /// Files with plans, or folders of them; - for standard input
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Show the operators of so many statements, the dearest first
    #[arg(long, value_name = "N", default_value = "5")]
    pub limit: usize,
    /// Show constants of statements and conditions, which may be data of users
    #[arg(long)]
    pub literals: bool,
    #[command(flatten)]
    pub form: Form,
}

#[derive(Debug, Args)]
pub struct Size {
    /// The plan: a demand, parts, and chains of parts to compare
    #[arg(required_unless_present = "example")]
    pub file: Option<PathBuf>,
    /// Print a commented plan to start from
    #[arg(long, exclusive = true)]
    pub example: bool,
    /// Also write the page with figures to this file
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    #[command(flatten)]
    pub form: Form,
}

#[derive(Debug, Args)]
pub struct Predict {
    #[command(flatten)]
    pub recorded: Recorded,
    /// What is different: connections=64 (or threads, `queue_depth`), a measured level of another
    /// factor, cpus=8, device.NAME.latency=0.5x, waits.NAME=0, rate=2000 (an open loop),
    /// connections.SCRIPT=4 (scripts with connections of their own); repeatable
    #[arg(long, value_name = "NAME=VALUE", required = true)]
    pub set: Vec<String>,
    #[command(flatten)]
    pub form: Form,
}

#[derive(Debug, Args)]
pub struct Results {
    /// CSV files with a line for each result
    #[arg(required_unless_present = "example")]
    pub files: Vec<PathBuf>,
    /// What a column is called in the files: score=tpmC. Known are benchmark, system, score, unit,
    /// better (higher or lower), power, throughput, cores, `memory_gb`, disks, price, and q1,
    /// q2, .. for seconds of queries
    #[arg(long, value_name = "OURS=THEIRS", value_delimiter = ',', value_parser = column)]
    pub columns: Vec<(String, String)>,
    /// Print a file with figures of published studies to start from
    #[arg(long, exclusive = true)]
    pub example: bool,
    #[command(flatten)]
    pub form: Form,
}

/// A column by our name and theirs.
fn column(text: &str) -> Result<(String, String), String> {
    let (ours, theirs) = text.split_once('=').ok_or("write OURS=THEIRS, as in score=tpmC")?;
    Ok((ours.trim().to_owned(), theirs.trim().to_owned()))
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Survey {
    #[command(subcommand)]
    pub command: Option<SurveyCommand>,
    /// Also ask this server what it is and how it is set: postgres://, mariadb:// or
    /// mssql://user@host:port/database, or keyword=value pairs; repeatable. Nothing is
    /// changed, no table is read, no password recorded
    #[arg(long, value_name = "URL")]
    pub server: Vec<String>,
    /// The storage under this directory, file or device; repeatable [default: all mounted volumes]
    #[arg(long, value_name = "PATH")]
    pub volume: Vec<PathBuf>,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
    /// Write the JSON to this file, for `survey merge`; the page is printed unless --json is given
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// What can be done with inventories that were taken.
#[derive(Debug, Subcommand)]
pub enum SurveyCommand {
    /// Lay the inventories of many machines side by side: what differs, and what stands apart
    Merge {
        /// Files that `survey --output` or `capture` wrote
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Numbers instead of names of machines
        #[arg(long)]
        anonymous: bool,
        #[command(flatten)]
        form: Form,
    },
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
