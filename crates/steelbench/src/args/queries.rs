//! What `queries` takes.

use super::{MariaDb, Psql, Try, positive};
use crate::output::Form;
use clap::{ArgAction, Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(disable_help_flag = true, args_conflicts_with_subcommands = true)]
pub struct Queries {
    #[command(subcommand)]
    pub command: Option<QueriesCommand>,
    /// The server: postgres:// or mariadb://user@host:port/database, keyword=value pairs or the name of a database
    /// [default: PG* variables]
    pub server: Option<String>,
    /// Count what runs in the next so many seconds; without it all since the server began to count
    #[arg(long, value_name = "N", value_parser = positive::<86_400>)]
    pub seconds: Option<f64>,
    /// Keep so many statements, those that took most time
    #[arg(long, value_name = "N", default_value = "100")]
    pub statements: usize,
    /// Have the server make so many plans, for those of them that took most time; none is run
    #[arg(long, value_name = "N", default_value = "50")]
    pub plans: usize,
    /// Read tables and indexes of so many databases, those with most time
    #[arg(long, value_name = "N", default_value = "10")]
    pub databases: usize,
    /// Also use the plans that `auto_explain` wrote to this log of the server; repeatable
    #[arg(long, value_name = "FILE")]
    pub auto_explain: Vec<PathBuf>,
    /// Show constants of statements and conditions, which may be data of users
    #[arg(long)]
    pub literals: bool,
    /// Also write the page with all statements, plans and indexes to this file
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Also write a workbook (XLSX) with a sheet each: statements, plans, operators, indexes, index use, advice
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

/// What is done about statements.
#[derive(Debug, Subcommand)]
pub enum QueriesCommand {
    /// Try an index, the drop of one or a setting on a copy of a database: what each statement gains or loses
    Try(Box<Try>),
}
