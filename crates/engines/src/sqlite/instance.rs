//! A prepared set of data files.

use super::connection;
use super::failed;
use super::layout::Layout;
use super::recorder::Tallies;
use super::session::SqliteSession;
use crate::engine::{
    CacheReport, CacheState, Collected, ConnectionSet, EngineError, Instance, Place, WaitCollector,
};
use crate::session::Alone;
use crate::{Cancel, Schema, Shape, open_files};
use experiment::Configuration;
use rusqlite::Connection;
use std::fs::OpenOptions;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Data files of one trial.
pub struct SqliteInstance {
    layout: Arc<Layout>,
    /// The layout with the table's filler, and the table's shape, once the table exists.
    table: OnceLock<(Arc<Layout>, Shape)>,
    total: Arc<Mutex<Tallies>>,
}

impl SqliteInstance {
    /// Creates the files, empty, with the settings that are kept in a file.
    pub fn create(
        configuration: &Configuration,
        place: &Place,
        cancel: &Cancel,
    ) -> Result<Self, EngineError> {
        let layout = Arc::new(Layout::of(configuration, place, cancel)?);
        // From here on, dropping the instance removes what was created.
        let instance = Self { layout, table: OnceLock::new(), total: Arc::default() };
        let connections = configuration.integer("workload.connections").unwrap_or(1);
        let files = instance.layout.files.len() as u64;
        // A connection has its data file and its log open; indexes of logs are shared.
        let needed = connections * files * 2 + files;
        open_files::allow(needed, || format!("opening {files} data files on {connections} connections"))?;
        for file in &instance.layout.files {
            instance.create_file(file)?;
        }
        Ok(instance)
    }

    fn create_file(&self, path: &Path) -> Result<(), EngineError> {
        // A file that is already there is not ours.
        OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(path)
            .map_err(|source| EngineError::File { path: path.into(), source })?;
        let connection = connection::open(path, false)?;
        if self.layout.growth_bytes > 0 {
            connection::set_growth(&connection, self.layout.growth_bytes)?;
        }
        self.layout.pragmas.create(&connection, "main")
    }

    fn create_in(&self, path: &Path, shape: Shape) -> Result<i64, EngineError> {
        let connection = connection::open(path, false)?;
        if self.layout.growth_bytes > 0 {
            connection::set_growth(&connection, self.layout.growth_bytes)?;
        }
        self.layout.pragmas.connect(&connection, "main")?;
        let doing = || format!("creating the table in {}", path.display());
        connection.execute(create_sql(shape), []).map_err(|error| failed(doing(), &error))?;
        checkpoint(&connection).map_err(|error| failed(doing(), &error))?;
        connection
            .query_row("PRAGMA page_size", [], |row| row.get(0))
            .map_err(|error| failed("reading the page size".into(), &error))
    }

    fn paths_on_disk(&self) -> impl Iterator<Item = PathBuf> {
        self.layout
            .files
            .iter()
            .flat_map(|file| ["", "-wal", "-journal", "-shm"].map(|suffix| with_suffix(file, suffix)))
    }

    fn remove_files(&self) -> Result<(), EngineError> {
        for path in self.paths_on_disk() {
            match std::fs::remove_file(&path) {
                Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                    return Err(EngineError::File { path, source });
                }
                _ => {}
            }
        }
        Ok(())
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn checkpoint(connection: &Connection) -> rusqlite::Result<()> {
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
}

/// The published table: `char(111)` is blank-padded by its engine, so the default is padded here.
fn create_sql(shape: Shape) -> &'static str {
    match shape {
        Shape::MyBigTable => concat!(
            "CREATE TABLE MyBigTable (",
            "c1 BLOB NOT NULL PRIMARY KEY, ",
            "c2 TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP, ",
            "c3 TEXT NOT NULL DEFAULT 'a",
            "                                                            ",
            "                                                  ', ",
            "c4 INTEGER NOT NULL DEFAULT 1, ",
            "c5 INTEGER NOT NULL DEFAULT 2, ",
            "c6 INTEGER NOT NULL DEFAULT 42) WITHOUT ROWID"
        ),
        Shape::OneRowPerPage => {
            "CREATE TABLE OneRowPerPage (c1 INTEGER NOT NULL PRIMARY KEY, c2 BLOB NOT NULL)"
        }
    }
}

