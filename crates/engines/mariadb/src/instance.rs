//! The database of a trial on a server.

use super::admin::{Admin, DATABASE, MARK};
use super::compression::Compression;
use super::dialect::{MariaDialect, spelled};
use super::errors::failed_at;
use super::explain;
use super::load::{LoadConfig, statement_limit};
use super::server::variables::{self, Variable};
use super::server::{MariaProduct, PrivateServer, fill_by_url};
use super::settings::{HOST, STATEMENT_TIMEOUT, VOLUME};
use super::waits::MariaCollector;
use super::wire::StatementText;
use crate::client::{Client, Config, quote_identifier};
use engine::setup::Setup;
use engine::{
    CacheReport, CacheState, Dialect as _, EngineError, Explained, Explainer, PlanRequest, Planned,
    Result, ServerProcess, Tables, WaitCollector, lock,
};
use servers::administration::{Administration as _, BulkLoad as _};
use servers::files::{allocated_bytes, evict, walk};
use servers::hosted::{Target, Trial};
use servers::instance::{Common, Schema, ServerInstance};
use servers::network::{Relays, relayed};
use servers::private::Settings;
use servers::settings::path;
use std::fs::File;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use work::{Cancel, Operation, Table, Work};

/// `ER_SPECIFIC_ACCESS_DENIED_ERROR`: tables of the server are shown to those who have PROCESS.
const NEEDS_PRIVILEGE: u16 = 1227;

/// The database of one trial on a server.
pub(crate) struct MariaSchema {
    common: Common<Self>,
    /// Holds the database; its connection is that of administration.
    admin: Arc<Admin>,
    /// How the load connects.
    load: LoadConfig,
    /// The relay over which it does so, if any.
    _relay: Option<Relays>,
    /// The database that the URL names, and whether the load works there: without tables that a
    /// trial makes, on those of the user.
    own_database: Option<String>,
    works_there: AtomicBool,
    /// The limit of the load's statements, as a session sets it.
    limit: OnceLock<(String, String)>,
    /// Tables were not loaded on this server, but copied with its data directory.
    is_copy: AtomicBool,
    compression: Option<Compression>,
}

impl MariaSchema {
    /// Takes our database on the server and makes the folders of data files.
    pub fn create(target: Target<MariaProduct>, trial: &Trial<'_>) -> Result<ServerInstance<Self>> {
        let Trial { configuration, cancel, .. } = *trial;
        let is_by_url = target.private.is_none() && Setup::from_settings(configuration).is_none();
        let own_database = target.config.database.clone().filter(|_| is_by_url);
        let config = target.config.clone().with_database(DATABASE).with_stop(cancel.stop());
        let reached = target.config.clone().with_stop(cancel.stop());
        let mut session = verified_session_settings(&reached, &target.session_settings)?;
        let settings = Setup::from_settings(configuration);
        let admin = admin(&target, settings.as_ref(), cancel)?;
        if let Some(seconds) = configuration.get(STATEMENT_TIMEOUT) {
            session.push(admin.ask(|client| Ok(statement_limit(client, seconds)))?);
        }
        let common = Common::new(target, trial, &HOST);
        let (config, relay) = relayed(config, common.node.as_ref(), configuration)?;
        let mut instance = ServerInstance::new(Self {
            common,
            admin: Arc::new(admin),
            load: LoadConfig { config, session },
            _relay: relay,
            own_database,
            works_there: AtomicBool::new(false),
            limit: OnceLock::new(),
            is_copy: AtomicBool::new(false),
            compression: Compression::from_configuration(configuration),
        });
        // From here on, dropping it drops what was made.
        if settings.is_none() {
            instance.schema.common.make_folders(&configuration.get(VOLUME), trial)?;
        }
        Ok(instance)
    }

    fn dialect(&self) -> Result<MariaDialect> {
        let sql = "SELECT @@innodb_page_size";
        let (page_bytes, is_mariadb) = self
            .admin
            .ask(|client| Ok((client.cell(sql).map_err(failed_at(sql))?, client.is_mariadb())))?;
        Ok(MariaDialect {
            has_sequences: is_mariadb,
            data_files: self.common.data_files,
            folders: self.common.folders.clone(),
            page_bytes: page_bytes.and_then(|bytes| bytes.parse().ok()).unwrap_or(16 << 10),
            compression: self.compression,
        })
    }

