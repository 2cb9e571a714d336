//! `steelbench disk`: a quick command is an experiment too.
//!
//! - `places`, `compose`: from the command line to the text of an experiment file
//! - `fio`: the same from a fio job file
//! - `find_max`: a coarse run that says where a fine one looks
//! - `fio_json`: results as fio writes them
//! - `inspect`: how a volume is set up

mod compose;
mod find_max;
mod fio;
mod fio_json;
mod inspect;
mod places;

use crate::args::{Disk, Output};
use crate::commands::parse_experiment;
use crate::commands::run::{Sitting, exit_code};
use crate::exit_code::{ExitCode, Failure};
use crate::{output, results};
use std::path::{Path, PathBuf};

/// What errors call the file that was composed.
const COMPOSED: &str = "steelbench disk --print";

/// Measures storage, prints the experiment that would, or says how the storage is set up.
pub fn disk(arguments: &Disk) -> Result<ExitCode, Failure> {
    let exchange = &arguments.exchange;
    if exchange.inspect {
        return inspect::inspect(&arguments.paths, exchange.json);
    }
    let name = name(arguments);
    if arguments.measure.find_max {
        return find_max::find_max(arguments, &name, |name| sitting(arguments, name));
    }
    let mut sitting = sitting(arguments, &name);
    let text = match &exchange.fio {
        None => compose::compose(&compose::Request::new(arguments, &name))?,
        Some(file) => {
            let from_fio = fio::compose(file, arguments, &name)?;
            from_fio.notes.iter().for_each(|note| output::complain(&format!("note: {note}")));
            sitting.overwrite = from_fio.overwrite;
            from_fio.text
        }
    };
    let experiment = parse_experiment(&text, COMPOSED)?;
    if exchange.print {
        output::print(&text)?;
        return Ok(ExitCode::Ok);
    }
    let end = sitting.conduct(&experiment)?;
    let failed = match exchange.output {
        None => sitting.show()?,
        Some(Output::FioJson) => {
            let recording = sitting.recording()?;
            let text =
                serde_json::to_string_pretty(&fio_json::document(&recording)).map_err(Failure::failed)?;
            output::print(&format!("{text}\n"))?;
            recording.done().count() < recording.trials.len()
        }
    };
    Ok(exit_code(&end, failed, None))
}

/// Each use of the command is a run of its own in the results file.
fn sitting(arguments: &Disk, name: &str) -> Sitting {
    let (files, exchange) = (&arguments.files, &arguments.exchange);
    let results = exchange.results.clone().filter(|_| name == self::name(arguments));
    let existing = arguments.paths.iter().chain(&files.log_on).chain(&files.backup_on);
    Sitting {
        results: results.unwrap_or_else(|| results::default_path(name)),
        fresh: true,
        manual_done: false,
        overwrite: existing.filter(|path| files.may_overwrite(path)).cloned().collect(),
        destroy: files.destroy.clone(),
        json: exchange.json,
    }
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
    let paths: Vec<String> = paths.iter().map(|path| Path::display(path).to_string()).collect();
    paths.join(" and ")
}
