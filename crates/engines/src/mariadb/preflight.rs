//! What stands in the way of trials: asked of servers by URL, and found out about servers of our own before one is
//! started.

use super::admin::{DATABASE, is_marked};
use super::server::{PACKAGES_ACCOUNT, variables};
use super::settings::{self, LOG_VOLUME, URL, USER, VOLUME};
use super::{CONNECTING, what_to_do};
use crate::private::account::{Account, command};
use crate::{EngineError, Folders, Need, Preflight, Stop};
use experiment::{Configuration, Invalid, Value};
use mysqlclient::{Client, Config};
use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::time::Duration;

/// How long a server may take for each answer.
const ANSWER: Duration = Duration::from_secs(10);

/// Connections of a trial besides those of the load: of administration, and of the observer of waits.
const OWN_CONNECTIONS: u32 = 2;

/// What stands in the way of these needs.
pub fn preflight(needs: &[Need<'_>], folders: &Folders, stop: &Stop) -> Preflight {
    let mut found = Preflight::default();
    let mut seen = HashSet::new();
    let mut by_url: BTreeMap<String, u32> = BTreeMap::new();
    for need in needs {
        if let Some(url) = need.configuration.get(URL) {
            let most = by_url.entry(url).or_default();
            *most = need.connections.max(*most);
            continue;
        }
        found.needs(need.of_rows(&need.configuration.get(VOLUME), folders));
        let target: Vec<(&str, &Value)> = need.configuration.below("target.").collect();
        if seen.insert(format!("{target:?}")) {
            match private(need.configuration, folders) {
                Err(error) => found.misses(error.to_string()),
                Ok(invalid) => found.invalid.extend(invalid),
            }
        }
    }
    for (url, connections) in by_url {
        // One that cannot be parsed is an objection of validation.
        let Ok(config) = Config::parse(&url) else { continue };
        let config = config.with_default_timeout(CONNECTING).with_stop(stop.clone());
        match Client::connect(&config) {
            Ok(mut client) => {
                client.set_answer_timeout(Some(ANSWER));
                client.set_stop(stop.clone());
                let missing = ask(&mut client, connections).unwrap_or_else(|error| vec![error.to_string()]);
                for what in missing {
                    found.misses(format!("{}: {what}", URL.path()));
                }
            }
            Err(error) => {
                let advice = what_to_do(&error).into_iter().chain(config.warnings.iter().map(String::as_str));
                let advice: String = advice.map(|advice| format!(". {advice}")).collect();
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
            "the server admits {most} connections (max_connections); the load opens {connections} and Steelbench \
             {OWN_CONNECTIONS} more"
        ));
    }
    if number("SELECT @@GLOBAL.local_infile")? == 0 {
        missing.push(
            "tables are filled by LOAD DATA LOCAL, which the server refuses: SET GLOBAL local_infile = ON"
                .into(),
        );
    }
    if is_marked(client)? == Some(false) {
        missing.push(format!(
            "there is a database {DATABASE} that Steelbench did not make, and it is not touched; rename it, or use another \
             server"
        ));
    }
    Ok(missing)
}

/// A server of ours: its programs, its user and its settings.
fn private(configuration: &Configuration, folders: &Folders) -> Result<Vec<Invalid>, EngineError> {
    let installation = settings::installation(configuration)?;
    let account = Account::for_server(configuration.get(USER).as_deref(), PACKAGES_ACCOUNT)?;
    account.can_run(&installation.server)?;
    let volumes = configuration.get(VOLUME).into_iter().chain(configuration.get(LOG_VOLUME));
    let used: Vec<&PathBuf> = volumes.filter_map(|name| folders.volume(&name).ok()).collect();
    // What does not exist yet will be made in the nearest folder that does.
    for folder in used.into_iter().chain([&folders.directory]) {
        let Some(folder) = folder.ancestors().find(|folder| folder.is_dir()) else { continue };
        account.can_enter(&folder.canonicalize().map_err(EngineError::at(folder))?)?;
    }
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
    let what = format!("variable of MariaDB {}", installation.version);
    Ok(unknown
        .map(|name| Invalid::new(variables::path(name), experiment::unknown_name(&what, name, &known)))
        .collect())
}

/// The names of options in what `mariadbd --verbose --help` prints: below a line of dashes, a name and its value a line.
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
        let help = "usage\n\nVariables (--variable-name=value)\n--------- ----\nallow-suspicious-udfs   FALSE\nsync-binlog   0\n\nTo see\n";
        assert_eq!(options(help), ["allow_suspicious_udfs", "sync_binlog"]);
    }
}
