//! What a trial works on: our schema on a server.

use super::admin::Admin;
use super::dialect::PostgresDialect;
use super::host::lock;
use super::load::{Backends, Flush, OperationText, PostgresConnections, Statements};
use super::schema::{self, SCHEMA};
use super::server::{Cluster, Stop};
use super::settings::{DATA_FILES, FINAL_CHECKPOINT, SAMPLE_RATE, STATEMENT_TIMEOUT, VOLUME};
use super::waits::PostgresCollector;
use super::{failure, local, settings};
use crate::engine::{CacheReport, CacheState, ConnectionSet, EngineError, Folders, Instance, WaitCollector};
use crate::{Cancel, Dialect as _, Fill, ObserveOptions, Operation, Rows, Table, Values, Work, open_files};
use experiment::Configuration;
use experiment::common::OBSERVE_WAITS;
use pgclient::{Client, Config, quote_identifier, quote_literal};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Lines of the server's log that explain a failure.
const LOG_LINES: usize = 15;

/// The server that a trial uses.
#[derive(Clone)]
pub enum Server {
    /// One of ours.
    Private(Arc<Mutex<Cluster>>),
    /// One that was there.
    ByUrl(Box<Config>),
}

impl Server {
    /// How to reach it.
    fn config(&self) -> Config {
        match self {
            Self::Private(cluster) => lock(cluster).config(),
            Self::ByUrl(config) => config.as_ref().clone(),
        }
    }
}

/// Our schema on a server, for one trial.
pub struct PostgresInstance {
    server: Server,
    /// Holds the schema; its connection is that of administration.
    admin: Arc<Admin>,
    /// How the load connects.
    load: Config,
    backends: Backends,
    statements: OnceLock<Arc<Statements>>,
    tablespaces: Vec<(String, PathBuf)>,
    data_files: u32,
    connections: u64,
    final_checkpoint: bool,
    /// Samples a second; `None`: waits are not observed.
    sample_hz: Option<f64>,
    lost: Arc<Mutex<Vec<String>>>,
    cancel: Cancel,
    /// Length of a private server's log when the trial began.
    log_bytes: u64,
    /// It has been removed.
    gone: bool,
}

impl PostgresInstance {
    /// Takes our schema on the server and creates the tablespaces.
    pub fn create(
        server: Server,
        configuration: &Configuration,
        place: &Folders,
        connections: u32,
        cancel: &Cancel,
    ) -> Result<Self, EngineError> {
        let config = server.config();
        let load = load_config(&config, &server, configuration);
        verify_session_settings(&load, &server, configuration)?;
        let admin = Admin::take_schema(&config, cancel)?;
        let observe = configuration.get(OBSERVE_WAITS);
        let log_bytes = match &server {
            Server::Private(cluster) => lock(cluster).log_bytes(),
            Server::ByUrl(_) => 0,
        };
        let mut instance = Self {
            server,
            admin: Arc::new(admin),
            load,
            backends: Backends::default(),
            statements: OnceLock::new(),
            tablespaces: Vec::new(),
            data_files: configuration.get(DATA_FILES),
            connections: u64::from(connections),
            final_checkpoint: configuration.get(FINAL_CHECKPOINT),
            sample_hz: observe.then(|| configuration.get(SAMPLE_RATE)),
            lost: Arc::default(),
            cancel: cancel.clone(),
            log_bytes,
            gone: false,
        };
        let volumes = configuration.get(VOLUME);
        for file in 0..instance.data_files {
            let Some(volume) = volumes.get(file as usize % volumes.len().max(1)) else { break };
            instance.create_tablespace(file, place.volume(volume)?)?;
        }
        Ok(instance)
    }

    fn create_tablespace(&mut self, file: u32, directory: &Path) -> Result<(), EngineError> {
        let Server::Private(cluster) = &self.server else { return Ok(()) };
        let file_error = |source| EngineError::File { path: directory.into(), source };
        let path = directory.canonicalize().map_err(file_error)?.join(format!("data-{file}"));
        lock(cluster).account().make_folder(&path)?;
        let name = format!("{SCHEMA}_{file}");
        let sql = format!(
            "CREATE TABLESPACE {} LOCATION {}",
            quote_identifier(&name),
            quote_literal(&path.to_string_lossy())
        );
        self.admin.run(&format!("creating a tablespace in {}", path.display()), &sql)?;
        self.tablespaces.push((name, path));
        Ok(())
    }

