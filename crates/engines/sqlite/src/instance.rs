//! A prepared set of data files.

use super::connection::{self, DataFiles, Identity, checkpoint};
use super::dialect::SqliteDialect;
use super::failures::failed;
use super::recorder::Tallies;
use super::session::{Compiled, SqliteSession, Totals};
use super::settings::DATA_FILES;
use super::{explain, setup};
use engine::SetOfOne;
use engine::dialect::padded;
use engine::setup::Setup;
use engine::{
    CacheReport, CacheState, Collection, ConnectionSet, EngineError, Folders, Host, Instance,
    Parts, Result, SessionPart, WaitCollector,
};
use engine::{Dialect as _, EngineUse, Explained, PlanRequest, Planned, cache, lock, open_files};
use engine::{Explainer, Tables};
use experiment::Configuration;
use rusqlite::types::Null;
use rusqlite::{Connection, Statement};
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use work::{Cancel, Column, Fill, Operation, Rows, Table, Values, Work};

/// Trials share nothing but the folders.
pub(crate) struct SqliteHost(pub Folders);

impl Host for SqliteHost {
    fn prepare(
        &mut self,
        configuration: &Configuration,
        connections: u32,
        cancel: &Cancel,
    ) -> Result<Box<dyn Instance>> {
        Ok(Box::new(SqliteInstance::create(configuration, &self.0, connections, cancel)?))
    }
}

/// Data files of one trial.
pub(crate) struct SqliteInstance {
    pub(super) files: Arc<DataFiles>,
    /// The load's operations, once its tables exist.
    operations: OnceLock<Arc<[Compiled]>>,
    /// The time after which a statement of the load is cancelled.
    limit: OnceLock<Duration>,
    /// True if the file has user tables.
    is_set_up: bool,
    total: Arc<Mutex<Totals>>,
}

impl SqliteInstance {
    /// Creates the files with the settings that are kept in a file: empty, but for the first one
    /// where the user sets up tables.
    pub fn create(
        configuration: &Configuration,
        place: &Folders,
        connections: u32,
        cancel: &Cancel,
    ) -> Result<Self> {
        let count = u64::from(configuration.get(DATA_FILES));
        // Each connection has its data file and its log open. The shared-memory index of the log
        // counts once per file, as does our own handle.
        let needed = u64::from(connections) * count * 2 + count * 2;
        open_files::allow(needed, || {
            format!("opening {count} data files on {connections} connections")
        })?;
        let files = DataFiles::create(configuration, place, cancel)?;
        let settings = Setup::from_settings(configuration);
        if let Some(settings) = &settings {
            let template = setup::template(settings, &files)?;
            let from = File::open(&template);
            let copied = from.and_then(|mut from| std::io::copy(&mut from, &mut &files.handles[0]));
            copied.map_err(EngineError::at(&files.paths[0]))?;
        }
        for (number, path) in files.paths.iter().enumerate() {
            files.open(path, number > 0 || settings.is_none())?;
        }
        let is_set_up = settings.is_some();
        Ok(Self {
            files: Arc::new(files),
            operations: OnceLock::new(),
            limit: OnceLock::new(),
            is_set_up,
            total: Arc::default(),
        })
    }

    /// Creates and fills the tables of one data file; gives the bytes of its pages.
    fn create_in(&self, file: usize, work: &mut Work) -> Result<usize> {
        // The tables that are there already come first.
        let there = if file == 0 { self.copy_kept(work)? } else { 0 };
        let fills = if file == 0 { std::mem::take(&mut work.fills) } else { Vec::new() };
        let tables: Vec<&Table> =
            work.tables[there..].iter().filter(|table| file == 0 || table.storage.spread).collect();
        self.make(&self.files.paths[file], work, &tables, fills)
    }

    /// Copies a data set from our cache into the only data file; says how many of its tables are
    /// there then. One that would take more than a quarter of what is free beside the cache is
    /// not kept.
    fn copy_kept(&self, work: &mut Work) -> Result<usize> {
        let ([path], Some(data), false) = (self.files.paths.as_slice(), &work.data, self.is_set_up)
        else {
            return Ok(0);
        };
        if !cache::has_room(&cache::folder()?, data.bytes) {
            return Ok(0);
        }
        let count = data.tables;
        let identity = setup::identity(
            &format!("{}\n{:?}", data.identity, &work.tables[..count]),
            &self.files,
        );
        let fills: Vec<Fill> =
            work.fills.extract_if(.., |fill: &mut Fill| fill.table < count).collect();
        let tables: Vec<&Table> = work.tables[..count].iter().collect();
        let kept = cache::file("sqlite", "data-", &identity, |place| {
            self.files.open(place, true)?;
            self.make(place, work, &tables, fills).map(drop)
        })?;
        let handle = &self.files.handles[0];
        let copied =
            handle.set_len(0).and_then(|()| std::io::copy(&mut File::open(&kept)?, &mut &*handle));
        copied.map(|_| count).map_err(EngineError::at(path))
    }