    /// The files of the trial's tables on a private server.
    fn table_files(&self, server: &PrivateServer) -> Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        walk(&server.data_directory().join(DATABASE), &mut files)?;
        self.common.folders.iter().try_for_each(|folder| walk(folder, &mut files))?;
        files.retain(|file| file.extension().is_some_and(|end| end == "ibd"));
        Ok(files)
    }

    /// Reads all tables into the buffer pool; returns how many pages the server has read from
    /// storage since it began.
    fn read_tables(&self) -> Result<Option<String>> {
        for table in self.admin.tables()? {
            // Every page of rows, which are in the primary key.
            let sql = format!("SELECT count(*) FROM {} USE INDEX ()", quote_identifier(&table));
            self.admin.run("loading the tables into the buffer pool", &sql)?;
        }
        self.admin.ask(|client| {
            let table = variables::global_status(client);
            let reads = format!(
                "SELECT variable_value FROM {table} WHERE variable_name = \
                 'Innodb_buffer_pool_reads'"
            );
            client.cell(&reads).map_err(failed_at(&reads))
        })
    }
}

/// The connection that holds the database, with the tables that the user brings.
fn admin(target: &Target<MariaProduct>, setup: Option<&Setup>, cancel: &Cancel) -> Result<Admin> {
    let config = &target.config;
    match (setup, &target.private) {
        // It began with them.
        (Some(_), Some(_)) => Admin::take_again(config, cancel),
        (Some(setup), None) => {
            let admin = Admin::take(config, cancel)?;
            let filled = fill_by_url(config, setup, cancel);
            // The error to report is why the tables could not be made.
            filled.inspect_err(|_| drop(admin.drop_all()))?;
            Ok(admin)
        }
        (None, _) => Admin::take(config, cancel),
    }
}

/// Settings of a load's sessions as SET takes them: read back, in a session for that.
fn verified_session_settings(
    config: &Config,
    settings: &Settings,
) -> Result<Vec<(String, String)>> {
    if settings.is_empty() {
        return Ok(Vec::new());
    }
    let mut client = Client::connect(config).map_err(failed_at("connecting"))?;
    let known = Variable::read(&mut client)?;
    let mut verified = Vec::new();
    for (name, value) in settings {
        let setting = path(name);
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
            return Err(EngineError::SettingIgnored { setting, expected: value.clone(), got });
        }
        verified.push((name.clone(), literal));
    }
    Ok(verified)
}

fn compile(dialect: &MariaDialect, operation: &Operation, work: &Work) -> Result<StatementText> {
    let insert_head = match operation {
        Operation::Insert { table, columns } => dialect.insert_head(&work.tables[*table], columns),
        _ => String::new(),
    };
    let integer_key = operation.table(work).is_some_and(Table::has_integer_key);
    let sql = spelled(&dialect.statement(operation, work)?).to_owned();
    Ok(StatementText { sql, insert_head, integer_key, keeps_rows: work.keeps_rows })
}

impl Schema for MariaSchema {
    type Product = MariaProduct;
    type Admin = Admin;
    type Load = LoadConfig;

    fn common(&self) -> &Common<Self> {
        &self.common
    }

    fn admin(&self) -> &Arc<Admin> {
        &self.admin
    }

    /// In the database that it works in.
    fn load(&self) -> LoadConfig {
        let mut load = self.load.clone();
        load.session.extend(self.limit.get().cloned());
        let database =
            self.own_database.as_ref().filter(|_| self.works_there.load(Ordering::Relaxed));
        if let Some(name) = database {
            load.config = load.config.with_database(name);
        }
        load
    }

