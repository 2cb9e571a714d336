//! The database of a trial on a server.

use super::admin::{Admin, DATABASE, MARK};
use super::compression::Compression;
use super::dialect::{MariaDialect, spelled};
use super::kept::{self, MariaKeeper};
use super::load::{LoadConfig, MariaConnections, Sessions};
use super::server::variables::{self, Variable};
use super::server::{MariaProduct, PrivateServer, fill as fill_setup};
use super::settings::{DATA_FILES, FINAL_CHECKPOINT, SAMPLE_RATE, STATEMENT_TIMEOUT, VOLUME};
use super::waits::MariaCollector;
use super::wire::StatementText;
use super::{explain, failed_at, fill};
use crate::client::{Client, Config, quote_identifier};
use engine::setup::Setup;
use engine::{
    Asked, CacheReport, CacheState, ConnectionSet, Dialect as _, EngineError, Explained, Folders,
    Instance, Planned, WaitCollector, lock, open_files,
};
use engine::{Explainer, ServerProcess, Tables};
use experiment::common::OBSERVE_WAITS;
use servers::data_sets::KeptTables;
use servers::files::{allocated_bytes, evict, walk};
use servers::host::{Target, Trial};
use servers::private::{Settings, Stop};
use std::fs::File;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use work::{Cancel, Operation, Table, Work};

/// `ER_SPECIFIC_ACCESS_DENIED_ERROR`: tables of the server are shown to those who have PROCESS.
const NEEDS_PRIVILEGE: u16 = 1227;

/// Our database on a server, for one trial.
pub struct MariaInstance {
    target: Target<MariaProduct>,
    /// Holds the database; its connection is that of administration.
    admin: Arc<Admin>,
    /// How the load connects.
    load: LoadConfig,
    sessions: Sessions,
    statements: OnceLock<Arc<[StatementText]>>,
    /// The data set that the server holds on when the trial has ended.
    kept: OnceLock<KeptTables>,
    /// Tables were not loaded on this server, but copied with its data directory.
    is_copy: AtomicBool,
    /// Folders of data files on volumes.
    folders: Vec<PathBuf>,
    data_files: u32,
    compression: Option<Compression>,
    connections: u64,
    /// Samples a second; `None`: waits are not observed.
    sample_hz: Option<f64>,
    final_checkpoint: bool,
    cancel: Cancel,
    gone: bool,
}

impl MariaInstance {
    /// Takes our database on the server and makes the folders of data files.
    pub fn create(target: Target<MariaProduct>, trial: &Trial<'_>) -> Result<Self, EngineError> {
        let Trial { configuration, folders, connections, cancel } = *trial;
        let config = target.config.clone().with_database(DATABASE).with_stop(cancel.stop());
        let reached = target.config.clone().with_stop(cancel.stop());
        let mut session = verified_session_settings(&reached, &target.session_settings)?;
        let admin = match (Setup::from_settings(configuration), &target.private) {
            (None, _) => Admin::take_database(&target.config, cancel)?,
            // It began with them.
            (Some(_), Some(_)) => Admin::take_again(&target.config, cancel)?,
            (Some(own), None) => {
                let admin = Admin::take_database(&target.config, cancel)?;
                let filled = fill_setup(&target.config, &own, cancel);
                // The error to report is why the tables could not be made.
                filled.inspect_err(|_| drop(admin.drop_all()))?;
                admin
            }
        };
        if let Some(seconds) = configuration.get(STATEMENT_TIMEOUT) {
            session.push(admin.ask(|client| Ok(statement_limit(client, seconds)))?);
        }
        let mut instance = Self {
            target,
            admin: Arc::new(admin),
            load: LoadConfig { config, session },
            sessions: Sessions::default(),
            statements: OnceLock::new(),
            kept: OnceLock::new(),
            is_copy: AtomicBool::new(false),
            folders: Vec::new(),
            data_files: configuration.get(DATA_FILES),
            compression: Compression::of(configuration),
            connections: connections.into(),
            sample_hz: configuration.get(OBSERVE_WAITS).then(|| configuration.get(SAMPLE_RATE)),
            final_checkpoint: configuration.get(FINAL_CHECKPOINT),
            cancel: cancel.clone(),
            gone: false,
        };
        if Setup::from_settings(configuration).is_none() {
            instance.make_folders(&configuration.get(VOLUME), folders)?;
        }
        Ok(instance)
    }

