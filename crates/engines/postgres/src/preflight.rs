//! Preflight: checks servers by URL, and private servers before one is started.

use super::admin::MARK;
use super::connecting::{CONNECTING, SILENCE, at_url, parsed, stoppable, what_to_do};
use super::errors::failed_at;
use super::instance::escaped;
use super::postgres::Postgres;
use super::server::{is_of_module, tried_settings};
use super::settings::{self, FINAL_CHECKPOINT, URL, VOLUME};
use super::{compression, explain};
use crate::client::{Client, Config, Error};
use engine::setup::Setup;
use engine::{
    Folders, Need, NoPlan, PlanRequest, Planned, Preflight, Prerequisites, Program, ProgramNames,
    Result, Row,
};
use experiment::{Configuration, Invalid};
use servers::administration::SCHEMA;
use servers::altered::{ALLOW_RESTART, NEEDS_RESTART, is_permitted};
use servers::host::{other_place, verify_account};
use servers::hosted::Hosted as _;
use servers::settings::path;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;
use work::Stop;

/// The time that a server may take for each answer.
const ANSWER: Duration = Duration::from_secs(10);

/// Connections of a trial in addition to those of the load: of administration, and of the observer
/// of waits.
const OWN_CONNECTIONS: i64 = 2;

impl Prerequisites for Postgres {
    fn missing(&self, configuration: &Configuration) -> Option<String> {
        let private = configuration.get(settings::URL).is_none();
        let missing = private.then(|| settings::installation(configuration).err()).flatten();
        let missing = missing.map(|error| format!("postgres is not installed: {error}"));
        missing.or_else(|| servers::network::missing(configuration))
    }

    fn program(
        &self,
        configuration: &Configuration,
        program: ProgramNames,
    ) -> Option<Result<Program>> {
        let private = configuration.get(settings::URL).is_none();
        let installation = private.then(|| settings::installation(configuration).ok()).flatten()?;
        Some(Ok(installation.client_program(program)))
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
        Some(connect(&url, stop).and_then(|mut client| explain::plans(&mut client, plan_requests)))
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
        // One that cannot be parsed is an objection of validation.
        let Ok(config) = at_url(&url) else { continue };
        let config = config.with_stop(stop.clone());
        if let Err(error) = ask(&config, &needs, stop, &mut found) {
            let advice =
                what_to_do(&error).map_or_else(String::new, |advice| format!(". {advice}"));
            found.misses(format!("{}: {error}{advice}", URL.path()));
        }
    }
    found
}

/// Connects to a server by URL to ask it about statements.
fn connect(url: &str, stop: &Stop) -> Result<Client> {
    let config = parsed(url)?.with_default_patience(CONNECTING, SILENCE);
    let mut client = stoppable(&config, stop).map_err(failed_at("connecting"))?;
    client.set_answer_timeout(Some(ANSWER));
    Ok(client)
}

/// Rights of a connection's role in its database.
const RIGHTS: &str = "SELECT current_user, current_database(), pg_is_in_recovery() OR \
     current_setting('transaction_read_only')::bool, has_database_privilege(current_database(), \
     'CREATE'), (SELECT coalesce(obj_description(oid, 'pg_namespace') = $1, false) FROM \
     pg_namespace WHERE nspname = $2), rolsuper OR EXISTS (SELECT FROM pg_roles c WHERE c.rolname \
     = 'pg_checkpoint' AND pg_has_role(c.oid, 'USAGE')), CASE WHEN rolsuper THEN \
     current_setting('max_connections')::int ELSE least(current_setting('max_connections')::int - \
     (SELECT sum(setting::int) FROM pg_settings WHERE name IN ('superuser_reserved_connections', \
     'reserved_connections')), nullif(rolconnlimit, -1), nullif(datconnlimit, -1)) END::text, \
     rolsuper OR rolcreatedb FROM pg_roles, pg_database WHERE rolname = current_user AND datname \
     = current_database()";

