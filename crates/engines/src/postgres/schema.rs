//! The schema that we work in: made by us, marked as ours, dropped by us. Nothing else of a database
//! is touched.

use super::failure;
use crate::{Cancel, EngineError};
use pgclient::{Client, quote_identifier, quote_literal};
use std::time::{Duration, Instant};

/// Its name; on the search path of a load's connections.
pub const SCHEMA: &str = "steelbench";

/// Comment that marks a schema as made by us.
const MARK: &str = "made by steelbench; dropped with everything in it";

/// Key of the advisory lock that says that a run works in the schema: the name's first letters.
const LOCK: i64 = i64::from_be_bytes(*b"steelben");

/// How long the schema may be held by a session that is over but that the server still believes in,
/// until it asks: see `patient` in `host`.
const HELD_MAX: Duration = Duration::from_secs(20);

/// Between two attempts to take it.
const TRY_EVERY: Duration = Duration::from_millis(100);

/// How long sessions of a load may take to end by themselves, and when they are ended.
const ENDING: Duration = Duration::from_millis(250);
const ENDED_MAX: Duration = Duration::from_secs(10);

/// What the sessions of loads call themselves.
pub const LOAD: &str = "steelbench load";

/// Takes the schema for this session and empties it. The session that did so keeps it until it
/// ends: two runs cannot measure in one database.
///
/// # Errors
/// When another run has it, when there is a schema of that name that we did not make, or when the
/// role may not make one.
pub fn take(client: &mut Client, cancel: &Cancel) -> Result<(), EngineError> {
    take_again(client, cancel)?;
    let found = client
        .query(
            "SELECT coalesce(obj_description(oid, 'pg_namespace'), '') FROM pg_namespace WHERE nspname = $1",
            &[Some(SCHEMA)],
        )
        .map_err(|error| failure::of_client("looking for our schema", &error))?;
    match found.first().map(|row| row.get(0) == Some(MARK)) {
        Some(false) => Err(EngineError::Engine {
            doing: format!("creating schema {SCHEMA}"),
            message: "there is one that Steelbench did not make, and it is not touched; \
                      rename it, or use another database"
                .into(),
        }),
        // A run that was killed has left it: nobody holds its lock.
        Some(true) => {
            drop_all(client)?;
            create(client)
        }
        None => create(client),
    }
}

/// Takes the schema, as it is, for this session.
///
/// # Errors
/// When another session has it.
pub fn take_again(client: &mut Client, cancel: &Cancel) -> Result<(), EngineError> {
    let failed = |error| failure::of_client("taking our schema", &error);
    let started = Instant::now();
    loop {
        let lock = client.query("SELECT pg_try_advisory_lock($1::bigint)", &[Some(&LOCK.to_string())]);
        if lock.map_err(failed)?.first().and_then(|row| row.get(0)) == Some("t") {
            break;
        }
        if cancel.is_cancelled() {
            return Err(EngineError::Cancelled);
        }
        if started.elapsed() > HELD_MAX {
            return Err(EngineError::Engine { doing: "taking our schema".into(), message: held(client) });
        }
        std::thread::sleep(TRY_EVERY);
    }
    client.batch(&format!("SET search_path = {}", quote_identifier(SCHEMA))).map_err(failed)
}

/// Says who has the schema.
fn held(client: &mut Client) -> String {
    // A key of 64 bits is shown in halves (pg_locks).
    let holder = "SELECT pid::text, coalesce(usename, '?') FROM pg_locks LEFT JOIN pg_stat_activity USING (pid) \
                  WHERE locktype = 'advisory' AND granted AND (classid::bigint << 32 | objid::bigint) = $1 \
                  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    let rows = client.query(holder, &[Some(&LOCK.to_string())]).unwrap_or_default();
    let who =
        rows.first().and_then(|row| Some(format!(" (session {} of role {})", row.get(0)?, row.get(1)?)));
    let who = who.unwrap_or_default();
    format!("another run works in this database{who}; wait for it, or use another database")
}

fn create(client: &mut Client) -> Result<(), EngineError> {
    let name = quote_identifier(SCHEMA);
    let sql = format!("CREATE SCHEMA {name}; COMMENT ON SCHEMA {name} IS {}", quote_literal(MARK));
    client.batch(&sql).map_err(|error| failure::of_client(&format!("creating schema {SCHEMA}"), &error))
}

/// Drops the schema and everything in it, once no session of a load is there any more: it could hold
/// locks for as long as its statement takes.
///
/// # Errors
/// When the server refuses.
pub fn drop_all(client: &mut Client) -> Result<(), EngineError> {
    end_loads(client)?;
    client
        .batch(&format!("DROP SCHEMA IF EXISTS {} CASCADE", quote_identifier(SCHEMA)))
        .map_err(|error| failure::of_client(&format!("dropping schema {SCHEMA}"), &error))
}

/// Who holds the schema is the only one with loads in this database.
fn end_loads(client: &mut Client) -> Result<(), EngineError> {
    let of_loads = "FROM pg_stat_activity WHERE application_name = $1 AND datname = current_database() \
                    AND usename = session_user";
    let (started, mut told) = (Instant::now(), false);
    loop {
        let what = if !told && started.elapsed() > ENDING { "pg_terminate_backend(pid)" } else { "pid" };
        told |= what != "pid";
        let rows = client
            .query(&format!("SELECT {what} {of_loads}"), &[Some(LOAD)])
            .map_err(|error| failure::of_client("ending the load's sessions", &error))?;
        // What does not end shows in the locks that it holds.
        if rows.is_empty() || started.elapsed() > ENDED_MAX {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}