    /// Creates tables in a file and fills them; gives the bytes of its pages.
    fn make(&self, path: &Path, work: &Work, tables: &[&Table], fills: Vec<Fill>) -> Result<usize> {
        let connection = self.files.open(path, false)?;
        let failed = |error| failed(format!("creating tables in {}", path.display()), &error);
        let page_bytes = connection
            .pragma_query_value(None, "page_size", |row| row.get::<_, u32>(0))
            .map_err(failed)? as usize;
        let dialect = SqliteDialect { schema: "main".into(), page_bytes };
        for table in tables {
            let created = dialect.create(table)?;
            created.iter().try_for_each(|sql| connection.execute_batch(sql)).map_err(failed)?;
        }
        if fills.is_empty() {
            return checkpoint(&connection).map(|()| page_bytes).map_err(failed);
        }
        // The tables of a failed load are dropped anyway.
        let without = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF";
        connection.execute_batch(without).map_err(failed)?;
        for fill in fills {
            let index = dialect.create_index(&work.tables[fill.table]);
            self.fill(&connection, &dialect, work, fill)?;
            index.map_or(Ok(()), |sql| connection.execute_batch(&sql)).map_err(failed)?;
        }
        drop(connection);
        checkpoint(&self.files.open(path, false)?).map(|()| page_bytes).map_err(failed)
    }

    /// Inserts the rows of a table in one transaction.
    fn fill(
        &self,
        connection: &Connection,
        dialect: &SqliteDialect,
        work: &Work,
        mut fill: Fill,
    ) -> Result<()> {
        let table = &work.tables[fill.table];
        let filler = dialect.filler(table)?;
        let parameters_per_row = fill.columns.len() + 1;
        fill.columns.extend(table.filler().map(|(column, _)| column.name));
        let insert = Operation::Insert { table: fill.table, columns: fill.columns.clone() };
        let insert = dialect.statement(&insert, work)?;
        let failed = |error| failed(format!("filling table {}", table.name), &error);
        connection.execute_batch("BEGIN").map_err(failed)?;
        let mut insert = connection.prepare(&insert).map_err(failed)?;
        if table.filler().is_some() {
            insert.raw_bind_parameter(parameters_per_row, filler.as_slice()).map_err(failed)?;
        }
        let columns: Vec<&Column> =
            fill.columns.iter().filter_map(|name| table.column(name)).collect();
        let mut text = String::new();
        for rows in fill.batches {
            if self.files.cancel.is_cancelled() {
                return Err(EngineError::Cancelled);
            }
            for row in 0..rows.count {
                insert_row(&mut insert, &columns, &rows, row, &mut text).map_err(failed)?;
            }
        }
        connection.execute_batch("COMMIT").map_err(failed)
    }

    fn operations(&self) -> Result<&Arc<[Compiled]>> {
        self.operations.get().ok_or_else(|| {
            EngineError::failed("connecting", "the tables have not been created yet")
        })
    }

    /// Compiles an operation for every data file.
    fn compile(&self, operation: &Operation, work: &Work, page_bytes: usize) -> Result<Compiled> {
        let dialect = |file| SqliteDialect { schema: self.files.schema_of(file), page_bytes };
        let table = operation.table(work);
        let mut operation = operation.clone();
        let mut filler = None;
        // SQLite's defaults would compute the filler again for every row.
        if let (Operation::Insert { columns, .. }, Some(table)) = (&mut operation, table)
            && let Some((column, _)) = table.filler()
        {
            columns.push(column.name);
            filler = Some(dialect(0).filler(table)?);
        }
        let sql = (0..self.files.paths.len()).map(|file| dialect(file).statement(&operation, work));
        let integer_key = table.is_some_and(Table::has_integer_key);
        let (sql, keeps_rows) = (sql.collect::<Result<_, _>>()?, work.keeps_rows);
        Ok(Compiled { sql, keeps_rows, integer_key, filler })
    }
}

/// Inserts a row; `text` is room for the values that are written as text.
fn insert_row(
    insert: &mut Statement<'_>,
    columns: &[&Column],
    rows: &Rows,
    row: usize,
    text: &mut String,
) -> rusqlite::Result<()> {
    for (number, (column, values)) in (1..).zip(columns.iter().zip(&rows.columns)) {
        let Some(values) = values.present(row) else {
            insert.raw_bind_parameter(number, Null)?;
            continue;
        };
        match values {
            Values::Same(number_of_all) => insert.raw_bind_parameter(number, number_of_all)?,
            Values::Integers(numbers) => insert.raw_bind_parameter(number, numbers[row])?,
            Values::Decimals(hundredths) => {
                insert.raw_bind_parameter(number, hundredths[row] as f64 / 100.0)?;
            }
            Values::Uuids(uuids) => {
                insert.raw_bind_parameter(number, uuids[row].to_be_bytes().as_slice())?;
            }
            Values::SameText(same) => {
                insert.raw_bind_parameter(number, padded(same, column, text))?;
            }
            Values::Texts(texts) => {
                insert.raw_bind_parameter(number, padded(texts.get(row), column, text))?;
            }
            Values::Dates(_) | Values::Timestamps(_) => {
                text.clear();
                // Writing to memory cannot fail.
                let _ = values.write(row, text);
                insert.raw_bind_parameter(number, text.as_str())?;
            }
            // Taken apart above.
            Values::Nullable { .. } => {}
        }
    }
    insert.raw_execute().map(|_| ())
}