    fn make_folders(&mut self, volumes: &[String], folders: &Folders) -> Result<(), EngineError> {
        let Some(server) = &self.target.private else { return Ok(()) };
        for (file, volume) in (0..self.data_files).zip(volumes.iter().cycle()) {
            let directory = folders.volume(volume)?;
            let directory = directory.canonicalize().map_err(EngineError::at(directory))?;
            let path = directory.join(format!("data-{file}"));
            lock(server).options.account.make_folder(&path)?;
            self.folders.push(path);
        }
        Ok(())
    }

    fn dialect(&self) -> Result<MariaDialect, EngineError> {
        let sql = "SELECT @@innodb_page_size";
        let (page_bytes, is_mariadb) = self
            .admin
            .ask(|client| Ok((client.cell(sql).map_err(failed_at(sql))?, client.is_mariadb())))?;
        Ok(MariaDialect {
            has_sequences: is_mariadb,
            data_files: self.data_files,
            folders: self.folders.clone(),
            page_bytes: page_bytes.and_then(|bytes| bytes.parse().ok()).unwrap_or(16 << 10),
            compression: self.compression,
        })
    }

    fn statements(&self) -> Result<&Arc<[StatementText]>, EngineError> {
        let missing = || EngineError::failed("connecting", "the tables have not been created yet");
        self.statements.get().ok_or_else(missing)
    }

    /// Has a private server hold the data set of this work. Returns how many of its tables exist
    /// afterwards.
    fn take_kept(&self, work: &mut Work, dialect: &MariaDialect) -> Result<usize, EngineError> {
        let Some(server) = &self.target.private else { return Ok(0) };
        let Some(kept) = KeptTables::find(work, dialect)? else { return Ok(0) };
        let can_be_copied =
            self.folders.is_empty() && self.compression.is_none_or(Compression::can_be_copied);
        if !can_be_copied {
            return Ok(0);
        }
        let keeper = MariaKeeper { admin: &self.admin, dialect, cancel: &self.cancel };
        let kept = lock(server).take_kept(kept, work, &keeper, &self.cancel)?;
        let count = kept.as_ref().map_or(0, KeptTables::count);
        self.is_copy.store(kept.is_some(), Ordering::Relaxed);
        // One that the trial changes is not put back.
        if let Some(kept) = kept.filter(|kept| !kept.changed) {
            self.kept.get_or_init(|| kept);
        }
        Ok(count)
    }

    /// The files of the trial's tables on a private server.
    fn table_files(&self, server: &PrivateServer) -> Result<Vec<PathBuf>, EngineError> {
        let mut files = Vec::new();
        walk(&server.data_directory().join(DATABASE), &mut files)?;
        self.folders.iter().try_for_each(|folder| walk(folder, &mut files))?;
        files.retain(|file| file.extension().is_some_and(|end| end == "ibd"));
        Ok(files)
    }

    /// Reads all tables into the buffer pool; returns how many pages the server has read from
    /// storage since it began.
    fn read_tables(&self) -> Result<Option<String>, EngineError> {
        for table in self.admin.tables()? {
            // Every page of rows, which are in the primary key.
            let sql = format!("SELECT count(*) FROM {} USE INDEX ()", quote_identifier(&table));
            self.admin.run("loading the tables into the buffer pool", &sql)?;
        }
        self.admin.ask(|client| {
            let table = super::global_status(client);
            let reads = format!(
                "SELECT variable_value FROM {table} WHERE variable_name = \
                 'Innodb_buffer_pool_reads'"
            );
            client.cell(&reads).map_err(failed_at(&reads))
        })
    }
}

/// Settings of a load's sessions as SET takes them: read back, in a session for that.
fn verified_session_settings(
    config: &Config,
    wanted: &Settings,
) -> Result<Vec<(String, String)>, EngineError> {
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let mut client = Client::connect(config).map_err(failed_at("connecting"))?;
    let known = Variable::read(&mut client)?;
    let mut verified = Vec::new();
    for (name, value) in wanted {
        let setting = variables::path(name);
        let doing = format!(
            "{setting} on a server by URL (sessions can set session variables only; for others \
             set target.allow_server_settings)"
        );
        let variable = known.get(name).cloned().unwrap_or_default();
        let literal = variable.literal(value);
        client.run(&format!("SET SESSION {name} = {literal}")).map_err(failed_at(&doing))?;
        let got = client.cell(&format!("SELECT @@SESSION.{name}")).map_err(failed_at(&doing))?;
        let got = got.unwrap_or_default();
        if !variable.with_value(got.clone()).is(value) {
            return Err(EngineError::SettingIgnored { setting, wanted: value.clone(), got });
        }
        verified.push((name.clone(), literal));
    }
    Ok(verified)
}

