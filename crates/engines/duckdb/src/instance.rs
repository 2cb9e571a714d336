//! The subject of a trial: a database with the tables and operations of its load.

use super::dialect::DuckDbDialect;
use super::library::{ChunkType, failed};
use super::session::{Compiled, DuckDbSession, KeyOf};
use super::target::{Files, Target, write_parquet};
use super::waits::DuckDbCollector;
use super::{explain, setup, stored};
use engine::setup::Setup;
use engine::{
    CacheReport, CacheState, ColumnStore, Compressed, ConnectionSet, Dialect as _, EngineError,
    Explained, Explainer, Folders, Host, Instance, Parts, PlanRequest, Planned, Result, SetOfOne,
    Stored, Tables, WaitCollector, cache, lock,
};
use experiment::Configuration;
use std::fs::File;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use work::{Cancel, DataType, Fill, Filter, Operation, Table, TableFormat, Work};

/// Nothing is shared between trials but the folders.
pub(crate) struct DuckDbHost(pub Folders);

impl Host for DuckDbHost {
    fn prepare(
        &mut self,
        configuration: &Configuration,
        _: u32,
        cancel: &Cancel,
    ) -> Result<Box<dyn Instance>> {
        Ok(Box::new(DuckDbInstance::create(configuration, &self.0, cancel)?))
    }
}

/// The database of one trial.
pub(crate) struct DuckDbInstance {
    pub target: Arc<Target>,
    /// The load's operations, once its tables exist.
    operations: OnceLock<Arc<[Compiled]>>,
    /// The time after which a statement of the load is cancelled.
    limit: OnceLock<Duration>,
    /// The database began with tables of one's own.
    is_set_up: bool,
}

impl DuckDbInstance {
    /// Creates an empty database with a configuration's settings.
    pub fn create(
        configuration: &Configuration,
        folders: &Folders,
        cancel: &Cancel,
    ) -> Result<Self> {
        let target = Target::new(configuration, folders, cancel)?;
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
    fn copy_kept(&self, work: &mut Work) -> Result<usize> {
        let Some(data) = work.data.as_ref().filter(|_| !self.is_set_up) else { return Ok(0) };
        if !cache::has_room(&cache::folder()?, data.bytes) {
            return Ok(0);
        }
        let (target, count) = (&self.target, data.tables);
        let (version, settings) = (&target.library.version, target.settings.shaping());
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

    fn operations(&self) -> Result<&Arc<[Compiled]>> {
        self.operations.get().ok_or_else(|| {
            EngineError::failed("connecting", "the tables have not been created yet")
        })
    }
}

impl Instance for DuckDbInstance {
    fn connect(&self, _: u32) -> Result<Box<dyn ConnectionSet>> {
        let operations = self.operations()?;
        let (target, limit) = (self.target.clone(), self.limit.get().copied());
        Ok(Box::new(SetOfOne::new(DuckDbSession::new(target, operations.clone(), limit)?)))
    }

    fn settle(&self, cache: CacheState) -> Result<CacheReport> {
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

    fn wait_collector(&self) -> Option<Box<dyn WaitCollector>> {
        let target = &self.target;
        let watched = target.slots.clone();
        Some(Box::new(DuckDbCollector::new(watched, target.workers.clone(), target.sample_hz)))
    }

    fn space_bytes(&self) -> Option<u64> {
        Some(self.target.files.space_bytes())
    }

    fn remove(self: Box<Self>) -> Result<()> {
        lock(&self.target.database).take();
        self.target.files.remove()
    }

    fn parts(&self) -> Parts<'_> {
        Parts {
            column_store: Some(self),
            tables: Some(self),
            background_work: Some(self),
            explainer: Some(self),
            ..Parts::default()
        }
    }
}

impl Tables for DuckDbInstance {
    fn create(&self, mut work: Work) -> Result<()> {
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
        let first = work.tables.first().filter(|_| filled);
        // A Parquet file has no segments.
        if let Some(table) = first.filter(|table| table.storage.format == TableFormat::Table) {
            self.target.compression.verify(&connection, table)?;
        }
        // Work that is created twice in one trial would be a defect of the probe: the first one
        // stays.
        self.operations.get_or_init(|| operations);
        if let Some(limit) = work.statement_limit {
            self.limit.get_or_init(|| limit);
        }
        self.target.seal(&connection)
    }

    fn stored_bytes(&self) -> Result<Option<u64>> {
        Ok(self.space_bytes())
    }
}

impl Explainer for DuckDbInstance {
    fn explain(&self, operation: usize, table: &Table, analyze: bool) -> Result<Explained> {
        let sql = &self.operations()?[operation].sql;
        let connection = self.target.connect()?;
        explain::explain(&connection, sql, table, analyze)
            .map_err(failed(format!("explaining {sql}")))
    }

    fn plans(&self, plan_requests: &[PlanRequest]) -> Result<Vec<Result<Planned, engine::NoPlan>>> {
        Ok(explain::plans(&self.target.connect()?, plan_requests))
    }
}

impl ColumnStore for DuckDbInstance {
    fn group_rows(&self) -> usize {
        stored::GROUP_ROWS
    }

    fn stored(&self, table: &Table, filter: Filter) -> Result<Stored> {
        let connection = self.target.connect()?;
        let stored = match table.storage.format {
            TableFormat::Table => stored::of_table(&connection, table, filter),
            TableFormat::Parquet => {
                stored::of_file(&connection, table, &self.target.files.of_table(table), filter)
            }
        };
        stored.map_err(failed(format!("reading the layout of table {}", table.name)))
    }

    fn compressed(&self, table: &Table) -> Result<Vec<Compressed>> {
        if table.storage.format == TableFormat::Parquet {
            return Ok(Vec::new());
        }
        let connection = self.target.connect()?;
        let compressed = stored::compressed(&connection, table);
        compressed.map_err(failed(format!("reading the compression of table {}", table.name)))
    }

    fn stored_apart(&self, table: &Table, fill: Fill) -> Result<Vec<Vec<u64>>> {
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

/// Compiles an operation into its statement.
fn compile(operation: &Operation, work: &Work) -> Result<Compiled> {
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