impl Instance for SqliteInstance {
    fn connect(&self, _: u32) -> Result<Box<dyn ConnectionSet>> {
        let operations = self.operations()?;
        let session =
            SqliteSession::open(self.files.clone(), operations.clone(), self.total.clone())?;
        let limited = match self.limit.get() {
            Some(limit) => session.with_limit(*limit)?,
            None => session,
        };
        Ok(Box::new(SetOfOne::new(limited)))
    }

    fn settle(&self, cache: CacheState) -> Result<CacheReport> {
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
        Some(Box::new(Collector { files, identities: Vec::new(), total, read_before: None }))
    }

    fn space_bytes(&self) -> Option<u64> {
        let files = self.files.all_paths().filter_map(|path| path.metadata().ok());
        // 512: the unit of st_blocks, for any file system.
        Some(files.map(|file| file.blocks() * 512).sum())
    }

    fn remove(self: Box<Self>) -> Result<()> {
        self.files.remove()
    }

    fn parts(&self) -> Parts<'_> {
        Parts {
            tables: Some(self),
            background_work: Some(self),
            explainer: Some(self),
            ..Parts::default()
        }
    }
}

impl Tables for SqliteInstance {
    fn create(&self, mut work: Work) -> Result<()> {
        let mut page_bytes = 0;
        for file in 0..self.files.paths.len() {
            page_bytes = self.create_in(file, &mut work)?;
        }
        for (path, file) in
            self.files.paths.iter().zip(&self.files.handles).filter(|_| work.measured)
        {
            file.sync_all().map_err(EngineError::at(path))?;
        }
        let operations = work
            .operations
            .iter()
            .map(|operation| self.compile(operation, &work, page_bytes))
            .collect::<Result<Arc<[_]>, _>>()?;
        // Work that is created twice in one trial would be a defect of the probe: the first one
        // stays.
        self.operations.get_or_init(|| operations);
        if let Some(limit) = work.statement_limit {
            self.limit.get_or_init(|| limit);
        }
        Ok(())
    }

    fn data_files(&self) -> u32 {
        self.files.paths.len() as u32
    }

    fn stored_bytes(&self) -> Result<Option<u64>> {
        Ok(self.space_bytes())
    }
}

impl Explainer for SqliteInstance {
    fn explain(&self, operation: usize, table: &Table, analyze: bool) -> Result<Explained> {
        let connection = self.files.connect_one()?;
        let sql = &self.operations()?[operation].sql[0];
        explain::explain(&connection, sql, table, analyze)
            .map_err(|error| failed(format!("explaining {sql}"), &error))
    }

    fn plans(&self, plan_requests: &[PlanRequest]) -> Result<Vec<Result<Planned, engine::NoPlan>>> {
        Ok(explain::plans(&self.files.connect_one()?, plan_requests))
    }
}

/// Adds up what the sessions recorded.
struct Collector {
    files: Arc<DataFiles>,
    /// Tables that existed at the start.
    identities: Vec<Identity>,
    total: Arc<Mutex<Totals>>,
    /// Bytes that this process had read from storage at the start.
    read_before: Option<u64>,
}

impl WaitCollector for Collector {
    fn start(&mut self) -> Result<()> {
        self.identities = self.files.identities();
        *lock(&self.total) = Totals::default();
        self.files.part.store(0, Ordering::Relaxed);
        self.read_before = observe::storage_read_bytes(std::process::id() as i32);
        Ok(())
    }

    fn divide(&mut self) -> Result<()> {
        self.files.part.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn stop(&mut self) -> Result<Collection> {
        let read = observe::storage_read_bytes(std::process::id() as i32);
        self.files.verify_in_place(&self.identities)?;
        let Totals { tallies, parts, pages } = &*lock(&self.total);
        // A session's time is that of its thread, which the load's driver knows.
        let ended = self.files.part.load(Ordering::Relaxed);
        let numbers = if ended > 0 && self.files.timed { 0..ended + 1 } else { 0..0 };
        let parts = numbers.map(|number| SessionPart {
            waits: parts.get(number).map(Tallies::waits).unwrap_or_default(),
            ..SessionPart::default()
        });
        let disk_read_bytes =
            read.zip(self.read_before).map(|(now, before)| now.saturating_sub(before));
        // Sessions work in the load's threads, and nothing works beside them.
        let worker_cpu_s = Some(0.0);
        let used = EngineUse {
            worker_cpu_s,
            pages: Some(*pages),
            disk_read_bytes,
            ..EngineUse::default()
        };
        Ok(Collection {
            waits: tallies.waits(),
            parts: parts.collect(),
            operations: tallies.operations(),
            used,
            ..Collection::default()
        })
    }
}