    fn settle(&self, server: &mut PrivateServer, cache: CacheState) -> Result<CacheReport> {
        if cache == CacheState::Cold {
            server.restart(true, &self.common.cancel)?;
            self.admin.reconnect(&server.config())?;
        }
        if cache == CacheState::Warm && self.is_copy.load(Ordering::Relaxed) {
            // As loading would have left it: the buffer pool holds the pages that it touched last.
            self.read_tables()?;
        }
        // It holds all tables when reading them again reads no page from storage.
        let is_read = cache == CacheState::Hot && self.read_tables()? == self.read_tables()?;
        let files = self.table_files(server)?;
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
        CacheReport::of_files(
            files.iter().map(|path| File::open(path).map_err(EngineError::at(path))),
            cache,
        )
    }

    fn wait_collector(&self, hz: f64) -> Box<dyn WaitCollector> {
        let Target { config, private, .. } = &self.common.target;
        let pid = private.as_ref().and_then(|server| lock(server).pid());
        let (config, sessions) = (config.clone(), self.common.sessions.clone());
        Box::new(MariaCollector::new(config, sessions, pid, hz, self.common.cancel.clone()))
    }

    fn bytes_elsewhere(&self) -> Option<u64> {
        let mut files = Vec::new();
        for folder in &self.common.folders {
            walk(folder, &mut files).ok()?;
        }
        Some(allocated_bytes(&files))
    }

    fn drop_all(&self) -> Result<()> {
        self.admin.drop_all()
    }
}

impl Tables for MariaSchema {
    fn create(&self, mut work: Work) -> Result<()> {
        let brings_none = work.tables.is_empty() && self.own_database.is_some();
        self.works_there.store(brings_none, Ordering::Relaxed);
        let dialect = self.dialect()?;
        let is_private = self.common.target.private.is_some();
        self.compression
            .map_or(Ok(()), |compression| compression.prepare(&self.admin, is_private))?;
        // The tables that are there already come first.
        let can_be_copied = self.common.folders.is_empty()
            && self.compression.is_none_or(Compression::can_be_copied);
        let there = if can_be_copied {
            self.common.take_kept(&mut work, &self.admin, &dialect)?
        } else {
            0
        };
        self.is_copy.store(there > 0, Ordering::Relaxed);
        let fills = std::mem::take(&mut work.fills);
        self.admin.make(&dialect, &work.tables, there, fills, &self.common.cancel)?;
        self.compression.map_or(Ok(()), |compression| compression.verify(&self.admin))?;
        for statement in dialect.procedures(&work) {
            self.admin.run("creating the procedure", &statement)?;
        }
        let operations = work
            .operations
            .iter()
            .map(|operation| compile(&dialect, operation, &work))
            .collect::<Result<Arc<[_]>, _>>()?;
        self.common.keep_statements(operations);
        if let Some(limit) = work.statement_limit {
            let set = self.admin.ask(|client| Ok(statement_limit(client, limit.as_secs_f64())))?;
            self.limit.get_or_init(|| set);
        }
        Ok(())
    }

    fn data_files(&self) -> u32 {
        self.common.data_files
    }

    fn stored_bytes(&self) -> Result<Option<u64>> {
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

impl Explainer for MariaSchema {
    fn explain(&self, operation: usize, table: &Table, analyze: bool) -> Result<Explained> {
        let mut client = self.load().connect()?;
        client.set_stop(self.common.cancel.stop());
        let statements = self.common.statements()?;
        let sql = statements.get(operation).map_or("", |statement| statement.sql.as_str());
        explain::explain(&mut client, sql, table, analyze)
    }

    fn plans(&self, plan_requests: &[PlanRequest]) -> Result<Vec<Result<Planned, engine::NoPlan>>> {
        let mut client = self.load().connect()?;
        client.set_stop(self.common.cancel.stop());
        Ok(explain::plans(&mut client, plan_requests))
    }
}

impl ServerProcess for MariaSchema {
    fn client_environment(&self) -> Vec<(String, Option<String>)> {
        self.load().config.client_environment()
    }

    fn log_tail(&self) -> Option<String> {
        self.common.target.log_tail()
    }

    fn server_process(&self) -> Result<Option<i32>> {
        match self.common.target.private {
            Some(_) => Ok(None),
            None => Err(EngineError::Unsupported {
                engine: "MariaDB or MySQL by URL",
                what: "access to its processes",
            }),
        }
    }
}