    fn dialect(&self) -> Result<PostgresDialect, EngineError> {
        let page_bytes = self.admin.cell("SELECT current_setting('block_size')")?;
        Ok(PostgresDialect {
            data_files: self.data_files,
            tablespaces: self.tablespaces.iter().map(|(name, _)| name.clone()).collect(),
            page_bytes: page_bytes.parse().unwrap_or(8192),
        })
    }

    /// Fills a table that this trial has created: by COPY of rows that are frozen at once, for which the same
    /// transaction must have emptied it.
    fn fill(&self, dialect: &PostgresDialect, work: &Work, fill: &mut Fill) -> Result<(), EngineError> {
        let table = &work.tables[fill.table];
        let doing = format!("filling table {}", table.name);
        let failed = |error| failure::of_client(&doing, &error);
        self.admin.run(&doing, &format!("BEGIN; TRUNCATE {}", dialect.table(table)))?;
        self.admin.ask(|admin| {
            let copy = dialect.copy(table, &fill.columns, "FREEZE ON");
            let mut copy = admin.copy_in(&copy).map_err(failed)?;
            let mut buffer = Vec::new();
            for rows in &mut fill.batches {
                buffer.clear();
                put_rows(&mut buffer, &rows);
                copy.write(&buffer).map_err(failed)?;
                if self.cancel.is_cancelled() {
                    return Err(EngineError::Cancelled);
                }
            }
            copy.finish().map(|_| ()).map_err(failed)
        })?;
        self.admin.run(&doing, "COMMIT")
    }

    fn compile(
        dialect: &PostgresDialect,
        operation: &Operation,
        work: &Work,
    ) -> Result<OperationText, EngineError> {
        let copy = match operation {
            Operation::Insert { table, columns } => {
                dialect.copy(&work.tables[*table], columns, "FORMAT binary")
            }
            _ => String::new(),
        };
        let integer_key = operation.table(work).is_some_and(Table::has_integer_key);
        Ok(OperationText { sql: dialect.statement(operation, work)?, copy, integer_key })
    }

    /// The files of our tables and indexes, on a server whose files we can see.
    fn table_files(&self, cluster: &Cluster) -> Result<Vec<PathBuf>, EngineError> {
        let sql = "SELECT pg_relation_filepath(c.oid) FROM pg_class c JOIN pg_namespace n ON n.oid = \
                   c.relnamespace WHERE n.nspname = $1 AND pg_relation_filepath(c.oid) IS NOT NULL";
        let failed = |error| failure::of_client("looking for our files", &error);
        let rows = self.admin.ask(|admin| admin.query(sql, &[Some(SCHEMA)]).map_err(failed))?;
        let mut files = Vec::new();
        for first in rows.iter().filter_map(|row| row.get(0)) {
            // A relation's file is continued in `.1`, `.2`, ... after each gigabyte.
            let first = cluster.data_directory().join(first);
            let segments = (1..).map(|segment| PathBuf::from(format!("{}.{segment}", first.display())));
            files.extend(std::iter::once(first.clone()).chain(segments).take_while(|path| path.exists()));
        }
        Ok(files)
    }

    /// Stops the server, puts its files out of memory and starts it again; our schema stays ours.
    fn cool(&self, cluster: &mut Cluster) -> Result<(), EngineError> {
        cluster.stop(Stop::Fast)?;
        cluster.drop_os_cache()?;
        cluster.start(&self.cancel)?;
        self.admin.reconnect(Some(cluster.config()))
    }

    fn drop_everything(&self) -> Result<(), EngineError> {
        self.admin.part(|admin| {
            schema::drop_all(admin)?;
            for (name, _) in &self.tablespaces {
                let sql = format!("DROP TABLESPACE {}", quote_identifier(name));
                admin.batch(&sql).map_err(|error| failure::of_client(&sql, &error))?;
            }
            Ok(())
        })
    }

    /// Stops a private server that could not be put in order: for the next trial there will be a new
    /// one.
    fn give_up(cluster: &Mutex<Cluster>) -> Result<(), EngineError> {
        lock(cluster).stop(Stop::Immediate)
    }

