//! `steelbench survey`

mod merge;

use super::waits::advice::advice;
use crate::args::{Survey as Arguments, SurveyCommand};
use crate::exit_code::{ExitCode, Failure};
use crate::output;
use observations::{Survey, SurveyedServer, Unread};
use pgclient::Config;
use report::Text;
use std::io::Write;
use std::time::{Duration, SystemTime};

/// How long a server may take to accept a connection, where its URL does not say.
const CONNECTING: Duration = Duration::from_secs(10);
/// How long a connection may be silent before it is looked after.
const SILENCE: Duration = Duration::from_secs(30);

/// Takes the inventory of this machine and of servers, or lays inventories side by side.
pub fn survey(arguments: &Arguments) -> Result<ExitCode, Failure> {
    if let Some(SurveyCommand::Merge(arguments)) = &arguments.command {
        return merge::merge(arguments);
    }
    // What is typed wrong ends us before anything is asked.
    let servers: Vec<Config> = arguments.server.iter().map(|url| config(url)).collect::<Result<_, _>>()?;
    let mut taken = machine(arguments)?;
    let mut code = ExitCode::Ok;
    for config in &servers {
        match ask(config) {
            Ok((server, unread)) => {
                taken.servers.push(server);
                taken.unread.extend(unread);
            }
            Err(unread) => {
                // A message may be the server's own.
                let message = Text::from(format!("{}: {}", unread.what, unread.why).as_str());
                output::complain(&format!("error: {}", message.as_str()));
                taken.unread.push(unread);
                code = ExitCode::Failed;
            }
        }
    }
    show(&taken, arguments)?;
    Ok(code)
}

fn config(url: &str) -> Result<Config, Failure> {
    let config = Config::parse(url).map_err(Failure::usage)?;
    for warning in config.warnings() {
        output::complain(&format!("warning: {warning}"));
    }
    Ok(config.with_default_patience(CONNECTING, SILENCE))
}

/// The inventory of this machine, as yet without servers.
fn machine(arguments: &Arguments) -> Result<Survey, Failure> {
    let named = arguments.volume.iter().map(|path| observe::inspect::volume(path).map_err(Failure::usage));
    let named = named.collect::<Result<Vec<_>, _>>()?;
    let taken = observe::survey::machine();
    let (volumes, failed) = if named.is_empty() { observe::survey::volumes() } else { (named, Vec::new()) };
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
fn ask(config: &Config) -> Result<(SurveyedServer, Vec<Unread>), Unread> {
    match engines::postgres::survey::survey(config) {
        Ok((server, unread)) => {
            let of_server = |one: Unread| Unread { what: format!("{}: {}", server.address, one.what), ..one };
            let unread = unread.into_iter().map(of_server).collect();
            Ok((server, unread))
        }
        Err(error) => {
            let hint = advice(&error.source).map(|advice| format!(". {advice}")).unwrap_or_default();
            Err(Unread { what: config.to_string(), why: format!("{error}{hint}") })
        }
    }
}

fn show(survey: &Survey, arguments: &Arguments) -> Result<(), Failure> {
    let advice = analysis::survey::advice(survey);
    let json = report::survey::json::survey(survey, &advice).map_err(Failure::failed)?;
    if let Some(file) = &arguments.output {
        output::replace_file(file, |writer| writeln!(writer, "{json}"))?;
    }
    match (arguments.json, &arguments.output) {
        (true, None) => output::print_json(&json),
        (true, Some(_)) => Ok(()),
        (false, _) => output::print_document(&report::survey::page(survey, &advice)),
    }
}
