//! The connection of administration, and the database that it holds: made by us, marked as ours,
//! dropped by us. Nothing else of a server is touched.

use super::errors::failed_at;
use crate::client::{Client, Config, quote_identifier};
use engine::{EngineError, Result, Row, lock, wait_for};
use servers::administration::{Administration, KEEPING, SCHEMA};
use std::sync::Mutex;
use std::time::Duration;
use work::Cancel;

/// Name of the database.
pub const DATABASE: &str = SCHEMA;

/// The table that marks a database as made by us.
pub const MARK: &str = "made_by_steelbench";

/// Comment of the database, which marks it before that table is there (MariaDB 10.5 and later).
const COMMENT: &str = "made by steelbench";

/// The collation until the table is there, which marks it on servers whose databases have no
/// comments: that of a language which no default has.
const UNFINISHED: &str = "utf8mb4_esperanto_ci";

/// The reason why a database of that name is in the way.
pub(crate) const IS_FOREIGN: &str =
    "already exists and Steelbench did not create it; rename it, or use another server";

/// Name of the lock that a run in the database holds.
const LOCK: &str = "steelbench";

/// The seconds that a session of a load may hold a table that is to be put back.
const LOCK_MAX_S: u32 = 10;

/// The time that the database may be held by a session that is over but that the server still
/// believes in.
pub(crate) const HELD_MAX: Duration = Duration::from_secs(20);

/// The time that the session of a killed run may take to end.
const LEFT_MAX: Duration = Duration::from_secs(3);

/// The time that the server may take for each step of cleaning up, and when the trial was asked to
/// stop.
const CLEANING: Duration = Duration::from_secs(300);
const STOPPING: Duration = Duration::from_secs(10);

/// The time that sessions of a load may take to end by themselves, and when they are killed.
const ENDING: Duration = Duration::from_millis(250);
const ENDED_MAX: Duration = Duration::from_secs(10);

/// `ER_NO_SUCH_THREAD`: it has ended.
const NO_SUCH_THREAD: u16 = 1094;

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
        let admin = Self::hold_server(config, cancel)?;
        // It may be left by a run that was killed: its lock is free.
        admin.ask(drop_database)?;
        admin.create().inspect_err(|_| drop(admin.drop_all()))?;
        Ok(admin)
    }

    fn move_to(&self, config: &Config) -> Result<()> {
        self.adopt(&Self::take(config, &self.cancel)?);
        Ok(())
    }

    fn run(&self, doing: &str, sql: &str) -> Result<()> {
        self.ask(|client| client.run(sql).map_err(failed_at(doing)))
    }

    /// `FLUSH TABLES ... FOR EXPORT` waits until the pages are written
    /// (<https://mariadb.com/kb/en/flush-tables-for-export/>).
    fn checkpoint(&self) -> Result<()> {
        let doing = "final checkpoint";
        let tables: Vec<String> =
            self.tables()?.iter().map(|name| quote_identifier(name)).collect();
        self.run(doing, &format!("FLUSH TABLES {} FOR EXPORT; UNLOCK TABLES", tables.join(", ")))
    }

    /// By one statement (<https://mariadb.com/kb/en/rename-table/>).
    fn move_tables(&self, tables: &[&str], from: &str, to: &str) -> Result<()> {
        let [from, to] = [from, to].map(quote_identifier);
        let all: Vec<String> = tables
            .iter()
            .map(|name| format!("{from}.{0} TO {to}.{0}", quote_identifier(name)))
            .collect();
        let sql = format!(
            "SET lock_wait_timeout = {LOCK_MAX_S}; RENAME TABLE {}; SET lock_wait_timeout = \
             DEFAULT",
            all.join(", ")
        );
        self.run(KEEPING, &sql)
    }
}

impl Admin {
    fn hold_server(config: &Config, cancel: &Cancel) -> Result<Self> {
        let mut client = connect(config, cancel)?;
        hold(&mut client, HELD_MAX, cancel)?;
        Ok(Self { config: config.clone(), client: Mutex::new(client), cancel: cancel.clone() })
    }

    /// Makes the database. The statement that does so marks it.
    fn create(&self) -> Result<()> {
        let (name, doing) = (quote_identifier(DATABASE), format!("creating database {DATABASE}"));
        let sql = format!(
            "CREATE DATABASE {name} CHARACTER SET utf8mb4 COLLATE {UNFINISHED} /*M!100500 COMMENT \
             '{COMMENT}' */"
        );
        self.run(&doing, &sql)?;
        // Strings are ordered by their bytes, regardless of the server's default.
        let sql = format!(
            "USE {name}; CREATE TABLE {MARK} (dropped_with_everything_in_it int); ALTER DATABASE \
             {name} COLLATE utf8mb4_bin"
        );
        self.run(&doing, &sql)
    }

    /// Connects, and takes our database as it is.
    pub fn take_again(config: &Config, cancel: &Cancel) -> Result<Self> {
        let admin = Self::hold_server(config, cancel)?;
        let sql = format!("USE {}", quote_identifier(DATABASE));
        admin.run(&sql, &sql)?;
        Ok(admin)
    }

    /// Connects again, to a server that may have a new place.
    pub fn reconnect(&self, config: &Config) -> Result<()> {
        self.adopt(&Self::take_again(config, &self.cancel)?);
        Ok(())
    }

    fn adopt(&self, other: &Self) {
        std::mem::swap(&mut *lock(&self.client), &mut *lock(&other.client));
    }

