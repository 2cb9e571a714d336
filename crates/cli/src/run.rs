//! `steelbench run`

use crate::registry::RUN_OPTIONS;
use clap::{ArgMatches, Args, FromArgMatches, Parser};
use command_line::session::{Session, exit_code};
use command_line::{Context, ExitCode, Failure, RunAction, RunOptions, RunPlace, Tool, results};
use engine::Permits;
use experiment::Experiment;
use runner::{Agents, RunChoices};
use std::path::{Path, PathBuf};

/// Run or resume an experiment, then show the results
#[derive(Debug, Parser)]
#[command(name = "run")]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
pub struct Run {
    /// The experiment file
    pub file: PathBuf,
    /// The results file [default: results/NAME.steelbench]
    #[arg(short = 'o', long, value_name = "FILE")]
    pub results: Option<PathBuf>,
    /// Start a new run in the results file; earlier runs are kept
    #[arg(long)]
    pub fresh: bool,
    #[command(flatten)]
    pub steps: GuestOptions<true>,
    /// Rerun trials that failed as often as `repeats.retries` permits
    #[arg(long, conflicts_with = "fresh")]
    pub retry_failed: bool,
    /// Label of the run in comparisons and histories: "after patch"
    #[arg(long, value_name = "TEXT")]
    pub label: Option<String>,
    /// Resume after the manual step at which the run stopped
    #[arg(hide_short_help = true, long)]
    pub manual_done: bool,
    /// Permit writing to this existing file of `target.paths`
    #[arg(long, value_name = "FILE")]
    pub overwrite: Vec<PathBuf>,
    /// Permit writing to this block device of `target.paths`; everything on it is lost
    #[arg(long, value_name = "DEVICE")]
    pub destroy: Vec<PathBuf>,
    /// Refuse a file that reaches beyond its trials, and confine it to them
    #[arg(long, conflicts_with_all = ["overwrite", "destroy"])]
    pub untrusted: bool,
    /// Print events and the summary as JSON, one object per line
    #[arg(long)]
    pub json: bool,
    /// Print every section at the end, not one screen
    #[arg(long)]
    pub full: bool,
    #[command(flatten)]
    pub others: GuestOptions<false>,
}

/// Options that guests add, as clap found them: those that continue a run, or the others.
#[derive(Debug, Clone)]
pub struct GuestOptions<const CONTINUE: bool>(ArgMatches);

impl GuestOptions<true> {
    /// The experiment of a file with what they add to it.
    fn continued(
        &self,
        place: &RunPlace<'_>,
        experiment: Experiment,
    ) -> Result<Experiment, Failure> {
        Self::all().try_fold(experiment, |experiment, options| match options.action {
            RunAction::Continue(action) => action(&self.0, place, experiment),
            RunAction::Begin(_) => Ok(experiment),
        })
    }
}

impl GuestOptions<false> {
    /// Begins what they ask for.
    fn agents(&self, experiment: &Experiment, results: &Path) -> Result<Agents, Failure> {
        for options in Self::all() {
            if let RunAction::Begin(action) = options.action
                && let Some(agents) = action(&self.0, experiment, results)?
            {
                return Ok(agents);
            }
        }
        Ok(Agents::default())
    }
}

impl<const CONTINUE: bool> GuestOptions<CONTINUE> {
    fn all() -> impl Iterator<Item = &'static RunOptions> {
        let all = RUN_OPTIONS.iter().copied().flatten();
        all.filter(|options| matches!(options.action, RunAction::Continue(_)) == CONTINUE)
    }
}

impl<const CONTINUE: bool> FromArgMatches for GuestOptions<CONTINUE> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self(matches.clone()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<const CONTINUE: bool> Args for GuestOptions<CONTINUE> {
    fn augment_args(command: clap::Command) -> clap::Command {
        Self::all().fold(command, |command, options| (options.augment)(command))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

/// A file with a search has no levels to run.
pub fn refuse_search(experiment: &Experiment, file: &Path) -> Result<(), Failure> {
    let Some(search) = experiment.search else { return Ok(()) };
    let file = file.display().to_string();
    Err(Failure::usage(format!("{file} {}", search.usage.replace("{file}", &file))))
}

impl Tool for Run {
    const EXAMPLES: [&'static str; 2] = [
        "steelbench run random-insert.toml",
        "steelbench run random-insert.toml --label \"after patch\"",
    ];

    fn run(&self, context: &Context) -> Result<ExitCode, Failure> {
        let experiment = context.experiment_by(&self.file, self.untrusted)?;
        refuse_search(&experiment, &self.file)?;
        let results = results::path(self.results.as_ref(), &experiment.name);
        let experiment = if self.fresh {
            experiment
        } else {
            let place = RunPlace { context, file: &self.file, results: &results };
            self.steps.continued(&place, experiment)?
        };
        // What a step adds is read from the results file.
        context.verify_reach(&experiment, self.untrusted)?;
        let choices = RunChoices {
            agents: self.others.agents(&experiment, &results)?,
            results,
            fresh: self.fresh,
            retry_failed: self.retry_failed,
            manual_done: self.manual_done,
            label: self.label.clone(),
            permits: Permits {
                overwrite: self.overwrite.clone(),
                destroy: self.destroy.clone(),
                is_confined: self.untrusted,
            },
            futile: Vec::new(),
        };
        let session = Session { choices, json: self.json, full: self.full };
        let end = session.conduct(context, &experiment)?;
        let recording = session.recording(context)?;
        let failed = session.show(context, &recording)?;
        Ok(exit_code(&end, failed, Some(&self.file.display().to_string())))
    }
}
