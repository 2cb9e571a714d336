//! The database of a trial, which its sessions share, and its files.

use super::compression::Compression;
use super::confinement::{Confinement, fix_settings};
use super::dialect::{DuckDbDialect, SQL, literal};
use super::find;
use super::interrupt::Interrupter;
use super::library::{Connection, Database, Library, failed};
use super::load::{self, LoadSetting};
use super::options::Settings;
use super::settings::{CACHE, FINAL_CHECKPOINT, LIBRARY, SAMPLE_RATE, VOLUME};
use super::threads::Workers;
use super::waits::Slots;
use engine::{CacheState, Dialect as _, EngineError, Folders, Result, lock};
use experiment::Configuration;
use experiment::common::OBSERVE_WAITS;
use std::fs::File;
use std::io::ErrorKind;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use work::{Cancel, Fill, Table, TableFormat};

/// State shared by the sessions of a trial.
pub struct Target {
    pub library: &'static Library,
    /// `None` while the database is reopened, and if that failed.
    pub database: Mutex<Option<Arc<Database>>>,
    /// Below the database, which is closed before they are removed.
    pub files: Files,
    pub settings: Settings,
    /// The limits of an untrusted experiment.
    confinement: Option<Confinement>,
    pub workers: Workers,
    pub interrupter: Interrupter,
    cache: CacheState,
    pub sample_hz: f64,
    pub slots: Slots,
    pub final_checkpoint: bool,
    pub compression: Compression,
    pub cancel: Cancel,
}

impl Target {
    /// The target of a configuration, whose database is not there yet.
    ///
    /// # Errors
    /// When there is no library, or it does not know a setting.
    pub fn new(configuration: &Configuration, folders: &Folders, cancel: &Cancel) -> Result<Self> {
        let (_, library) = find::library(configuration.get(LIBRARY).as_deref())?;
        let folder = match configuration.get(VOLUME).first() {
            Some(name) => folders.volume(name)?,
            None => &folders.directory,
        };
        Ok(Self {
            library,
            settings: Settings::from_configuration(configuration, library)?,
            confinement: folders.permits.is_confined.then(|| Confinement::within(folders)),
            // Last of what can fail before the database is there: from here on its files are ours.
            files: Files::at(folder.join("data.duckdb"))?,
            workers: Workers::next(),
            database: Mutex::default(),
            interrupter: Interrupter::start(cancel)?,
            cache: configuration.get(CACHE),
            sample_hz: configuration.get(SAMPLE_RATE),
            slots: Slots::new(configuration.get(OBSERVE_WAITS)),
            final_checkpoint: configuration.get(FINAL_CHECKPOINT),
            compression: Compression::from_configuration(configuration),
            cancel: cancel.clone(),
        })
    }

    /// Opens the database.
    pub fn open(&self) -> Result<()> {
        *lock(&self.database) = Some(self.open_at(&self.files.database)?);
        match &self.confinement {
            Some(confinement) if confinement.is_sealed() => fix_settings(&self.connect()?),
            _ => Ok(()),
        }
    }

    /// From here on statements of the user run in the database.
    pub fn seal(&self, connection: &Connection) -> Result<()> {
        let Some(confinement) = &self.confinement else { return Ok(()) };
        confinement.seal();
        fix_settings(connection)
    }

    /// Returns whether statements reach the files of the trial only.
    pub fn is_confined(&self) -> bool {
        self.confinement.is_some()
    }

    /// Opens a database from a thread whose name its worker threads get.
    pub fn open_at(&self, path: &Path) -> Result<Arc<Database>> {
        let (library, settings) = (self.library, self.settings.global());
        let open = || match &self.confinement {
            Some(confinement) => confinement.open(library, path, settings),
            None => Database::open(library, Some(path), settings),
        };
        let opened = self.workers.starting(open).map_err(|error| EngineError::no_thread(&error))?;
        opened.map_err(failed(format!("opening {}", path.display())))
    }

    /// Closes the database, to which no connection may be open.
    pub fn close(&self, doing: &str) -> Result<()> {
        let database = lock(&self.database).take();
        if database.is_some_and(|database| Arc::into_inner(database).is_none()) {
            return Err(EngineError::failed(doing, "a connection is still open"));
        }
        Ok(())
    }

