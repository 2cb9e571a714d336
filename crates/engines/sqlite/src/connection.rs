//! The data files of a trial and the connections to them: which VFS, which settings, how to wait
//! for a lock.

use super::confinement;
use super::failures::failed;
use super::pragma::{self, Pragma};
use super::settings::{
    BUSY_TIMEOUT, DATA_FILES, FILE_GROWTH, FINAL_CHECKPOINT, OPEN, Open, VOLUME,
};
use super::vfs;
use engine::{EngineError, Folders, Result};
use experiment::Configuration;
use experiment::common::OBSERVE_WAITS;
use rusqlite::{Connection, OpenFlags, ffi};
use std::ffi::c_int;
use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::atomic::AtomicUsize;
use work::Cancel;

/// Milliseconds to sleep before each further try for a lock: the steps of SQLite's own busy
/// timeout (<https://www.sqlite.org/c3ref/busy_timeout.html>), the last one repeated.
const BACK_OFF_MS: [u64; 12] = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100];

/// Statements of Steelbench that a connection keeps prepared in addition to the operations.
const OWN_STATEMENTS: usize = 8;

/// Virtual machine steps between two looks whether the trial is asked to stop: some milliseconds.
pub(crate) const STEPS_BETWEEN_LOOKS: i32 = 100_000;

/// A file, its file system and its number there.
pub type Identity = (PathBuf, u64, u64);

/// The data files of a trial and how sessions open them; shared by all sessions. Dropping them
/// removes them.
#[derive(Debug)]
pub(crate) struct DataFiles {
    pub paths: Vec<PathBuf>,
    /// A handle of each file, kept until every session has closed its own. Closing any handle of a
    /// file in this process drops SQLite's locks on it. Another program that finds no lock
    /// considers the log abandoned and removes it (<https://www.sqlite.org/howtocorrupt.html>,
    /// 2.2).
    pub handles: Vec<File>,
    pub open: Open,
    pub timed: bool,
    pub busy_timeout_s: f64,
    pub final_checkpoint: bool,
    pub cancel: Cancel,
    /// The part of the measurement that runs.
    pub part: AtomicUsize,
    pragmas: Vec<Pragma>,
    growth_bytes: u64,
    /// Statements reach no other files.
    is_confined: bool,
}

impl DataFiles {
    /// Creates what a configuration asks for, empty.
    pub fn create(configuration: &Configuration, place: &Folders, cancel: &Cancel) -> Result<Self> {
        let volumes = configuration.get(VOLUME);
        let mut directories =
            volumes.iter().map(|name| place.volume(name)).collect::<Result<Vec<_>, _>>()?;
        if directories.is_empty() {
            directories.push(&place.directory);
        }
        let path =
            |file: usize| directories[file % directories.len()].join(format!("data-{file}.db"));
        let mut files = Self {
            paths: (0..configuration.get(DATA_FILES) as usize).map(path).collect(),
            handles: Vec::new(),
            open: configuration.get(OPEN),
            timed: configuration.get(OBSERVE_WAITS),
            busy_timeout_s: configuration.get(BUSY_TIMEOUT),
            final_checkpoint: configuration.get(FINAL_CHECKPOINT),
            cancel: cancel.clone(),
            part: AtomicUsize::new(0),
            pragmas: pragma::from_settings(configuration),
            growth_bytes: configuration.get(FILE_GROWTH),
            is_confined: place.permits.is_confined,
        };
        for file in 0..files.paths.len() {
            let path = &files.paths[file];
            // A file that is already there is not ours.
            let handle = OpenOptions::new().read(true).write(true).create_new(true).open(path);
            files.handles.push(handle.map_err(EngineError::at(path))?);
        }
        Ok(files)
    }

    /// The files that exist for the data files that were created, or may exist.
    pub fn all_paths(&self) -> impl Iterator<Item = PathBuf> {
        let extensions = ["db", "db-wal", "db-journal", "db-shm"];
        let created = &self.paths[..self.handles.len()];
        created
            .iter()
            .flat_map(move |file| extensions.map(|extension| file.with_extension(extension)))
    }

    /// Returns the identities of these files, as far as they exist.
    pub fn identities(&self) -> Vec<Identity> {
        self.lasting()
            .filter_map(|path| path.metadata().ok().map(|file| (path, file.dev(), file.ino())))
            .collect()
    }

