//! `steelbench schema`, `init` and `completions`: what helps to write files and commands.

use crate::args::Arguments;
use crate::exit_code::{ExitCode, Failure};
use crate::output;
use crate::registry::REGISTRY;
use clap::CommandFactory;
use experiment::Declaration;
use std::io::{ErrorKind, Write};
use std::path::Path;

/// Prints the JSON Schema of experiment files.
pub fn schema() -> Result<ExitCode, Failure> {
    let schema = experiment::schema(&REGISTRY.catalog());
    let text = serde_json::to_string_pretty(&schema).map_err(Failure::failed)?;
    output::print(&format!("{text}\n"))
}

/// Writes a commented experiment file; never over another one. What of engine and probe is not
/// given is the first that fits.
pub fn init(file: &Path, engine: Option<&str>, probe: Option<&str>) -> Result<ExitCode, Failure> {
    let path = file.display();
    let text = example(engine, probe)?;
    let mut created = std::fs::File::create_new(file).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists | ErrorKind::NotFound | ErrorKind::NotADirectory => {
            Failure::usage(format!("{path}: {error}"))
        }
        _ => Failure::failed(format!("cannot write {path}: {error}")),
    })?;
    created.write_all(text.as_bytes()).map_err(|error| {
        // Half of it is of no use; that it failed is what has to be told.
        let _ = std::fs::remove_file(file);
        Failure::failed(format!("cannot write {path}: {error}"))
    })?;
    output::print_wrapped(&format!(
        "Wrote {path}. `steelbench check {path}` says what it would do.\n"
    ))
}

/// The text of an experiment file for an engine and a probe that can work on it.
fn example(engine: Option<&str>, probe: Option<&str>) -> Result<String, Failure> {
    let catalog = REGISTRY.catalog();
    let (engines, probes) = (names(&catalog.engines), names(&catalog.probes));
    for (what, asked, known) in [("engine", engine, &engines), ("probe", probe, &probes)] {
        if let Some(unknown) = asked.filter(|name| !known.contains(name)) {
            return Err(Failure::usage(experiment::unknown_name(what, unknown, known)));
        }
    }
    let mut objections = Vec::new();
    for engine in engines.iter().filter(|name| engine.is_none_or(|asked| asked == **name)) {
        for probe in probes.iter().filter(|name| probe.is_none_or(|asked| asked == **name)) {
            let text = experiment::example(&catalog, engine, probe);
            match experiment::parse(&text, &catalog).and_then(|read| runner::load(REGISTRY, read)) {
                Ok(_) => return Ok(text),
                Err(errors) => {
                    objections.extend(errors.errors.into_iter().map(|error| error.message))
                }
            }
        }
    }
    Err(Failure::usage(objections.join("\n")))
}

fn names(owners: &[(&'static str, &'static [Declaration])]) -> Vec<&'static str> {
    owners.iter().map(|(name, _)| *name).collect()
}

/// Prints completions for a shell.
pub fn completions(shell: clap_complete::Shell) -> Result<ExitCode, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "steelbench", &mut text);
    output::print_as_it_is(&String::from_utf8_lossy(&text))
}