/// The variable of a session that limits its statements, and its value. MySQL's limits `SELECT`
/// alone.
pub(super) fn statement_limit(client: &Client, seconds: f64) -> (String, String) {
    if client.is_mariadb() {
        ("max_statement_time".into(), seconds.to_string())
    } else {
        ("max_execution_time".into(), (seconds * 1e3).ceil().to_string())
    }
}

fn compile(
    dialect: &MariaDialect,
    operation: &Operation,
    work: &Work,
) -> Result<StatementText, EngineError> {
    let insert_head = match operation {
        Operation::Insert { table, columns } => dialect.insert_head(&work.tables[*table], columns),
        _ => String::new(),
    };
    let integer_key = operation.table(work).is_some_and(Table::has_integer_key);
    let sql = spelled(&dialect.statement(operation, work)?).to_owned();
    Ok(StatementText { sql, insert_head, integer_key })
}

impl Instance for MariaInstance {
    fn connect(&self, connections: u32) -> Result<Box<dyn ConnectionSet>, EngineError> {
        open_files::allow(self.connections, || {
            format!("opening {} connections", self.connections)
        })?;
        let (statements, sessions) = (self.statements()?, self.sessions.clone());
        let cancel = self.cancel.clone();
        let checkpoints = self.final_checkpoint.then(|| Arc::clone(&self.admin));
        let opened = MariaConnections::connect(
            &self.load,
            connections,
            statements,
            sessions,
            checkpoints,
            cancel,
        )?;
        Ok(Box::new(opened))
    }

    fn settle(&self, cache: CacheState) -> Result<CacheReport, EngineError> {
        let Some(server) = &self.target.private else {
            return Ok(CacheReport { resident_bytes: None, ..CacheReport::NO_FILES });
        };
        if cache == CacheState::Cold {
            let mut server = lock(server);
            server.restart(true, &self.cancel)?;
            self.admin.reconnect(&server.config())?;
        }
        if cache == CacheState::Warm && self.is_copy.load(Ordering::Relaxed) {
            // As loading would have left it: the buffer pool holds the pages that it touched last.
            self.read_tables()?;
        }
        // It holds all tables when reading them again reads no page from storage.
        let is_read = cache == CacheState::Hot && self.read_tables()? == self.read_tables()?;
        let files = self.table_files(&lock(server))?;
        if cache == CacheState::Cold {
            // A server that starts looks at the first page of each file through the page cache,
            // which reads ahead.
            evict(&files)?;
        }
        if cache == CacheState::Hot {
            // In the buffer pool: InnoDB reads its files past the page cache.
            let bytes =
                files.iter().filter_map(|file| file.metadata().ok()).map(|file| file.len()).sum();
            let resident_bytes = is_read.then_some(bytes);
            return Ok(CacheReport { file_bytes: bytes, resident_bytes, verified: is_read });
        }
        let opened = |path: PathBuf| File::open(&path).map_err(EngineError::at(&path));
        CacheReport::of_files(files.into_iter().map(opened), cache)
    }

    fn wait_collector(&self) -> Option<Box<dyn WaitCollector>> {
        let (config, sessions) = (self.target.config.clone(), self.sessions.clone());
        let pid = self.target.private.as_ref().and_then(|server| lock(server).pid());
        Some(Box::new(MariaCollector::new(
            config,
            sessions,
            pid,
            self.sample_hz?,
            self.cancel.clone(),
        )))
    }

    fn space_bytes(&self) -> Option<u64> {
        let mut files = Vec::new();
        let of_server = lock(self.target.private.as_ref()?).space_bytes();
        for folder in &self.folders {
            walk(folder, &mut files).ok()?;
        }
        Some(of_server + allocated_bytes(&files))
    }

    fn remove(mut self: Box<Self>) -> Result<(), EngineError> {
        self.gone = true;
        if let (Some(kept), Some(server)) = (self.kept.get(), &self.target.private)
            && (self.cancel.is_cancelled() || kept::put_back(kept, &self.admin).is_err())
        {
            // What cannot be kept is dropped with the rest, and cloned again when it is asked for.
            lock(server).data_sets.forget();
        }
        match &self.target.private {
            // A trial that was stopped has left work in flight, and one that cannot be put in order
            // is of no use: for the next trial there will be a new server.
            Some(server) if self.cancel.is_cancelled() || self.admin.drop_all().is_err() => {
                lock(server).stop(Stop::Crash, &self.cancel)?;
            }
            Some(_) => {}
            None => self.admin.drop_all()?,
        }
        // What a server leaves of a data file's folder.
        self.folders
            .iter()
            .try_for_each(|path| std::fs::remove_dir_all(path).map_err(EngineError::at(path)))
    }