    /// What a server leaves of a tablespace's folder.
    fn remove_folders(&self) -> Result<(), EngineError> {
        self.tablespaces.iter().try_for_each(|(_, path)| {
            std::fs::remove_dir_all(path).map_err(|source| EngineError::File { path: path.clone(), source })
        })
    }
}

/// Appends rows in COPY's text format. Our statements hold nothing that it would have escaped.
fn put_rows(out: &mut Vec<u8>, rows: &Rows) {
    for row in 0..rows.count {
        for (number, values) in rows.columns.iter().enumerate() {
            if number > 0 {
                out.push(b'\t');
            }
            // Writing to memory cannot fail.
            let _ = match values {
                Values::Same(number) => write!(out, "{number}"),
                Values::SameText(text) => write!(out, "{text}"),
                Values::Integers(numbers) => write!(out, "{}", numbers[row]),
            };
        }
        out.push(b'\n');
    }
}

/// How the load connects: in our schema and, to another's server, with the settings of the file.
fn load_config(config: &Config, server: &Server, configuration: &Configuration) -> Config {
    // Then what the role would see: scripts of the user may work on tables of the user.
    let mut options = format!("-c search_path={SCHEMA},\"$user\",public");
    if let Some(seconds) = configuration.get(STATEMENT_TIMEOUT) {
        // Writing to a string cannot fail.
        let _ = write!(options, " -c statement_timeout={}", (seconds * 1e3).ceil());
    }
    if let Server::ByUrl(_) = server {
        for (name, value) in settings::server_settings(configuration) {
            let _ = write!(options, " -c {name}={}", escaped(&value));
        }
    }
    config.clone().with_application_name(schema::LOAD).with_options(&options)
}

/// A value among the options of a session: what separates them is its own.
fn escaped(value: &str) -> String {
    value
        .chars()
        .flat_map(|c| (c == '\\' || c.is_whitespace()).then_some('\\').into_iter().chain([c]))
        .collect()
}

/// On another's server a session's settings are read back: what it would take them for if it set
/// them now is what it must have.
fn verify_session_settings(
    load: &Config,
    server: &Server,
    configuration: &Configuration,
) -> Result<(), EngineError> {
    let wanted = settings::server_settings(configuration);
    if matches!(server, Server::Private(_)) || wanted.is_empty() {
        return Ok(());
    }
    let doing = "setting target.settings of a server by URL, where a session must be allowed to";
    let mut client = Client::connect(load).map_err(|error| failure::of_client(doing, &error))?;
    for (name, value) in wanted {
        let rows = client
            .query("SELECT current_setting($1), set_config($1, $2, true)", &[Some(&name), Some(&value)])
            .map_err(|error| failure::of_client(&format!("target.settings.{name}"), &error))?;
        let got = rows.first().map(|row| (row.get(0).map(str::to_owned), row.get(1).map(str::to_owned)));
        if let Some((got, wanted)) = got.filter(|(got, wanted)| got != wanted) {
            return Err(EngineError::SettingIgnored {
                setting: format!("target.settings.{name}"),
                wanted: wanted.unwrap_or_default(),
                got: got.unwrap_or_default(),
            });
        }
    }
    Ok(())
}

impl Instance for PostgresInstance {
    fn create(&self, mut work: Work) -> Result<(), EngineError> {
        let dialect = self.dialect()?;
        let mut fills = std::mem::take(&mut work.fills);
        for statement in work.tables.iter().flat_map(|table| dialect.create(table)) {
            self.admin.run("creating the tables", &statement)?;
        }
        for statement in dialect.procedures(&work) {
            self.admin.run("creating the procedure", &statement)?;
        }
        for fill in &mut fills {
            self.fill(&dialect, &work, fill)?;
        }
        if !fills.is_empty() {
            for statement in work.tables.iter().flat_map(|table| dialect.after_fill(table)) {
                self.admin.run("finishing the tables", &statement)?;
            }
        }
        let compile = |operation| Self::compile(&dialect, operation, &work);
        let operations = work.operations.iter().map(compile).collect::<Result<_, _>>()?;
        // Work that is created twice in one trial would be a defect of the probe: the first one stays.
        self.statements.get_or_init(|| Arc::new(Statements::new(operations)));
        Ok(())
    }

