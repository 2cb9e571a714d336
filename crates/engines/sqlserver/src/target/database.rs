//! Our database on a server: made by us, marked as ours, dropped by us. Nothing else of a server is
//! touched but the settings that the user permits us to change, of which the database holds a
//! record.

use super::failures::failed_at;
use super::layout::{DATABASE, DatabaseOption, Layout, UNMARKED};
use super::marks::{OWN_NAME, note, note_in};
use super::server::refuse_azure;
use super::server_settings::{apply, put_back};
use crate::dialect::{quote_literal, quote_name};
use crate::live::Config;
use crate::live::client::{Client, Error};
use crate::live::views;
use engine::view::ViewRows;
use engine::{EngineError, Result, Rows, View, lock};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use work::{Cancel, Stop};

/// The extended property that marks a database as made by us.
pub const MARK: &str = "made_by_steelbench";

/// How long making files and tables and filling them may take, and, when the trial was asked to
/// stop, cleaning up.
const PREPARING: Duration = Duration::from_secs(24 * 3600);
const STOPPING: Duration = Duration::from_secs(60);
/// How long an answer to a query beside a trial may take.
const ASKING: Duration = Duration::from_secs(30);

/// How long another run may hold the server: its session may be over and the server still believe
/// in it.
const HELD_MAX_MS: u32 = 20_000;

/// Error of the session that a deadlock ends, how often a database is dropped while that happens,
/// and how long the others get to end in between.
const DEADLOCK: u32 = 1205;
const DROPS_MAX: u32 = 5;
const BEFORE_NEXT_DROP: Duration = Duration::from_millis(200);

/// Where an error shows that a database cannot be looked up.
const LOOKING_UP: &str = "looking up Steelbench's database";

/// The database into which backups are restored.
pub const RESTORED: &str = "steelbench_restored";

/// The extended property of our database that marks the one of a restore.
const RESTORES_TO: &str = "steelbench restores to";

/// The connections of administration: one outside our database, which holds it, and one in it.
pub struct Database {
    config: Config,
    master: Mutex<Client>,
    inside: Mutex<Option<Client>>,
    /// Unreadable items with their reasons.
    unseen: Mutex<BTreeSet<String>>,
    cancel: Cancel,
}

/// Properties of a new database.
pub struct Properties<'a> {
    pub layout: &'a Layout,
    pub options: Vec<DatabaseOption>,
    pub settings: BTreeMap<String, i64>,
}

impl Database {
    /// Connects, and makes our database; one that a killed run has left goes first, with what that
    /// run has changed.
    ///
    /// # Errors
    /// When another run has it, when there is one that we did not make, or when we may not make one
    /// as it is wanted.
    pub fn take(config: &Config, request: &Properties<'_>, cancel: &Cancel) -> Result<Arc<Self>> {
        let mut master = connect(config, "master", &cancel.stop(), PREPARING)?;
        refuse_azure(&mut master)?;
        hold(&mut master)?;
        // A run that was killed may have left one, with its lock free.
        reclaim(&mut master)?;
        let folders =
            if request.layout.names_files() { folders(&mut master)? } else { Default::default() };
        let [data, log] = &folders;
        if let Err(error) = create(&mut master, &request.layout.create(data, log)) {
            drop(master);
            // Also when we are asked to stop.
            let again = connect(config, "master", &Stop::when(|| false), STOPPING);
            let dropped = again.and_then(|mut master| {
                hold(&mut master)?;
                reclaim(&mut master)
            });
            return Err(left(config, error, dropped));
        }
        let made = Self {
            config: config.clone(),
            master: Mutex::new(master),
            inside: Mutex::default(),
            unseen: Mutex::default(),
            cancel: cancel.clone(),
        };
        let set = made.set(request, &folders);
        match set {
            Ok(()) => Ok(Arc::new(made)),
            Err(error) => Err(left(config, error, made.drop_all())),
        }
    }

    fn set(&self, request: &Properties<'_>, [data, log]: &[String; 2]) -> Result<()> {
        let master = &mut *lock(&self.master);
        for option in &request.options {
            let DatabaseOption { setting, clause, column, value } = option;
            let sql = format!("ALTER DATABASE {OWN_NAME} SET {clause}");
            master.run(&sql).map_err(failed_at(setting))?;
            let got = master.cell(&views::database_option(column)).map_err(failed_at(setting))?;
            let got = got.unwrap_or_default();
            if got != *value {
                let (setting, value) = ((*setting).to_owned(), value.clone());
                return Err(EngineError::SettingIgnored { setting, expected: value, got });
            }
        }
        apply(master, &request.settings)?;
        let inside = connect(&self.config, DATABASE, &self.cancel.stop(), PREPARING)?;
        *lock(&self.inside) = Some(inside);
        if request.layout.names_files() {
            let files = self
                .view(&views::OWN_FILES)?
                .map_err(|why| EngineError::failed("reading back the files", why))?;
            request.layout.verify(&files, data, log)?;
        }
        Ok(())
    }

