//! What can be typed after `profile`.

use crate::output::Form;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Sample where processes or a command spend their processor time, or compare two such profiles.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Profile {
    /// What to do with profiles that were saved.
    #[command(subcommand)]
    pub command: Option<ProfileCommand>,
    /// A process to sample with all its threads and the processes below it; repeatable
    #[arg(short, long, value_name = "PID", value_parser = clap::value_parser!(i32).range(1..), required_unless_present = "words")]
    pub pid: Vec<i32>,
    /// How long to sample processes; Ctrl-C ends it earlier and shows what was seen
    #[arg(long, value_name = "N", default_value_t = 10.0, value_parser = super::positive::<86_400>, conflicts_with = "words")]
    pub seconds: f64,
    /// Samples for each second on a processor
    #[arg(long, value_name = "HZ", default_value_t = 99, value_parser = clap::value_parser!(u32).range(i64::from(profile::HZ_MIN)..=i64::from(profile::HZ_MAX)))]
    pub rate: u32,
    /// Also write the stacks to this file: .folded for flame graph tools, .svg as a flame graph, else as JSON for
    /// `profile compare`
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
    /// A command to start and sample to its end
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "pid")]
    pub words: Vec<std::ffi::OsString>,
}

/// What can be done with profiles that were saved.
#[derive(Debug, Subcommand)]
pub enum ProfileCommand {
    /// Show two profiles side by side, and which differences are beyond the error of sampling
    Compare(ComparedProfiles),
}

/// Two saved profiles.
#[derive(Debug, Args)]
pub struct ComparedProfiles {
    /// A file that `profile --output` wrote as JSON
    pub a: PathBuf,
    /// The one that it is compared with
    pub b: PathBuf,
    /// How it is printed.
    #[command(flatten)]
    pub form: Form,
}
