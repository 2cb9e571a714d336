//! `steelbench size`

use super::select;
use crate::args::Size;
use crate::exit_code::{ExitCode, Failure};
use crate::output::{self, Replace};
use crate::results;
use sizing::Plan;
use std::io::Write;
use store::Store;

/// Says how many parts a demand needs and which link of each chain is the narrowest.
pub fn size(arguments: &Size) -> Result<ExitCode, Failure> {
    let Some(file) = arguments.file.as_ref().filter(|_| !arguments.example) else {
        return output::print_as_it_is(sizing::EXAMPLE);
    };
    let name = file.display().to_string();
    let source = experiment::read_text(file, experiment::SOURCE_BYTES_MAX)
        .map_err(|error| Failure::usage(format!("{name}: {error}")))?;
    let plan = Plan::read_with(&source, &|from| {
        recorded(from).map_err(|failure| failure.message().to_owned())
    });
    let plan = plan.map_err(|errors| Failure::usage(errors.render(&name, &source)))?;
    let sized = sizing::size(&plan);
    if let Some(page) = &arguments.html {
        let html = report::web::page(&report::sizing(&plan, &sized));
        output::replace_file(page, Replace::Ours, |writer| writer.write_all(html.as_bytes()))?;
    }
    output::show(
        arguments.form,
        || report::json::sizing(&plan, &sized),
        || report::sizing(&plan, &sized),
    )
}

/// What a recorded configuration needed: `NAME data_files=16`, the name of an experiment or results
/// file and levels.
fn recorded(from: &str) -> Result<Vec<(&'static str, f64)>, Failure> {
    let (name, levels) = from.trim().split_once(' ').unwrap_or((from.trim(), ""));
    let recording = results::read_run(&results::open(Some(name))?, None, Store::read_figures)?;
    let configuration = select::one(&recording, levels)?;
    analysis::model::recorded(&recording, configuration).ok_or_else(|| {
        Failure::usage(format!(
            "{from}: no transaction was done there, so that nothing can be said of one"
        ))
    })
}
