//! Streaming replication of private servers
//! (<https://www.postgresql.org/docs/current/warm-standby.html>).

use crate::admin::LOAD;
use crate::client::{Config, quote_literal};
use crate::connecting::{CONNECTING, stoppable};
use crate::errors::failed_at;
use crate::load::PostgresLoad;
use crate::server::settings::{load_time, reload};
use crate::server::{PORT, PostgresProduct, PrivateServer, SUPERUSER, ServerOptions};
use crate::session::Session;
use engine::{AdminSession, ConnectionSet, EngineError, Program, ProgramNames, Result, Results};
use rustix::process::Signal;
use servers::account::command;
use servers::administration::SCHEMA;
use servers::command::run_long;
use servers::load::{Ending, LoadConnections, Sessions};
use servers::pair::Replicating;
use servers::private::Server;
use servers::process::end_with_us;
use servers::wait_for;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use work::Cancel;

/// Name of the replica in the primary's list.
const REPLICA: &str = "steelbench_replica";
/// The time in which a replica follows, or is promoted.
const FOLLOWS: Duration = Duration::from_secs(60);
/// The time that an answer may take.
const ANSWER: Duration = Duration::from_secs(60);
/// The time between two looks at a promotion.
const LOOK_EVERY: Duration = Duration::from_millis(2);

impl Replicating for PostgresProduct {
    const SOCKET: &'static str = ".s.PGSQL.5432";
    const SUPERUSER: &'static str = SUPERUSER;
    const DATABASE: &'static str = SUPERUSER;

    fn in_database(config: Config, database: &str) -> Config {
        config.with_database(database)
    }

    fn admin_session(config: Config, cancel: &Cancel) -> Result<Box<dyn AdminSession>> {
        let client = stoppable(&config, &cancel.stop()).map_err(failed_at("connecting"))?;
        Ok(Box::new(Session::of_client(client, config)))
    }

    fn environment(config: &Config) -> Vec<(String, Option<String>)> {
        config.client_environment()
    }

    fn client_program(&self, program: ProgramNames) -> Result<Program> {
        Ok(self.installation.client_program(program))
    }

    fn replicate(
        primary: &mut PrivateServer,
        options: ServerOptions,
        cancel: &Cancel,
    ) -> Result<PrivateServer> {
        let mut settings = primary.in_force.clone().unwrap_or_default();
        let sockets = primary.sockets().to_path_buf();
        let mut replica =
            Server::with_data(options, |options, data| copy(options, &sockets, data, cancel))?;
        settings.insert("primary_conninfo".into(), conninfo(&sockets));
        replica.start_with(settings, cancel)?;
        await_state(primary, "state = 'streaming'", cancel)?;
        Ok(replica)
    }

    fn confirm(primary: &PrivateServer, _: &PrivateServer, cancel: &Cancel) -> Result<()> {
        let doing = "setting synchronous_standby_names";
        let mut client = primary.connect_until(cancel)?;
        let sql = format!("ALTER SYSTEM SET synchronous_standby_names = '{REPLICA}'");
        let before = load_time(&mut client)?;
        client.batch(&sql).map_err(failed_at(doing))?;
        reload(primary, &before, cancel)?;
        await_state(primary, "sync_state = 'sync'", cancel)
    }

    fn promote(replica: &PrivateServer, cancel: &Cancel) -> Result<()> {
        let mut client = replica.connect_until(cancel)?;
        // The function's own wait looks ten times a second only.
        client.cell("SELECT pg_promote(false)").map_err(failed_at("promoting the replica"))?;
        let started = std::time::Instant::now();
        while started.elapsed() < FOLLOWS && !cancel.is_cancelled() {
            let recovers = client.cell("SELECT pg_is_in_recovery()");
            if recovers.map_err(failed_at("promoting the replica"))?.as_deref() == Some("f") {
                return Ok(());
            }
            std::thread::sleep(LOOK_EVERY);
        }
        Err(late("promoting the replica", "it did not accept writes", replica))
    }

    fn session(
        config: &Config,
        patience: Duration,
        cancel: &Cancel,
    ) -> Result<Box<dyn ConnectionSet>> {
        let config =
            in_schema(config, LOAD).with_connect_timeout(Some(patience)).with_stop(cancel.stop());
        let load = PostgresLoad { config, options: String::new() };
        let none = crate::wire::statements(std::iter::empty());
        let ending = Ending { checkpoint: None, cancel: cancel.clone() };
        Ok(Box::new(LoadConnections::open(&load, &none, 1, Sessions::default(), ending)?))
    }

    fn ask(config: &Config, sql: &str, cancel: &Cancel) -> Result<Results> {
        let config = in_schema(config, "steelbench").with_connect_timeout(Some(CONNECTING));
        let mut client = stoppable(&config, &cancel.stop()).map_err(failed_at("connecting"))?;
        client.set_answer_timeout(Some(ANSWER));
        let rows = client.query(sql, &[]).map_err(failed_at("asking the server"))?;
        let columns = rows.columns().to_vec();
        let mut results = Results { columns, ..Results::default() };
        rows.iter().for_each(|row| results.add(row.values(), true));
        Ok(results)
    }
}

fn in_schema(config: &Config, name: &str) -> Config {
    config.clone().with_application_name(name).with_options(&format!("-c search_path={SCHEMA}"))
}

/// How a replica connects to its primary.
fn conninfo(sockets: &Path) -> String {
    let host = sockets.to_string_lossy().replace('\\', "\\\\").replace('\'', "\\'");
    format!("host='{host}' port={PORT} user=postgres application_name={REPLICA}")
}

/// Copies the data directory of a running primary, and marks the copy as a replica.
fn copy(options: &ServerOptions, sockets: &Path, data: &Path, cancel: &Cancel) -> Result<()> {
    let program = options.product.installation.program("pg_basebackup");
    if !program.exists() {
        let message =
            format!("{} is missing; install it, or use another bindir", program.display());
        return Err(EngineError::failed("making a replica", message));
    }
    let mut command = command(&program);
    command.arg("--dbname").arg(conninfo(sockets)).arg("--pgdata").arg(data);
    command.args(["--checkpoint=fast", "--wal-method=stream", "--no-sync", "--no-password"]);
    options.account.enter(&mut command);
    end_with_us(&mut command, Signal::KILL);
    let doing = "making a replica (the primary needs wal_level = replica and max_wal_senders of \
                 at least 3)";
    run_long(command, Stdio::null(), doing, &|| false, &cancel.stop())?;
    // The primary's own file would let the replica wait for itself.
    options.account.write(&data.join("postgresql.auto.conf"), "")?;
    options.account.write(&data.join("standby.signal"), "")
}

/// Waits until the primary lists the replica in this state.
fn await_state(primary: &PrivateServer, state: &str, cancel: &Cancel) -> Result<()> {
    let name = quote_literal(REPLICA);
    let sql = format!(
        "SELECT count(*) FROM pg_stat_replication WHERE application_name = {name} AND {state}"
    );
    let mut client = primary.connect_until(cancel)?;
    let found = wait_for(FOLLOWS, cancel, || {
        let count = client.cell(&sql).map_err(failed_at("looking for the replica"))?;
        Ok((count.as_deref() == Some("1")).then_some(()))
    })?;
    found.ok_or_else(|| late("attaching the replica", "it did not follow", primary))
}

fn late(doing: &str, what: &str, server: &PrivateServer) -> EngineError {
    let (seconds, log) = (FOLLOWS.as_secs(), server.log_tail(10));
    EngineError::failed(doing, format!("{what} within {seconds} s; the log ends with:\n{log}"))
}
