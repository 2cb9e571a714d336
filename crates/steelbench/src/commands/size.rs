//! `steelbench size`

use crate::args::Size;
use crate::exit_code::{ExitCode, Failure};
use crate::output::{self, Replace};
use sizing::Plan;
use std::io::Write;

/// Says how many parts a demand needs and which link of each chain is the narrowest.
pub fn size(arguments: &Size) -> Result<ExitCode, Failure> {
    let Some(file) = arguments.file.as_ref().filter(|_| !arguments.example) else {
        return output::print_as_it_is(sizing::EXAMPLE);
    };
    let name = file.display().to_string();
    let source = experiment::read_text(file, experiment::SOURCE_BYTES_MAX)
        .map_err(|error| Failure::usage(format!("{name}: {error}")))?;
    let plan = Plan::read(&source).map_err(|errors| Failure::usage(errors.render(&name, &source)))?;
    let sized = sizing::size(&plan);
    if let Some(page) = &arguments.html {
        let html = report::web::page(&report::sizing(&plan, &sized));
        output::replace_file(page, Replace::Ours, |writer| writer.write_all(html.as_bytes()))?;
    }
    output::show(arguments.form, || report::json::sizing(&plan, &sized), || report::sizing(&plan, &sized))
}