/// Bytes of filler that make a row fill a page of its own: a leaf cell of a table holds at most
/// (page size - 35) bytes without overflow (<https://www.sqlite.org/fileformat2.html>), of which
/// the record's header takes at most 5; two such rows cannot share a page.
fn filler_bytes(page_size: i64) -> usize {
    (page_size - 40).max(0) as usize
}

impl Instance for SqliteInstance {
    fn create(&self, schema: Schema<'_>) -> Result<(), EngineError> {
        let Schema::Table { shape, .. } = schema else {
            return Err(EngineError::Unsupported { engine: "SQLite", what: "statements of the user" });
        };
        let mut page_size = 0;
        for file in &self.layout.files {
            page_size = self.create_in(file, shape)?;
        }
        let filler = match shape {
            Shape::MyBigTable => None,
            Shape::OneRowPerPage => Some(vec![b'a'; filler_bytes(page_size)]),
        };
        let layout = Layout {
            files: self.layout.files.clone(),
            pragmas: self.layout.pragmas.clone(),
            cancel: self.layout.cancel.clone(),
            filler,
            ..*self.layout
        };
        // A second table in one trial would be a defect of the probe: the first one stays.
        self.table.get_or_init(|| (Arc::new(layout), shape));
        Ok(())
    }

    fn connect(&self, _: u32) -> Result<Box<dyn ConnectionSet>, EngineError> {
        let (layout, shape) = self.table.get().ok_or_else(|| EngineError::Engine {
            doing: "connecting".into(),
            message: "the table has not been created yet".into(),
        })?;
        let session = SqliteSession::open(layout.clone(), *shape, self.total.clone())?;
        Ok(Box::new(Alone::new(session)))
    }

    fn settle(&self, cache: CacheState) -> Result<CacheReport, EngineError> {
        let mut report = CacheReport { file_bytes: 0, resident_bytes: Some(0), verified: true };
        for path in &self.layout.files {
            let file_error = |source| EngineError::File { path: path.clone(), source };
            match cache {
                CacheState::Cold => {
                    checkpoint(&connection::open(path, false)?)
                        .map_err(|error| failed("checkpoint before measuring".into(), &error))?;
                    observe::page_cache::evict(path).map_err(file_error)?;
                }
                CacheState::Warm => {}
                CacheState::Hot => observe::page_cache::load(path).map_err(file_error)?,
            }
            report.file_bytes += std::fs::metadata(path).map_err(file_error)?.len();
            let resident = observe::page_cache::resident_bytes(path).ok();
            report.resident_bytes = report.resident_bytes.zip(resident).map(|(sum, bytes)| sum + bytes);
        }
        report.verified = cache.reached(report.file_bytes, report.resident_bytes);
        Ok(report)
    }

    fn wait_collector(&self) -> Box<dyn WaitCollector> {
        Box::new(Collector(self.total.clone()))
    }

    fn space_bytes(&self) -> Option<u64> {
        let files = self.paths_on_disk().filter_map(|path| path.metadata().ok());
        // 512: the unit of st_blocks, whatever the file system's block is.
        Some(files.map(|file| file.blocks() * 512).sum())
    }

    fn remove(self: Box<Self>) -> Result<(), EngineError> {
        self.remove_files()
    }
}

impl Drop for SqliteInstance {
    fn drop(&mut self) {
        // Best effort: `remove` is the way that reports errors.
        let _ = self.remove_files();
    }
}

/// Adds up what the sessions recorded.
struct Collector(Arc<Mutex<Tallies>>);

impl WaitCollector for Collector {
    fn start(&mut self) -> Result<(), EngineError> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Tallies::default();
        Ok(())
    }

    fn stop(&mut self) -> Result<Collected, EngineError> {
        let tallies = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Collected { waits: tallies.waits(), operations: tallies.operations(), ..Collected::default() })
    }
}
