//! MariaDB: its log, and replication by global transaction identifiers
//! (<https://mariadb.com/kb/en/gtid/>,
//! <https://mariadb.com/kb/en/semisynchronous-replication/>).
//!
//! A replica reaches its primary by TCP only. The primary then listens on 127.0.0.1, where it knows
//! one account: that of the replica, with a random password.

use crate::log::{Position, Replication};
use crate::pair::{FOLLOWS, open_session};
use engine::{
    AdminSession, Disturbance, EngineError, PrivateServer, Result, Rows, failed_at, wait_for,
};
use std::fs::File;
use std::io::Read as _;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use work::Cancel;

/// How its log is read, and how it replicates.
#[rustfmt::skip]
pub const REPLICATION: Replication = Replication {
    written: Position { sql: "SHOW MASTER STATUS", bytes: 1, file: Some(0) },
    // Relay_Master_Log_File, Exec_Master_Log_Pos.
    applied: Position { sql: "SHOW SLAVE STATUS", bytes: 21, file: Some(9) },
    since_checkpoint: "SELECT variable_value FROM information_schema.global_status WHERE \
                       variable_name = 'INNODB_CHECKPOINT_AGE'",
    own_settings: &[
        "log_bin", "log_slave_updates", "read_only", "rpl_semi_sync_master_enabled",
        "rpl_semi_sync_slave_enabled", "server_id", "skip_name_resolve",
    ],
    replicate,
    confirm,
    hand_over,
    promote,
};

/// Account of the replica.
const ACCOUNT: &str = "steelbench_replica";
/// Bytes of its password.
const PASSWORD_BYTES: usize = 24;
const RANDOM: &str = "/dev/urandom";
/// The redo log in its folder (<https://mariadb.com/kb/en/innodb-redo-log/>).
const REDO_LOG: &str = "ib_logfile0";

fn replicate(
    primary: &dyn PrivateServer,
    folder: &Path,
    cancel: &Cancel,
) -> Result<Box<dyn PrivateServer>> {
    let mut session = open_session(primary, cancel)?;
    if session.server().product != "MariaDB" {
        return Err(EngineError::Unsupported { engine: "mysql", what: "replicas" });
    }
    let password = random_password()?;
    admit_replica(&mut *session, &password)?;
    primary.disturb(Disturbance::ShutDown)?;
    let facts = primary.facts();
    let replica = primary.copy(folder, Some(&facts.data_directory), &|data| {
        let Some(log) = &facts.log_directory else { return Ok(()) };
        let redo_log = data.join(REDO_LOG);
        let copied = std::fs::copy(log.join(REDO_LOG), &redo_log);
        copied.map(drop).map_err(EngineError::at(&redo_log))
    })?;
    let port = free_port()?;
    primary.start(&of_primary(port), cancel)?;
    replica.start(&of_replica(), cancel)?;
    let host = Ipv4Addr::LOCALHOST;
    let follow = format!(
        "CHANGE MASTER TO MASTER_HOST = '{host}', MASTER_PORT = {port}, MASTER_USER = \
         '{ACCOUNT}', MASTER_PASSWORD = '{password}', MASTER_USE_GTID = slave_pos, \
         MASTER_CONNECT_RETRY = 1"
    );
    let mut session = open_session(&*replica, cancel)?;
    session.run(&follow).map_err(failed_at("naming the primary of a replica"))?;
    start_following(&mut *session, cancel)?;
    Ok(replica)
}

fn confirm(
    primary: &dyn PrivateServer,
    replica: &dyn PrivateServer,
    cancel: &Cancel,
) -> Result<()> {
    let doing = "turning semi-synchronous replication on";
    let (mut session, mut other) = (open_session(primary, cancel)?, open_session(replica, cancel)?);
    session.run("SET GLOBAL rpl_semi_sync_master_enabled = ON").map_err(failed_at(doing))?;
    // A replica asks for it when it connects.
    let again = "SET GLOBAL rpl_semi_sync_slave_enabled = ON; STOP SLAVE";
    other.run(again).map_err(failed_at(doing))?;
    start_following(&mut *other, cancel)?;
    let sql = "SELECT variable_value FROM information_schema.global_status WHERE variable_name = \
               'RPL_SEMI_SYNC_MASTER_CLIENTS'";
    let found = wait_for(FOLLOWS, cancel, || {
        let clients = session.cell(sql).map_err(failed_at(doing))?;
        Ok((clients.as_deref() == Some("1")).then_some(()))
    })?;
    found.ok_or_else(|| late(doing, "the replica does not confirm", &mut *other))
}

/// Shuts the primary down once its replica has received all of its log.
fn hand_over(
    primary: &dyn PrivateServer,
    replica: &dyn PrivateServer,
    cancel: &Cancel,
) -> Result<()> {
    let doing = "shutting the primary down";
    let sql = "SHUTDOWN WAIT FOR ALL SLAVES";
    open_session(primary, cancel)?.run(sql).map_err(failed_at(doing))?;
    primary.disturb(Disturbance::ShutDown)?;
    // Until then bytes may be on their way.
    let mut session = open_session(replica, cancel)?;
    let lost = wait_for(FOLLOWS, cancel, || {
        let status = status(&mut *session)?;
        Ok((value(&status, "Slave_IO_Running") != Some("Yes")).then_some(()))
    })?;
    lost.ok_or_else(|| late(doing, "the replica still reads from it", &mut *session))
}

