//! The database of a trial: one file, and the connections to it.

use super::compression::Compression;
use super::dialect::{DuckDbDialect, literal};
use super::explain;
use super::failed;
use super::find;
use super::interrupt::Interrupter;
use super::library::{ChunkType, Connection, Database, Library};
use super::load::{self, LoadSetting};
use super::session::{Compiled, DuckDbSession, KeyOf};
use super::settings::Settings;
use super::setup;
use super::stored;
use super::threads::Workers;
use super::waits::{DuckDbCollector, Slots};
use super::{CACHE, FINAL_CHECKPOINT, LIBRARY, SAMPLE_RATE, VOLUME};
use engine::setup::Setup;
use engine::{
    CacheReport, CacheState, ColumnStore, Compressed, ConnectionSet, Dialect as _, EngineError,
    Explained, Folders, Instance, PlanRequest, Planned, SetOfOne, Stored, WaitCollector, cache,
    lock,
};
use engine::{Explainer, Tables};
use experiment::Configuration;
use experiment::common::OBSERVE_WAITS;
use std::fs::File;
use std::io::ErrorKind;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use work::{Cancel, DataType, Fill, Filter, Operation, Table, TableFormat, Work};

/// The database of one trial.
pub struct DuckDbInstance {
    pub target: Arc<Target>,
    /// The load's operations, once its tables exist.
    operations: OnceLock<Arc<[Compiled]>>,
    /// The time after which a statement of the load is cancelled.
    limit: OnceLock<Duration>,
    /// The database began with tables of one's own.
    is_set_up: bool,
}

/// State shared by the sessions of a trial.
pub struct Target {
    library: &'static Library,
    /// `None` while the database is reopened, and if that failed.
    database: Mutex<Option<Arc<Database>>>,
    /// Below the database, which is closed before they are removed.
    files: Files,
    settings: Settings,
    workers: Workers,
    pub interrupter: Interrupter,
    cache: CacheState,
    sample_hz: f64,
    pub slots: Slots,
    pub final_checkpoint: bool,
    compression: Compression,
    pub cancel: Cancel,
}

impl DuckDbInstance {
    /// Creates an empty database with a configuration's settings.
    pub fn create(
        configuration: &Configuration,
        folders: &Folders,
        cancel: &Cancel,
    ) -> Result<Self, EngineError> {
        let wanted = configuration.get(LIBRARY);
        let (_, library) = find::library(wanted.as_deref())?;
        let folder = match configuration.get(VOLUME).first() {
            Some(name) => folders.volume(name)?,
            None => &folders.directory,
        };
        let target = Target {
            library,
            settings: Settings::from_configuration(configuration, library)?,
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
        };
        let setup = Setup::from_settings(configuration);
        if let Some(setup) = &setup {
            let made = setup::template(setup, &target)?;
            let path = &target.files.database;
            std::fs::copy(&made, path).map_err(EngineError::at(path))?;
        }
        target.open()?;
        let is_set_up = setup.is_some();
        let (operations, limit) = (OnceLock::new(), OnceLock::new());
        Ok(Self { target: Arc::new(target), operations, limit, is_set_up })
    }

    /// Copies a data set from our cache in place of the database, which is empty; says how many of
    /// its tables are there then. One that would take more than a quarter of what is free
    /// beside the cache is not kept.
    fn copy_kept(&self, work: &mut Work) -> Result<usize, EngineError> {
        let Some(data) = work.data.as_ref().filter(|_| !self.is_set_up) else { return Ok(0) };
        if !cache::has_room(&cache::folder()?, data.bytes) {
            return Ok(0);
        }
        let (target, count) = (&self.target, data.tables);
        let (version, settings) = (target.version(), target.shaping());
        let tables = &work.tables[..count];
        let identity = format!("DuckDB {version}\n{settings}{}\n{tables:?}", data.identity);
        let fills = work.fills.extract_if(.., |fill| fill.table < count).collect();
        let kept = cache::file("duckdb", "data-", &identity, |place| {
            target.make(&target.open_at(place)?, tables, 0..count, fills)
        })?;
        target.close("copying the data set")?;
        let path = &target.files.database;
        std::fs::copy(&kept, path).map_err(EngineError::at(path))?;
        target.open().map(|()| count)
    }

