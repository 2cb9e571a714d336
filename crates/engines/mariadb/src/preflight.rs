//! Preflight: checks servers by URL, and private servers before one is started.

use super::admin::{DATABASE, IS_FOREIGN, is_marked};
use super::errors::{failed_at, what_to_do};
use super::mariadb::MariaDb;
use super::observing::at_url;
use super::server::variables::{self, Variable};
use super::settings::{self, URL, VOLUME};
use super::{Compression, explain};
use crate::client::{Client, Error};
use engine::{
    EngineError, Folders, Need, NoPlan, PlanRequest, Planned, Preflight, Prerequisites, Program,
    ProgramNames, Result,
};
use experiment::{Configuration, Invalid};
use observe::child::answer;
use servers::account::command;
use servers::altered::{ALLOW_RESTART, ALLOW_SERVER_SETTINGS, NEEDS_RESTART, is_permitted};
use servers::host::{other_place, verify_account};
use servers::hosted::Hosted as _;
use servers::settings::path;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;
use work::Stop;

/// `ER_UNKNOWN_SYSTEM_VARIABLE`.
const UNKNOWN_VARIABLE: u16 = 1193;

/// The time that a server may take for each answer.
const ANSWER: Duration = Duration::from_secs(10);

/// Connections of a trial in addition to those of the load: of administration, and of the observer
/// of waits.
const OWN_CONNECTIONS: u32 = 2;

impl Prerequisites for MariaDb {
    fn missing(&self, configuration: &Configuration) -> Option<String> {
        let private = configuration.get(settings::URL).is_none();
        let found = private.then(|| settings::installation(configuration))?;
        let compression = Compression::from_configuration(configuration);
        found.map_or_else(
            |error| Some(format!("mariadb is not installed: {error}")),
            |installation| {
                let missing =
                    compression.and_then(|compression| compression.missing(&installation));
                missing.or_else(|| servers::network::missing(configuration))
            },
        )
    }

    fn program(
        &self,
        configuration: &Configuration,
        program: ProgramNames,
    ) -> Option<Result<Program>> {
        let private = configuration.get(settings::URL).is_none();
        let installation = private.then(|| settings::installation(configuration).ok()).flatten()?;
        Some(installation.client_program(program))
    }

