//! `steelbench show`, `report`, `export` and `history`: what was recorded, for people and for
//! programs.

use super::select::keep_only;
use super::{queries, waits};
use crate::args::{Export, Format, History, Recorded, Report, ReportFormat, Show};
use crate::exit_code::{ExitCode, Failure};
use crate::output::Replace;
use crate::registry::SECTIONS;
use crate::{output, results};
use analysis::StatementHistory;
use analysis::runs::Responses;
use observations::number::{plural, seconds};
use observations::{FileRecord, Recording, RunRecord};
use report::{Document, Medium, Text};
use serde_json::Value;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use store::Store;

/// Shows what a run found.
pub fn show(arguments: &Show) -> Result<ExitCode, Failure> {
    let store = results::open(arguments.recorded.name.as_deref())?;
    if arguments.runs {
        return runs(&store, arguments.form.json);
    }
    if let Some(observed) = results::only_activity(&store, arguments.recorded.run)? {
        return waits::show_recorded(observed, arguments.form);
    }
    let read = if arguments.form.json { Store::read } else { Store::read_figures };
    let mut recording = results::read_run(&store, arguments.recorded.run, read)?;
    if arguments.source {
        return source(&recording, arguments.form.json);
    }
    keep_only(&mut recording, &arguments.only)?;
    let summary = results::summary(&recording, store.path());
    output::show(
        arguments.form,
        || report::json::summary(&summary, SECTIONS),
        || report::run(&summary, SECTIONS, Medium::Text),
    )
}

/// The experiment file, then each file that it names below a comment that says which.
fn source(recording: &Recording, json: bool) -> Result<ExitCode, Failure> {
    let (source, files) = (&recording.run.source, &recording.files);
    if json {
        return output::print_json(&serde_json::json!({
            "schema": report::json::SCHEMA, "kind": "source", "source": source, "files": files
        }));
    }
    let named = |file: &FileRecord| {
        format!("\n# {}: {} (SHA-256 {})\n{}", file.named_by, file.path, file.sha256, file.content)
    };
    let text: String = [source.clone()].into_iter().chain(files.iter().map(named)).collect();
    let line = |line: &str| format!("{}\n", Text::from(line.replace('\t', "    ")));
    output::print(&text.lines().map(line).collect::<String>())
}

fn runs(store: &Store, json: bool) -> Result<ExitCode, Failure> {
    let runs = store.runs()?;
    if json {
        let runs =
            serde_json::json!({ "schema": report::json::SCHEMA, "kind": "runs", "runs": runs });
        return output::print_json(&runs);
    }
    for number in store.activities()? {
        let observed = store.activity(number)?;
        let (server, started) = (Text::from(observed.address), report::utc(observed.started_ms));
        let elapsed = seconds(observed.activity.elapsed_s);
        output::print_wrapped(&format!("observation {number}: {server}, {started}, {elapsed}\n"))?;
    }
    for run in runs {
        let trials = store.recorded_trials(run.id)?.len();
        let (name, started) = (Text::from(run.name.as_str()), report::utc(run.started_ms));
        let origin = report::origin(run.label.as_deref(), run.git.as_ref());
        let origin = origin.map_or_else(String::new, |origin| format!(", {}", Text::from(origin)));
        output::print_wrapped(&format!(
            "run {}: {name}, {started}, {}{origin}\n",
            run.id,
            plural(trials, "trial")
        ))?;
    }
    Ok(ExitCode::Ok)
}

/// Writes a report of a run and says where it is.
pub fn report(arguments: &Report) -> Result<ExitCode, Failure> {
    let ReportFormat::Html = arguments.format;
    let Recorded { name, run } = &arguments.recorded;
    let store = results::open(name.as_deref())?;
    let usual = (store.path().with_extension("html"), Replace::Ours);
    let (path, may) = arguments.output.clone().map_or(usual, |path| (path, Replace::Named));
    if let Some(observed) = results::only_activity(&store, *run)? {
        results::write_html(&report::web::page(&waits::document(observed)), &path, may)?;
    } else {
        let recording = results::read_run(&store, *run, Store::read)?;
        results::write_report(&results::summary(&recording, store.path()), &path, may)?;
    }
    output::print(&format!("{}\n", path.display()))
}

