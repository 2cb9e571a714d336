use crate::{Context, ExitCode, Failure};
use clap::{ArgMatches, CommandFactory, FromArgMatches};

/// A command, by its arguments: clap derives its name, its help and their parser.
pub trait Tool: CommandFactory + FromArgMatches {
    /// Command lines for its help.
    const EXAMPLES: [&'static str; 2];

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
    /// Its heading in the help.
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
    /// Its place in the help.
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
    T::command().after_long_help(format!("Examples:\n  {}", T::EXAMPLES.join("\n  ")))
}

fn run<T: Tool>(matches: &ArgMatches, context: &Context) -> Result<ExitCode, Failure> {
    T::from_arg_matches(matches).map_err(Failure::usage)?.run(context)
}
