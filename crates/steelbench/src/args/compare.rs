//! What can be typed after `compare` and `history`.

use crate::output::Form;
use analysis::runs::Limit;
use clap::Args;

/// Compare two configurations of a run, or two runs.
#[derive(Debug, Args)]
pub struct Compare {
    /// A configuration (`data_files=1`, `data_files=1,log=synced`) or a run (an experiment's name, a results
    /// file, either with `@3`, `@latest` or `@previous`)
    pub a: String,
    /// What it is compared with: another configuration or another run
    pub b: String,
    /// Name of an experiment, or path of a results file, of configurations and of `@3` alone [default:
    /// the newest in results/]
    #[arg(long = "in", value_name = "NAME")]
    pub name: Option<String>,
    /// Number of the run that configurations are of [default: the latest]
    #[arg(long)]
    pub run: Option<i64>,
    /// What is compared of two runs.
    #[command(flatten)]
    pub runs: BetweenRuns,
    /// How it is printed.
    #[command(flatten)]
    pub form: Form,
}

/// What is compared of two runs, and what fails.
#[derive(Debug, Args)]
pub struct BetweenRuns {
    /// Of two runs: the response to compare [default: the first run's]
    #[arg(long, value_name = "NAME")]
    pub response: Option<String>,
    /// Of two runs: compare every response that both have
    #[arg(long, conflicts_with = "response")]
    pub all: bool,
    /// Of two runs: exit code 1 when a configuration changed by more than this beyond doubt: `slower:3%`,
    /// `faster:3%`, or of a response `latency_p99:+5%`, `iops:-3%`; repeatable
    #[arg(long, value_name = "LIMIT")]
    pub fail_if: Vec<Limit>,
    /// Exit code 1 also when a change may be beyond the limit
    #[arg(long, requires = "fail_if")]
    pub fail_if_unsure: bool,
}

impl BetweenRuns {
    /// Whether anything is asked for that only two runs have.
    pub fn any(&self) -> bool {
        self.response.is_some() || self.all || !self.fail_if.is_empty()
    }
}

/// Show how the runs of an experiment changed over time.
#[derive(Debug, Args)]
pub struct History {
    /// Name of an experiment, or paths of results files with its runs [default: the newest in results/]
    pub names: Vec<String>,
    /// The response to show [default: the one that the latest run compares on]
    #[arg(long, value_name = "NAME")]
    pub response: Option<String>,
    /// Only the last so many runs
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub last: Option<u32>,
    /// How it is printed.
    #[command(flatten)]
    pub form: Form,
}
