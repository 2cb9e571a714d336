//! `steelbench history`

use crate::history::history;
use crate::history_document;
use clap::Parser;
use command_line::arguments::Between;
use command_line::files::{Replace, write_html};
use command_line::output::{self, Form};
use command_line::{Context, ExitCode, Failure, Responses, Tool, results};
use observations::{Recording, RunRecord, order};
use report::Document;
use report::json::object;
use serde_json::Value;
use std::path::PathBuf;
use store::Store;

/// Show how an experiment's results changed over time
#[derive(Debug, Parser)]
#[command(name = "history")]
pub struct History {
    /// Name of an experiment, or paths of results files with its runs [default: the newest in
    /// results/]; or results files written by `queries --every`
    names: Vec<String>,
    /// The response to show [default: that of the latest run]
    #[arg(long, value_name = "NAME")]
    response: Option<String>,
    /// Only the last N runs or intervals
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    last: Option<u32>,
    #[command(flatten)]
    between: Between,
    /// Also write this page to this file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    #[command(flatten)]
    form: Form,
}

impl Tool for History {
    const EXAMPLES: [&'static str; 2] = [
        "steelbench history random-insert",
        "steelbench history random-insert --response latency_p99",
    ];

    fn run(&self, context: &Context) -> Result<ExitCode, Failure> {
        let newest = self.names.is_empty().then_some(None);
        let names = self.names.iter().map(|name| Some(name.as_str())).chain(newest);
        let stores: Vec<Store> =
            names.map(|name| results::open(context, name)).collect::<Result<_, _>>()?;
        for records in context.records {
            if let Some(found) = records.history(&stores, &self.between, self.last)? {
                return show(self, || Ok(found.json), &found.document);
            }
        }
        let runs = runs_of(self, &stores)?;
        let which = self.response.as_deref().map_or(Responses::Primary, Responses::Named);
        let mut history = history(&runs, which).map_err(Failure::usage)?;
        let parts = context.history_parts.iter().map(|add| add(context, &runs));
        let parts = parts.collect::<Result<Vec<_>, _>>().map_err(Failure::failed)?;
        history.add(&parts);
        let document = history_document::history(&history, parts);
        show(self, || object("history", &history, Value::Null), &document)
    }
}

fn show(
    arguments: &History,
    json: impl FnOnce() -> serde_json::Result<Value>,
    document: &Document,
) -> Result<ExitCode, Failure> {
    if let Some(file) = &arguments.html {
        write_html(&report::web::page(document), file, Replace::Named)?;
    }
    output::show(arguments.form, json, || document.clone())
}

/// The runs of one experiment in all files, oldest first: the experiment of the latest run.
fn runs_of(arguments: &History, stores: &[Store]) -> Result<Vec<Recording>, Failure> {
    let mut runs = Vec::new();
    for (at, store) in stores.iter().enumerate() {
        runs.extend(store.runs()?.into_iter().map(|run| (at, run)));
    }
    order::by_key(&mut runs, &|(_, run)| run.started_ms);
    let mut runs = each_once(runs, stores)?;
    let Some(name) = runs.last().map(|(_, run)| run.name.clone()) else {
        return Err(Failure::usage(format!("{}: no recorded run", stores[0].path().display())));
    };
    runs.retain(|(_, run)| {
        run.name == name && arguments.between.covers(run.started_ms, run.started_ms)
    });
    if runs.is_empty() {
        return Err(Failure::usage(format!("no run of {name} between --from and --to")));
    }
    let skipped = arguments.last.map_or(0, |last| runs.len().saturating_sub(last as usize));
    let runs = runs.into_iter().skip(skipped);
    runs.map(|(at, run)| Ok(figures_only(stores[at].read_figures(run.id)?))).collect()
}

/// Each run once, although files may have been copied: of copies the one with the most trials.
fn each_once(
    runs: Vec<(usize, RunRecord)>,
    stores: &[Store],
) -> Result<Vec<(usize, RunRecord)>, Failure> {
    let mut kept: Vec<(usize, RunRecord)> = Vec::new();
    for (at, run) in runs {
        let Some((known, earlier)) = kept.iter_mut().find(|(_, other)| {
            (other.started_ms, other.seed) == (run.started_ms, run.seed) && other.name == run.name
        }) else {
            kept.push((at, run));
            continue;
        };
        let path = |at: usize| stores[at].path().display();
        let when = report::utc(run.started_ms);
        output::complain(&format!(
            "note: the run of {when} is in {} and in {}: counted once",
            path(*known),
            path(at)
        ));
        if stores[at].recorded_trials(run.id)?.len()
            > stores[*known].recorded_trials(earlier.id)?.len()
        {
            (*known, *earlier) = (at, run);
        }
    }
    Ok(kept)
}

/// Keeps of each trial what a history shows, so that hundreds of runs fit into memory.
fn figures_only(mut run: Recording) -> Recording {
    for trial in &mut run.trials {
        trial.hooks = Vec::new();
        if let Some(observations) = &mut trial.observations {
            observations.series = Vec::new();
            observations.latencies = Vec::new();
            observations.waits = Vec::new();
            observations.operations = Vec::new();
        }
    }
    run
}
