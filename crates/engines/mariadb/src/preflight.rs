//! Preflight: checks servers by URL, and private servers before one is started.

use super::admin::{DATABASE, IS_FOREIGN, is_marked};
use super::errors::failed_at;
use super::mariadb::MariaDb;
use super::server::variables::{self, Variable};
use super::settings::{self, URL};
use super::{Compression, explain};
use crate::client::{Client, Config, Error};
use engine::{
    EngineError, Folders, Need, NoPlan, PlanRequest, Planned, Preflight, Program, ProgramNames,
    Result, ServerError, while_doing,
};
use experiment::{Configuration, Invalid};
use observe::child::answer;
use servers::account::command;
use servers::altered::{ALLOW_RESTART, ALLOW_SERVER_SETTINGS, NEEDS_RESTART, is_permitted};
use servers::host::verify_account;
use servers::preflight::{self, Checked, NeededSetting, OWN_CONNECTIONS, server_wide};
use servers::settings::path;
use std::collections::BTreeMap;
use work::Stop;

/// `ER_UNKNOWN_SYSTEM_VARIABLE`.
const UNKNOWN_VARIABLE: u16 = 1193;

impl Checked for MariaDb {
    const NAME: &'static str = "mariadb";

    fn lacking(configuration: &Configuration) -> Result<Option<String>> {
        let installation = settings::installation(configuration)?;
        let compression = Compression::from_configuration(configuration);
        Ok(compression.and_then(|compression| compression.missing(&installation)))
    }

    fn program(configuration: &Configuration, program: ProgramNames) -> Option<Result<Program>> {
        let installation = settings::installation(configuration).ok()?;
        Some(installation.client_program(program))
    }

    fn difference(configuration: &Configuration) -> Option<String> {
        settings::substitution(configuration)
    }

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

    fn ask(
        client: &mut Client,
        _: &Config,
        needs: &[&Need<'_>],
        _: &Stop,
        found: &mut Preflight,
    ) -> Result<(), ServerError> {
        let checked = rights(client, needs, found);
        // Where the one cannot be read, the other may be.
        let invalid = settings_of_another(client, needs).map_err(ServerError::new)?;
        found.invalid.extend(invalid);
        checked
    }

    fn plans(
        client: &mut Client,
        plan_requests: &[PlanRequest],
    ) -> Result<Vec<Result<Planned, NoPlan>>> {
        Ok(explain::plans(client, plan_requests))
    }
}

/// Finds missing rights and settings of your server, and what a run has left there.
fn rights(
    client: &mut Client,
    needs: &[&Need<'_>],
    found: &mut Preflight,
) -> Result<(), ServerError> {
    let connections = needs.iter().map(|need| need.connections).max().unwrap_or(0);
    let url = URL.path();
    let mut number = |sql: &str| -> Result<u32, ServerError> {
        let cell = client.cell(sql).map_err(while_doing("querying the server"))?;
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
    match is_marked(client).map_err(ServerError::new)? {
        Some(false) => found.misses(format!("{url}: database {DATABASE} {IS_FOREIGN}")),
        Some(true) => found.reclaims(url, &format!("database {DATABASE}")),
        None => {}
    }
    Ok(())
}

/// Returns the objections of a server by URL to the settings; changes nothing.
fn settings_of_another(client: &mut Client, needs: &[&Need<'_>]) -> Result<Vec<Invalid>> {
    let needed = preflight::settings::<MariaDb>(needs);
    let mut invalid = Vec::new();
    let known = Variable::read(client)?;
    if known.is_empty() && needs.iter().any(|need| is_permitted(need.configuration)) {
        let message = "this server does not report which variables are global; MariaDB does, and \
                       MySQL from 9.0 on (performance_schema.variables_metadata)";
        invalid.push(Invalid::new(ALLOW_SERVER_SETTINGS.path(), message));
    }
    if !client.is_mariadb() && needed.iter().any(|setting| setting.may_restart) {
        let message = "MySQL does not report which variables need a restart; only variables that \
                       SET GLOBAL accepts can be changed";
        invalid.push(Invalid::new(ALLOW_RESTART.path(), message));
    }
    for NeededSetting { name, value, is_permitted, may_restart } in needed {
        let objection = match known.get(&name).filter(|variable| variable.is_global()) {
            None => refused(client, &name, &value, &known)?,
            Some(variable) if is_permitted && (variable.is_dynamic() || may_restart) => None,
            Some(_) if is_permitted => Some(NEEDS_RESTART.into()),
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
    server_wide(how, "variables")
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