    /// The names of the tables in our database.
    pub fn tables(&self) -> Result<Vec<String>> {
        let sql = format!(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = '{DATABASE}' \
             AND engine = 'InnoDB'"
        );
        let rows = self.ask(|client| {
            client.query(&sql).map_err(failed_at("looking up Steelbench's tables"))
        })?;
        Ok(rows.iter().map(|row| row.text(0)).collect())
    }

    /// Does some work with the connection.
    pub fn ask<T>(&self, work: impl FnOnce(&mut Client) -> Result<T>) -> Result<T> {
        if self.cancel.is_cancelled() {
            return Err(EngineError::Cancelled);
        }
        work(&mut lock(&self.client))
    }

    /// Drops the database, also when the trial was asked to stop and the connection is of no use
    /// any more: a new one does it, which first kills what was left at work. Then a server that
    /// is silent has little time.
    pub fn drop_all(&self) -> Result<()> {
        let mut client = lock(&self.client);
        let is_cancelled = self.cancel.is_cancelled();
        let at_most = if is_cancelled { STOPPING } else { CLEANING };
        client.set_answer_timeout(Some(at_most));
        if is_cancelled || client.run("DO 0").is_err() {
            let config = self.config.clone().with_timeout(STOPPING);
            *client = if is_cancelled {
                Client::connect(&config).map_err(failed_at("cleaning up"))?
            } else {
                connect(&config, &self.cancel)?
            };
            client.set_answer_timeout(Some(at_most));
        }
        drop_database(&mut client)
    }
}

fn connect(config: &Config, cancel: &Cancel) -> Result<Client> {
    Client::connect_until(config, &cancel.stop()).map_err(failed_at("connecting"))
}

/// Takes the lock for this session: two runs cannot measure on one server.
pub fn hold(client: &mut Client, held: Duration, cancel: &Cancel) -> Result<()> {
    let doing = "locking Steelbench's database";
    let taken = wait_for(held, cancel, || {
        let taken =
            client.cell(&format!("SELECT get_lock('{LOCK}', 0)")).map_err(failed_at(doing))?;
        Ok(taken.filter(|taken| taken == "1"))
    })?;
    let held = "another run is using this server; wait for it to end, or use another server";
    taken.map(drop).ok_or_else(|| EngineError::failed(doing, held))
}

/// Drops the database that a killed run has left on a server. Returns whether there was any.
pub(crate) fn drop_left(config: &Config) -> Result<bool> {
    let cancel = Cancel::new();
    let mut client = connect(config, &cancel)?;
    client.set_answer_timeout(Some(CLEANING));
    if is_marked(&mut client)? != Some(true) {
        return Ok(false);
    }
    hold(&mut client, LEFT_MAX, &cancel)?;
    drop_database(&mut client).map(|()| true)
}

/// Returns whether a database of that name exists, and whether it bears our mark: the table, or,
/// while it is empty, what the statement that creates it says.
pub(crate) fn is_marked(client: &mut Client) -> Result<Option<bool>> {
    let tables = "FROM information_schema.tables WHERE table_schema = schema_name";
    let sql = format!(
        "SELECT EXISTS (SELECT 1 {tables} AND table_name = '{MARK}') OR (default_collation_name = \
         '{UNFINISHED}' AND NOT EXISTS (SELECT 1 {tables}) AND {}) FROM \
         information_schema.schemata WHERE schema_name = '{DATABASE}'",
        if has_comments(client) { format!("schema_comment = '{COMMENT}'") } else { "TRUE".into() }
    );
    let found = client.cell(&sql).map_err(failed_at("looking up Steelbench's database"))?;
    Ok(found.map(|marks| marks == "1"))
}

/// Returns whether databases have comments.
fn has_comments(client: &mut Client) -> bool {
    client.cell("SELECT max(schema_comment) FROM information_schema.schemata").is_ok()
}

/// Drops the database and everything in it, once no session of a load is there any more: it could
/// hold locks for as long as its statement takes. Fails where one is there that is not ours.
fn drop_database(client: &mut Client) -> Result<()> {
    match is_marked(client)? {
        None => return Ok(()),
        Some(false) => {
            let doing = format!("creating database {DATABASE}");
            return Err(EngineError::failed(doing, format!("it {IS_FOREIGN}")));
        }
        Some(true) => {}
    }
    let doing = "terminating the load's sessions";
    let (mut looks, waits, connection_id) =
        (0, [ENDING, ENDED_MAX], client.connection_id().to_string());
    for at_most in waits {
        let gone = wait_for(at_most, &Cancel::new(), || {
            // For the table of the same name MySQL makes a temporary one, for which a full disk has
            // no room.
            let all = client.query("SHOW PROCESSLIST").map_err(failed_at(doing))?;
            let in_it = all
                .iter()
                .map(Row::texts::<4>)
                .filter(|[id, _, _, database]| database == DATABASE && *id != connection_id);
            let sessions: Vec<String> = in_it.map(|[id, ..]| id).collect();
            for session in sessions.iter().filter(|_| looks > 0) {
                match client.run(&format!("KILL {session}")) {
                    Err(error) if error.code() != Some(NO_SUCH_THREAD) => {
                        return Err(failed_at(doing)(error));
                    }
                    _ => {}
                }
            }
            Ok(sessions.is_empty().then_some(()))
        })?;
        if gone.is_some() {
            break;
        }
        looks += 1;
    }
    // Sessions that do not end show in the locks that they hold.
    let sql = format!("DROP DATABASE IF EXISTS {}", quote_identifier(DATABASE));
    client.run(&sql).map_err(failed_at(&format!("dropping database {DATABASE}")))
}