    fn data_files(&self) -> u32 {
        self.data_files
    }

    fn connect(&self, connections: u32) -> Result<Box<dyn ConnectionSet>, EngineError> {
        let statements = self.statements.get().ok_or_else(|| EngineError::Engine {
            doing: "connecting".into(),
            message: "the tables have not been created yet".into(),
        })?;
        open_files::allow(self.connections, || format!("opening {} connections", self.connections))?;
        let admin = self.admin.clone();
        let flush: Flush = Arc::new(move || admin.run("final checkpoint", "CHECKPOINT"));
        let flush = self.final_checkpoint.then_some(flush);
        let connection_set =
            PostgresConnections::connect(&self.load, connections, statements, self.backends.clone(), flush)?;
        Ok(Box::new(connection_set))
    }

    fn settle(&self, cache: CacheState) -> Result<CacheReport, EngineError> {
        let Server::Private(cluster) = &self.server else {
            return Ok(CacheReport { file_bytes: 0, resident_bytes: None, verified: true });
        };
        let mut cluster = lock(cluster);
        if cache == CacheState::Cold {
            self.cool(&mut cluster)?;
        }
        let mut report = CacheReport::NO_FILES;
        for path in self.table_files(&cluster)? {
            let file_error = |source| EngineError::File { path: path.clone(), source };
            if cache == CacheState::Hot {
                observe::page_cache::load(&path).map_err(file_error)?;
            }
            report.file_bytes += std::fs::metadata(&path).map_err(file_error)?.len();
            let resident = observe::page_cache::resident_bytes(&path).ok();
            report.resident_bytes = report.resident_bytes.zip(resident).map(|(sum, bytes)| sum + bytes);
        }
        report.verified = cache.reached(report.file_bytes, report.resident_bytes);
        Ok(report)
    }

    fn wait_collector(&self) -> Option<Box<dyn WaitCollector>> {
        let options = ObserveOptions { hz: self.sample_hz?, ..ObserveOptions::default() };
        let (backends, lost) = (self.backends.clone(), self.lost.clone());
        let (config, cancel) = (self.server.config(), self.cancel.clone());
        Some(Box::new(PostgresCollector::new(config, options, backends, lost, cancel)))
    }

    fn space_bytes(&self) -> Option<u64> {
        match &self.server {
            Server::Private(cluster) => Some(lock(cluster).space_bytes()),
            Server::ByUrl(_) => None,
        }
    }

    fn log_tail(&self) -> Option<String> {
        match &self.server {
            Server::Private(cluster) => {
                let said = lock(cluster).log_since(self.log_bytes);
                let lines: Vec<&str> = said.lines().collect();
                let last = lines[lines.len().saturating_sub(LOG_LINES)..].join("\n");
                Some(last).filter(|last| !last.is_empty())
            }
            Server::ByUrl(_) => None,
        }
    }

    fn server_process(&self) -> Result<Option<i32>, EngineError> {
        let Server::ByUrl(config) = &self.server else { return Ok(None) };
        let elsewhere =
            EngineError::Unsupported { engine: "a server on another machine", what: "seeing its processes" };
        self.admin.ask(|admin| local::first_process(admin, config.user()).ok_or(elsewhere)).map(Some)
    }

    fn lost_observations(&self) -> Vec<String> {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn remove(mut self: Box<Self>) -> Result<(), EngineError> {
        self.gone = true;
        let dropped = match &self.server {
            // A trial that was stopped has left work in flight, and its server will not be used again.
            Server::Private(_) if self.cancel.is_cancelled() => Err(EngineError::Cancelled),
            _ => self.drop_everything(),
        };
        match &self.server {
            Server::Private(cluster) => dropped.or_else(|_| Self::give_up(cluster))?,
            // The connection may be lost and the server still be there.
            Server::ByUrl(_) => dropped.or_else(|_| {
                self.admin.reconnect(None)?;
                self.drop_everything()
            })?,
        }
        self.remove_folders()
    }
}

impl Drop for PostgresInstance {
    fn drop(&mut self) {
        if !self.gone {
            // Best effort after a panic; `remove` is the way that reports errors.
            let _ = self.drop_everything();
        }
    }
}
