//! A prepared set of data files.

use super::connection::{self, DataFiles, Identity};
use super::dialect::{SqliteDialect, padded};
use super::recorder::Tallies;
use super::session::{Compiled, SqliteSession};
use super::{DATA_FILES, failed, setup};
use crate::engine::{
    CacheReport, CacheState, Collected, ConnectionSet, EngineError, Folders, Instance, WaitCollector,
};
use crate::session::SetOfOne;
use crate::setup::Setup;
use crate::{Cancel, DataType, Dialect as _, Fill, Operation, Rows, Table, Values, Work, open_files};
use experiment::Configuration;
use rusqlite::{Connection, Statement};
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Data files of one trial.
pub struct SqliteInstance {
    files: Arc<DataFiles>,
    /// What the load does, once its tables exist.
    operations: OnceLock<Arc<[Compiled]>>,
    total: Arc<Mutex<Tallies>>,
}

impl SqliteInstance {
    /// Creates the files with the settings that are kept in a file: empty, but for the first one where the user sets
    /// up tables.
    pub fn create(
        configuration: &Configuration,
        place: &Folders,
        connections: u32,
        cancel: &Cancel,
    ) -> Result<Self, EngineError> {
        let count = u64::from(configuration.get(DATA_FILES));
        // A connection has its data file and its log open; indexes of logs are shared, and so is a handle of ours.
        let needed = u64::from(connections) * count * 2 + count * 2;
        open_files::allow(needed, || format!("opening {count} data files on {connections} connections"))?;
        let files = DataFiles::create(configuration, place, cancel)?;
        let own = Setup::of(configuration);
        if let Some(own) = &own {
            let template = setup::template(own, &files)?;
            let from = File::open(&template);
            let copied = from.and_then(|mut from| std::io::copy(&mut from, &mut &files.handles[0]));
            copied.map_err(EngineError::at(&files.paths[0]))?;
        }
        for (number, path) in files.paths.iter().enumerate() {
            files.open(path, number > 0 || own.is_none())?;
        }
        Ok(Self { files: Arc::new(files), operations: OnceLock::new(), total: Arc::default() })
    }

    /// Creates and fills the tables of one data file; gives the bytes of its pages.
    fn create_in(&self, file: usize, work: &mut Work) -> Result<usize, EngineError> {
        let path = &self.files.paths[file];
        let connection = self.files.open(path, false)?;
        let failed = |error| failed(format!("creating tables in {}", path.display()), &error);
        let page_bytes = connection
            .pragma_query_value(None, "page_size", |row| row.get::<_, u32>(0))
            .map_err(failed)? as usize;
        let dialect = SqliteDialect { schema: "main".into(), page_bytes };
        let here = |table: &Table| file == 0 || table.storage.spread;
        for table in work.tables.iter().filter(|table| here(table)) {
            dialect.create(table).iter().try_for_each(|sql| connection.execute_batch(sql)).map_err(failed)?;
        }
        let mut fills: Vec<Fill> = if file == 0 { std::mem::take(&mut work.fills) } else { Vec::new() };
        for fill in &mut fills {
            self.fill(&connection, &dialect, work, fill)?;
        }
        checkpoint(&connection).map_err(failed)?;
        Ok(page_bytes)
    }

    /// Inserts the rows of a table, each batch in a transaction of its own.
    fn fill(
        &self,
        connection: &Connection,
        dialect: &SqliteDialect,
        work: &Work,
        fill: &mut Fill,
    ) -> Result<(), EngineError> {
        let table = &work.tables[fill.table];
        let insert = Operation::Insert { table: fill.table, columns: fill.columns.clone() };
        let insert = dialect.statement(&insert, work)?;
        let failed = |error| failed(format!("filling table {}", table.name), &error);
        let mut insert = connection.prepare(&insert).map_err(failed)?;
        for rows in &mut fill.batches {
            if self.files.cancel.is_cancelled() {
                return Err(EngineError::Cancelled);
            }
            connection.execute_batch("BEGIN").map_err(failed)?;
            for row in 0..rows.count {
                insert_row(&mut insert, table, &fill.columns, &rows, row).map_err(failed)?;
            }
            connection.execute_batch("COMMIT").map_err(failed)?;
        }
        Ok(())
    }