fn promote(replica: &dyn PrivateServer, cancel: &Cancel) -> Result<()> {
    let doing = "promoting the replica";
    let mut session = open_session(replica, cancel)?;
    // A semi-synchronous one would ask the primary, which may not answer, to end its session.
    let stop = "SET GLOBAL rpl_semi_sync_slave_enabled = OFF; STOP SLAVE IO_THREAD";
    session.run(stop).map_err(failed_at(doing))?;
    // It has applied what it received.
    let status = status(&mut *session)?;
    let received = value(&status, "Gtid_IO_Pos").unwrap_or_default();
    let wait = format!("SELECT MASTER_GTID_WAIT('{received}', {})", FOLLOWS.as_secs());
    if session.cell(&wait).map_err(failed_at(doing))?.as_deref() != Some("0") {
        return Err(late(doing, "it did not apply all that it received", &mut *session));
    }
    let free = "STOP SLAVE; RESET SLAVE ALL; SET GLOBAL read_only = OFF";
    session.run(free).map(drop).map_err(failed_at(doing))
}

/// Settings of the primary, which listens for its replica.
fn of_primary(port: u16) -> [(&'static str, String); 6] {
    [
        ("server_id", "1".into()),
        ("log_bin", "ON".into()),
        ("skip_networking", "OFF".into()),
        ("bind_address", Ipv4Addr::LOCALHOST.to_string()),
        ("port", port.to_string()),
        // With names 127.0.0.1 would be localhost, where the superuser needs no password.
        ("skip_name_resolve", "ON".into()),
    ]
}

/// Settings of the replica.
fn of_replica() -> [(&'static str, String); 4] {
    [("server_id", "2"), ("log_bin", "ON"), ("log_slave_updates", "ON"), ("read_only", "ON")]
        .map(|(name, value)| (name, value.to_owned()))
}

/// Makes the replica's account, and drops all others that could come by TCP.
fn admit_replica(session: &mut dyn AdminSession, password: &str) -> Result<()> {
    let doing = "making the account of the replica";
    let others = "SELECT CONCAT(QUOTE(user), '@', QUOTE(host)) FROM mysql.global_priv WHERE host \
                  <> 'localhost'";
    for row in session.query(others).map_err(failed_at(doing))?.iter() {
        session.run(&format!("DROP USER {}", row.text(0))).map_err(failed_at(doing))?;
    }
    let account = format!("{ACCOUNT}@'{}'", Ipv4Addr::LOCALHOST);
    let sql = format!(
        "CREATE USER {account} IDENTIFIED BY '{password}'; GRANT REPLICATION SLAVE ON *.* TO \
         {account}"
    );
    session.run(&sql).map(drop).map_err(failed_at(doing))
}

/// A password that no other user can guess, of hexadecimal digits.
fn random_password() -> Result<String> {
    let path = Path::new(RANDOM);
    let mut bytes = [0; PASSWORD_BYTES];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut bytes));
    read.map_err(EngineError::at(path))?;
    Ok(bytes.map(|byte| format!("{byte:02x}")).concat())
}

/// A port that no process of this machine listens at.
fn free_port() -> Result<u16> {
    let found =
        TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
    found
        .map(|address| address.port())
        .map_err(|error| EngineError::failed("finding a free port", error))
}

/// Starts the threads of a replica, and waits until both run.
fn start_following(session: &mut dyn AdminSession, cancel: &Cancel) -> Result<()> {
    let doing = "attaching the replica";
    session.run("START SLAVE").map_err(failed_at(doing))?;
    let found = wait_for(FOLLOWS, cancel, || {
        let status = status(session)?;
        let mut threads = ["Slave_IO_Running", "Slave_SQL_Running"].into_iter();
        match refusal(&status) {
            Some(why) => Err(EngineError::failed(doing, why)),
            None => Ok(threads.all(|name| value(&status, name) == Some("Yes")).then_some(())),
        }
    })?;
    found.ok_or_else(|| late(doing, "it did not follow", session))
}

/// The state of a replica, a column for each of the server's names.
fn status(session: &mut dyn AdminSession) -> Result<Rows> {
    let sql = "SHOW SLAVE STATUS";
    session.query(sql).map_err(failed_at(sql))
}

fn value<'s>(status: &'s Rows, name: &str) -> Option<&'s str> {
    status.first()?.get(name)
}

/// The error of the thread that reads from the primary, or of the one that applies.
fn refusal(status: &Rows) -> Option<String> {
    let errors = ["Last_IO_Error", "Last_SQL_Error"].map(|name| value(status, name));
    errors.into_iter().flatten().find(|error| !error.is_empty()).map(str::to_owned)
}

fn late(doing: &str, what: &str, session: &mut dyn AdminSession) -> EngineError {
    let why = status(session).ok().as_ref().and_then(refusal);
    let why = why.map(|reason| format!(": {reason}")).unwrap_or_default();
    EngineError::failed(doing, format!("{what} within {} s{why}", FOLLOWS.as_secs()))
}