    /// Makes sure that these files are still where they were, and that sessions have none open that
    /// was removed.
    ///
    /// # Errors
    /// When a file was removed or replaced by another one, or that cannot be seen.
    pub fn verify_in_place(&self, before: &[Identity]) -> Result<()> {
        let now = self.identities();
        if let Some((gone, ..)) = before.iter().find(|file| !now.contains(file)) {
            return Err(replaced(gone));
        }
        let handles = Path::new("/proc/self/fd");
        for handle in handles.read_dir().map_err(EngineError::at(handles))?.flatten() {
            // A handle that was closed since then has no target.
            let target = handle.path().read_link().unwrap_or_default();
            let removed =
                target.to_str().and_then(|target| target.strip_suffix(" (deleted)")).map(Path::new);
            if let Some(removed) = removed.filter(|path| self.is_ours(path)) {
                return Err(replaced(removed));
            }
        }
        Ok(())
    }

    /// Returns whether a path without links is one of these files.
    fn is_ours(&self, path: &Path) -> bool {
        let folder = |path: &Path| path.parent().and_then(|folder| folder.canonicalize().ok());
        self.lasting()
            .any(|file| file.file_name() == path.file_name() && folder(&file) == folder(path))
    }

    /// Not rollback journals, which come and go.
    fn lasting(&self) -> impl Iterator<Item = PathBuf> {
        self.all_paths()
            .filter(|path| path.extension().is_none_or(|extension| extension != "db-journal"))
    }

