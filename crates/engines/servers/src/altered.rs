//! Settings of servers by URL that are changed where the user permits it, and put back.
//!
//! Their original values are written to a record in our folder for persistent data before any
//! change. They are restored from it when the run ends, or after a kill by the next run on that
//! server, for any experiment and results file. How a server is changed is its engine's.

use crate::command;
use crate::hosted::{Client, Config, Hosted, ServerEngine};
use crate::owner::Owner;
use crate::private::{Settings, reclaim};
use engine::{EngineError, Recovery, Restored, Result, cache, wait_for};
use experiment::{Configuration, Invalid, Kind, settings};
use rustix::fs::{Access, access};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Display;
use std::fs::{DirBuilder, File};
use std::io::Write as _;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use work::Cancel;

settings! {
    /// true: permit changes of server-wide settings on a server by URL, with ALTER SYSTEM, SET
    /// GLOBAL (MariaDB) or sp_configure (SQL Server). Steelbench saves the original values first
    /// and restores them at the end of the run (SQL Server: of the trial), or in the next run.
    pub ALLOW_SERVER_SETTINGS: Option<bool> = "target.allow_server_settings", Kind::Bool;
    /// Shell command that restarts a server by URL; setting it permits Steelbench to run it for
    /// settings that need a restart: "sudo systemctl restart postgresql". MariaDB also needs
    /// target.option_file.
    pub ALLOW_RESTART: Option<String> =
        "target.allow_restart", Kind::Text, Shown "\"sudo systemctl restart postgresql\"";
}

/// Returns whether a configuration permits changes to its server's settings.
pub fn is_permitted(configuration: &Configuration) -> bool {
    configuration.get(ALLOW_SERVER_SETTINGS) == Some(true)
}

/// Objections to the permissions of a configuration, and to this further setting that belongs to
/// them.
pub fn validate(
    configuration: &Configuration,
    by_url: bool,
    more: Option<&'static str>,
) -> Vec<Invalid> {
    let mut invalid = Vec::new();
    let (settings, restart) = (
        configuration.get(ALLOW_SERVER_SETTINGS).is_some(),
        configuration.get(ALLOW_RESTART).is_some(),
    );
    let settings = [(ALLOW_SERVER_SETTINGS.path(), settings), (ALLOW_RESTART.path(), restart)];
    let path =
        settings.into_iter().filter(|(_, is_given)| *is_given).map(|(path, _)| path).chain(more);
    let message = "only a server by URL (target.url) needs this permission, a private server \
                   does not";
    invalid.extend(path.filter(|_| !by_url).map(|path| Invalid::new(path, message)));
    if by_url && restart && !is_permitted(configuration) {
        let message = "needs target.allow_server_settings = true as well";
        invalid.push(Invalid::new(ALLOW_RESTART.path(), message));
    }
    invalid
}

/// The extension of records.
pub(crate) const RECORD: &str = ".json";

/// The time that a server may take to end and start.
const RESTART: Duration = Duration::from_secs(300);

/// A server's values before our change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record<T> {
    /// The server, as the run named it that changed it.
    pub server: String,
    /// That run's folder for trials, and its process.
    run: PathBuf,
    owner: Owner,
    /// Further notes of the engine.
    #[serde(flatten)]
    pub notes: T,
    /// The values before; none where the server did not have the setting in the place that we
    /// change.
    pub before: BTreeMap<String, Option<String>>,
}

/// The settings that a change gives to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Settings that no session may set: a trial sets the others in its sessions.
    Server,
    /// All, for every session.
    Everyone,
}

/// A change of a server's settings.
pub struct Change<'a> {
    /// The permissions.
    pub configuration: &'a Configuration,
    /// The settings.
    pub settings: &'a Settings,
    /// Which of them.
    pub scope: Scope,
    /// The folder of the run.
    pub run: &'a Path,
    /// The stop request.
    pub cancel: &'a Cancel,
}

/// How an engine's servers are changed and put back.
pub trait Alter: Hosted {
    /// Further notes of the engine.
    type Notes: Serialize + DeserializeOwned + Clone + Default;
    /// The prefix of the names of records.
    const RECORDS: &'static str;