    /// Does some work with the connection in our database.
    pub fn ask<T>(&self, work: impl FnOnce(&mut Client) -> Result<T>) -> Result<T> {
        if self.cancel.is_cancelled() {
            return Err(EngineError::Cancelled);
        }
        work(lock(&self.inside).as_mut().ok_or_else(|| {
            EngineError::failed("querying the server", "Steelbench's database is gone")
        })?)
    }

    /// Runs a statement.
    pub fn run(&self, doing: &str, sql: &str) -> Result<()> {
        self.ask(|client| client.run(sql).map_err(failed_at(doing)))
    }

    /// The rows of a view, or why there are none.
    pub fn view(&self, view: &View) -> Result<ViewRows> {
        self.ask(|client| client.view(view).map_err(failed_at(view.name)))
    }

    /// The rows of a view for `what`; where there are none, the reason is kept for
    /// [`Self::unseen`].
    pub fn look(&self, what: &str, view: &View) -> Result<Option<Rows>> {
        Ok(self
            .view(view)?
            .map_err(|why| lock(&self.unseen).insert(format!("{what}: {why}.")))
            .ok())
    }

    /// Returns the unreadable items so far with their reasons, one sentence each.
    pub fn unseen(&self) -> impl Iterator<Item = String> {
        std::mem::take(&mut *lock(&self.unseen)).into_iter()
    }

    /// A further session in our database.
    pub fn connect(&self) -> Result<Client> {
        connect(&self.config, DATABASE, &self.cancel.stop(), ASKING)
    }

    /// A further session in a database, for as long as a backup or its restore may take.
    pub fn session(&self, database: &str) -> Result<Client> {
        connect(&self.config, database, &self.cancel.stop(), PREPARING)
    }

    /// Puts back what was changed on the server and drops the database, also when the trial was
    /// asked to stop or a connection is of no use any more: a new one does it.
    pub fn drop_all(&self) -> Result<()> {
        *lock(&self.inside) = None;
        let mut master = lock(&self.master);
        if !self.cancel.is_cancelled() && master.cell("SELECT 1 AS ready").is_ok() {
            match reclaim(&mut master) {
                // Asked to stop only now: try once more, but not for as long.
                Err(EngineError::Cancelled) => {}
                dropped => return dropped.map_err(|error| remains(&self.config, &error)),
            }
        }
        let again = connect(&self.config, "master", &Stop::when(|| false), STOPPING);
        again
            .and_then(|again| {
                *master = again;
                reclaim(&mut master)
            })
            .map_err(|error| remains(&self.config, &error))
    }
}

/// The error of a trial that could not begin, with what is left of its database.
fn left(config: &Config, error: EngineError, dropped: Result<()>) -> EngineError {
    match (error, dropped) {
        (error, Ok(())) => error,
        (EngineError::Cancelled, Err(why @ EngineError::Remains { .. })) => why,
        (EngineError::Cancelled, Err(why)) => remains(config, &why),
        (error, Err(why)) => EngineError::failed(error.to_string(), why),
    }
}

/// Names our database as one that could not be dropped.
fn remains(config: &Config, why: &EngineError) -> EngineError {
    EngineError::Remains {
        what: format!("database {DATABASE} on {}", config.host),
        why: why.to_string(),
    }
}

/// Makes our database under a name that marks it, marks it and gives it its own name.
fn create(master: &mut Client, sql: &str) -> Result<()> {
    let (unmarked, name) = (quote_name(UNMARKED), quote_name(DATABASE));
    let mark = note_in(&unmarked, MARK, "dropped with everything in it");
    let rename = format!("ALTER DATABASE {unmarked} MODIFY NAME = {name}");
    [sql, &mark, &rename].iter().try_for_each(|sql| master.run(sql).map_err(failed_at(&creating())))
}

/// Drops our database, if there is one, after restoring the settings in its record.
fn reclaim(master: &mut Client) -> Result<()> {
    match is_marked(master)? {
        Some(false) => Err(EngineError::failed(creating(), IS_FOREIGN)),
        Some(true) => {
            put_back(master)?;
            drop_restored(master)?;
            drop_database(master, DATABASE)
        }
        None => Ok(()),
    }?;
    if !exists(master, UNMARKED)? {
        return Ok(());
    }
    // Steelbench has put nothing in it yet.
    let sql = format!("SELECT COUNT(*) AS tables FROM {}.sys.tables", quote_name(UNMARKED));
    match master.cell(&sql).map_err(failed_at(&sql))?.as_deref() {
        Some("0") => drop_database(master, UNMARKED),
        _ => Err(EngineError::failed(format!("dropping database {UNMARKED}"), IS_FOREIGN)),
    }
}

fn creating() -> String {
    format!("creating database {DATABASE}")
}