    /// A connection with its settings, which ends what it does when the trial is asked to stop.
    pub fn connect(&self) -> Result<Connection> {
        self.connect_to(&self.database()?)
    }

    pub fn database(&self) -> Result<Arc<Database>> {
        lock(&self.database)
            .clone()
            .ok_or_else(|| EngineError::failed("connecting", "the database is not open"))
    }

    pub fn connect_to(&self, database: &Arc<Database>) -> Result<Connection> {
        let connection = database.connect().map_err(failed("connecting"))?;
        self.interrupter.watch(&connection);
        self.settings.apply(&connection)?;
        Ok(connection)
    }

    /// Creates some of these tables and fills them, in the stored form that scans read.
    pub fn make(
        &self,
        database: &Arc<Database>,
        all: &[Table],
        range: Range<usize>,
        fills: Vec<Fill>,
    ) -> Result<()> {
        let connection = &self.connect_to(database)?;
        let is_file = |table: &&Table| table.storage.format == TableFormat::Parquet;
        for table in all[range.clone()].iter().filter(|table| !is_file(table)) {
            for sql in DuckDbDialect.create(table)? {
                connection.run(&sql).map_err(failed(format!("creating table {}", table.name)))?;
            }
        }
        let (files, tables): (Vec<Fill>, Vec<Fill>) =
            fills.into_iter().partition(|fill| is_file(&&all[fill.table]));
        for fill in files {
            self.files.write(connection, &all[fill.table], fill)?;
        }
        if !tables.is_empty() {
            self.fill(database, connection, all, tables)?;
        }
        for table in all[range].iter().filter(|table| !is_file(table)) {
            for sql in DuckDbDialect.after_fill(table) {
                connection
                    .run(&sql)
                    .map_err(failed(format!("creating the key of table {}", table.name)))?;
            }
        }
        connection.run("CHECKPOINT").map_err(failed("checkpoint after loading"))
    }

    /// Fills some tables.
    fn fill(
        &self,
        database: &Arc<Database>,
        connection: &Connection,
        all: &[Table],
        fills: Vec<Fill>,
    ) -> Result<()> {
        let settings = load::settings(connection, |name| self.settings.has(name));
        let settings = settings.map_err(failed("reading DuckDB's settings"))?;
        let number = |fill: &Fill| load::connections(&all[fill.table], &settings);
        let most = fills.iter().map(number).max().unwrap_or(0);
        // Before anything is set: they read back the configuration's settings.
        let connections: Vec<_> =
            (0..most).map(|_| self.connect_to(database)).collect::<Result<_, _>>()?;
        for LoadSetting { name, loading, .. } in &settings {
            self.set(connection, name, loading)?;
        }
        for fill in fills {
            let (table, connections) = (&all[fill.table], &connections[..number(&fill)]);
            load::fill(connections, table, fill, &self.cancel, &|| self.workers.ends())?;
        }
        settings
            .iter()
            .try_for_each(|setting| self.set(connection, &setting.name, &setting.otherwise))
    }

    /// Sets something for the whole database, overriding `target.settings`.
    pub fn set(&self, connection: &Connection, name: &str, value: &str) -> Result<()> {
        let set = self
            .workers
            .starting(|| connection.run(&format!("SET GLOBAL {name} = {value}")))
            .map_err(|error| EngineError::no_thread(&error))?;
        set.map_err(failed(format!("setting {name} to {value}")))
    }

    /// Returns whether sessions connect only when the measurement starts: the database is reopened
    /// just before.
    pub fn connects_late(&self) -> bool {
        self.cache == CacheState::Cold
    }

    /// Closes the database, drops its file from the page cache, and opens it again: what DuckDB had
    /// in memory is gone.
    pub fn open_cold(&self, file: &File) -> Result<()> {
        self.connect()?.run("CHECKPOINT").map_err(failed("checkpoint before measuring"))?;
        self.close("reopening the database")?;
        let evict =
            || observe::page_cache::evict(file).map_err(EngineError::at(&self.files.database));
        evict()?;
        self.open()?;
        // Opening has read the headers and the catalog.
        evict()
    }
}

/// The files of a database, which are removed with this.
pub struct Files {
    pub database: PathBuf,
    handle: OnceLock<File>,
    /// Tables that are Parquet files.
    tables: Mutex<Vec<(PathBuf, Arc<File>)>>,
}

