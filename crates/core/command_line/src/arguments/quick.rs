use clap::Args;
use std::path::PathBuf;

/// The options of every quick command, which builds an experiment.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Experiment")]
pub struct Quick {
    /// Number of measurements of each configuration [default: 3; with a fio job file: 1; with
    /// `time`: 10, 5 with a warm-up or setup]
    #[arg(long, value_name = "N")]
    pub blocks: Option<u32>,
    /// Seed of random data and of the trial order [default: 1]
    #[arg(hide_short_help = true, long, value_name = "N")]
    pub seed: Option<u64>,
    /// Print the experiment file instead of running it
    #[arg(long, conflicts_with = "json")]
    pub print: bool,
    /// Name of the experiment [default: that of the command, or of the fio job file]
    #[arg(hide_short_help = true, long, value_name = "NAME", value_parser = experiment::file_name)]
    pub name: Option<String>,
    /// Label of the run in comparisons and histories: "after patch"
    #[arg(hide_short_help = true, long, value_name = "TEXT")]
    pub label: Option<String>,
    /// The results file [default: results/NAME.steelbench]
    #[arg(hide_short_help = true, long, value_name = "FILE")]
    pub results: Option<PathBuf>,
    /// Print events and the summary as JSON, one object per line
    #[arg(long)]
    pub json: bool,
    /// Print every section at the end, not one screen
    #[arg(long)]
    pub full: bool,
}

impl Quick {
    /// Name of the experiment: that of the command, unless another one is given.
    pub fn name<'a>(&'a self, command: &'a str) -> &'a str {
        self.name.as_deref().unwrap_or(command)
    }
}

/// Returns 1, 2, 4 ... below the largest number, and that.
pub fn doubling(most: u32) -> Vec<u32> {
    let below = std::iter::successors(Some(1_u32), |number| number.checked_mul(2));
    below.take_while(|number| *number < most).chain([most.max(1)]).collect()
}
