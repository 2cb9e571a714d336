//! What `queries` takes.

use super::{MariaDb, Psql, Try, positive, setting};
use crate::output::Form;
use clap::{ArgAction, ArgGroup, Args, Subcommand};
use script::DURATION;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(disable_help_flag = true, args_conflicts_with_subcommands = true)]
#[command(group = ArgGroup::new("recorded").args(["every", "query_store"])
          .conflicts_with_all(["seconds", "auto_explain", "html", "workbook", "md"]))]
pub struct Queries {
    #[command(subcommand)]
    pub command: Option<QueriesCommand>,
    /// The server: postgres://, mariadb:// or mssql://user@host:port/database, keyword=value pairs
    /// or the name of a database [default: PG* variables]; or a results file that --every
    /// wrote, or a file that `capture` wrote; or a SQLite database with --sql
    pub server: Option<String>,
    /// A later capture of the same server: count what ran between the two
    pub later: Option<String>,
    /// Of a capture: count what ran while it was taken
    #[arg(long, conflicts_with = "later")]
    pub interval: bool,
    /// Of a SQLite database: the statements, which are explained; those that only read are run
    /// once; repeatable
    #[arg(long, value_name = "FILE")]
    pub sql: Vec<PathBuf>,
    /// Count what runs in the next so many seconds; without it all since the server began to count
    #[arg(long, value_name = "N", value_parser = positive::<86_400>)]
    pub seconds: Option<f64>,
    /// Record what runs in each interval of this length, `60s`, with the plans at its end, until
    /// Ctrl-C
    #[arg(
        long, value_name = "TIME", value_parser = setting::<f64, _>(DURATION), requires = "output"
    )]
    pub every: Option<f64>,
    /// Of SQL Server: record the intervals that the Query Store of the database has kept and
    /// --output does not have yet
    #[arg(long, requires = "output")]
    pub query_store: bool,
    /// End after so many intervals
    #[arg(
        long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..),
        requires = "every"
    )]
    pub count: Option<u32>,
    /// The results file that --every and --query-store write; what it holds is kept. `history
    /// FILE` shows what changed, `queries FILE` what ran
    #[arg(short, long, value_name = "FILE", requires = "recorded")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub between: Between,
    /// Keep so many statements, those that took most time
    #[arg(long, value_name = "N", default_value = "100")]
    pub statements: usize,
    #[command(flatten)]
    pub limits: Limits,
    /// Also use the plans that `auto_explain` wrote to this log of the server; repeatable
    #[arg(long, value_name = "FILE")]
    pub auto_explain: Vec<PathBuf>,
    /// Show constants of statements and conditions, which may be data of users
    #[arg(long)]
    pub literals: bool,
    /// Also write the page with all statements, plans and indexes to this file
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Also write a workbook (XLSX) with a sheet each: statements, plans, operators, indexes,
    /// index use, advice
    #[arg(long, value_name = "FILE")]
    pub workbook: Option<PathBuf>,
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

/// Of what was recorded over time, the part that lies between two times as a whole.
#[derive(Debug, Default, Args)]
pub struct Between {
    /// Of what was recorded, only what began at this time or later: `2026-11-23 02:40`, UTC
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub from: Option<i64>,
    /// Only what ended at this time or before
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub to: Option<i64>,
}

impl Between {
    /// Whether what began and ended then lies in it as a whole.
    pub fn covers(&self, from_ms: i64, to_ms: i64) -> bool {
        self.from.is_none_or(|from| from_ms >= from) && self.to.is_none_or(|to| to_ms <= to)
    }

    /// Whether anything is left out.
    pub fn is_given(&self) -> bool {
        self.from.is_some() || self.to.is_some()
    }
}

fn time(text: &str) -> Result<i64, String> {
    report::from_utc(text)
        .ok_or_else(|| "not a time such as `2026-11-23 02:40` or `2026-11-23`, UTC".to_owned())
}

/// How much a server is asked about its statements.
#[derive(Debug, Args)]
pub struct Limits {
    /// Have the server make so many plans, for those statements that took most time; none is run
    #[arg(long, value_name = "N", default_value = "50")]
    pub plans: usize,
    /// Read tables and indexes of so many databases, those with most time
    #[arg(long, value_name = "N", default_value = "10")]
    pub databases: usize,
}

impl From<&Limits> for engine::QueryLimits {
    fn from(limits: &Limits) -> Self {
        Self { plans: limits.plans, databases: limits.databases, tables: true }
    }
}

/// What is done about statements.
#[derive(Debug, Subcommand)]
pub enum QueriesCommand {
    /// Try an index, the drop of one or a setting on a copy of a database: what each statement
    /// gains or loses
    Try(Box<Try>),
}
