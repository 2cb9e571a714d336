//! The arguments of `steelbench queries`.

use crate::try_change::Try;
use clap::{ArgAction, ArgGroup, Args, Parser, Subcommand};
use command_line::arguments::{Between, MariaDb, Psql, positive, setting};
use command_line::output::{Extent, Form};
use inspection::QueryLimits;
use inspection::query_reader::StorageDetail;
use probe::load::DURATION;
use std::path::PathBuf;

/// Show a server's most expensive statements, plans and indexes
///
/// Changes nothing on the server.
#[derive(Debug, Parser)]
#[command(name = "queries")]
#[command(disable_help_flag = true, args_conflicts_with_subcommands = true)]
#[command(group = ArgGroup::new("recorded").args(["every", "query_store"])
          .conflicts_with_all(["seconds", "auto_explain", "html", "workbook",
                              "plan_files", "md"]))]
pub struct QueriesTool {
    #[command(subcommand)]
    pub(crate) command: Option<QueriesCommand>,
    /// The server: postgres://, mariadb:// or mssql://user@host:port/database, keyword=value pairs
    /// or a database name [default: PG* variables]; or a results file written with --every, a file
    /// written by `capture`, or an SQLite database with --sql
    pub(crate) server: Option<String>,
    /// A later capture of the same server: count what ran between the two
    pub(crate) later: Option<String>,
    /// For a capture: count what ran during the capture
    #[arg(long, conflicts_with = "later")]
    pub(crate) interval: bool,
    /// For an SQLite database: a file of statements to explain; read-only ones run once; repeatable
    #[arg(long, value_name = "FILE")]
    pub(crate) sql: Vec<PathBuf>,
    /// Count what runs in the next N seconds; default: everything since the counters started
    #[arg(long, value_name = "N", value_parser = positive::<86_400>)]
    pub(crate) seconds: Option<f64>,
    /// Record the statements of each interval of this length, such as `60s`, with the plans at its
    /// end, until Ctrl-C
    #[arg(long, value_name = "TIME", value_parser = setting(DURATION), requires = "output")]
    pub(crate) every: Option<f64>,
    /// For SQL Server: record the intervals in the database's Query Store that --output lacks
    #[arg(long, requires = "output")]
    pub(crate) query_store: bool,
    /// Stop after this number of intervals
    #[arg(
        long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..),
        requires = "every",
    )]
    pub(crate) count: Option<u32>,
    /// Results file for --every and --query-store; existing content is kept. `history FILE` shows
    /// changes, `queries FILE` the statements
    #[arg(short, long, value_name = "FILE", requires = "recorded")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) between: Between,
    /// Number of statements to keep, by total time
    #[arg(long, value_name = "N", default_value = "100")]
    pub(crate) statements: usize,
    #[command(flatten)]
    pub(crate) limits: Limits,
    /// Also use the plans that `auto_explain` wrote to this server log; repeatable
    #[arg(long, value_name = "FILE")]
    pub(crate) auto_explain: Vec<PathBuf>,
    /// Show literal values in statements and conditions (may contain personal data)
    #[arg(long)]
    pub(crate) literals: bool,
    /// Also write the page with all statements, plans and indexes to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Also write a workbook (XLSX) with sheets for statements, plans, operators, parameters,
    /// indexes, index use, advice, tables, statistics, configuration, waits and files
    #[arg(long, value_name = "FILE")]
    pub(crate) workbook: Option<PathBuf>,
    /// Also write each plan as the engine wrote it to a file in this folder [default with
    /// --workbook NAME.xlsx: NAME-plans]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) plan_files: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) extent: Extent,
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
    /// Number of statements to explain, by total time; statements are never executed
    #[arg(long, value_name = "N", default_value = "50")]
    pub(crate) plans: usize,
    /// Number of databases whose tables and indexes are read, by total time
    #[arg(long, value_name = "N", default_value = "10")]
    pub(crate) databases: usize,
}

impl QueriesTool {
    /// Returns the amount of work that a server is asked for: its files and statistics for a
    /// workbook only.
    pub(crate) fn limits(&self) -> QueryLimits {
        let storage = match (&self.workbook, self.literals) {
            (None, _) => StorageDetail::Nothing,
            (Some(_), false) => StorageDetail::Figures,
            (Some(_), true) => StorageDetail::Values,
        };
        QueryLimits { tables: self.output.is_none(), ..self.limits.with(storage) }
    }
}

impl Limits {
    /// The limits of all that is read, with storage to this extent.
    pub(crate) fn with(&self, storage: StorageDetail) -> QueryLimits {
        QueryLimits { plans: self.plans, databases: self.databases, tables: true, storage }
    }
}

const TRY_EXAMPLES: &str = "Examples:
  steelbench queries try postgres://host/shop -f load.sql --index 'CREATE INDEX ON t (c)'
  steelbench queries try --dump shop.dump -f load.sql --set work_mem=64MB";

/// Actions on statements.
#[derive(Debug, Subcommand)]
pub(crate) enum QueriesCommand {
    /// Try an index, an index drop or a setting on a copy of a database: the gain or loss of each
    /// statement
    #[command(after_long_help = TRY_EXAMPLES)]
    Try(Box<Try>),
}