/// Why a database of that name is in the way.
pub const IS_FOREIGN: &str = "it already exists and Steelbench did not create it; rename it, or \
                              use another server";

/// Connects for administration, to a database.
fn connect(config: &Config, database: &str, stop: &Stop, patience: Duration) -> Result<Client> {
    let config = Config { database: database.into(), reads_only: false, ..config.clone() };
    let connected = Client::connect(&config, stop, Duration::ZERO);
    let mut client = connected.map_err(|error| match error {
        Error::Connection(message) => {
            let advice = Error::Connection(message.clone()).advice().unwrap_or_default();
            EngineError::Unreachable { message: format!("{}: {message}. {advice}", config.host) }
        }
        error => failed_at("connecting")(error),
    })?;
    client.set_patience(patience);
    Ok(client)
}

/// Takes the lock for this session: two runs cannot measure on one server.
fn hold(master: &mut Client) -> Result<()> {
    let doing = "locking Steelbench's database";
    let sql = format!(
        "DECLARE @got int; EXEC @got = sp_getapplock @Resource = N'{DATABASE}', @LockMode = \
         N'Exclusive', @LockOwner = N'Session', @LockTimeout = {HELD_MAX_MS}; SELECT @got AS got"
    );
    let got = master.cell(&sql).map_err(failed_at(doing))?.and_then(|got| got.parse::<i32>().ok());
    let held = "another run is using this server; wait for it to end, or use another server";
    if got.is_some_and(|got| got >= 0) { Ok(()) } else { Err(EngineError::failed(doing, held)) }
}

/// Returns whether a database of that name exists, and whether it bears our mark.
pub fn is_marked(master: &mut Client) -> Result<Option<bool>> {
    if !exists(master, DATABASE)? {
        return Ok(None);
    }
    let marks = master.query(&views::MARKS.sql()).map_err(failed_at(LOOKING_UP))?;
    Ok(Some(marks.iter().any(|mark| mark.get("name") == Some(MARK))))
}

/// Marks the database of a restore as ours, in our own: until it is restored it can hold no mark.
///
/// # Errors
/// When there is one that we did not make.
pub fn mark_restored(master: &mut Client) -> Result<()> {
    if is_restored_marked(master)? {
        return Ok(());
    }
    if exists(master, RESTORED)? {
        return Err(EngineError::failed(format!("creating database {RESTORED}"), IS_FOREIGN));
    }
    note(master, RESTORES_TO, RESTORED).map_err(failed_at("marking the database of a restore"))
}

/// Drops the database of a restore, if it is marked as ours and exists.
pub fn drop_restored(master: &mut Client) -> Result<()> {
    if is_restored_marked(master)? && exists(master, RESTORED)? {
        return drop_database(master, RESTORED);
    }
    Ok(())
}

fn is_restored_marked(master: &mut Client) -> Result<bool> {
    let marks = master.query(&views::MARKS.sql()).map_err(failed_at(LOOKING_UP))?;
    Ok(marks.iter().any(|mark| mark.get("name") == Some(RESTORES_TO)))
}

/// Returns whether a database of that name exists.
pub fn exists(master: &mut Client, name: &str) -> Result<bool> {
    let sql = format!("SELECT CAST(DB_ID({}) AS int) AS id", quote_literal(name));
    Ok(master.cell(&sql).map_err(failed_at(LOOKING_UP))?.is_some())
}

/// The folders where the server puts data files and logs.
fn folders(master: &mut Client) -> Result<[String; 2]> {
    let mut folder = |property: &str| {
        let sql = format!("SELECT CAST(SERVERPROPERTY(N'{property}') AS nvarchar(260)) AS folder");
        let folder =
            master.cell(&sql).map_err(failed_at("reading the server's default folders"))?;
        Ok::<_, EngineError>(folder.unwrap_or_default())
    };
    Ok([folder("InstanceDefaultDataPath")?, folder("InstanceDefaultLogPath")?])
}

/// Drops a database and everything in it; sessions in it are ended.
fn drop_database(master: &mut Client, name: &str) -> Result<()> {
    let doing = format!("dropping database {name}");
    let name = quote_name(name);
    for attempt in 1..=DROPS_MAX {
        match master.run(&format!("ALTER DATABASE {name} SET SINGLE_USER WITH ROLLBACK IMMEDIATE"))
        {
            // Whatever keeps it from that shows when it is dropped.
            Ok(()) | Err(Error::Server { .. }) => {}
            Err(error) => return Err(failed_at(&doing)(error)),
        }
        match master.run(&format!("DROP DATABASE {name}")) {
            Err(Error::Server { number: DEADLOCK, .. }) if attempt < DROPS_MAX => {
                std::thread::sleep(BEFORE_NEXT_DROP);
            }
            dropped => return dropped.map_err(failed_at(&doing)),
        }
    }
    Ok(())
}