    fn tables(&self) -> Option<&dyn Tables> {
        Some(self)
    }

    fn explainer(&self) -> Option<&dyn Explainer> {
        Some(self)
    }

    fn server(&self) -> Option<&dyn ServerProcess> {
        Some(self)
    }
}

impl Tables for MariaInstance {
    fn create(&self, mut work: Work) -> Result<(), EngineError> {
        let dialect = self.dialect()?;
        let is_private = self.target.private.is_some();
        self.compression.map_or(Ok(()), |wanted| wanted.prepare(&self.admin, is_private))?;
        // The tables that are there already come first.
        let there = self.take_kept(&mut work, &dialect)?;
        let fills = std::mem::take(&mut work.fills);
        fill::make(&self.admin, &dialect, &work.tables, there, fills, &self.cancel)?;
        self.compression.map_or(Ok(()), |wanted| wanted.verify(&self.admin))?;
        for statement in dialect.procedures(&work) {
            self.admin.run("creating the procedure", &statement)?;
        }
        let compile = |operation| compile(&dialect, operation, &work);
        let operations = work.operations.iter().map(compile).collect::<Result<Arc<[_]>, _>>()?;
        // Work that is created twice in one trial would be a defect of the probe: the first one
        // stays.
        self.statements.get_or_init(|| operations);
        Ok(())
    }

    fn data_files(&self) -> u32 {
        self.data_files
    }

    fn stored_bytes(&self) -> Result<Option<u64>, EngineError> {
        if let Some(Compression::Pages(_)) = self.compression {
            // A page has its hole once it is written; until then its place in the file takes
            // nothing at all.
            self.admin.checkpoint()?;
        }
        // Of a table with its indexes and its BLOB pages; of pages that are compressed the holes
        // behind them do not count.
        let bytes = |client: &mut Client| {
            let tablespaces =
                if client.is_mariadb() { "innodb_sys_tablespaces" } else { "innodb_tablespaces" };
            client.cell(&format!(
                "SELECT sum(allocated_size) FROM information_schema.{tablespaces} WHERE name LIKE \
                 '{DATABASE}/%' AND name <> '{DATABASE}/{MARK}'"
            ))
        };
        match self.admin.ask(|client| Ok(bytes(client)))? {
            Ok(bytes) => Ok(bytes.and_then(|bytes| bytes.parse().ok())),
            Err(error) if error.code() == Some(NEEDS_PRIVILEGE) => Ok(None),
            Err(error) => Err(failed_at("reading table sizes")(error)),
        }
    }
}

impl Explainer for MariaInstance {
    fn explain(
        &self,
        operation: usize,
        table: &Table,
        analyze: bool,
    ) -> Result<Explained, EngineError> {
        let mut client = self.load.connect()?;
        client.set_stop(self.cancel.stop());
        let sql = self.statements()?.get(operation).map_or("", |statement| statement.sql.as_str());
        explain::explain(&mut client, sql, table, analyze)
    }

    fn plans(&self, asked: &[Asked]) -> Result<Vec<Result<Planned, engine::NoPlan>>, EngineError> {
        let mut client = self.load.connect()?;
        client.set_stop(self.cancel.stop());
        Ok(explain::plans(&mut client, asked))
    }
}

impl ServerProcess for MariaInstance {
    fn client_environment(&self) -> Vec<(String, Option<String>)> {
        self.load.config.client_environment()
    }

    fn log_tail(&self) -> Option<String> {
        self.target.log_tail()
    }

    fn server_process(&self) -> Result<Option<i32>, EngineError> {
        match self.target.private {
            Some(_) => Ok(None),
            None => Err(EngineError::Unsupported {
                engine: "MariaDB or MySQL by URL",
                what: "access to its processes",
            }),
        }
    }
}

impl Drop for MariaInstance {
    fn drop(&mut self) {
        if !self.gone {
            // Best effort after a panic; `remove` is the way that reports errors.
            let _ = self.admin.drop_all();
        }
    }
}
