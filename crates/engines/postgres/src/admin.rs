//! The connection of administration, and the schema that it holds: made by us, marked as ours,
//! dropped by us. Nothing else of a database is touched.

use super::errors::failed_at;
use crate::client::{Client, Config, quote_identifier, quote_literal};
use engine::{EngineError, Result, lock, wait_for};
use servers::administration::{Administration, KEEPING, SCHEMA};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use work::Cancel;

/// Comment that marks a schema as made by us.
pub const MARK: &str = "made by steelbench; dropped with everything in it";

/// Key of the advisory lock that a run in the schema holds: the name's first letters.
const LOCK: i64 = i64::from_be_bytes(*b"steelben");

/// Application name of the administrative connection.
pub(crate) const ADMIN: &str = "steelbench";

/// Application name of load sessions.
pub const LOAD: &str = "steelbench load";

/// The time that a session of a load may hold a table that is to be put back.
const LOCK_MAX: &str = "10s";

/// The time that a server may take for each step of cleaning up, once the trial was asked to stop.
const STOPPING: Duration = Duration::from_secs(10);

/// The time that it may take for such a step else.
const CLEANING: Duration = Duration::from_secs(300);

/// The time that a server may take to recover from a crash before we give up what is on it.
const RECOVERY: Duration = Duration::from_secs(30);

/// The time that the schema may be held by a session that is over but that the server still
/// believes in, until it asks: see `patient` in `host`.
const HELD_MAX: Duration = Duration::from_secs(20);

/// The time that the session of a killed run may take to end.
const LEFT_MAX: Duration = Duration::from_secs(3);

/// The time that sessions of a load may take to end by themselves, and when they are ended.
const ENDING: Duration = Duration::from_millis(250);
const ENDED_MAX: Duration = Duration::from_secs(10);

/// The server is starting, stopping or recovering (`cannot_connect_now`).
const CANNOT_CONNECT_NOW: &str = "57P03";

/// Connects, also to a server that is starting or, for at most `recovery`, recovering from a crash.
/// A request to stop ends each wait for the server.
fn connect(config: &Config, recovery: Duration, cancel: &Cancel) -> Result<Client> {
    let config = config.clone().with_stop(cancel.stop());
    let connected = wait_for(recovery, cancel, || match Client::connect(&config) {
        Err(error) if (error.code() == Some(CANNOT_CONNECT_NOW)) => Ok(None),
        connected => connected.map(Some).map_err(failed_at("connecting")),
    })?;
    let connected =
        connected.map_or_else(|| Client::connect(&config).map_err(failed_at("connecting")), Ok);
    let mut client = connected?;
    client.set_stop(cancel.stop(), Duration::ZERO);
    Ok(client)
}

/// A connection whose requests end when the trial is asked to stop, also when the server does not
/// answer any more.
pub struct Admin {
    config: Config,
    client: Mutex<Client>,
    cancel: Cancel,
}

impl Administration for Admin {
    type Config = Config;

    fn take(config: &Config, cancel: &Cancel) -> Result<Self> {
        let config = config.clone().with_application_name(ADMIN);
        let client = connect(&config, RECOVERY, cancel)?;
        let admin = Self { config, client: Mutex::new(client), cancel: cancel.clone() };
        admin.ask(|client| take(client, cancel))?;
        Ok(admin)
    }

    fn move_to(&self, config: &Config) -> Result<()> {
        let config = config.clone().with_application_name(ADMIN);
        *lock(&self.client) = connect(&config, RECOVERY, &self.cancel)?;
        self.ask(|client| take(client, &self.cancel))
    }

    fn run(&self, doing: &str, sql: &str) -> Result<()> {
        self.ask(|client| client.batch(sql).map_err(failed_at(doing)))
    }

    fn checkpoint(&self) -> Result<()> {
        self.run("final checkpoint", "CHECKPOINT")
    }

