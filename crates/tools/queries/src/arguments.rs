//! The arguments of `steelbench queries`.

use crate::try_change::Try;
use clap::{ArgAction, ArgGroup, Args, Parser, Subcommand};
use command::arguments::{Between, MariaDb, Psql, positive, setting};
use command::output::Form;
use probe::load::DURATION;
use std::path::PathBuf;

/// Show which statements of a server cost what, their plans, and which indexes earn their keep;
/// changes nothing on it
#[derive(Debug, Parser)]
#[command(name = "queries")]
#[command(disable_help_flag = true, args_conflicts_with_subcommands = true)]
#[command(group = ArgGroup::new("recorded").args(["every", "query_store"])
          .conflicts_with_all(["seconds", "auto_explain", "html", "workbook", "md"]))]
pub struct QueriesTool {
    #[command(subcommand)]
    pub(crate) command: Option<QueriesCommand>,
    /// The server: postgres://, mariadb:// or mssql://user@host:port/database, keyword=value pairs
    /// or the name of a database [default: PG* variables]; or a results file that --every
    /// wrote, or a file that `capture` wrote; or a SQLite database with --sql
    pub(crate) server: Option<String>,
    /// A later capture of the same server: count what ran between the two
    pub(crate) later: Option<String>,
    /// Of a capture: count what ran while it was taken
    #[arg(long, conflicts_with = "later")]
    pub(crate) interval: bool,
    /// Of a SQLite database: the statements, which are explained; those that only read are run
    /// once; repeatable
    #[arg(long, value_name = "FILE")]
    pub(crate) sql: Vec<PathBuf>,
    /// Count what runs in the next so many seconds; without it all since the server began to count
    #[arg(long, value_name = "N", value_parser = positive::<86_400>)]
    pub(crate) seconds: Option<f64>,
    /// Record what runs in each interval of this length, `60s`, with the plans at its end, until
    /// Ctrl-C
    #[arg(
        long,
        value_name = "TIME",
        value_parser = setting::<f64,
        _>(DURATION),
        requires = "output",
    )]
    pub(crate) every: Option<f64>,
    /// Of SQL Server: record the intervals that the Query Store of the database has kept and
    /// --output does not have yet
    #[arg(long, requires = "output")]
    pub(crate) query_store: bool,
    /// End after so many intervals
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..),
        requires = "every",
    )]
    pub(crate) count: Option<u32>,
    /// The results file that --every and --query-store write; what it holds is kept. `history
    /// FILE` shows what changed, `queries FILE` what ran
    #[arg(short, long, value_name = "FILE", requires = "recorded")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) between: Between,
    /// Keep so many statements, those that took most time
    #[arg(long, value_name = "N", default_value = "100")]
    pub(crate) statements: usize,
    #[command(flatten)]
    pub(crate) limits: Limits,
    /// Also use the plans that `auto_explain` wrote to this log of the server; repeatable
    #[arg(long, value_name = "FILE")]
    pub(crate) auto_explain: Vec<PathBuf>,
    /// Show constants of statements and conditions, which may be data of users
    #[arg(long)]
    pub(crate) literals: bool,
    /// Also write the page with all statements, plans and indexes to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Also write a workbook (XLSX) with a sheet each: statements, plans, operators, indexes,
    /// index use, advice
    #[arg(long, value_name = "FILE")]
    pub(crate) workbook: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) form: Form,
    #[command(flatten)]
    pub(crate) psql: Psql,
    #[command(flatten)]
    pub(crate) mariadb: MariaDb,
    /// Print this help
    #[arg(long, action = ArgAction::Help)]
    pub(crate) help: Option<bool>,
}

/// How much a server is asked about its statements.
#[derive(Debug, Args)]
pub struct Limits {
    /// Have the server make so many plans, for those statements that took most time; none is run
    #[arg(long, value_name = "N", default_value = "50")]
    pub(crate) plans: usize,
    /// Read tables and indexes of so many databases, those with most time
    #[arg(long, value_name = "N", default_value = "10")]
    pub(crate) databases: usize,
}

impl From<&Limits> for engine::QueryLimits {
    fn from(limits: &Limits) -> Self {
        Self { plans: limits.plans, databases: limits.databases, tables: true }
    }
}

/// Actions on statements.
#[derive(Debug, Subcommand)]
pub enum QueriesCommand {
    /// Try an index, the drop of one or a setting on a copy of a database: what each statement
    /// gains or loses
    Try(Box<Try>),
}