impl Files {
    /// Where a database will be created.
    ///
    /// # Errors
    /// When something is there already, which is not ours.
    pub fn at(database: PathBuf) -> Result<Self> {
        match database.symlink_metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Ok(Self { database, handle: OnceLock::new(), tables: Mutex::default() })
            }
            Err(source) => Err(EngineError::File { path: database, source }),
            Ok(_) => {
                Err(EngineError::File { path: database, source: ErrorKind::AlreadyExists.into() })
            }
        }
    }

    /// A handle of the database file, the same until the end.
    pub fn handle(&self) -> Result<&File> {
        if let Some(file) = self.handle.get() {
            return Ok(file);
        }
        let file = File::options().read(true).write(true).open(&self.database);
        let file = file.map_err(EngineError::at(&self.database))?;
        Ok(self.handle.get_or_init(|| file))
    }

    /// Writes a table as a Parquet file, which a view reads.
    fn write(&self, connection: &Connection, table: &Table, fill: Fill) -> Result<()> {
        let path = self.of_table(table);
        let file = File::options().read(true).write(true).create_new(true).open(&path);
        let file = Arc::new(file.map_err(EngineError::at(&path))?);
        lock(&self.tables).push((path.clone(), file.clone()));
        write_parquet(table, fill, std::io::BufWriter::new(&*file))?;
        file.sync_all().map_err(EngineError::at(&path))?;
        let path = literal(&path.to_string_lossy());
        let view =
            format!("CREATE VIEW {} AS SELECT * FROM read_parquet({path})", SQL.quote(table.name));
        connection.run(&view).map_err(failed(format!("reading table {} as Parquet", table.name)))
    }

    /// Where the Parquet file of a table is.
    pub fn of_table(&self, table: &Table) -> PathBuf {
        self.database.with_file_name(format!("{}.parquet", table.name))
    }

    pub fn tables(&self) -> Vec<Arc<File>> {
        lock(&self.tables).iter().map(|(_, file)| file.clone()).collect()
    }

    /// The write-ahead log, and the folder of temporary files.
    fn companions(&self) -> [PathBuf; 2] {
        ["wal", "tmp"].map(|extension| {
            let mut path = self.database.clone().into_os_string();
            path.push(format!(".{extension}"));
            path.into()
        })
    }

    pub fn space_bytes(&self) -> u64 {
        // 512: the unit of st_blocks, for any file system.
        let bytes = |path: &Path| path.metadata().map_or(0, |file| file.blocks() * 512);
        let [log, temporary] = self.companions();
        let spilled = temporary.read_dir().into_iter().flatten().flatten();
        let tables: u64 = lock(&self.tables).iter().map(|(path, _)| bytes(path)).sum();
        tables
            + bytes(&self.database)
            + bytes(&log)
            + spilled.map(|entry| bytes(&entry.path())).sum::<u64>()
    }

    pub fn remove(&self) -> Result<()> {
        let [log, temporary] = self.companions();
        let removed = [
            (&self.database, std::fs::remove_file(&self.database)),
            (&log, std::fs::remove_file(&log)),
            (&temporary, std::fs::remove_dir_all(&temporary)),
        ];
        let removed = removed.into_iter().map(|(path, result)| (path.clone(), result));
        let tables = std::mem::take(&mut *lock(&self.tables)).into_iter();
        let tables = tables.map(|(path, _)| {
            let result = std::fs::remove_file(&path);
            (path, result)
        });
        for (path, result) in removed.chain(tables).collect::<Vec<_>>() {
            match result {
                Err(source) if source.kind() != ErrorKind::NotFound => {
                    return Err(EngineError::File { path, source });
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        // Best effort: `remove` is the way that reports errors.
        let _ = self.remove();
    }
}

/// Writes a table as a Parquet file; gives the bytes of each column by row group.
pub fn write_parquet(
    table: &Table,
    fill: Fill,
    file: impl std::io::Write + Send,
) -> Result<Vec<Vec<u64>>> {
    let written = engine::parquet::write(table, fill, file);
    let doing = format!("writing table {} as Parquet", table.name);
    written
        .map(|written| written.group_bytes)
        .map_err(|error| EngineError::failed(doing, error.to_string()))
}
