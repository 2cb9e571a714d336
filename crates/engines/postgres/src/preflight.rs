//! Preflight: checks servers by URL, and private servers before one is started.

use super::admin::MARK;
use super::instance::escaped;
use super::postgres::Postgres;
use super::server::{is_of_module, tried_settings};
use super::settings::{self, FINAL_CHECKPOINT, URL};
use super::{compression, explain};
use crate::client::{Client, Config, Error};
use engine::setup::Setup;
use engine::{
    Folders, Need, NoPlan, PlanRequest, Planned, Preflight, Program, ProgramNames, Result, Row,
    ServerError,
};
use experiment::{Configuration, Invalid};
use servers::administration::SCHEMA;
use servers::altered::NEEDS_RESTART;
use servers::host::verify_account;
use servers::hosted::Hosted as _;
use servers::preflight::{self, Checked, NeededSetting, OWN_CONNECTIONS, server_wide};
use servers::settings::path;
use std::collections::{BTreeMap, BTreeSet};
use work::Stop;

impl Checked for Postgres {
    const NAME: &'static str = "postgres";

    fn lacking(configuration: &Configuration) -> Result<Option<String>> {
        settings::installation(configuration).map(|_| None)
    }

    fn program(configuration: &Configuration, program: ProgramNames) -> Option<Result<Program>> {
        let installation = settings::installation(configuration).ok()?;
        Some(Ok(installation.client_program(program)))
    }

    fn difference(configuration: &Configuration) -> Option<String> {
        settings::substitution(configuration)
    }

    fn private(configuration: &Configuration, folders: &Folders) -> Result<Vec<Invalid>> {
        let installation = settings::installation(configuration)?;
        verify_account::<Postgres>(configuration, folders, &installation.program("postgres"))?;
        let mut invalid =
            tried_settings::objections(&installation, &Postgres::server_settings(configuration));
        for (path, method) in compression::methods(configuration) {
            let as_default = BTreeMap::from([(compression::DEFAULT.to_owned(), method.to_owned())]);
            if !tried_settings::objections(&installation, &as_default).is_empty() {
                let server = format!(
                    "PostgreSQL {} in {}",
                    installation.version,
                    installation.bindir.display()
                );
                invalid.push(compression::lacking(path, method, &server));
            }
        }
        Ok(invalid)
    }

    fn ask(
        client: &mut Client,
        config: &Config,
        needs: &[&Need<'_>],
        stop: &Stop,
        found: &mut Preflight,
    ) -> Result<(), ServerError> {
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
            if refused(client, compression::DEFAULT, method)?.is_some() {
                found.invalid.push(compression::lacking(path, method, "this server"));
            }
        }
        for setting in preflight::settings::<Postgres>(needs) {
            let NeededSetting { name, value, is_permitted, may_restart } = setting;
            let context = contexts.get(&name.to_lowercase()).map(String::as_str);
            let objection = match context {
                None if !is_of_module(&name) => {
                    let known: Vec<&str> = contexts.keys().map(String::as_str).collect();
                    Some(experiment::unknown_name("setting of this server", &name, &known))
                }
                Some("user" | "superuser") | None => refused(client, &name, &value)?,
                Some("backend" | "superuser-backend") => {
                    let config = config.clone().with_stop(stop.clone());
                    let with_it = config.with_options(&format!("-c {name}={}", escaped(&value)));
                    Client::connect(&with_it).err().map(|error| error.to_string())
                }
                Some("internal") => Some(
                    "is fixed when PostgreSQL is built or its data directory is initialised".into(),
                ),
                Some("sighup") if is_permitted => None,
                Some("postmaster") if is_permitted && may_restart => None,
                Some("postmaster") if is_permitted => Some(NEEDS_RESTART.into()),
                Some(context) => Some(of_the_whole_server(context)),
            };
            let objection = objection.map(|why| Invalid::new(path(&name), why));
            found.invalid.extend(objection);
        }
        Ok(())
    }

    fn plans(
        client: &mut Client,
        plan_requests: &[PlanRequest],
    ) -> Result<Vec<Result<Planned, NoPlan>>> {
        explain::plans(client, plan_requests)
    }
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
    if let Some(free) = row.parse::<i64>(6).filter(|free| *free < most + i64::from(OWN_CONNECTIONS))
    {
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
    server_wide(&format!("{how} (pg_settings.context = {context})"), "settings")
}