    fn move_tables(&self, tables: &[&str], from: &str, to: &str) -> Result<()> {
        let [from, to] = [from, to].map(quote_identifier);
        let all: Vec<String> = tables
            .iter()
            .map(|name| format!("ALTER TABLE {from}.{} SET SCHEMA {to}; ", quote_identifier(name)))
            .collect();
        let sql = format!("BEGIN; SET LOCAL lock_timeout = '{LOCK_MAX}'; {}COMMIT", all.concat());
        self.run(KEEPING, &sql).inspect_err(|_| {
            // The first error is the one to report.
            let _ = self.run(KEEPING, "ROLLBACK");
        })
    }
}

impl Admin {
    /// Connects again, to a server that may have a new place and may be recovering, and takes our
    /// schema as it is.
    pub fn reconnect(&self, config: Config) -> Result<()> {
        let config = config.with_application_name(ADMIN);
        let mut client = connect(&config, RECOVERY, &self.cancel)?;
        client.set_answer_timeout(Some(HELD_MAX));
        take_again(&mut client, HELD_MAX, &self.cancel)?;
        client.set_answer_timeout(None);
        *lock(&self.client) = client;
        Ok(())
    }

    /// Does some work with the connection.
    pub fn ask<T>(&self, work: impl FnOnce(&mut Client) -> Result<T>) -> Result<T> {
        if self.cancel.is_cancelled() {
            return Err(EngineError::Cancelled);
        }
        work(&mut lock(&self.client))
    }

    /// Drops the schema and these tablespaces.
    pub fn drop_all(&self, tablespaces: impl Iterator<Item = String>) -> Result<()> {
        let mut client = lock(&self.client);
        client.set_answer_timeout(Some(CLEANING));
        drop_schema(&mut client)?;
        tablespaces.into_iter().try_for_each(|name| {
            let sql = format!("DROP TABLESPACE {}", quote_identifier(&name));
            client.batch(&sql).map_err(failed_at(&sql))
        })
    }

    /// Drops the schema on your server, also when the trial was asked to stop or the connection is
    /// of no use any more: a new one does it, which first ends what was left at work. After a
    /// request to stop, a server that is silent has little time.
    pub fn drop_by_url(&self) -> Result<()> {
        if !self.cancel.is_cancelled() && self.drop_all(std::iter::empty()).is_ok() {
            return Ok(());
        }
        let mut client = lock(&self.client);
        let (cancel, connecting, step) = if self.cancel.is_cancelled() {
            (Cancel::new(), STOPPING, STOPPING)
        } else {
            (self.cancel.clone(), RECOVERY, CLEANING)
        };
        let config = self.config.clone().with_connect_timeout(Some(connecting));
        let left = client.backend_pid();
        *client = connect(&config, connecting, &cancel)?;
        client.set_stop(cancel.stop(), STOPPING);
        client.set_answer_timeout(Some(step));
        let end = format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = {left} AND pid <> \
             pg_backend_pid() AND application_name = {}",
            quote_literal(ADMIN)
        );
        client.cell(&end).map_err(failed_at("terminating the session of administration"))?;
        take_again(&mut client, connecting, &Cancel::new())?;
        drop_schema(&mut client)
    }
}

/// Takes the schema for this session and empties it. The session that did so keeps it until it
/// ends: two runs cannot measure in one database. Fails when another run has it, when there is a
/// schema of that name that we did not make, or when the role may not make one.
fn take(client: &mut Client, cancel: &Cancel) -> Result<()> {
    take_again(client, HELD_MAX, cancel)?;
    let doing = format!("creating schema {SCHEMA}");
    match is_marked(client)? {
        Some(false) => {
            let message = "it already exists and Steelbench did not create it; rename it, or use \
                           another database";
            return Err(EngineError::failed(doing, message));
        }
        // Left by a run that was killed: its lock is free.
        Some(true) => drop_schema(client)?,
        None => {}
    }
    let name = quote_identifier(SCHEMA);
    let sql = format!("CREATE SCHEMA {name}; COMMENT ON SCHEMA {name} IS {}", quote_literal(MARK));
    client.batch(&sql).map_err(failed_at(&doing))
}

