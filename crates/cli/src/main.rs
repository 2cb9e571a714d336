//! Steelbench, a database performance laboratory: the command line.

mod check;
mod compare;
mod export;
mod file;
mod history;
mod quick;
mod registry;
mod report_file;
mod run;
mod show;

use check::Check;
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
use quick::{Disk, Pg, SortOrder, Sync, Time};
use registry::{REGISTRY, SECTIONS, STUDIES};
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
    commands: COMMANDS,
    records: RECORDS,
};

/// Commands, in the order of the help.
const COMMANDS: &[Command] = &[
    Command::new::<Run>(),
    Command::new::<Check>(),
    Command::new::<Show>(),
    Command::new::<Compare>(),
    Command::new::<History>(),
    Command::new::<Report>(),
    Command::new::<Serve>(),
    Command::new::<Export>(),
    Command::new::<Waits>(),
    Command::new::<Capture>(),
    Command::new::<Disk>(),
    Command::new::<Pg>(),
    Command::new::<Sync>(),
    Command::new::<Time>(),
    Command::new::<Size>(),
    Command::new::<Plan>(),
    Command::new::<QueriesTool>(),
    Command::new::<Predict>(),
    Command::new::<Results>(),
    Command::new::<SortOrder>(),
    Command::new::<SurveyTool>(),
    Command::new::<ProfileTool>(),
    Command::new::<Data>(),
    Command::new::<Schema>(),
    Command::new::<Init>(),
    Command::new::<Completions>(),
];

/// Observations that tools record in results files.
const RECORDS: &[&dyn Records] = &[&Observations, &Intervals];