    /// Removes the files that were created.
    ///
    /// # Errors
    /// When one remains.
    pub fn remove(&self) -> Result<()> {
        for path in self.all_paths() {
            match std::fs::remove_file(&path) {
                Err(source) if source.kind() != ErrorKind::NotFound => {
                    return Err(EngineError::File { path, source });
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The name by which a session's statements refer to a data file.
    pub fn schema_of(&self, file: usize) -> String {
        if self.open == Open::Attached && file > 0 { format!("f{file}") } else { "main".into() }
    }

    /// Opens a data file to prepare it; a new one takes the settings that are kept in the file.
    pub fn open(&self, path: &Path, is_new: bool) -> Result<Connection> {
        let mut connection = open(path, false)?;
        self.configure(&connection, is_new)?;
        self.confine(&mut connection)?;
        Ok(connection)
    }

    /// The settings that last in a file that is made with them.
    pub fn kept_settings(&self) -> String {
        format!("{}growth = {}\n", pragma::file_text(&self.pragmas), self.growth_bytes)
    }

    /// Gives a file that has data the settings that are kept in a file.
    pub fn rebuild(&self, connection: &Connection) -> rusqlite::Result<()> {
        pragma::rebuild(&self.pragmas, connection)
    }

    /// Opens the connections of a session with this many operations: one for each data file, or one
    /// that all are attached to.
    pub fn connect(&self, operations: usize) -> Result<Vec<Connection>> {
        let files = if self.open == Open::Attached { 1 } else { self.paths.len() };
        let connections = self.paths[..files].iter().map(|path| self.connect_anywhere(path));
        let mut connections = connections.collect::<Result<Vec<_>, _>>()?;
        for (file, path) in self.paths.iter().enumerate().skip(files) {
            let schema = self.schema_of(file);
            connections[0]
                .execute(&format!("ATTACH DATABASE ?1 AS {schema}"), [path.to_string_lossy()])
                .map_err(|error| failed(format!("attaching {}", path.display()), &error))?;
            pragma::apply(&self.pragmas, &connections[0], &schema, false)?;
        }
        for connection in &mut connections {
            self.confine(connection)?;
            let statements = operations * (self.paths.len() / files) + OWN_STATEMENTS;
            connection.set_prepared_statement_cache_capacity(statements);
        }
        Ok(connections)
    }

    /// A connection to the first data file as sessions have it, for queries during preparation.
    pub fn connect_one(&self) -> Result<Connection> {
        self.connect_to(&self.paths[0])
    }

    /// A connection of a session waits for locks, and stops when the trial is asked to.
    pub fn connect_to(&self, path: &Path) -> Result<Connection> {
        let mut connection = self.connect_anywhere(path)?;
        self.confine(&mut connection)?;
        Ok(connection)
    }

    /// As [`Self::connect_to`], but other files can still be attached.
    fn connect_anywhere(&self, path: &Path) -> Result<Connection> {
        let mut connection = open(path, self.timed)?;
        let (timeout_ms, cancel) = ((self.busy_timeout_s * 1e3) as u64, self.cancel.clone());
        let wait = move |tries: i32| match next_sleep_ms(tries.max(0) as usize, timeout_ms) {
            ms @ 1.. if !cancel.is_cancelled() => {
                vfs::sleep_us(ms as c_int * 1000);
                true
            }
            _ => false,
        };
        let cancel = self.cancel.clone();
        connection
            .busy_handler(Some(wait))
            .and_then(|()| {
                connection
                    .progress_handler(STEPS_BETWEEN_LOOKS, Some(move || cancel.is_cancelled()))
            })
            .map_err(|error| failed(format!("opening {}", path.display()), &error))?;
        self.configure(&connection, false)?;
        Ok(connection)
    }

    /// Confines the statements of an untrusted experiment to the files that a connection has open.
    pub fn confine(&self, connection: &mut Connection) -> Result<()> {
        if self.is_confined {
            confinement::confine(connection)
                .map_err(|error| failed("confining statements to their files".into(), &error))?;
        }
        Ok(())
    }

    fn configure(&self, connection: &Connection, is_new: bool) -> Result<()> {
        if self.growth_bytes > 0 {
            set_growth(connection, self.growth_bytes)?;
        }
        pragma::apply(&self.pragmas, connection, "main", is_new)
    }
}

impl Drop for DataFiles {
    fn drop(&mut self) {
        // Best effort: `remove` is the way that reports errors.
        let _ = self.remove();
    }
}

/// The error of a file that is not the one that was opened.
fn replaced(path: &Path) -> EngineError {
    EngineError::failed(
        format!("data file {}", path.display()),
        "it was removed or replaced while sessions had it open, so the measurement is invalid; \
         keep other programs away from the data files",
    )
}

/// Milliseconds until the next try for a lock; 0 after the timeout.
fn next_sleep_ms(tries: usize, timeout_ms: u64) -> u64 {
    let last = BACK_OFF_MS.len() - 1;
    let steps = BACK_OFF_MS[..tries.min(last)].iter().sum::<u64>();
    let slept_ms = steps + tries.saturating_sub(last) as u64 * BACK_OFF_MS[last];
    timeout_ms.saturating_sub(slept_ms).min(BACK_OFF_MS[tries.min(last)])
}

/// Waits for a lock for the first step, through the VFS, so that the timed one sees it.
pub(crate) fn wait_once() {
    vfs::sleep_us(BACK_OFF_MS[0] as c_int * 1000);
}

/// Opens (and creates) a data file.
pub fn open(path: &Path, timed: bool) -> Result<Connection> {
    // One thread uses a connection at a time, so SQLite's own mutex on it is not needed.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let opened = if timed && vfs::register() {
        Connection::open_with_flags_and_vfs(path, flags, vfs::NAME)
    } else {
        Connection::open_with_flags(path, flags)
    };
    opened.map_err(|error| failed(format!("opening {}", path.display()), &error))
}

/// Brings all of the log into the file.
pub fn checkpoint(connection: &Connection) -> rusqlite::Result<()> {
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
}

/// The number of files that this build of SQLite attaches to one connection.
pub(crate) fn attached_max() -> u64 {
    let limit = Connection::open_in_memory()
        .and_then(|connection| connection.limit(rusqlite::limits::Limit::SQLITE_LIMIT_ATTACHED));
    limit.map_or(0, |limit| limit.max(0) as u64)
}

/// Makes SQLite grow a data file in pieces of this size.
fn set_growth(connection: &Connection, growth_bytes: u64) -> Result<()> {
    let mut chunk = c_int::try_from(growth_bytes).map_err(|_| EngineError::SettingIgnored {
        setting: FILE_GROWTH.path().into(),
        expected: growth_bytes.to_string(),
        got: format!("a limit of {} bytes", c_int::MAX),
    })?;
    // SAFETY: the connection is open, a null name means `main`, and the argument of this
    // operation is a pointer to an int.
    let rc = unsafe {
        let argument = (&raw mut chunk).cast();
        ffi::sqlite3_file_control(
            connection.handle(),
            ptr::null(),
            ffi::SQLITE_FCNTL_CHUNK_SIZE,
            argument,
        )
    };
    if rc == ffi::SQLITE_OK {
        return Ok(());
    }
    Err(EngineError::failed(
        format!("setting {}", FILE_GROWTH.path()),
        format!("SQLite error {rc}"),
    ))
}
