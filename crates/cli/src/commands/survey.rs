//! `steelbench survey`

use super::waits::{heard, server};
use crate::args::{Survey as Arguments, SurveyCommand};
use crate::exit_code::{ExitCode, Failure};
use crate::output::{self, Form, Replace};
use crate::registry::REGISTRY;
use crate::signals;
use engine::Server;
use observations::{Survey, SurveyedServer, Unread};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use work::Stop;

/// No inventory comes near to this size.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// Takes the inventory of this machine and of servers, or lays inventories side by side.
pub fn survey(arguments: &Arguments) -> Result<ExitCode, Failure> {
    if let Some(SurveyCommand::Merge { files, anonymous, form }) = &arguments.command {
        return merge(files, *anonymous, *form);
    }
    // What is typed wrong ends us before anything is asked.
    let servers = arguments.server.iter().map(|url| server(url)).collect::<Result<Vec<_>, _>>()?;
    let interrupt = signals::stop_flag()?;
    let stop = heard(&interrupt);
    let mut taken = machine(arguments)?;
    let mut code = ExitCode::Ok;
    for server in &servers {
        match ask(&**server, &stop) {
            Ok((server, unread)) => {
                taken.servers.push(server);
                taken.unread.extend(unread);
            }
            Err(unread) => {
                output::complain(&format!("error: {}: {}", unread.what, unread.why));
                taken.unread.push(unread);
                code = if stop.is_asked() { ExitCode::Interrupted } else { ExitCode::Failed };
            }
        }
    }
    show(&taken, arguments).map(|_| code)
}

/// The inventory of this machine, as yet without servers.
fn machine(arguments: &Arguments) -> Result<Survey, Failure> {
    let named =
        arguments.volume.iter().map(|path| observe::inspect::volume(path).map_err(Failure::usage));
    let named = named.collect::<Result<Vec<_>, _>>()?;
    let taken = observe::survey::machine();
    let (volumes, failed) =
        if named.is_empty() { observe::inspect::volumes() } else { (named, Vec::new()) };
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Ok(Survey {
        taken_ms: since_1970.as_millis() as i64,
        steelbench: env!("CARGO_PKG_VERSION").into(),
        machine: taken.machine,
        settings: taken.settings,
        volumes,
        servers: Vec::new(),
        unread: [taken.unread, failed].concat(),
    })
}

/// What a server says, and what of it could not be read; or why it says nothing.
fn ask(server: &dyn Server, stop: &Stop) -> Result<(SurveyedServer, Vec<Unread>), Unread> {
    let (surveyed, mut unread) = server.survey(stop).map_err(|error| {
        let advice = error.advice.map(|advice| format!(". {advice}")).unwrap_or_default();
        Unread { what: server.to_string(), why: format!("{error}{advice}") }
    })?;
    for one in &mut unread {
        one.what = format!("{}: {}", surveyed.address, one.what);
    }
    Ok((surveyed, unread))
}

fn show(survey: &Survey, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let advice = analysis::survey::advice(survey, engine::server::advice(REGISTRY.engines, survey));
    let json = report::json::survey(survey, &advice).map_err(Failure::failed)?;
    if let Some(file) = &arguments.output {
        output::replace_file(file, Replace::Named, |writer| writeln!(writer, "{json}"))?;
    }
    match (arguments.json, &arguments.output) {
        (true, None) => output::print_json(&json),
        (true, Some(_)) => Ok(ExitCode::Ok),
        (false, _) => output::print_document(&report::survey::page(survey, &advice)),
    }
}

/// Lays inventories side by side. A file that is none is named and left out.
fn merge(files: &[PathBuf], anonymous: bool, form: Form) -> Result<ExitCode, Failure> {
    let mut surveys = Vec::new();
    let mut code = ExitCode::Ok;
    for file in files {
        match read(file) {
            Ok(survey) => surveys.push(survey),
            Err(why) => {
                output::complain(&format!("error: {}: {why}", file.display()));
                code = ExitCode::Failed;
            }
        }
    }
    if surveys.is_empty() {
        return Err(Failure::usage("none of the files is an inventory"));
    }
    if anonymous {
        analysis::survey::anonymous(&mut surveys);
    }
    let merged = analysis::survey::merge(&surveys);
    let json = || report::json::survey_merge(&merged);
    output::show(form, json, || report::survey::merged(&merged)).map(|_| code)
}

fn read(path: &Path) -> Result<Survey, String> {
    let text = experiment::read_text(path, FILE_BYTES_MAX).map_err(|error| error.to_string())?;
    report::json::read_survey(&text).map_err(|error| error.to_string())
}
