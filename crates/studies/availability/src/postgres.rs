//! PostgreSQL: its log, and streaming replication
//! (<https://www.postgresql.org/docs/current/warm-standby.html>).

use crate::log::{Position, Replication};
use crate::pair::{FOLLOWS, open_session};
use engine::{Disturbance, EngineError, PrivateServer, ProgramNames, Result, failed_at, wait_for};
use observations::redacted_message;
use observe::child::{self, Capture};
use observe::run_marked;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use work::Cancel;

/// How its log is read, and how it replicates.
pub const REPLICATION: Replication = Replication {
    written: position("SELECT (pg_current_wal_lsn() - '0/0')::bigint"),
    applied: position("SELECT (pg_last_wal_replay_lsn() - '0/0')::bigint"),
    since_checkpoint: "SELECT (pg_current_wal_lsn() - redo_lsn)::bigint FROM \
                       pg_control_checkpoint()",
    own_settings: &["primary_conninfo", "synchronous_standby_names"],
    replicate,
    confirm,
    // It waits for its replicas by itself.
    hand_over: |primary, _, _| primary.disturb(Disturbance::ShutDown),
    promote,
};

const BASEBACKUP: ProgramNames =
    ProgramNames { names: &["pg_basebackup"], package: "postgresql-client" };
/// Name of the replica in the primary's list.
const REPLICA: &str = "steelbench_replica";
/// The time between two looks at a promotion.
const LOOK_EVERY: Duration = Duration::from_millis(2);
/// Lines of the log in errors.
const LOG_LINES: usize = 10;

/// Positions count over all files.
const fn position(sql: &'static str) -> Position {
    Position { sql, bytes: 0, file: None }
}

fn replicate(
    primary: &dyn PrivateServer,
    folder: &Path,
    cancel: &Cancel,
) -> Result<Box<dyn PrivateServer>> {
    let conninfo = conninfo(primary);
    let replica =
        primary.copy(folder, None, &|data| copy_data(primary, &conninfo, data, cancel))?;
    replica.start(&[("primary_conninfo", conninfo)], cancel)?;
    await_state(primary, "state = 'streaming'", cancel)?;
    Ok(replica)
}

fn confirm(primary: &dyn PrivateServer, _: &dyn PrivateServer, cancel: &Cancel) -> Result<()> {
    let doing = "setting synchronous_standby_names";
    let mut session = open_session(primary, cancel)?;
    let sql = format!("ALTER SYSTEM SET synchronous_standby_names = '{REPLICA}'");
    session.run(&sql).map_err(failed_at(doing))?;
    session.run("SELECT pg_reload_conf()").map_err(failed_at(doing))?;
    await_state(primary, "sync_state = 'sync'", cancel)
}

fn promote(replica: &dyn PrivateServer, cancel: &Cancel) -> Result<()> {
    let doing = "promoting the replica";
    let mut session = open_session(replica, cancel)?;
    // The function's own wait looks ten times a second only.
    session.run("SELECT pg_promote(false)").map_err(failed_at(doing))?;
    let started = Instant::now();
    while started.elapsed() < FOLLOWS {
        let recovers = session.cell("SELECT pg_is_in_recovery()").map_err(failed_at(doing))?;
        if recovers.as_deref() == Some("f") {
            return Ok(());
        }
        if cancel.is_cancelled() {
            return Err(EngineError::Cancelled);
        }
        std::thread::sleep(LOOK_EVERY);
    }
    Err(late(doing, "it did not accept writes", replica))
}

/// How a replica connects to its primary.
fn conninfo(primary: &dyn PrivateServer) -> String {
    let environment = primary.environment(None);
    let variable = |name: &str| {
        let found = environment.iter().find(|(variable, _)| variable == name);
        found.and_then(|(_, value)| value.clone()).unwrap_or_default()
    };
    let host = variable("PGHOST").replace('\\', "\\\\").replace('\'', "\\'");
    let (port, user) = (variable("PGPORT"), primary.facts().user);
    format!("host='{host}' port={port} user={user} application_name={REPLICA}")
}

/// Copies the data directory of a running primary, and marks the copy as a replica.
fn copy_data(
    primary: &dyn PrivateServer,
    conninfo: &str,
    data: &Path,
    cancel: &Cancel,
) -> Result<()> {
    let doing = "making a replica (the primary needs wal_level = replica and max_wal_senders of \
                 at least 3)";
    let program = primary.program(BASEBACKUP)?.path;
    if !program.exists() {
        let message =
            format!("{} is missing; install it, or use another bindir", program.display());
        return Err(EngineError::failed("making a replica", message));
    }
    let mut command = Command::new(&program);
    command.current_dir("/").env("LC_ALL", "C");
    child::set_variables(&mut command, &primary.environment(None));
    command.arg("--dbname").arg(conninfo).arg("--pgdata").arg(data);
    command.args(["--checkpoint=fast", "--wal-method=stream", "--no-sync", "--no-password"]);
    let received = Capture { stdout: true, stderr: true };
    let ended = run_marked(&mut command, [None, None, None], received, &|| cancel.is_cancelled());
    let ended = ended.map_err(|error| EngineError::failed(doing, error))?;
    if ended.stopped {
        return Err(EngineError::Cancelled);
    }
    if !ended.status.success() {
        let text = redacted_message(ended.stderr.text().trim());
        let message = format!("pg_basebackup ended with {}: {text}", ended.status);
        return Err(EngineError::failed(doing, message));
    }
    // The primary's own file would let the replica wait for itself.
    for name in ["postgresql.auto.conf", "standby.signal"] {
        let path = data.join(name);
        std::fs::write(&path, "").map_err(EngineError::at(&path))?;
    }
    Ok(())
}

/// Waits until the primary lists the replica in this state.
fn await_state(primary: &dyn PrivateServer, state: &str, cancel: &Cancel) -> Result<()> {
    let sql = format!(
        "SELECT count(*) FROM pg_stat_replication WHERE application_name = '{REPLICA}' AND {state}"
    );
    let mut session = open_session(primary, cancel)?;
    let found = wait_for(FOLLOWS, cancel, || {
        let count = session.cell(&sql).map_err(failed_at("looking for the replica"))?;
        Ok((count.as_deref() == Some("1")).then_some(()))
    })?;
    found.ok_or_else(|| late("attaching the replica", "it did not follow", primary))
}

fn late(doing: &str, what: &str, server: &dyn PrivateServer) -> EngineError {
    let (seconds, log) = (FOLLOWS.as_secs(), server.log_tail(LOG_LINES));
    EngineError::failed(doing, format!("{what} within {seconds} s; the log ends with:\n{log}"))
}