/// Asks a server by URL, once for all configurations that it serves.
fn ask(
    config: &Config,
    needs: &[&Need<'_>],
    stop: &Stop,
    found: &mut Preflight,
) -> Result<(), Error> {
    let mut client = stoppable(config, stop)?;
    client.set_answer_timeout(Some(ANSWER));
    let rows = client.query(RIGHTS, &[Some(MARK), Some(SCHEMA)])?;
    if let Some(row) = rows.first() {
        rights(&row, needs, found);
    }
    let rows = client.query("SELECT lower(name), context FROM pg_settings", &[])?;
    let contexts: BTreeMap<String, String> =
        rows.iter().map(|row| (row.text(0), row.text(1))).collect();
    let methods: BTreeSet<_> =
        needs.iter().flat_map(|need| compression::methods(need.configuration)).collect();
    for (path, method) in methods {
        if refused(&mut client, compression::DEFAULT, method)?.is_some() {
            found.invalid.push(compression::lacking(path, method, "this server"));
        }
    }
    let mut programs = BTreeSet::new();
    for configuration in needs.iter().map(|need| need.configuration) {
        let server = is_permitted(configuration);
        let restart = configuration.get(ALLOW_RESTART).is_some();
        let settings = Postgres::server_settings(configuration).into_iter();
        programs.extend(settings.map(|(name, value)| (name, value, server, restart)));
    }
    for (name, value, server, restart) in programs {
        let context = contexts.get(&name.to_lowercase()).map(String::as_str);
        let objection = match context {
            None if !is_of_module(&name) => {
                let known: Vec<&str> = contexts.keys().map(String::as_str).collect();
                Some(experiment::unknown_name("setting of this server", &name, &known))
            }
            Some("user" | "superuser") | None => refused(&mut client, &name, &value)?,
            Some("backend" | "superuser-backend") => {
                let with_it =
                    config.clone().with_options(&format!("-c {name}={}", escaped(&value)));
                Client::connect(&with_it).err().map(|error| error.to_string())
            }
            Some("internal") => Some(
                "is fixed when PostgreSQL is built or its data directory is initialised".into(),
            ),
            Some("sighup") if server => None,
            Some("postmaster") if server && restart => None,
            Some("postmaster") if server => Some(NEEDS_RESTART.into()),
            Some(context) => Some(of_the_whole_server(context)),
        };
        let objection = objection.map(|why| Invalid::new(path(&name), why));
        found.invalid.extend(objection);
    }
    Ok(())
}

fn rights(row: &Row<'_>, needs: &[&Need<'_>], found: &mut Preflight) {
    let is = |column: usize| row.get(column) == Some("t");
    let (role, database) = (row.text(0), row.text(1));
    let url = URL.path();
    if is(2) {
        found.misses(format!(
            "{url}: database {database} is read-only (a standby, or \
             default_transaction_read_only = on)"
        ));
        return;
    }
    // Set-ups with tables of the user work in databases that Steelbench creates.
    let count =
        needs.iter().filter(|need| Setup::from_settings(need.configuration).is_some()).count();
    if count > 0 && !is(7) {
        found.misses(format!(
            "{url}: role {role} cannot create the database for the tables of target.setup; run \
             ALTER ROLE {role} CREATEDB"
        ));
    }
    match row.get(4) {
        _ if count == needs.len() => {}
        Some("f") => found.misses(format!(
            "{url}: database {database} already has a schema {SCHEMA} that Steelbench did not \
             create; rename it, or use another database"
        )),
        Some("t") => {
            found.reclaims(url, &format!("schema {SCHEMA} in database {database}"));
        }
        _ if !is(3) => found.misses(format!(
            "{url}: role {role} cannot create a schema in database {database}; run GRANT CREATE \
             ON DATABASE {database} TO {role}"
        )),
        _ => {}
    }
    if !is(5) && needs.iter().any(|need| need.configuration.get(FINAL_CHECKPOINT)) {
        found.misses(format!(
            "{}: role {role} cannot run CHECKPOINT; run GRANT pg_checkpoint TO {role} \
             (PostgreSQL 15 and later), or use a superuser",
            FINAL_CHECKPOINT.path()
        ));
    }
    let most = needs.iter().map(|need| i64::from(need.connections)).max().unwrap_or(0);
    if let Some(free) = row.parse::<i64>(6).filter(|free| *free < most + OWN_CONNECTIONS) {
        found.misses(format!(
            "{url}: role {role} is limited to {free} connections (max_connections minus reserved \
             ones; limits of the role and the database); the load needs {most} and Steelbench \
             {OWN_CONNECTIONS} more"
        ));
    }
}

/// Returns the server's objection to a session value, which is set for a transaction that is rolled
/// back.
fn refused(client: &mut Client, name: &str, value: &str) -> Result<Option<String>, Error> {
    match client.query("SELECT set_config($1, $2, true)", &[Some(name), Some(value)]) {
        Err(error) if error.server_error().is_some() => Ok(Some(error.to_string())),
        other => other.map(|_| None),
    }
}

fn of_the_whole_server(context: &str) -> String {
    let how = if context == "postmaster" { "needs a server restart" } else { "is server-wide" };
    format!(
        "{how} (pg_settings.context = {context}). On a server by URL, Steelbench changes session \
         settings only. Set target.allow_server_settings = true, set it on the server yourself, \
         or remove target.url to use a private server"
    )
}

/// A private server: its programs, its user and its settings.
fn private(configuration: &Configuration, folders: &Folders) -> Result<Vec<Invalid>> {
    let installation = settings::installation(configuration)?;
    verify_account::<Postgres>(configuration, folders, &installation.program("postgres"))?;
    let mut invalid =
        tried_settings::objections(&installation, &Postgres::server_settings(configuration));
    for (path, method) in compression::methods(configuration) {
        let as_default = BTreeMap::from([(compression::DEFAULT.to_owned(), method.to_owned())]);
        if !tried_settings::objections(&installation, &as_default).is_empty() {
            let server =
                format!("PostgreSQL {} in {}", installation.version, installation.bindir.display());
            invalid.push(compression::lacking(path, method, &server));
        }
    }
    Ok(invalid)
}
