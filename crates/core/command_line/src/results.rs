//! Finding results files and the runs in them.

use crate::arguments::Recorded;
use crate::files::{Replace, write_html};
use crate::{Context, Failure};
use analysis::{Summary, summarize_with};
use experiment::common::PROBE;
use observations::Recording;
use std::path::{Path, PathBuf};
use store::{DeclaredRoles, Store, StoreError};

/// The folder where results files are kept unless the user says otherwise.
pub const FOLDER: &str = "results";

/// The results file of an experiment: the one that is asked for, or the usual one.
pub fn path(path: Option<&PathBuf>, experiment: &str) -> PathBuf {
    path.cloned().unwrap_or_else(|| {
        let ending = format!(".{}", store::EXTENSION);
        // A name that has the ending of a results file names that file.
        let name = experiment.strip_suffix(&ending).unwrap_or(experiment);
        Path::new(FOLDER).join(format!("{name}{ending}"))
    })
}

/// The results file that a name or path means; without one, the newest.
pub fn find(name: Option<&str>) -> Result<PathBuf, Failure> {
    let Some(name) = name else {
        return store::newest_results_file(Path::new(FOLDER)).ok_or_else(|| {
            Failure::usage(format!(
                "no results file in {FOLDER}/; run an experiment or name a file"
            ))
        });
    };
    // Opening the file reports it if it is not a regular file.
    let is_there = |path: &Path| path.exists() && !path.is_dir();
    let path = PathBuf::from(name);
    if is_there(&path) {
        return Ok(path);
    }
    let by_name = self::path(None, name);
    if is_there(&by_name) {
        return Ok(by_name);
    }
    Err(Failure::usage(format!("no results file {name} or {}", by_name.display())))
}

/// The name of a results file for `show` and others: that of the experiment in the usual folder,
/// else the path.
pub fn name(path: &Path) -> String {
    let name = path.file_stem().filter(|_| path.parent() == Some(Path::new(FOLDER)));
    let name = name.map_or_else(|| path.display().to_string(), |name| name.display().to_string());
    if name.contains(char::is_whitespace) { format!("'{name}'") } else { name }
}

/// Opens a results file for reading.
pub fn open(context: &Context, name: Option<&str>) -> Result<Store, Failure> {
    Ok(open_file(context, &find(name)?)?)
}

/// Opens a results file for reading; runs of versions that recorded no roles have those that
/// settings declare now.
pub fn open_file(context: &Context, path: &Path) -> Result<Store, StoreError> {
    Ok(Store::open(path)?.with_declared_roles(declared_roles(context)))
}

fn declared_roles(context: &Context) -> DeclaredRoles {
    let registry = context.registry;
    DeclaredRoles::new(move |recording| {
        registry
            .catalog()
            .roles(recording.configurations.iter().map(|configuration| &configuration.settings))
    })
}

/// Opens a results file and reads a run of it.
pub fn read(context: &Context, recorded: &Recorded) -> Result<(PathBuf, Recording), Failure> {
    let store = open(context, recorded.name.as_deref())?;
    Ok((store.path().to_path_buf(), read_run(&store, recorded.run, Store::read)?))
}

/// [`Store::read`] for pages and programs, [`Store::read_figures`] for texts,
/// [`Store::read_exact`] for exports.
pub type Read = fn(&Store, i64) -> store::Result<Recording>;

/// Reads a run, the latest one without a number.
pub fn read_run(store: &Store, run: Option<i64>, read: Read) -> Result<Recording, Failure> {
    let run = match run {
        Some(run) => run,
        None => store.latest_run()?.ok_or_else(|| no_run(store))?.id,
    };
    Ok(read(store, run)?)
}

fn no_run(store: &Store) -> Failure {
    let observed = store.activities().is_ok_and(|numbers| !numbers.is_empty());
    let watched = store.query_intervals().is_ok_and(|intervals| !intervals.is_empty());
    let what = match (observed, watched) {
        (true, _) => "; `waits` and `show` print its observations",
        (_, true) => "; `history` and `queries` show its statements",
        _ => " yet",
    };
    Failure::usage(format!("{}: no recorded run{what}", store.path().display()))
}

/// The results file that a text names, and the number of an observation behind an `@`; `None` of
/// what names a server.
pub fn observation(text: &str) -> Option<(&str, Option<i64>)> {
    // A database may be called like any other file that lies here.
    let is_named = |name: &str| {
        let is_url = name.contains('=') || name.contains("://");
        (store::is_results_file(name.as_ref()) && !is_url)
            || find(Some(name)).is_ok_and(|path| store::is_results_file(&path))
    };
    if is_named(text) {
        return Some((text, None));
    }
    let (file, number) = text.rsplit_once('@').filter(|(file, _)| is_named(file))?;
    Some((file, Some(number.parse().ok()?)))
}

/// All that a report shows of a run; of a database with the measurements of its storage, by runs
/// that are recorded in the same folder.
pub fn summary<'r>(context: &Context, recording: &'r Recording, results: &Path) -> Summary<'r> {
    let storage_runs = storage_runs(context, recording, results);
    with_file(context, summarize_with(recording, context.studies, storage_runs))
}

/// Summarises a recording without the runs of other files.
pub fn summary_alone<'r>(context: &Context, recording: &'r Recording) -> Summary<'r> {
    with_file(context, summarize_with(recording, context.studies, Vec::new()))
}

/// The runs beside a run of a database that measured storage.
fn storage_runs(context: &Context, recording: &Recording, results: &Path) -> Vec<Recording> {
    let measures = context.studies.iter().filter(|study| study.storage.is_some());
    let probes: Vec<&str> = measures.filter_map(|study| study.probe).collect();
    if recording.configurations.iter().any(|configuration| {
        configuration
            .get::<String>(PROBE.path())
            .is_some_and(|probe| probes.contains(&probe.as_str()))
    }) {
        return Vec::new();
    }
    store::runs_beside(results, PROBE.path(), &probes, &declared_roles(context))
}

/// Adds what the registry declares and the experiment file asks for.
fn with_file<'r>(context: &Context, summary: Summary<'r>) -> Summary<'r> {
    let catalog = context.registry.catalog();
    let mut summary = summary.with_designs(context.designs);
    summary.declared = catalog.all_roles();
    summary.durability.clone_from(&catalog.durability);
    // What a file of another version asks for may not be readable: then what it asks to predict is
    // not.
    if let Ok(experiment) = experiment::parse(&summary.recording.run.source, &catalog) {
        summary.predict = experiment.predict;
    }
    summary
}

/// Writes the HTML report of a run; what is there already is replaced as a whole, if it may be.
pub(crate) fn write_report(
    context: &Context,
    summary: &Summary,
    path: &Path,
    may: Replace,
) -> Result<(), Failure> {
    write_html(&report::html(summary, context.sections), path, may)
}