    /// Identifies a server, by whatever name it was reached.
    fn identity(client: &mut Client<Self>) -> Result<String>;
    /// Brings a server by URL to the settings of a change, and all others that we have changed to
    /// what they were; records first what was there before. Returns the settings that are left to
    /// sessions.
    ///
    /// # Errors
    /// When the server refuses, a restart is needed and not permitted or fails, or a value is not
    /// in force afterwards.
    fn alter(config: &Config<Self>, change: &Change<'_>) -> Result<Settings>;
    /// Returns the manual steps that restore a record.
    fn by_hand(record: &Record<Self::Notes>) -> String;
    /// Brings a server back to its record, also when the run was asked to stop: each step has an
    /// end.
    fn put_back(
        config: &Config<Self>,
        configuration: &Configuration,
        record: &Record<Self::Notes>,
    ) -> Result<()>;
    /// Drops the databases that a run has made on your servers. Returns a sentence for each server.
    ///
    /// # Errors
    /// When one cannot be dropped, with how to do so manually.
    fn drop_databases(_run: &Path, _configurations: &[&Configuration]) -> Result<Vec<String>> {
        Ok(Vec::new())
    }
    /// Drops the schema of trials that a killed run has left on a server. Returns whether there
    /// was any.
    ///
    /// # Errors
    /// When the server does not answer or refuses, or another run holds the schema.
    fn drop_schema(config: &Config<Self>) -> Result<bool>;
}

impl<E: Alter> Recovery for ServerEngine<E> {
    fn put_back(&self, folder: &Path, configurations: &[&Configuration]) -> Result<Vec<String>> {
        let dropped = E::drop_databases(folder, configurations)?;
        let restored = put_back::<E>(folder, configurations, records(E::RECORDS, RECORD));
        Ok([dropped, restored.into_result()?].concat())
    }

    fn reclaim(&self, directory: &Path) -> Result<()> {
        reclaim::<E::Product>(directory)
    }
}

impl<T: Serialize + DeserializeOwned + Default> Record<T> {
    /// Opens the record at this place, or a new one of this run, which is not there before it is
    /// saved.
    ///
    /// # Errors
    /// When it cannot be read, or another run works with the settings that it has changed.
    pub fn open(path: &Path, server: &impl Display, run: &Path) -> Result<Self> {
        let record = if path.exists() {
            Self::read(path)?
        } else {
            let (server, run, notes) = (server.to_string(), run.to_owned(), T::default());
            Self { server, run, owner: Owner::ours(), notes, before: BTreeMap::new() }
        };
        record.verify_unused()?;
        Ok(record)
    }

    pub(crate) fn read(path: &Path) -> Result<Self> {
        let damaged = |cause: &dyn Display| {
            let message = format!("{cause}; restore this file from a backup, or delete it");
            let doing = format!("reading the saved server settings in {}", path.display());
            EngineError::failed(doing, message)
        };
        // Opening a pipe waits for its writer.
        if !path.symlink_metadata().map_err(EngineError::at(path))?.is_file() {
            return Err(damaged(&"it is not a regular file"));
        }
        cache::verify(path)?;
        let bytes = std::fs::read(path).map_err(EngineError::at(path))?;
        serde_json::from_slice(&bytes).map_err(|error| damaged(&error))
    }

    /// Writes it beside its place, to the disk, and renames: what is there is complete, also after
    /// a crash.
    pub fn save(&self, path: &Path) -> Result<()> {
        let unfinished = path.with_extension("new");
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        let written = File::create(&unfinished).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            std::fs::rename(&unfinished, path)?;
            path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
        });
        written.map_err(EngineError::at(path))
    }

    /// Makes sure that no other run works with the settings that it has changed.
    fn verify_unused(&self) -> Result<()> {
        if self.owner == Owner::ours() || !self.owner.is_alive() {
            return Ok(());
        }
        let (pid, run) = (self.owner.pid, self.run.display());
        let message = format!(
            "another run has changed them and is still running (process {pid}, {run}); \
                     wait for it to end"
        );
        Err(EngineError::failed(format!("changing the settings of {}", self.server), message))
    }
}

/// Restores from these records the servers that these configurations name and may change. `run`:
/// the folder of the run, whose servers they have to name. A server that cannot be restored keeps
/// its record, and the others are restored.
pub(crate) fn put_back<E: Alter>(
    run: &Path,
    configurations: &[&Configuration],
    records: Vec<PathBuf>,
) -> Restored {
    let mut restored = Restored::default();
    for path in records {
        restored.note(put_back_record::<E>(run, configurations, &path));
    }
    restored
}

/// Restores a server from its record. Returns a sentence; `None` where no configuration names it.
fn put_back_record<E: Alter>(
    run: &Path,
    configurations: &[&Configuration],
    path: &Path,
) -> Result<Option<String>> {
    let record = Record::<E::Notes>::read(path)?;
    let failed = |error: &dyn Display| {
        let message = format!(
            "{error}\nThe original values are saved in {}. Run any experiment with \
             target.allow_server_settings = true on this server to restore them. To restore \
             them manually, run the following, restart the server and delete that file:\n{}",
            path.display(),
            E::by_hand(&record)
        );
        EngineError::failed(format!("restoring the settings of {}", record.server), message)
    };
    let naming = naming::<E>(&record, path, configurations);
    if naming.is_empty() && record.run != run {
        return Ok(None);
    }
    record.verify_unused()?;
    let Some((configuration, config)) = naming.into_iter().find(|(naming, _)| is_permitted(naming))
    else {
        return Err(failed(
            &"no configuration names this server with target.allow_server_settings = true",
        ));
    };
    E::put_back(&config, configuration, &record).map_err(|error| failed(&error))?;
    std::fs::remove_file(path).map_err(EngineError::at(path))?;
    let names: Vec<&str> = record.before.keys().map(String::as_str).collect();
    Ok(Some(format!("restored the settings of {}: {}", record.server, names.join(", "))))
}

