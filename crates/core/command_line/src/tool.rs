use crate::ready::Ready;
use crate::{Comparisons, ExitCode, Failure, HistoryPart, Records, output};
use analysis::Study;
use clap::builder::PossibleValuesParser;
use clap::{ArgMatches, CommandFactory, FromArgMatches};
use experiment::Experiment;
use observations::Recording;
use report::StudySections;
use runner::{Agents, Registry};
use std::path::Path;

/// A command, by its arguments: clap derives its name, its help and their parser.
pub trait Tool: CommandFactory + FromArgMatches {
    /// Command lines for its help.
    const EXAMPLES: [&'static str; 2];
    /// Names of the sections that `--section` prints; none without [`crate::output::Extent`].
    const SECTIONS: &'static [&'static str] = &[];

    /// Values of the argument for sections, where more than [`Self::SECTIONS`] decides.
    fn sections() -> Vec<&'static str> {
        Self::SECTIONS.to_vec()
    }

    /// Does what the arguments ask for.
    ///
    /// # Errors
    /// The failure that ends the program.
    fn run(&self, context: &Context) -> Result<ExitCode, Failure>;
}

/// A command's group in the help: groups follow each other in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Chapter {
    /// Experiments and their results.
    Experiments,
    /// Experiments that a command line describes.
    QuickTests,
    /// Servers and machines that are observed.
    Servers,
    /// Predictions and sizes.
    Models,
    /// Files that commands write.
    Files,
}

impl Chapter {
    /// The heading in the help.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Experiments => "Experiments",
            Self::QuickTests => "Quick tests",
            Self::Servers => "Servers",
            Self::Models => "Models",
            Self::Files => "Files",
        }
    }
}

/// A line of the registry: a tool without its type.
#[derive(Debug, Clone, Copy)]
pub struct Command {
    /// The place in the help.
    pub chapter: Chapter,
    /// The command line that clap parses.
    pub line: fn() -> clap::Command,
    /// Runs it with the arguments that clap found.
    pub run: fn(&ArgMatches, &Context) -> Result<ExitCode, Failure>,
}

impl Command {
    /// The line of a tool.
    pub const fn new<T: Tool>(chapter: Chapter) -> Self {
        Self { chapter, line: line::<T>, run: run::<T> }
    }
}

fn line<T: Tool>() -> clap::Command {
    let command =
        T::command().after_long_help(format!("Examples:\n  {}", T::EXAMPLES.join("\n  ")));
    let sections = T::sections();
    if sections.is_empty() {
        return command;
    }
    let names = PossibleValuesParser::new(sections);
    command.mut_arg(output::SECTIONS, |argument| argument.value_parser(names))
}

fn run<T: Tool>(matches: &ArgMatches, context: &Context) -> Result<ExitCode, Failure> {
    T::from_arg_matches(matches).map_err(Failure::usage)?.run(context)
}

/// Options that a guest adds to `run`.
#[derive(Clone, Copy)]
pub struct RunOptions {
    /// Adds them to a command line.
    pub augment: fn(clap::Command) -> clap::Command,
    /// The work of these options.
    pub action: RunAction,
}

/// The work of options of `run`.
#[derive(Clone, Copy)]
pub enum RunAction {
    /// Turns the experiment of a file into the one to run, by what its results file has. Not with
    /// `--fresh`, beside which the help lists the options.
    Continue(Continue),
    /// Begins the other processes that they ask for, before the run of an experiment into a results
    /// file; `None`: they ask for none.
    Begin(fn(&ArgMatches, &Experiment, &Path) -> Result<Option<Agents>, Failure>),
}

/// Takes the experiment of a file, and returns the one to run.
pub type Continue = fn(&ArgMatches, &RunPlace<'_>, Experiment) -> Result<Experiment, Failure>;

/// An experiment file with its results file.
#[derive(Clone, Copy)]
pub struct RunPlace<'a> {
    /// The registry of the binary.
    pub context: &'a Context,
    /// The experiment file.
    pub file: &'a Path,
    /// The results file, which may not exist yet.
    pub results: &'a Path,
}

/// Computes a tool's part of the history of these runs of an experiment, oldest first.
pub type AddHistoryPart = fn(&Context, &[Recording]) -> serde_json::Result<HistoryPart>;

/// Origin of the binary.
#[derive(Debug, Clone, Copy)]
pub struct Build {
    /// Commit of the source; `unknown` of a debug build.
    pub commit: &'static str,
    /// Optional features that it was built with.
    pub features: &'static [&'static str],
    /// Platform that it was built for: `x86_64-unknown-linux-gnu`.
    pub target: &'static str,
}

/// The registry of the binary: its engines, probes and commands. Every command gets it.
#[derive(Clone, Copy)]
pub struct Context {
    /// Name of the program.
    pub name: &'static str,
    /// The sentence at the top of its help.
    pub about: &'static str,
    /// Engines and probes.
    pub registry: Registry,
    /// The studies' parts in the analysis of their runs.
    pub studies: &'static [&'static Study],
    /// The designs' parts in the analysis of their runs.
    pub designs: &'static [&'static analysis::Design],
    /// The sections of reports that guests have.
    pub sections: StudySections<'static>,
    /// Commands of the binary and of studies. The help orders them by chapter.
    pub commands: &'static [&'static [Command]],
    /// Origin of the binary, for `--version --json`.
    pub build: Build,
    /// Observations in results files, beside runs.
    pub records: &'static [&'static dyn Records],
    /// Comparisons for pages, where a tool has them.
    pub comparisons: &'static [Comparisons],
    /// Parts that tools add to histories.
    pub history_parts: &'static [AddHistoryPart],
    /// Ready experiments that the binary contains.
    pub ready: &'static [Ready],
}
