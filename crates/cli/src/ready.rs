//! Ready experiments that the binary contains: their list, and what each needs.

use crate::check::measured_s;
use crate::needs;
use command_line::ready::{Ready, ReadyFile};
use command_line::{Context, Failure};
use experiment::common::ENGINE;
use experiment::file::QUESTION;
use experiment::{Budget, Plan};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// All of them with the scripts that they name, by folder and name; `build.rs` writes the table.
pub const READY: &[Ready] = include!(concat!(env!("OUT_DIR"), "/ready.rs"));

/// The names by folder, a line each.
pub fn list(experiments: &[Ready]) -> String {
    let line = |of_folder: &[Ready]| {
        let names: Vec<&str> = of_folder.iter().map(|ready| ready.name).collect();
        format!("{:<17} {}\n", of_folder[0].folder, names.join(", "))
    };
    experiments.chunk_by(|ready, next| ready.folder == next.folder).map(line).collect()
}

/// Questions, engines, sizes and prerequisites, for the page of the documentation.
///
/// # Errors
/// When this binary lacks an engine or probe of one.
pub fn as_json(context: &Context) -> Result<Value, Failure> {
    let catalog = context.registry.catalog();
    let described = context.ready.iter().map(|ready| {
        let ReadyFile { name, text } = &ready.files[0];
        let experiment = experiment::parse(text, &catalog)
            .map_err(|errors| Failure::failed(errors.render(name, text)))?;
        let plan = Plan::new(&experiment);
        let engines: BTreeSet<String> = experiment
            .configurations
            .iter()
            .map(|configuration| configuration.get(ENGINE))
            .collect();
        let (trials, seconds) = match experiment.search.map(|search| search.budget) {
            Some(Budget::Trials(trials)) => (Some(trials as usize), None),
            Some(Budget::Time(seconds)) => (None, Some(seconds)),
            None => (Some(plan.len()), measured_s(&experiment, &plan)),
        };
        Ok(json!({
            "folder": ready.folder,
            "name": ready.name,
            "question": experiment.get(QUESTION),
            "engines": engines,
            "trials_max": trials,
            "measured_s_min": seconds,
            "needs": needs::rights(context.registry, &experiment),
        }))
    });
    described.collect()
}