    fn preflight(&self, needs: &[Need<'_>], folders: &Folders, stop: &Stop) -> Preflight {
        preflight(needs, folders, stop)
    }

    fn other_place(&self, configurations: &[&Configuration], folder: &Path) -> Option<PathBuf> {
        other_place::<Self>(configurations, folder)
    }

    fn plan_by_url(
        &self,
        configuration: &Configuration,
        plan_requests: &[PlanRequest],
        stop: &Stop,
    ) -> Option<Result<Vec<Result<Planned, NoPlan>>>> {
        let url = configuration.get(settings::URL)?;
        Some(connect(&url, stop).map(|mut client| explain::plans(&mut client, plan_requests)))
    }
}

/// Returns the preflight problems of these needs.
fn preflight(needs: &[Need<'_>], folders: &Folders, stop: &Stop) -> Preflight {
    let mut found = Preflight::default();
    let by_url = found
        .of_private(needs, folders, URL, VOLUME, |configuration| private(configuration, folders));
    for need in needs.iter().filter(|need| need.configuration.get(URL).is_none()) {
        found.note(settings::substitution(need.configuration));
    }
    for (url, needs) in by_url {
        let connections = needs.iter().map(|need| need.connections).max().unwrap_or(0);
        // One that cannot be parsed is an objection of validation.
        let Ok(config) = at_url(&url) else { continue };
        match Client::connect_until(&config, stop) {
            Ok(mut client) => {
                client.set_answer_timeout(Some(ANSWER));
                if let Err(error) = ask(&mut client, connections, &mut found) {
                    found.misses(format!("{}: {error}", URL.path()));
                }
                match settings_of_another(&mut client, &needs) {
                    Ok(invalid) => found.invalid.extend(invalid),
                    Err(error) => found.misses(format!("{}: {error}", URL.path())),
                }
            }
            Err(error) => {
                let advice = what_to_do(&error)
                    .into_iter()
                    .chain(config.warnings.iter().map(String::as_str));
                let advice = advice.fold(String::new(), |all, advice| format!("{all}. {advice}"));
                found.misses(format!("{}: {error}{advice}", URL.path()));
            }
        }
    }
    found
}

/// Connects to a server by URL to ask it about statements.
fn connect(url: &str, stop: &Stop) -> Result<Client> {
    let config = MariaDb::config(url)?;
    let mut client = Client::connect_until(&config, stop).map_err(failed_at("connecting"))?;
    client.set_answer_timeout(Some(ANSWER));
    Ok(client)
}

/// Finds the missing rights and settings of a server by URL, and what a run has left there.
fn ask(client: &mut Client, connections: u32, found: &mut Preflight) -> Result<()> {
    let url = URL.path();
    let mut number = |sql: &str| -> Result<u32> {
        let cell = client.cell(sql).map_err(failed_at("querying the server"))?;
        Ok(cell.and_then(|cell| cell.parse().ok()).unwrap_or(0))
    };
    if number("SELECT @@GLOBAL.read_only")? == 1 {
        found.misses(format!("{url}: the server is read-only (read_only = ON)"));
    }
    let most = number("SELECT @@GLOBAL.max_connections")?;
    if most < connections + OWN_CONNECTIONS {
        found.misses(format!(
            "{url}: the server allows {most} connections (max_connections); the load needs \
             {connections} and Steelbench {OWN_CONNECTIONS} more"
        ));
    }
    if number("SELECT @@GLOBAL.local_infile")? == 0 {
        found.misses(format!(
            "{url}: the server rejects LOAD DATA LOCAL, which fills the tables; run SET GLOBAL \
             local_infile = ON"
        ));
    }
    match is_marked(client)? {
        Some(false) => found.misses(format!("{url}: database {DATABASE} {IS_FOREIGN}")),
        Some(true) => found.reclaims(url, &format!("database {DATABASE}")),
        None => {}
    }
    Ok(())
}

/// Returns the objections of a server by URL to the settings; changes nothing.
fn settings_of_another(client: &mut Client, needs: &[&Need<'_>]) -> Result<Vec<Invalid>> {
    let mut programs = BTreeSet::new();
    for configuration in needs.iter().map(|need| need.configuration) {
        let (server, restart) =
            (is_permitted(configuration), configuration.get(ALLOW_RESTART).is_some());
        let settings = variables::from_configuration(configuration).into_iter();
        programs.extend(settings.map(|(name, value)| (name, value, server, restart)));
    }
    let mut invalid = Vec::new();
    let known = Variable::read(client)?;
    if known.is_empty() && needs.iter().any(|need| is_permitted(need.configuration)) {
        let message = "this server does not report which variables are global; MariaDB does, and \
                       MySQL from 9.0 on (performance_schema.variables_metadata)";
        invalid.push(Invalid::new(ALLOW_SERVER_SETTINGS.path(), message));
    }
    if !client.is_mariadb() && programs.iter().any(|(.., restart)| *restart) {
        let message = "MySQL does not report which variables need a restart; only variables that \
                       SET GLOBAL accepts can be changed";
        invalid.push(Invalid::new(ALLOW_RESTART.path(), message));
    }
    for (name, value, server, restart) in programs {
        let objection = match known.get(&name).filter(|variable| variable.is_global()) {
            None => refused(client, &name, &value, &known)?,
            Some(variable) if server && (variable.is_dynamic() || restart) => None,
            Some(_) if server => Some(NEEDS_RESTART.into()),
            Some(variable) => Some(of_the_whole_server(variable)),
        };
        invalid.extend(objection.map(|why| Invalid::new(path(&name), why)));
    }
    Ok(invalid)
}

/// Returns the server's objection to a session value, which is set in this session.
fn refused(
    client: &mut Client,
    name: &str,
    value: &str,
    known: &BTreeMap<String, Variable>,
) -> Result<Option<String>> {
    let literal = known.get(name).unwrap_or(&Variable::default()).literal(value);
    match client.run(&format!("SET SESSION {name} = {literal}")) {
        Ok(()) => Ok(None),
        Err(error) if error.code() == Some(UNKNOWN_VARIABLE) => {
            let known: Vec<&str> = known.keys().map(String::as_str).collect();
            Ok(Some(experiment::unknown_name("variable of this server", name, &known)))
        }
        Err(Error::Server(server)) => Ok(Some(server.to_string())),
        Err(error) => Err(failed_at("testing a setting")(error)),
    }
}

fn of_the_whole_server(variable: &Variable) -> String {
    let how = if variable.is_dynamic() { "is server-wide" } else { "needs a server restart" };
    format!(
        "{how}. On a server by URL, Steelbench changes session variables only. Set \
         target.allow_server_settings = true, set it on the server yourself, or remove \
         target.url to use a private server"
    )
}

/// A private server: its programs, its user and its settings.
fn private(configuration: &Configuration, folders: &Folders) -> Result<Vec<Invalid>> {
    let installation = settings::installation(configuration)?;
    verify_account::<MariaDb>(configuration, folders, &installation.server)?;
    let settings = variables::from_configuration(configuration);
    if settings.is_empty() {
        return Ok(Vec::new());
    }
    // The server's own program lists its variables and checks a value, without starting.
    let mut help = command(&installation.server);
    help.args(["--no-defaults", "--verbose", "--help"]);
    let output = answer(&mut help).map_err(EngineError::at(&installation.server))?;
    let known = options(&String::from_utf8_lossy(&output.stdout));
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let unknown = settings.keys().filter(|name| !known.contains(&name.as_str()));
    let what = format!("variable of {installation}");
    Ok(unknown
        .map(|name| Invalid::new(path(name), experiment::unknown_name(&what, name, &known)))
        .collect())
}

/// The names of options in what `mariadbd --verbose --help` prints: below a line of dashes, a name
/// and its value a line.
fn options(help: &str) -> Vec<String> {
    let table = help.lines().skip_while(|line| !line.starts_with("-----")).skip(1);
    let names = table.map_while(|line| line.split_whitespace().next());
    names.map(|name| name.replace('-', "_")).collect()
}

#[cfg(test)]
mod tests {
    use super::options;

    #[test]
    fn names_stand_below_a_line_of_dashes() {
        let help = "usage\n\nVariables (--variable-name=value)\n--------- \
                    ----\nallow-suspicious-udfs   FALSE\nsync-binlog   0\n\nTo see\n";
        assert_eq!(options(help), ["allow_suspicious_udfs", "sync_binlog"]);
    }
}
