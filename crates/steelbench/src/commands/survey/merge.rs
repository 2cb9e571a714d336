//! `steelbench survey merge`

use crate::args::Merge;
use crate::exit_code::{ExitCode, Failure};
use crate::output;
use observations::Survey;
use report::Text;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// No inventory comes near to this size.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// Lays inventories side by side. A file that is none is named and left out.
pub fn merge(arguments: &Merge) -> Result<ExitCode, Failure> {
    let mut surveys = Vec::new();
    let mut code = ExitCode::Ok;
    for file in &arguments.files {
        match read(file) {
            Ok(survey) => surveys.push(survey),
            Err(why) => {
                let message = format!("{}: {why}", file.display());
                output::complain(&format!("error: {}", Text::from(message.as_str()).as_str()));
                code = ExitCode::Failed;
            }
        }
    }
    if surveys.is_empty() {
        return Err(Failure::usage("none of the files is an inventory"));
    }
    if arguments.anonymous {
        analysis::survey::anonymous(&mut surveys);
    }
    let merged = analysis::survey::merge(&surveys);
    let json = || report::survey::json::merged(&merged);
    output::show(arguments.form, json, || report::survey::merged(&merged))?;
    Ok(code)
}

fn read(path: &Path) -> Result<Survey, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let mut text = String::new();
    file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text).map_err(|error| error.to_string())?;
    if text.len() as u64 > FILE_BYTES_MAX {
        return Err(format!("it is larger than any inventory ({} MiB)", FILE_BYTES_MAX >> 20));
    }
    report::survey::json::read(&text).map_err(|error| error.to_string())
}
