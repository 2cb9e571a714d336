//! `steelbench schema`, `init` and `completions`: what helps to write files and commands.

use crate::args::Arguments;
use crate::exit_code::{ExitCode, Failure};
use crate::output;
use clap::CommandFactory;
use std::io::Write;
use std::path::Path;

/// Engine and probe of the file that `init` writes: what needs nothing installed.
const ENGINE: &str = "sqlite";
const PROBE: &str = "insert";

/// Prints the JSON Schema of experiment files.
pub fn schema() -> Result<ExitCode, Failure> {
    let schema = experiment::schema(&runner::catalog());
    let text = serde_json::to_string_pretty(&schema).map_err(Failure::failed)?;
    output::print(&format!("{text}\n"))
}

/// Writes a commented experiment file; never over another one.
pub fn init(file: &Path) -> Result<ExitCode, Failure> {
    let path = file.display();
    let text = experiment::example(&runner::catalog(), ENGINE, PROBE);
    let mut written =
        std::fs::File::create_new(file).map_err(|error| Failure::usage(format!("{path}: {error}")))?;
    written.write_all(text.as_bytes()).map_err(|error| Failure::failed(format!("{path}: {error}")))?;
    output::print(&format!("Wrote {path}. `steelbench check {path}` says what it would do.\n"))
}

/// Prints completions for a shell.
pub fn completions(shell: clap_complete::Shell) -> Result<ExitCode, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "steelbench", &mut text);
    output::print_as_it_is(&String::from_utf8_lossy(&text))
}