/// The configurations that name the server of a record, with how to reach it: by the same words, or
/// by others that lead to it.
pub(crate) fn naming<'c, E: Alter>(
    record: &Record<E::Notes>,
    path: &Path,
    configurations: &[&'c Configuration],
) -> Vec<(&'c Configuration, Config<E>)> {
    let mut known: BTreeMap<String, bool> = BTreeMap::new();
    let named = configurations.iter().filter_map(|configuration| {
        let config = by_url::<E>(configuration)?;
        let is_it = *known.entry(config.to_string()).or_insert_with_key(|server| {
            // One that does not answer is known by its words alone.
            *server == record.server || place_of::<E>(&config).is_some_and(|place| place == path)
        });
        is_it.then_some((*configuration, config))
    });
    named.collect()
}

/// The server by URL of a configuration.
pub(crate) fn by_url<E: Hosted>(configuration: &Configuration) -> Option<Config<E>> {
    E::config(&configuration.get(E::SETTINGS.url)?).ok()
}

/// The path of the record of a server; `None`: it does not answer.
pub(crate) fn place_of<E: Alter>(config: &Config<E>) -> Option<PathBuf> {
    let mut client = E::connect(config, &Cancel::new().stop()).ok()?;
    place::<E>(&mut client).ok()
}

/// The path of the record of a server, in a private folder.
///
/// # Errors
/// When it cannot be identified, or there can be no such folder.
pub fn place<E: Alter>(client: &mut Client<E>) -> Result<PathBuf> {
    let server = E::identity(client)?;
    Ok(make_folder()?.join(format!("{}{server}{RECORD}", E::RECORDS)))
}

/// Makes the folder of records, if need be.
fn make_folder() -> Result<PathBuf> {
    let folder = servers()?;
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&folder)
        .map_err(EngineError::at(&folder))?;
    cache::verify(&folder)?;
    Ok(folder)
}

/// Checks that records can be kept in their folder.
///
/// # Errors
/// When the folder cannot be made or written to.
pub(crate) fn verify_folder() -> Result<()> {
    let folder = make_folder()?;
    access(&folder, Access::WRITE_OK | Access::EXEC_OK)
        .map_err(|error| EngineError::at(&folder)(error.into()))
}

/// The folder of records.
///
/// # Errors
/// When no variable says where it is.
pub(crate) fn servers() -> Result<PathBuf> {
    let state = cache::state().ok_or_else(|| {
        let message = format!(
            "HOME is not set; set {} to a folder of your own, in which records of former settings \
             are kept",
            cache::STATE_VARIABLE
        );
        EngineError::failed("finding the records of changed settings", message)
    })?;
    Ok(state.join("servers"))
}

/// The records of an engine with this extension; none where there is no place for them.
pub(crate) fn records(prefix: &str, extension: &str) -> Vec<PathBuf> {
    let entries = servers().ok().and_then(|folder| std::fs::read_dir(folder).ok());
    let entries = entries.into_iter().flatten().flatten().map(|entry| entry.path());
    let mut records: Vec<PathBuf> = entries
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(prefix) && name.ends_with(extension)
        })
        .collect();
    records.sort();
    records
}

/// Message for a setting that needs a restart without permission.
pub const NEEDS_RESTART: &str = "needs a server restart; to permit one, set \
                                 target.allow_restart to the command that restarts the server";

/// Restarts a server by the user's command, to its end even after a request to stop. `started` asks
/// when the server was started; `before` is its answer before the restart.
///
/// # Errors
/// When there is no command, it fails, or the server runs since before.
pub fn restart(
    text: Option<&str>,
    before: Option<&str>,
    mut started: impl FnMut() -> Result<String, Box<dyn Error>>,
) -> Result<()> {
    let Some(text) = text else {
        let message = "a restart is needed; to permit one, set target.allow_restart to the \
                       command that restarts the server";
        return Err(EngineError::failed("restarting the server", message));
    };
    let doing = format!("restarting the server: {text}");
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(text);
    command::run(shell, &doing, RESTART)?;
    let mut refused = String::new();
    let now = wait_for(RESTART, &Cancel::new(), || match started() {
        Ok(now) => Ok(Some(now)),
        Err(why) => {
            refused = why.to_string();
            Ok(None)
        }
    })?;
    match now {
        None => {
            let message =
                format!("it did not accept connections within {} s: {refused}", RESTART.as_secs());
            Err(EngineError::failed(doing, message))
        }
        Some(now) if before == Some(now.as_str()) => {
            let message = format!(
                "the command succeeded but did not restart the server, which has been running \
                 since {now}"
            );
            Err(EngineError::failed(doing, message))
        }
        Some(_) => Ok(()),
    }
}