    fn operations(&self) -> Result<&Arc<[Compiled]>, EngineError> {
        self.operations.get().ok_or_else(|| {
            EngineError::failed("connecting", "the tables have not been created yet")
        })
    }
}

impl Target {
    /// Opens the database.
    fn open(&self) -> Result<(), EngineError> {
        *lock(&self.database) = Some(self.open_at(&self.files.database)?);
        Ok(())
    }

    /// The version of its library.
    pub fn version(&self) -> &str {
        &self.library.version
    }

    /// The settings that can change what a file holds, as text.
    pub fn shaping(&self) -> String {
        self.settings.shaping()
    }

    /// Opens a database from a thread whose name its worker threads get.
    pub fn open_at(&self, path: &Path) -> Result<Arc<Database>, EngineError> {
        let opened = self
            .workers
            .starting(|| Database::open(self.library, Some(path), self.settings.global()))
            .map_err(|error| EngineError::no_thread(&error))?;
        opened.map_err(failed(format!("opening {}", path.display())))
    }

    /// Closes the database, to which no connection may be open.
    fn close(&self, doing: &str) -> Result<(), EngineError> {
        let database = lock(&self.database).take();
        if database.is_some_and(|database| Arc::into_inner(database).is_none()) {
            return Err(EngineError::failed(doing, "a connection is still open"));
        }
        Ok(())
    }

    /// A connection with its settings, which ends what it does when the trial is asked to stop.
    pub fn connect(&self) -> Result<Connection, EngineError> {
        self.connect_to(&self.database()?)
    }

    fn database(&self) -> Result<Arc<Database>, EngineError> {
        lock(&self.database)
            .clone()
            .ok_or_else(|| EngineError::failed("connecting", "the database is not open"))
    }

    pub fn connect_to(&self, database: &Arc<Database>) -> Result<Connection, EngineError> {
        let connection = database.connect().map_err(failed("connecting"))?;
        self.interrupter.watch(&connection);
        self.settings.apply(&connection)?;
        Ok(connection)
    }