    /// Compiles an operation for every data file.
    fn compile(
        &self,
        operation: &Operation,
        work: &Work,
        page_bytes: usize,
    ) -> Result<Compiled, EngineError> {
        let dialect = |file| SqliteDialect { schema: self.files.schema_of(file), page_bytes };
        let table = operation.table(work);
        let mut operation = operation.clone();
        let mut filler = None;
        // SQLite's defaults could only compute the filler anew for every row.
        if let (Operation::Insert { columns, .. }, Some(table)) = (&mut operation, table)
            && let Some(column) = table.columns.iter().find(|column| column.data_type == DataType::PageFiller)
        {
            columns.push(column.name);
            filler = Some(dialect(0).filler());
        }
        let sql = (0..self.files.paths.len()).map(|file| dialect(file).statement(&operation, work));
        let integer_key = table.is_some_and(Table::has_integer_key);
        Ok(Compiled { sql: sql.collect::<Result<_, _>>()?, integer_key, filler })
    }
}

/// Brings all of the log into the file.
pub fn checkpoint(connection: &Connection) -> rusqlite::Result<()> {
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
}

fn insert_row(
    insert: &mut Statement<'_>,
    table: &Table,
    columns: &[&str],
    rows: &Rows,
    row: usize,
) -> rusqlite::Result<()> {
    for (number, (name, values)) in (1..).zip(columns.iter().zip(&rows.columns)) {
        match values {
            Values::Same(number_of_all) => insert.raw_bind_parameter(number, number_of_all)?,
            Values::Integers(numbers) => insert.raw_bind_parameter(number, numbers[row])?,
            Values::SameText(text) => {
                let text = table.column(name).map_or_else(|| (*text).to_owned(), |own| padded(text, own));
                insert.raw_bind_parameter(number, text)?;
            }
        }
    }
    insert.raw_execute().map(|_| ())
}

impl Instance for SqliteInstance {
    fn create(&self, mut work: Work) -> Result<(), EngineError> {
        let mut page_bytes = 0;
        for file in 0..self.files.paths.len() {
            page_bytes = self.create_in(file, &mut work)?;
        }
        let compile = |operation| self.compile(operation, &work, page_bytes);
        let operations = work.operations.iter().map(compile).collect::<Result<Arc<[_]>, _>>()?;
        // Work that is created twice in one trial would be a defect of the probe: the first one stays.
        self.operations.get_or_init(|| operations);
        Ok(())
    }

    fn data_files(&self) -> u32 {
        self.files.paths.len() as u32
    }

    fn connect(&self, _: u32) -> Result<Box<dyn ConnectionSet>, EngineError> {
        let operations = self.operations.get();
        let operations = operations
            .ok_or_else(|| EngineError::failed("connecting", "the tables have not been created yet"))?;
        let session = SqliteSession::open(self.files.clone(), operations.clone(), self.total.clone())?;
        Ok(Box::new(SetOfOne::new(session)))
    }

    fn settle(&self, cache: CacheState) -> Result<CacheReport, EngineError> {
        for (path, file) in self.files.paths.iter().zip(&self.files.handles) {
            let settled = match cache {
                CacheState::Cold => {
                    checkpoint(&connection::open(path, false)?)
                        .map_err(|error| failed("checkpoint before measuring".into(), &error))?;
                    observe::page_cache::evict(file)
                }
                CacheState::Warm => Ok(()),
                CacheState::Hot => observe::page_cache::load(file),
            };
            settled.map_err(EngineError::at(path))?;
        }
        CacheReport::of_files(self.files.handles.iter().map(Ok::<_, EngineError>), cache)
    }

    fn wait_collector(&self) -> Option<Box<dyn WaitCollector>> {
        let (files, total) = (self.files.clone(), self.total.clone());
        Some(Box::new(Collector { files, identities: Vec::new(), total }))
    }

    fn space_bytes(&self) -> Option<u64> {
        let files = self.files.all_paths().filter_map(|path| path.metadata().ok());
        // 512: the unit of st_blocks, whatever the file system's block is.
        Some(files.map(|file| file.blocks() * 512).sum())
    }

    fn remove(self: Box<Self>) -> Result<(), EngineError> {
        self.files.remove()
    }
}

/// Adds up what the sessions recorded.
struct Collector {
    files: Arc<DataFiles>,
    /// Those that were there at the start.
    identities: Vec<Identity>,
    total: Arc<Mutex<Tallies>>,
}

impl WaitCollector for Collector {
    fn start(&mut self) -> Result<(), EngineError> {
        self.identities = self.files.identities();
        *self.total.lock().unwrap_or_else(PoisonError::into_inner) = Tallies::default();
        Ok(())
    }

    fn stop(&mut self) -> Result<Collected, EngineError> {
        self.files.verify_in_place(&self.identities)?;
        let tallies = self.total.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Collected { waits: tallies.waits(), operations: tallies.operations(), ..Collected::default() })
    }
}