/// Returns whether there is a schema of our name, and whether it bears our mark.
fn is_marked(client: &mut Client) -> Result<Option<bool>> {
    let sql = "SELECT coalesce(obj_description(oid, 'pg_namespace'), '') FROM pg_namespace WHERE \
               nspname = $1";
    let found =
        client.query(sql, &[Some(SCHEMA)]).map_err(failed_at("looking up Steelbench's schema"))?;
    Ok(found.first().map(|row| row.get(0) == Some(MARK)))
}

/// Drops the schema that a killed run has left in a database. Returns whether there was any.
pub(crate) fn drop_left(config: &Config) -> Result<bool> {
    let (config, cancel) = (config.clone().with_application_name(ADMIN), Cancel::new());
    let mut client = connect(&config, RECOVERY, &cancel)?;
    client.set_answer_timeout(Some(CLEANING));
    if is_marked(&mut client)? != Some(true) {
        return Ok(false);
    }
    take_again(&mut client, LEFT_MAX, &cancel)?;
    drop_schema(&mut client).map(|()| true)
}

/// Takes the schema, as it is, for this session. Fails when another session holds it for `held`.
pub fn take_again(client: &mut Client, held: Duration, cancel: &Cancel) -> Result<()> {
    let doing = "locking Steelbench's schema";
    let sql = format!("SELECT pg_try_advisory_lock({LOCK})");
    let taken = wait_for(held, cancel, || {
        let taken = client.cell(&sql).map_err(failed_at(doing))?;
        Ok(taken.filter(|taken| taken == "t"))
    })?;
    if taken.is_none() {
        return Err(EngineError::failed(doing, holder(client)));
    }
    client
        .batch(&format!("SET search_path = {}", quote_identifier(SCHEMA)))
        .map_err(failed_at(doing))
}

fn holder(client: &mut Client) -> String {
    // A key of 64 bits is shown in halves (pg_locks).
    let holder = "SELECT pid::text, coalesce(usename, '?') FROM pg_locks LEFT JOIN \
                  pg_stat_activity USING (pid) WHERE locktype = 'advisory' AND granted AND \
                  (classid::bigint << 32 | objid::bigint) = $1 AND database = (SELECT oid FROM \
                  pg_database WHERE datname = current_database())";
    let rows = client.query(holder, &[Some(&LOCK.to_string())]).unwrap_or_default();
    let who = rows
        .first()
        .and_then(|row| Some(format!(" (session {} of role {})", row.get(0)?, row.get(1)?)));
    let who = who.unwrap_or_default();
    format!("another run is using this database{who}; wait for it to end, or use another database")
}

/// Drops the schema and everything in it, once no session of a load is there any more: it could
/// hold locks for as long as its statement takes.
fn drop_schema(client: &mut Client) -> Result<()> {
    end_loads(client)?;
    let sql = format!("DROP SCHEMA IF EXISTS {} CASCADE", quote_identifier(SCHEMA));
    client.batch(&sql).map_err(failed_at(&format!("dropping schema {SCHEMA}")))
}

/// Ends load sessions: only the holder of the schema has loads in this database.
fn end_loads(client: &mut Client) -> Result<()> {
    let of_loads = "FROM pg_stat_activity WHERE application_name = $1 AND datname = \
                    current_database() AND usename = session_user";
    let (started, mut is_cancelled) = (Instant::now(), false);
    loop {
        let what = if !is_cancelled && started.elapsed() > ENDING {
            "pg_terminate_backend(pid)"
        } else {
            "pid"
        };
        is_cancelled |= what != "pid";
        let rows = client.query(&format!("SELECT {what} {of_loads}"), &[Some(LOAD)]);
        let rows = rows.map_err(failed_at("terminating the load's sessions"))?;
        // Sessions that do not end show in the locks that they hold.
        if rows.is_empty() || started.elapsed() > ENDED_MAX {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}
