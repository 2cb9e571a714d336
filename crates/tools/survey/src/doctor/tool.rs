use super::document::{SECTIONS, page};
use super::engines::engines;
use super::machine::machine;
use clap::Parser;
use command_line::output::{self, Extent, Form};
use command_line::{Context, ExitCode, Failure, Tool, servers, signals};
use serde_json::json;

/// Check what this machine can do, and how to permit the rest
///
/// Lists the engines with their versions, rights, asynchronous I/O, control groups, profiles,
/// clock, frequency and free space, each with its remedy.
#[derive(Debug, Parser)]
#[command(name = "doctor")]
pub struct Doctor {
    #[command(flatten)]
    extent: Extent,
    #[command(flatten)]
    form: Form,
}

impl Tool for Doctor {
    const EXAMPLES: [&'static str; 2] = ["steelbench doctor", "steelbench doctor --json"];
    const SECTIONS: &'static [&'static str] = &SECTIONS;

    fn run(&self, context: &Context) -> Result<ExitCode, Failure> {
        let folder = std::env::current_dir().map_err(Failure::failed)?;
        let interrupt = signals::stop_flag()?;
        let engines = engines(context.registry.engines, &servers::stop_by(&interrupt));
        let machine = machine(&folder);
        output::show_part(
            self.form,
            &self.extent,
            || Ok(json!({ "schema": "steelbench/2", "engines": engines, "machine": machine })),
            || page(&engines, &machine),
        )
    }
}