    /// Creates some of these tables and fills them, in the stored form that scans read.
    fn make(
        &self,
        database: &Arc<Database>,
        all: &[Table],
        own: Range<usize>,
        fills: Vec<Fill>,
    ) -> Result<(), EngineError> {
        let connection = &self.connect_to(database)?;
        let is_file = |table: &&Table| table.storage.format == TableFormat::Parquet;
        for table in all[own.clone()].iter().filter(|table| !is_file(table)) {
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
        for table in all[own].iter().filter(|table| !is_file(table)) {
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
    ) -> Result<(), EngineError> {
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
            let (table, own) = (&all[fill.table], &connections[..number(&fill)]);
            load::fill(own, table, fill, &self.cancel, &|| self.workers.ends())?;
        }
        settings.iter().try_for_each(|own| self.set(connection, &own.name, &own.otherwise))
    }

    /// Sets something for the whole database, overriding `target.settings`.
    fn set(&self, connection: &Connection, name: &str, value: &str) -> Result<(), EngineError> {
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
    fn open_cold(&self, file: &File) -> Result<(), EngineError> {
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

impl Instance for DuckDbInstance {
    fn connect(&self, _: u32) -> Result<Box<dyn ConnectionSet>, EngineError> {
        let operations = self.operations()?;
        let (target, limit) = (self.target.clone(), self.limit.get().copied());
        Ok(Box::new(SetOfOne::new(DuckDbSession::new(target, operations.clone(), limit)?)))
    }

    fn settle(&self, cache: CacheState) -> Result<CacheReport, EngineError> {
        let path = &self.target.files.database;
        // A handle of our own that is closed takes DuckDB's lock on the file with it, which keeps
        // other programs away: this one is kept.
        let file = self.target.files.handle()?;
        let tables = self.target.files.tables();
        if cache == CacheState::Cold {
            self.target.open_cold(file)?;
        }
        let files: Vec<&File> =
            [file].into_iter().chain(tables.iter().map(|file| &**file)).collect();
        for file in &files {
            match cache {
                CacheState::Cold => {
                    observe::page_cache::evict(file).map_err(EngineError::at(path))?;
                }
                CacheState::Warm => {}
                CacheState::Hot => {
                    observe::page_cache::load(file).map_err(EngineError::at(path))?;
                }
            }
        }
        CacheReport::of_files(files.into_iter().map(Ok::<_, EngineError>), cache)
    }

    fn column_store(&self) -> Option<&dyn ColumnStore> {
        Some(self)
    }

    fn wait_collector(&self) -> Option<Box<dyn WaitCollector>> {
        let target = &self.target;
        let watched = target.slots.clone();
        Some(Box::new(DuckDbCollector::new(watched, target.workers.clone(), target.sample_hz)))
    }

    fn space_bytes(&self) -> Option<u64> {
        Some(self.target.files.space_bytes())
    }

    fn remove(self: Box<Self>) -> Result<(), EngineError> {
        lock(&self.target.database).take();
        self.target.files.remove()
    }

    fn tables(&self) -> Option<&dyn Tables> {
        Some(self)
    }

    fn background_work(&self) -> Option<&dyn engine::BackgroundWork> {
        Some(self)
    }

    fn explainer(&self) -> Option<&dyn Explainer> {
        Some(self)
    }
}

impl Tables for DuckDbInstance {
    fn create(&self, mut work: Work) -> Result<(), EngineError> {
        self.target.compression.apply(&mut work.tables);
        // Before anything is made: one may be refused.
        let operations = work.operations.iter().map(|operation| compile(operation, &work));
        let operations = operations.collect::<Result<Arc<[_]>, _>>()?;
        let there = self.copy_kept(&mut work)?;
        let connection = self.target.connect()?;
        if let Some(degree) = work.degree {
            self.target.set(&connection, "threads", &degree.to_string())?;
        }
        let fills = std::mem::take(&mut work.fills);
        let filled = there > 0 || !fills.is_empty();
        self.target.make(
            &self.target.database()?,
            &work.tables,
            there..work.tables.len(),
            fills,
        )?;
        // A Parquet file has no segments.
        let is_stored = |table: &&Table| filled && table.storage.format == TableFormat::Table;
        if let Some(table) = work.tables.first().filter(is_stored) {
            self.target.compression.verify(&connection, table)?;
        }
        // Work that is created twice in one trial would be a defect of the probe: the first one
        // stays.
        self.operations.get_or_init(|| operations);
        if let Some(limit) = work.statement_limit {
            self.limit.get_or_init(|| limit);
        }
        Ok(())
    }

    fn stored_bytes(&self) -> Result<Option<u64>, EngineError> {
        Ok(self.space_bytes())
    }
}

impl Explainer for DuckDbInstance {
    fn explain(
        &self,
        operation: usize,
        table: &Table,
        analyze: bool,
    ) -> Result<Explained, EngineError> {
        let sql = &self.operations()?[operation].sql;
        let connection = self.target.connect()?;
        explain::explain(&connection, sql, table, analyze)
            .map_err(failed(format!("explaining {sql}")))
    }

    fn plans(
        &self,
        asked: &[PlanRequest],
    ) -> Result<Vec<Result<Planned, engine::NoPlan>>, EngineError> {
        Ok(explain::plans(&self.target.connect()?, asked))
    }
}

impl ColumnStore for DuckDbInstance {
    fn group_rows(&self) -> usize {
        stored::GROUP_ROWS
    }

    fn stored(&self, table: &Table, filter: Filter) -> Result<Stored, EngineError> {
        let connection = self.target.connect()?;
        let stored = match table.storage.format {
            TableFormat::Table => stored::of_table(&connection, table, filter),
            TableFormat::Parquet => {
                stored::of_file(&connection, table, &self.target.files.of_table(table), filter)
            }
        };
        stored.map_err(failed(format!("reading the layout of table {}", table.name)))
    }

    fn compressed(&self, table: &Table) -> Result<Vec<Compressed>, EngineError> {
        if table.storage.format == TableFormat::Parquet {
            return Ok(Vec::new());
        }
        let connection = self.target.connect()?;
        let compressed = stored::compressed(&connection, table);
        compressed.map_err(failed(format!("reading the compression of table {}", table.name)))
    }

    fn stored_apart(&self, table: &Table, fill: Fill) -> Result<Vec<Vec<u64>>, EngineError> {
        if table.storage.format == TableFormat::Parquet {
            return write_parquet(table, fill, std::io::sink());
        }
        // Below the files, so that it is closed before they are removed.
        let files = Files::at(self.target.files.database.with_extension("sample"))?;
        let database = self.target.open_at(&files.database)?;
        let columns = fill.columns.clone();
        let mut tables = [table.clone()];
        self.target.compression.apply(&mut tables);
        self.target.make(&database, &tables, 0..1, vec![Fill { table: 0, ..fill }])?;
        let connection = self.target.connect_to(&database)?;
        stored::by_group(&connection, table, &columns)
            .map_err(failed("reading the layout of a sample"))
    }
}

/// Writes a table as a Parquet file; gives the bytes of each column by row group.
fn write_parquet(
    table: &Table,
    fill: Fill,
    file: impl std::io::Write + Send,
) -> Result<Vec<Vec<u64>>, EngineError> {
    let written = engine::parquet::write(table, fill, file);
    let doing = format!("writing table {} as Parquet", table.name);
    written
        .map(|written| written.group_bytes)
        .map_err(|error| EngineError::failed(doing, error.to_string()))
}

/// Compiles an operation into its statement.
fn compile(operation: &Operation, work: &Work) -> Result<Compiled, EngineError> {
    let table = operation.table(work);
    let key = table.and_then(|table| table.single_key()).map(|key| KeyOf {
        table: table.map(|table| table.name).unwrap_or_default(),
        column: key.name,
        kind: match key.data_type {
            DataType::Uuid => ChunkType::Uuid,
            DataType::Int => ChunkType::Int,
            _ => ChunkType::BigInt,
        },
    });
    let keeps_rows = work.keeps_rows;
    Ok(Compiled { sql: DuckDbDialect.statement(operation, work)?, keeps_rows, key })
}

/// The files of a database, which are removed with this.
struct Files {
    database: PathBuf,
    handle: OnceLock<File>,
    /// Tables that are Parquet files.
    tables: Mutex<Vec<(PathBuf, Arc<File>)>>,
}

impl Files {
    /// Where a database will be created.
    ///
    /// # Errors
    /// When something is there already, which is not ours.
    fn at(database: PathBuf) -> Result<Self, EngineError> {
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
    fn handle(&self) -> Result<&File, EngineError> {
        if let Some(file) = self.handle.get() {
            return Ok(file);
        }
        let file = File::options().read(true).write(true).open(&self.database);
        let file = file.map_err(EngineError::at(&self.database))?;
        Ok(self.handle.get_or_init(|| file))
    }

    /// Writes a table as a Parquet file, which a view reads.
    fn write(&self, connection: &Connection, table: &Table, fill: Fill) -> Result<(), EngineError> {
        let path = self.of_table(table);
        let file = File::options().read(true).write(true).create_new(true).open(&path);
        let file = Arc::new(file.map_err(EngineError::at(&path))?);
        lock(&self.tables).push((path.clone(), file.clone()));
        write_parquet(table, fill, std::io::BufWriter::new(&*file))?;
        file.sync_all().map_err(EngineError::at(&path))?;
        let path = literal(&path.to_string_lossy());
        let view = format!(
            "CREATE VIEW {} AS SELECT * FROM read_parquet({path})",
            DuckDbDialect.quote(table.name)
        );
        connection.run(&view).map_err(failed(format!("reading table {} as Parquet", table.name)))
    }

    /// Where the Parquet file of a table is.
    fn of_table(&self, table: &Table) -> PathBuf {
        self.database.with_file_name(format!("{}.parquet", table.name))
    }

    fn tables(&self) -> Vec<Arc<File>> {
        lock(&self.tables).iter().map(|(_, file)| file.clone()).collect()
    }

    /// The write-ahead log, and the folder of temporary files.
    fn beside(&self) -> [PathBuf; 2] {
        ["wal", "tmp"].map(|extension| {
            let mut path = self.database.clone().into_os_string();
            path.push(format!(".{extension}"));
            path.into()
        })
    }

    fn space_bytes(&self) -> u64 {
        // 512: the unit of st_blocks, for any file system.
        let bytes = |path: &Path| path.metadata().map_or(0, |file| file.blocks() * 512);
        let [log, temporary] = self.beside();
        let spilled = temporary.read_dir().into_iter().flatten().flatten();
        let tables: u64 = lock(&self.tables).iter().map(|(path, _)| bytes(path)).sum();
        tables
            + bytes(&self.database)
            + bytes(&log)
            + spilled.map(|entry| bytes(&entry.path())).sum::<u64>()
    }

    fn remove(&self) -> Result<(), EngineError> {
        let [log, temporary] = self.beside();
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
