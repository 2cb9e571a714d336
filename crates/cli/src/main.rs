//! Steelbench, a database performance laboratory: the command line.

mod args;
mod command_line;
mod commands;
mod exit_code;
mod output;
mod progress;
mod registry;
mod results;
mod signals;

use args::Command;
use exit_code::Failure;

fn main() -> std::process::ExitCode {
    let arguments = match command_line::read() {
        Ok(arguments) => arguments,
        Err(code) => return code.into(),
    };
    if let Err(failure) = signals::end_instead_of_abort() {
        return failure.report().into();
    }
    let result = match arguments.command {
        Command::Run(run) => commands::run::run(&run),
        Command::Check(check) => commands::check::check(&check),
        Command::Show(show) => commands::recorded::show(&show),
        Command::Compare(compare) => commands::compare::compare(&compare),
        Command::History(history) => commands::recorded::history(&history),
        Command::Report(report) => commands::recorded::report(&report),
        Command::Serve(serve) => commands::serve::serve(&serve),
        Command::Export(export) => commands::recorded::export(&export),
        Command::Waits(waits) => commands::waits::waits(&waits),
        Command::Capture(capture) => commands::capture::capture(&capture),
        Command::Disk(disk) => commands::disk::disk(&disk),
        Command::Pg(pg) => commands::pg::pg(&pg),
        Command::Sync(sync) => commands::sync::sync(&sync),
        Command::Time(time) => commands::time::time(&time),
        Command::Plan(plan) => commands::plan::plan(&plan),
        Command::Queries(queries) => commands::queries::queries(&queries),
        Command::SortOrder(sort_order) => commands::sort_order::sort_order(&sort_order),
        Command::Size(size) => commands::size::size(&size),
        Command::Predict(predict) => commands::predict::predict(&predict),
        Command::Results(results) => commands::results::results(&results),
        Command::Survey(survey) => commands::survey::survey(&survey),
        Command::Profile(profile) => commands::profile::profile(&profile),
        Command::Data(data) => commands::data::data(&data),
        Command::Schema => commands::file::schema(),
        Command::Init { file, engine, probe } => {
            commands::file::init(&file, engine.as_deref(), probe.as_deref())
        }
        Command::Completions { shell } => commands::file::completions(shell),
    };
    result.unwrap_or_else(Failure::report).into()
}
