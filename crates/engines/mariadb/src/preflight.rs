//! What stands in the way of trials: asked of servers by URL, and found out about servers of our
//! own before one is started.

use super::admin::{DATABASE, is_marked};
use super::server::PACKAGES_ACCOUNT;
use super::server::variables::{self, Variable};
use super::settings::{self, LOG_VOLUME, URL, USER, VOLUME};
use super::{CONNECTING, what_to_do};
use crate::client::{Client, Config, Error};
use engine::{EngineError, Folders, Need, Preflight};
use experiment::{Configuration, Invalid};
use servers::account::{Account, command};
use servers::altered::{ALLOW_RESTART, ALLOW_SERVER_SETTINGS, NEEDS_RESTART, is_permitted};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use work::Stop;

/// `ER_UNKNOWN_SYSTEM_VARIABLE`.
const UNKNOWN_VARIABLE: u16 = 1193;

/// How long a server may take for each answer.
const ANSWER: Duration = Duration::from_secs(10);

/// Connections of a trial besides those of the load: of administration, and of the observer of
/// waits.
const OWN_CONNECTIONS: u32 = 2;

/// What stands in the way of these needs.
pub fn preflight(needs: &[Need<'_>], folders: &Folders, stop: &Stop) -> Preflight {
    let mut found = Preflight::default();
    let by_url = found.of_private(needs, folders, (URL, VOLUME), |own| private(own, folders));
    for (url, needs) in by_url {
        let connections = needs.iter().map(|need| need.connections).max().unwrap_or(0);
        // One that cannot be parsed is an objection of validation.
        let Ok(config) = Config::parse(&url) else { continue };
        let config = config.with_default_timeout(CONNECTING).with_stop(stop.clone());
        match Client::connect(&config) {
            Ok(mut client) => {
                client.set_answer_timeout(Some(ANSWER));
                client.set_stop(stop.clone());
                let missing =
                    ask(&mut client, connections).unwrap_or_else(|error| vec![error.to_string()]);
                for what in missing {
                    found.misses(format!("{}: {what}", URL.path()));
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

/// What a server by URL lacks.
fn ask(client: &mut Client, connections: u32) -> Result<Vec<String>, EngineError> {
    let mut missing = Vec::new();
    let mut number = |sql: &str| -> Result<u32, EngineError> {
        let cell = client.cell(sql).map_err(super::failed_at("asking the server"))?;
        Ok(cell.and_then(|cell| cell.parse().ok()).unwrap_or(0))
    };
    if number("SELECT @@GLOBAL.read_only")? == 1 {
        missing.push("the server is read-only (read_only = ON): a replica, or set so".to_owned());
    }
    let most = number("SELECT @@GLOBAL.max_connections")?;
    if most < connections + OWN_CONNECTIONS {
        missing.push(format!(
            "the server admits {most} connections (max_connections); the load opens {connections} \
             and Steelbench {OWN_CONNECTIONS} more"
        ));
    }
    if number("SELECT @@GLOBAL.local_infile")? == 0 {
        missing.push(
            "tables are filled by LOAD DATA LOCAL, which the server refuses: SET GLOBAL \
             local_infile = ON"
                .into(),
        );
    }
    if is_marked(client)? == Some(false) {
        missing.push(format!(
            "there is a database {DATABASE} that Steelbench did not make, and it is not touched; \
             rename it, or use another server"
        ));
    }
    Ok(missing)
}

/// What a server by URL objects to in the settings of configurations; nothing of it changes.
fn settings_of_another(
    client: &mut Client,
    needs: &[&Need<'_>],
) -> Result<Vec<Invalid>, EngineError> {
    let mut wanted = BTreeSet::new();
    for configuration in needs.iter().map(|need| need.configuration) {
        let (server, restart) =
            (is_permitted(configuration), configuration.get(ALLOW_RESTART).is_some());
        let settings = settings::server_settings(configuration).into_iter();
        wanted.extend(settings.map(|(name, value)| (name, value, server, restart)));
    }
    let mut invalid = Vec::new();
    let known = Variable::read(client)?;
    if known.is_empty() && needs.iter().any(|need| is_permitted(need.configuration)) {
        let message = "this server does not tell which variables are of the whole server, as \
                       MariaDB does and MySQL from 9.0 on (performance_schema.variables_metadata)";
        invalid.push(Invalid::new(ALLOW_SERVER_SETTINGS.path(), message));
    }
    if !client.is_mariadb() && wanted.iter().any(|(.., restart)| *restart) {
        let message = "MySQL does not tell which variables need a restart; only those can be \
                       changed that SET GLOBAL takes";
        invalid.push(Invalid::new(ALLOW_RESTART.path(), message));
    }
    for (name, value, server, restart) in wanted {
        let objection = match known.get(&name).filter(|own| own.is_global()) {
            None => refused(client, &name, &value, &known)?,
            Some(variable) if server && (variable.is_dynamic() || restart) => None,
            Some(_) if server => Some(NEEDS_RESTART.into()),
            Some(variable) => Some(of_the_whole_server(variable)),
        };
        invalid.extend(objection.map(|why| Invalid::new(variables::path(&name), why)));
    }
    Ok(invalid)
}

/// What the server says against a value of a session, which is set in this one.
fn refused(
    client: &mut Client,
    name: &str,
    value: &str,
    known: &BTreeMap<String, Variable>,
) -> Result<Option<String>, EngineError> {
    let literal = known.get(name).unwrap_or(&Variable::default()).literal(value);
    match client.run(&format!("SET SESSION {name} = {literal}")) {
        Ok(()) => Ok(None),
        Err(error) if error.code() == Some(UNKNOWN_VARIABLE) => {
            let known: Vec<&str> = known.keys().map(String::as_str).collect();
            Ok(Some(experiment::unknown_name("variable of this server", name, &known)))
        }
        Err(Error::Server(said)) => Ok(Some(said.to_string())),
        Err(error) => Err(super::failed_at("trying a setting")(error)),
    }
}

fn of_the_whole_server(variable: &Variable) -> String {
    let how = if variable.is_dynamic() {
        "is of the whole server"
    } else {
        "needs a restart of the server"
    };
    format!(
        "{how}, and on a server by URL Steelbench changes variables of its sessions only; permit \
         more by target.allow_server_settings, set it there yourself, or leave out target.url for \
         a private server"
    )
}

/// A server of ours: its programs, its user and its settings.
fn private(configuration: &Configuration, folders: &Folders) -> Result<Vec<Invalid>, EngineError> {
    let installation = settings::installation(configuration)?;
    let account = Account::for_server(configuration.get(USER).as_deref(), PACKAGES_ACCOUNT)?;
    account.can_run(&installation.server)?;
    let volumes = configuration.get(VOLUME).into_iter().chain(configuration.get(LOG_VOLUME));
    account.can_enter_all(folders, volumes)?;
    let settings = settings::server_settings(configuration);
    if settings.is_empty() {
        return Ok(Vec::new());
    }
    // The server's own program says what it knows and what it makes of a value, without starting.
    let mut told = command(&installation.server);
    told.args(["--no-defaults", "--verbose", "--help"]);
    let output = told.output().map_err(EngineError::at(&installation.server))?;
    let known = options(&String::from_utf8_lossy(&output.stdout));
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let unknown = settings.keys().filter(|name| !known.contains(&name.as_str()));
    let what = format!("variable of {installation}");
    Ok(unknown
        .map(|name| {
            Invalid::new(variables::path(name), experiment::unknown_name(&what, name, &known))
        })
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