/// Writes a run for other programs.
pub fn export(arguments: &Export) -> Result<ExitCode, Failure> {
    let (results, recording) = results::read(&arguments.recorded)?;
    let output = arguments.output.clone();
    let may = if output.is_some() { Replace::Named } else { Replace::Ours };
    // A name of ours comes from the results file's, never from its content.
    let usual = |ending: &str| {
        let mut name = results.file_stem().unwrap_or_default().to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    let written = match (arguments.format, output) {
        (Format::Csv | Format::Parquet, folder) => {
            tables(&recording, arguments.format, &folder.unwrap_or_else(|| usual("-export")))?
        }
        (Format::Json, None) => return json(&recording),
        (Format::Json, Some(path)) => {
            output::replace_file(&path, may, |writer| report::json::recording(&recording, writer))?;
            vec![path]
        }
        (Format::Xlsx, path) => {
            vec![workbook(&recording, &results, path.unwrap_or_else(|| usual(".xlsx")), may)?]
        }
    };
    for path in written {
        output::print(&format!("{}\n", path.display()))?;
    }
    Ok(ExitCode::Ok)
}

fn workbook(
    recording: &Recording,
    results: &Path,
    path: PathBuf,
    may: Replace,
) -> Result<PathBuf, Failure> {
    let summary = results::summary(recording, results);
    output::replace_file(&path, may, |writer| report::xlsx(&summary, SECTIONS, writer))?;
    Ok(path)
}

/// In a folder of exports: the tables in it are ours, and a new export replaces them.
const MARKER: &str = ".steelbench-export";

/// A folder for tables, made if need be, and what may be replaced in it. One that is new or empty
/// is marked as ours; in another one nothing is replaced.
fn export_folder(folder: &Path) -> std::io::Result<Replace> {
    fs::create_dir_all(folder)?;
    let marker = folder.join(MARKER);
    if fs::symlink_metadata(&marker).is_ok_and(|found| found.is_file()) {
        return Ok(Replace::Any);
    }
    if fs::read_dir(folder)?.next().is_some() {
        return Ok(Replace::Nothing);
    }
    fs::File::create_new(marker).map(|_| Replace::Any)
}

/// A file for each table, in a folder that is made if need be.
fn tables(recording: &Recording, format: Format, folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let may = export_folder(folder).map_err(|error| {
        Failure::failed(format!("cannot create the folder {}: {error}", folder.display()))
    })?;
    let write = |table: report::Table| {
        let ending = if matches!(format, Format::Parquet) { "parquet" } else { "csv" };
        let path = folder.join(format!("{}.{ending}", table.name));
        output::replace_file(&path, may, |writer| match format {
            Format::Parquet => table.parquet(writer),
            _ => table.csv(writer),
        })?;
        Ok(path)
    };
    report::tables(recording).into_iter().map(write).collect()
}

/// To standard output. A reader that has gone has seen enough.
fn json(recording: &Recording) -> Result<ExitCode, Failure> {
    match report::json::recording(recording, std::io::stdout().lock()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::failed(error)),
        _ => Ok(ExitCode::Ok),
    }
}

/// Shows how the runs of an experiment, or the statements of a server, changed over time.
pub fn history(arguments: &History) -> Result<ExitCode, Failure> {
    let newest = arguments.names.is_empty().then_some(None);
    let names = arguments.names.iter().map(|name| Some(name.as_str())).chain(newest);
    let stores: Vec<Store> = names.map(results::open).collect::<Result<_, _>>()?;
    let mut has_runs = false;
    for store in &stores {
        has_runs |= !store.runs()?.is_empty();
    }
    let intervals = if has_runs { None } else { queries::recorded(&stores, &arguments.between)? };
    if let Some(intervals) = intervals {
        let skipped =
            arguments.last.map_or(0, |last| intervals.len().saturating_sub(last as usize));
        let mut history = StatementHistory::default();
        for (at, interval) in intervals.into_iter().skip(skipped) {
            history.add(stores[at].with_statements(interval)?);
        }
        let history = history.with_changes();
        let document = || report::statement_history(&history);
        return show_history(arguments, || report::json::statement_history(&history), document);
    }
    let runs = runs_of(arguments, &stores)?;
    let which = arguments.response.as_deref().map_or(Responses::Primary, Responses::Named);
    let history =
        analysis::history(&runs, which, results::summary_alone).map_err(Failure::usage)?;
    show_history(arguments, || report::json::history(&history), || report::history(&history))
}

fn show_history(
    arguments: &History,
    json: impl FnOnce() -> serde_json::Result<Value>,
    document: impl Fn() -> Document,
) -> Result<ExitCode, Failure> {
    if let Some(file) = &arguments.html {
        results::write_html(&report::web::page(&document()), file, Replace::Named)?;
    }
    output::show(arguments.form, json, document)
}

/// The runs of one experiment in all files, oldest first: the experiment of the latest run.
fn runs_of(arguments: &History, stores: &[Store]) -> Result<Vec<Recording>, Failure> {
    let mut runs = Vec::new();
    for (at, store) in stores.iter().enumerate() {
        runs.extend(store.runs()?.into_iter().map(|run| (at, run)));
    }
    runs.sort_by_key(|(_, run)| run.started_ms);
    let mut runs = each_once(runs, stores)?;
    let Some(name) = runs.last().map(|(_, run)| run.name.clone()) else {
        return Err(Failure::usage(format!(
            "{}: no run was recorded yet",
            stores[0].path().display()
        )));
    };
    runs.retain(|(_, run)| {
        run.name == name && arguments.between.covers(run.started_ms, run.started_ms)
    });
    if runs.is_empty() {
        return Err(Failure::usage(format!("no run of {name} lies between --from and --to")));
    }
    let skipped = arguments.last.map_or(0, |last| runs.len().saturating_sub(last as usize));
    let wanted = runs.into_iter().skip(skipped);
    wanted.map(|(at, run)| Ok(figures_only(stores[at].read_figures(run.id)?))).collect()
}

/// Each run once, although files may have been copied: of copies the one with the most trials.
fn each_once(
    runs: Vec<(usize, RunRecord)>,
    stores: &[Store],
) -> Result<Vec<(usize, RunRecord)>, Failure> {
    let mut kept: Vec<(usize, RunRecord)> = Vec::new();
    for (at, run) in runs {
        let is_copy = |other: &RunRecord| {
            (other.started_ms, other.seed) == (run.started_ms, run.seed) && other.name == run.name
        };
        let Some((known, own)) = kept.iter_mut().find(|(_, other)| is_copy(other)) else {
            kept.push((at, run));
            continue;
        };
        let path = |at: usize| stores[at].path().display();
        let when = report::utc(run.started_ms);
        output::complain(&format!(
            "note: the run of {when} is in {} and in {}: it counts once",
            path(*known),
            path(at)
        ));
        if stores[at].recorded_trials(run.id)?.len() > stores[*known].recorded_trials(own.id)?.len()
        {
            (*known, *own) = (at, run);
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
