//! Steelbench, a database performance laboratory: the command line.

mod check;
mod compare;
mod completions;
mod export;
mod file;
#[cfg(test)]
mod help;
mod history;
mod man;
mod needs;
mod ready;
mod registry;
mod report_file;
mod run;
mod show;
mod steps;

use check::Check;
use command_line::Chapter::{Experiments, Files, Models, Servers};
use command_line::{Build, Command, Context, Records};
use compare::Compare;
use completions::Completions;
use data::Data;
use export::Export;
use file::{Init, Schema};
use history::History;
use import::Import;
use man::Man;
use plan::Plan;
use predict::Predict;
use profile::ProfileTool;
use queries::{Capture, Intervals, QueriesTool};
use registry::{REGISTRY, SECTIONS, STUDIES, STUDY_COMMANDS};
use report_file::Report;
use run::Run;
use serve::Serve;
use show::Show;
use size::{Results, Size};
use survey::{Doctor, SurveyTool};
use tune::Tune;
use waits::{Observations, Waits};

fn main() -> std::process::ExitCode {
    command_line::run(&CONTEXT).into()
}

/// The binary.
pub const CONTEXT: Context = Context {
    name: "steelbench",
    about: "Which storage, layout, setting, engine or index is faster, by how much, and why",
    registry: REGISTRY,
    studies: STUDIES,
    sections: SECTIONS,
    commands: &[COMMANDS, STUDY_COMMANDS],
    build: Build {
        commit: env!("STEELBENCH_COMMIT"),
        features: FEATURES,
        target: env!("STEELBENCH_TARGET"),
    },
    records: RECORDS,
    ready: ready::READY,
};

/// Optional features that the binary was built with.
const FEATURES: &[&str] = if cfg!(feature = "sqlserver") { &["sqlserver"] } else { &[] };

/// Commands that no study has, in the order of the help.
const COMMANDS: &[Command] = &[
    Command::new::<Init>(Experiments),
    Command::new::<Check>(Experiments),
    Command::new::<Run>(Experiments),
    Command::new::<agent::Agent>(Experiments),
    Command::new::<Tune>(Experiments),
    Command::new::<Show>(Experiments),
    Command::new::<Compare>(Experiments),
    Command::new::<History>(Experiments),
    Command::new::<Import>(Experiments),
    Command::new::<Report>(Experiments),
    Command::new::<Serve>(Experiments),
    Command::new::<Export>(Experiments),
    Command::new::<Waits>(Servers),
    Command::new::<QueriesTool>(Servers),
    Command::new::<Plan>(Servers),
    Command::new::<Doctor>(Servers),
    Command::new::<SurveyTool>(Servers),
    Command::new::<Capture>(Servers),
    Command::new::<ProfileTool>(Servers),
    Command::new::<Predict>(Models),
    Command::new::<Size>(Models),
    Command::new::<Results>(Models),
    Command::new::<Data>(Files),
    Command::new::<Schema>(Files),
    Command::new::<Completions>(Files),
    Command::new::<Man>(Files),
];

/// Observations that tools record in results files.
const RECORDS: &[&dyn Records] = &[&Observations, &Intervals];
