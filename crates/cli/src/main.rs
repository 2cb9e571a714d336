//! Steelbench, a database performance laboratory: the command line.

mod check;
mod commands;
mod completions;
mod export;
mod file;
#[cfg(test)]
mod help;
mod man;
mod needs;
mod ready;
mod registry;
mod report_file;
mod run;
mod show;

use command_line::{Build, Context};
use commands::COMMANDS;
use registry::{
    COMPARISONS, DESIGNS, HISTORY_PARTS, RECORDS, REGISTRY, SECTIONS, STUDIES, STUDY_COMMANDS,
};

fn main() -> std::process::ExitCode {
    command_line::run(&CONTEXT).into()
}

/// The binary.
pub const CONTEXT: Context = Context {
    name: "steelbench",
    about: "Which storage, layout, setting, engine or index is faster, by how much, and why",
    registry: REGISTRY,
    studies: STUDIES,
    designs: DESIGNS,
    sections: SECTIONS,
    commands: &[COMMANDS, STUDY_COMMANDS],
    build: Build {
        commit: env!("STEELBENCH_COMMIT"),
        features: FEATURES,
        target: env!("STEELBENCH_TARGET"),
    },
    records: RECORDS,
    comparisons: COMPARISONS,
    history_parts: HISTORY_PARTS,
    ready: ready::READY,
};

/// Optional features that the binary was built with.
const FEATURES: &[&str] = if cfg!(feature = "sqlserver") { &["sqlserver"] } else { &[] };
