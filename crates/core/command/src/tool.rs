use crate::{Context, ExitCode, Failure};
use clap::{ArgMatches, CommandFactory, FromArgMatches};

/// A command, by its arguments: clap derives its name, its help and their parser.
pub trait Tool: CommandFactory + FromArgMatches {
    /// Does what the arguments ask for.
    ///
    /// # Errors
    /// The failure that ends the program.
    fn run(&self, context: &Context) -> Result<ExitCode, Failure>;
}

/// A command's place in the help: chapters follow each other in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Chapter {
    /// Experiments and their results.
    Experiments,
    /// Servers that are watched.
    Servers,
    /// Storage by quick commands.
    Storage,
    /// Loads by quick commands.
    Loads,
    /// Sizes, plans, statements and predictions.
    Planning,
    /// Layouts of data.
    Layouts,
    /// Inventories, profiles, data sets and files.
    Inventory,
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
        Self { chapter, line: T::command, run: run::<T> }
    }
}

fn run<T: Tool>(matches: &ArgMatches, context: &Context) -> Result<ExitCode, Failure> {
    T::from_arg_matches(matches).map_err(Failure::usage)?.run(context)
}
