//! Steelbench, a database performance laboratory: the command line.

mod check;
mod compare;
mod export;
mod file;
mod history;
mod registry;
mod report_file;
mod run;
mod show;

use check::Check;
use command::Chapter::{Experiments, Inventory, Planning, Servers};
use command::{Command, Context, Records};
use compare::Compare;
use data::Data;
use export::Export;
use file::{Completions, Init, Schema};
use history::History;
use plan::Plan;
use predict::Predict;
use profile_tool::ProfileTool;
use queries::{Capture, Intervals, QueriesTool};
use registry::{REGISTRY, SECTIONS, STUDIES, STUDY_COMMANDS};
use report_file::Report;
use run::Run;
use serve::Serve;
use show::Show;
use sizing::{Results, Size};
use survey::SurveyTool;
use waits::{Observations, Waits};

fn main() -> std::process::ExitCode {
    command::run(&CONTEXT).into()
}

/// The binary.
pub const CONTEXT: Context = Context {
    name: "steelbench",
    about: "Which storage, layout, setting or engine is faster for this work, by how much, how \
            sure are we, and why",
    registry: REGISTRY,
    studies: STUDIES,
    sections: SECTIONS,
    commands: &[COMMANDS, STUDY_COMMANDS],
    records: RECORDS,
};

/// Commands that no study has, in the order of the help.
const COMMANDS: &[Command] = &[
    Command::new::<Run>(Experiments),
    Command::new::<Check>(Experiments),
    Command::new::<Show>(Experiments),
    Command::new::<Compare>(Experiments),
    Command::new::<History>(Experiments),
    Command::new::<Report>(Experiments),
    Command::new::<Serve>(Experiments),
    Command::new::<Export>(Experiments),
    Command::new::<Waits>(Servers),
    Command::new::<Capture>(Servers),
    Command::new::<Size>(Planning),
    Command::new::<Plan>(Planning),
    Command::new::<QueriesTool>(Planning),
    Command::new::<Predict>(Planning),
    Command::new::<Results>(Planning),
    Command::new::<SurveyTool>(Inventory),
    Command::new::<ProfileTool>(Inventory),
    Command::new::<Data>(Inventory),
    Command::new::<Schema>(Inventory),
    Command::new::<Init>(Inventory),
    Command::new::<Completions>(Inventory),
];

/// Observations that tools record in results files.
const RECORDS: &[&dyn Records] = &[&Observations, &Intervals];
