//! `steelbench disk`: a quick command is an experiment too.

mod draft;

use crate::args::{Disk, Output};
use crate::commands::run::{Session, exit_code};
use crate::exit_code::{ExitCode, Failure};
use crate::output::{self, Form};
use crate::results;
use analysis::SearchLevels;
use draft::{Request, draft};
use engines::Permits;
use experiment::Draft;
use observations::RunEnd;
use std::path::{Path, PathBuf};

/// What errors call the file that an experiment is written as.
const PRINTED: &str = "steelbench disk --print";
/// Seconds of the trials of the coarse run of `--find-max`.
const COARSE_DURATION_S: f64 = 1.0;
const COARSE_WARMUP_S: f64 = 0.25;

/// Measures storage, prints the experiment that would, or says how the storage is set up.
pub fn disk(arguments: &Disk) -> Result<ExitCode, Failure> {
    let exchange = &arguments.exchange;
    let name = name(arguments);
    if exchange.inspect {
        return inspect(&arguments.paths, exchange.json);
    }
    if arguments.measure.find_max {
        return find_max(arguments, &name);
    }
    let (draft, permits) = match &exchange.fio {
        None => (draft(arguments, &Request::new(arguments, &name))?, permits(arguments)),
        Some(file) => fio(arguments, file, &name)?,
    };
    if exchange.print {
        super::build(&draft, PRINTED)?;
        output::print(&draft.source())?;
        return Ok(ExitCode::Ok);
    }
    let session = session(arguments, &name, permits);
    let end = session.conduct(&super::build(&draft, PRINTED)?)?;
    let failed = match exchange.output {
        None => session.show()?,
        Some(Output::FioJson) => {
            let recording = session.recording()?;
            output::print(&format!("{:#}\n", report::fio_json(&recording)))?;
            recording.done().count() < recording.trials.len()
        }
    };
    Ok(exit_code(&end, failed, None))
}

/// The experiment that a fio job file stands for.
fn fio(arguments: &Disk, file: &Path, name: &str) -> Result<(Draft, Permits), Failure> {
    let shown = file.display().to_string();
    let text = std::fs::read_to_string(file).map_err(|error| Failure::usage(format!("{shown}: {error}")))?;
    let ignore = arguments.exchange.fio_ignore;
    let mut imported = probes::disk::fio::import(&text, &shown, name, ignore).map_err(Failure::usage)?;
    let permits = arguments.files.permits(imported.existing.iter().map(|file| Path::new(&file.path)));
    if let Some(reason) = imported.refused(&permits) {
        return Err(Failure::usage(reason));
    }
    for note in &imported.notes {
        output::complain(&format!("note: {note}"));
    }
    let measure = &arguments.measure;
    imported.draft.repeats(measure.blocks.unwrap_or(1), measure.seed.or(imported.seed).unwrap_or(1));
    Ok((imported.draft, permits))
}

/// A coarse run over everything, then a fine one around the knees that it found.
fn find_max(arguments: &Disk, name: &str) -> Result<ExitCode, Failure> {
    let processors = std::thread::available_parallelism().map_or(1, |processors| processors.get() as u32);
    let SearchLevels { threads, queue_depths } = SearchLevels::coarse(processors);
    let coarse_name = format!("{name}-coarse");
    let coarse = Request {
        threads,
        queue_depths,
        duration_s: COARSE_DURATION_S,
        warmup_s: arguments.measure.warmup.unwrap_or(COARSE_WARMUP_S),
        blocks: 1,
        ..Request::new(arguments, &coarse_name)
    };
    let mut session = session(arguments, name, permits(arguments));
    let fine_results = std::mem::replace(&mut session.results, results::default_path(&coarse_name));
    let end = session.conduct(&super::build(&draft(arguments, &coarse)?, PRINTED)?)?;
    if end != RunEnd::Completed {
        return Ok(exit_code(&end, false, None));
    }
    let knees = analysis::knee(&session.recording()?);
    if knees.is_empty() {
        session.show()?;
        return Err(Failure::failed("the coarse run measured too little to see where the storage saturates"));
    }
    for knee in &knees {
        output::complain(&format!("Coarse: {knee}"));
    }
    let SearchLevels { threads, queue_depths } = SearchLevels::around(&knees);
    let question = format!("How many I/Os in flight saturate {}?", shown(&arguments.paths));
    let fine = Request { question, threads, queue_depths, ..Request::new(arguments, name) };
    session.results = fine_results;
    let end = session.conduct(&super::build(&draft(arguments, &fine)?, PRINTED)?)?;
    let failed = session.show()?;
    Ok(exit_code(&end, failed, None))
}

/// Prints how the storage under each path is set up, with advice. Runs nothing.
fn inspect(paths: &[PathBuf], json: bool) -> Result<ExitCode, Failure> {
    for path in paths {
        let facts = observe::inspect::volume(path).map_err(Failure::usage)?;
        let advice = analysis::volume_advice(&facts);
        let as_json = || report::json::volume(&facts, &advice);
        output::show(Form::json_if(json), as_json, || report::volume(&facts, &advice))?;
    }
    Ok(ExitCode::Ok)
}

/// Each use of the command is a run of its own in the results file.
fn session(arguments: &Disk, name: &str, permits: Permits) -> Session {
    let exchange = &arguments.exchange;
    Session {
        results: exchange.results.clone().unwrap_or_else(|| results::default_path(name)),
        fresh: true,
        manual_done: false,
        permits,
        json: exchange.json,
    }
}

fn permits(arguments: &Disk) -> Permits {
    let files = &arguments.files;
    let paths = arguments.paths.iter().chain(&files.log_on).chain(&files.backup_on);
    files.permits(paths.map(AsRef::as_ref))
}

/// Name of the experiment.
fn name(arguments: &Disk) -> String {
    let of_file = |file: &PathBuf| {
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
        let kept =
            |c: char| if c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c) { c } else { '-' };
        stem.chars().map(kept).collect::<String>().trim_start_matches(['.', '-']).to_owned()
    };
    let exchange = &arguments.exchange;
    let given = exchange.name.clone().or_else(|| exchange.fio.as_ref().map(of_file));
    given.filter(|name| !name.is_empty()).unwrap_or_else(|| "disk".into())
}

/// Paths as a sentence has them.
fn shown(paths: &[PathBuf]) -> String {
    let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    paths.join(" and ")
}
