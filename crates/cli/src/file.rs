//! `steelbench schema` and `init`: what helps to write files.

use crate::ready;
use clap::Parser;
use command_line::ready::write_new;
use command_line::{Context, ExitCode, Failure, Tool, output};
use engine::{Engine, WaitType};
use experiment::Declaration;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Print the JSON Schema of experiment files, for editors
#[derive(Debug, Parser)]
#[command(name = "schema")]
pub struct Schema {
    /// Print the wait types of all engines as JSON: names, classes and meanings
    #[arg(long, conflicts_with = "experiments")]
    wait_types: bool,
    /// Print the ready experiments as JSON: questions, engines, sizes and prerequisites
    #[arg(long)]
    experiments: bool,
}

impl Tool for Schema {
    const EXAMPLES: [&'static str; 2] =
        ["steelbench schema > steelbench.schema.json", "steelbench schema --wait-types"];

    fn run(&self, context: &Context) -> Result<ExitCode, Failure> {
        let value = if self.wait_types {
            wait_types(context.registry.engines)
        } else if self.experiments {
            ready::as_json(context)?
        } else {
            experiment::schema(&context.registry.catalog())
        };
        let text = serde_json::to_string_pretty(&value).map_err(Failure::failed)?;
        output::print(&format!("{text}\n"))
    }
}

/// The tables of wait types; in each, the first entry that fits a name applies.
fn wait_types(engines: &[&Engine]) -> Value {
    let tables = engines.iter().filter(|engine| !engine.wait_types.is_empty()).map(|engine| {
        let entries: Vec<Value> = engine.wait_types.iter().map(wait_type).collect();
        json!({"engine": engine.name, "wait_types": entries})
    });
    tables.collect()
}

fn wait_type(wait_type: &WaitType) -> Value {
    let WaitType { name, class, meaning, benign } = wait_type;
    let group = benign.map(|group| json!({"name": group.name, "filtered": group.is_filtered}));
    json!({"name": name, "class": class, "meaning": meaning, "benign_group": group})
}

/// Write an experiment file to start from
///
/// Without --like: a commented file for an engine and a probe. With it: a ready experiment with its
/// scripts, in the current folder.
#[derive(Debug, Parser)]
#[command(name = "init")]
pub struct Init {
    /// The file to write
    #[arg(default_value = "experiment.toml")]
    file: PathBuf,
    /// The engine under test [default: sqlite, or the first one that supports the probe]
    #[arg(long, value_name = "NAME")]
    engine: Option<String>,
    /// The probe [default: the first one that the engine supports]
    #[arg(long, value_name = "NAME")]
    probe: Option<String>,
    /// A ready experiment with its scripts: tatp, disk/disk-grid; without a name: list them
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "",
          conflicts_with_all = ["file", "engine", "probe"])]
    like: Option<String>,
}

impl Tool for Init {
    const EXAMPLES: [&'static str; 2] =
        ["steelbench init --engine sqlite --probe insert", "steelbench init --like tatp"];

    fn run(&self, context: &Context) -> Result<ExitCode, Failure> {
        match self.like.as_deref() {
            Some("") => return output::print_wrapped(&ready::list(context.ready)),
            Some(name) => return write_ready(context, name),
            None => {}
        }
        let text = example(context, self.engine.as_deref(), self.probe.as_deref())?;
        write_new(&self.file, &text)?;
        let path = self.file.display();
        output::print_wrapped(&format!(
            "Wrote {path}. Show its plan with `steelbench check {path}`.\n"
        ))
    }
}

/// Writes the files of a ready experiment into the current folder.
fn write_ready(context: &Context, name: &str) -> Result<ExitCode, Failure> {
    let ready = context
        .ready
        .iter()
        .find(|ready| name == ready.name || name == format!("{}/{}", ready.folder, ready.name));
    let ready = ready.ok_or_else(|| {
        let names: Vec<&str> = context.ready.iter().map(|ready| ready.name).collect();
        let message = experiment::unknown_name("ready experiment", name, &names);
        Failure::usage(format!("{message}\n{}", ready::list(context.ready).trim_end()))
    })?;
    let files = ready.write(None)?;
    let first = &files[0];
    let with = if files.len() > 1 { " and its scripts" } else { "" };
    output::print_wrapped(&format!("Wrote {first}{with}. Run it with `steelbench run {first}`.\n"))
}

/// The text of an experiment file for an engine and a probe that can work on it.
fn example(
    context: &Context,
    engine: Option<&str>,
    probe: Option<&str>,
) -> Result<String, Failure> {
    let catalog = context.registry.catalog();
    let (engines, probes) = (names(&catalog.engines), names(&catalog.probes));
    for (what, engine, known) in [("engine", engine, &engines), ("probe", probe, &probes)] {
        if let Some(unknown) = engine.filter(|name| !known.contains(name)) {
            return Err(Failure::usage(catalog.unknown_name(what, unknown, known)));
        }
    }
    let mut objections = Vec::new();
    for engine in engines.iter().filter(|name| engine.is_none_or(|engine| engine == **name)) {
        for probe in probes.iter().filter(|name| probe.is_none_or(|probe| probe == **name)) {
            let text = experiment::example(&catalog, engine, probe);
            match experiment::parse(&text, &catalog)
                .and_then(|read| runner::load(context.registry, read))
            {
                Ok(_) => return Ok(text),
                Err(errors) => {
                    objections.extend(errors.errors.into_iter().map(|error| error.message));
                }
            }
        }
    }
    Err(Failure::usage(objections.join("\n")))
}

fn names(owners: &[(&'static str, &'static [Declaration])]) -> Vec<&'static str> {
    owners.iter().map(|(name, _)| *name).collect()
}
