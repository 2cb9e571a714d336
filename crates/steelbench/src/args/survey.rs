//! What can be typed after `survey`.

use crate::output::Form;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Take the inventory of this machine and of servers, or lay inventories side by side.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Survey {
    /// What to do with inventories that were taken.
    #[command(subcommand)]
    pub command: Option<SurveyCommand>,
    /// Also ask this server what it is and how it is set: postgres://user@host:port/database or keyword=value
    /// pairs; repeatable. Nothing is changed, no table is read, no password recorded
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
    Merge(Merge),
}

/// Lay inventories side by side.
#[derive(Debug, Args)]
pub struct Merge {
    /// Files that `survey --output` wrote
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Numbers instead of names of machines
    #[arg(long)]
    pub anonymous: bool,
    /// How it is printed.
    #[command(flatten)]
    pub form: Form,
}
