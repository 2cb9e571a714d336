//! The commands of this binary that no study has.

use command_line::Chapter::{Experiments, Files, Models, Servers};
use command_line::Command;

/// Commands in the order of the help.
pub const COMMANDS: &[Command] = &[
    Command::new::<crate::file::Init>(Experiments),
    Command::new::<crate::check::Check>(Experiments),
    Command::new::<crate::run::Run>(Experiments),
    Command::new::<agent::Agent>(Experiments),
    Command::new::<tune::Tune>(Experiments),
    Command::new::<crate::show::Show>(Experiments),
    Command::new::<compare::Compare>(Experiments),
    Command::new::<compare::History>(Experiments),
    Command::new::<import::Import>(Experiments),
    Command::new::<crate::report_file::Report>(Experiments),
    Command::new::<serve::Serve>(Experiments),
    Command::new::<crate::export::Export>(Experiments),
    Command::new::<waits::Waits>(Servers),
    Command::new::<queries::QueriesTool>(Servers),
    Command::new::<plan::Plan>(Servers),
    Command::new::<survey::Doctor>(Servers),
    Command::new::<survey::SurveyTool>(Servers),
    Command::new::<queries::Capture>(Servers),
    Command::new::<profile::ProfileTool>(Servers),
    Command::new::<predict::Predict>(Models),
    Command::new::<size::Size>(Models),
    Command::new::<size::Results>(Models),
    Command::new::<data::Data>(Files),
    Command::new::<crate::file::Schema>(Files),
    Command::new::<crate::completions::Completions>(Files),
    Command::new::<crate::man::Man>(Files),
];
