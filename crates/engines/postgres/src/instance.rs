//! The schema of a trial on a server.

use super::admin::{Admin, LOAD, SCHEMA};
use super::compression::Compression;
use super::dialect::PostgresDialect;
use super::is_local;
use super::kept::{self, PostgresKeeper};
use super::load::{Backends, PostgresConnections};
use super::server::{PostgresProduct, PrivateServer};
use super::settings::{DATA_FILES, FINAL_CHECKPOINT, SAMPLE_RATE, STATEMENT_TIMEOUT, VOLUME};
use super::waits::PostgresCollector;
use super::wire::{StatementText, operation_sql, statements};
use super::{explain, failed_at, fill};
use crate::client::{Client, Config, quote_identifier, quote_literal};
use engine::{
    Asked, CacheReport, CacheState, ConnectionSet, Dialect as _, EngineError, Explained, Instance,
    ObserveOptions, Planned, WaitCollector, lock, open_files,
};
use engine::{Explainer, ServerProcess, Tables};
use experiment::Configuration;
use experiment::common::OBSERVE_WAITS;
use observe::processes::parent;
use servers::data_sets::KeptTables;
use servers::host::{Target, Trial};
use servers::private::{Settings, Stop};
use std::fmt::Write as _;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use work::{Cancel, Operation, Table, Work};

/// Our schema on a server, for one trial.
pub struct PostgresInstance {
    target: Target<PostgresProduct>,
    /// Holds the schema; its connection is that of administration.
    admin: Arc<Admin>,
    /// How the load connects.
    load: Config,
    backends: Backends,
    statements: OnceLock<Arc<[StatementText]>>,
    /// Settings of the load's sessions that its work asks for.
    options: OnceLock<String>,
    /// The data set that the server holds on when the trial has ended.
    kept: OnceLock<KeptTables>,
    tablespaces: Vec<(String, PathBuf)>,
    data_files: u32,
    compression: Compression,
    connections: u64,
    final_checkpoint: bool,
    /// Samples a second; `None`: waits are not observed.
    sample_hz: Option<f64>,
    cancel: Cancel,
    gone: bool,
}

impl PostgresInstance {
    /// Takes our schema on the server and creates the tablespaces.
    pub fn create(target: Target<PostgresProduct>, trial: &Trial<'_>) -> Result<Self, EngineError> {
        let Trial { configuration, folders, connections, cancel } = *trial;
        let load = load_config(&target, configuration).with_stop(cancel.stop());
        verify_session_settings(&load, &target.session_settings, cancel)?;
        let observe = configuration.get(OBSERVE_WAITS);
        let mut instance = Self {
            admin: Arc::new(Admin::take_schema(&target.config, cancel)?),
            target,
            load,
            backends: Backends::default(),
            statements: OnceLock::new(),
            options: OnceLock::new(),
            kept: OnceLock::new(),
            tablespaces: Vec::new(),
            data_files: configuration.get(DATA_FILES),
            compression: Compression::of(configuration),
            connections: u64::from(connections),
            final_checkpoint: configuration.get(FINAL_CHECKPOINT),
            sample_hz: observe.then(|| configuration.get(SAMPLE_RATE)),
            cancel: cancel.clone(),
            gone: false,
        };
        let volumes = configuration.get(VOLUME);
        for file in 0..instance.data_files {
            let Some(volume) = volumes.get(file as usize % volumes.len().max(1)) else { break };
            instance.create_tablespace(file, folders.volume(volume)?)?;
        }
        Ok(instance)
    }

    fn create_tablespace(&mut self, file: u32, directory: &Path) -> Result<(), EngineError> {
        let Some(server) = &self.target.private else { return Ok(()) };
        let directory = directory.canonicalize().map_err(EngineError::at(directory))?;
        let path = directory.join(format!("data-{file}"));
        lock(server).options.account.make_folder(&path)?;
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
        let sql = "SHOW block_size";
        let page_bytes = self.admin.ask(|admin| admin.cell(sql).map_err(failed_at(sql)))?;
        Ok(PostgresDialect {
            data_files: self.data_files,
            tablespaces: self.tablespaces.iter().map(|(name, _)| name.clone()).collect(),
            page_bytes: page_bytes.and_then(|bytes| bytes.parse().ok()).unwrap_or(8192),
        })
    }

    fn statements(&self) -> Result<&Arc<[StatementText]>, EngineError> {
        let missing = || EngineError::failed("connecting", "the tables have not been created yet");
        self.statements.get().ok_or_else(missing)
    }

    /// Has a private server hold the data set of this work. Returns how many of its tables exist
    /// afterwards.
    fn take_kept(&self, work: &mut Work, dialect: &PostgresDialect) -> Result<usize, EngineError> {
        let Some(server) = &self.target.private else { return Ok(0) };
        let Some(kept) = KeptTables::find(work, dialect)? else { return Ok(0) };
        if !self.tablespaces.is_empty() {
            return Ok(0);
        }
        let keeper = PostgresKeeper { admin: &self.admin, dialect, cancel: &self.cancel };
        let kept = lock(server).take_kept(kept, work, &keeper, &self.cancel)?;
        let count = kept.as_ref().map_or(0, KeptTables::count);
        // One that the trial changes is not put back.
        if let Some(kept) = kept.filter(|kept| !kept.changed) {
            self.kept.get_or_init(|| kept);
        }
        Ok(count)
    }

    /// How the load connects, with what its work asks for.
    fn load(&self) -> Config {
        self.load.clone().with_options(self.options.get().map_or("", String::as_str))
    }

    fn compile(
        dialect: &PostgresDialect,
        operation: &Operation,
        work: &Work,
    ) -> Result<StatementText, EngineError> {
        let copy = match operation {
            Operation::Insert { table, columns } => {
                dialect.copy(&work.tables[*table], columns, "FORMAT binary")
            }
            _ => String::new(),
        };
        let integer_key = operation.table(work).is_some_and(Table::has_integer_key);
        Ok(StatementText { sql: dialect.statement(operation, work)?, copy, integer_key })
    }

    /// The files of all tables and indexes but those of the system, on a private server.
    fn table_files(&self, server: &PrivateServer) -> Result<Vec<PathBuf>, EngineError> {
        // Not what initdb made: FirstNormalObjectId in access/transam.h.
        let sql = "SELECT pg_relation_filepath(oid) FROM pg_class WHERE oid >= 16384 AND \
                   pg_relation_filepath(oid) IS NOT NULL";
        let rows = self
            .admin
            .ask(|admin| admin.query(sql, &[]).map_err(failed_at("looking up the data files")))?;
        let mut files = Vec::new();
        for first in rows.iter().filter_map(|row| row.get(0)) {
            // A relation's file is continued in `.1`, `.2`, ... after each gigabyte.
            let first = server.data_directory().join(first);
            let segments =
                (1..).map(|segment| PathBuf::from(format!("{}.{segment}", first.display())));
            files.extend(
                std::iter::once(first.clone()).chain(segments).take_while(|path| path.exists()),
            );
        }
        Ok(files)
    }

    fn drop_everything(&self) -> Result<(), EngineError> {
        self.admin.drop_all(self.tablespaces.iter().map(|(name, _)| name.as_str()))
    }
}

/// How the load connects: in our schema and with the settings that are left to sessions.
fn load_config(target: &Target<PostgresProduct>, configuration: &Configuration) -> Config {
    // Then what the role would see: scripts of the user may work on tables of the user.
    let mut options = format!("-c search_path={SCHEMA},\"$user\",public");
    if let Some(seconds) = configuration.get(STATEMENT_TIMEOUT) {
        // Writing to a string cannot fail.
        let _ = write!(options, " -c statement_timeout={}", (seconds * 1e3).ceil());
    }
    for (name, value) in &target.session_settings {
        let _ = write!(options, " -c {name}={}", escaped(value));
    }
    target.config.clone().with_application_name(LOAD).with_options(&options)
}

/// A value among the options of a session: what separates them is its own.
pub(super) fn escaped(value: &str) -> String {
    value
        .chars()
        .flat_map(|c| (c == '\\' || c.is_whitespace()).then_some('\\').into_iter().chain([c]))
        .collect()
}

/// On another's server a session's settings are read back: what it would take them for if it set
/// them now is what it must have.
fn verify_session_settings(
    load: &Config,
    wanted: &Settings,
    cancel: &Cancel,
) -> Result<(), EngineError> {
    if wanted.is_empty() {
        return Ok(());
    }
    let doing = "applying target.settings on a server by URL (sessions can set these only; for \
                 others set target.allow_server_settings)";
    let mut client = Client::connect(load).map_err(failed_at(doing))?;
    client.set_stop(cancel.stop(), Duration::ZERO);
    for (name, value) in wanted {
        let setting = format!("target.settings.{name}");
        let sql = "SELECT current_setting($1), set_config($1, $2, true)";
        let rows = client.query(sql, &[Some(name), Some(value)]).map_err(failed_at(&setting))?;
        if let Some(row) = rows.first().filter(|row| row.get(0) != row.get(1)) {
            return Err(EngineError::SettingIgnored {
                setting,
                wanted: row.text(1),
                got: row.text(0),
            });
        }
    }
    Ok(())
}

impl Instance for PostgresInstance {
    fn connect(&self, connections: u32) -> Result<Box<dyn ConnectionSet>, EngineError> {
        let statements = self.statements()?;
        open_files::allow(self.connections, || {
            format!("opening {} connections", self.connections)
        })?;
        let (backends, checkpoints) =
            (self.backends.clone(), self.final_checkpoint.then(|| self.admin.clone()));
        let cancel = self.cancel.clone();
        Ok(Box::new(PostgresConnections::connect(
            &self.load(),
            connections,
            statements,
            backends,
            checkpoints,
            cancel,
        )?))
    }

    fn settle(&self, cache: CacheState) -> Result<CacheReport, EngineError> {
        let Some(server) = &self.target.private else {
            return Ok(CacheReport { resident_bytes: None, ..CacheReport::NO_FILES });
        };
        let mut server = lock(server);
        if cache == CacheState::Cold {
            server.restart(true, &self.cancel)?;
            self.admin.reconnect(Some(server.config()))?;
        }
        let settled = |path: PathBuf| {
            let settled = File::open(&path).and_then(|file| {
                if cache == CacheState::Hot {
                    observe::page_cache::load(&file)?;
                }
                Ok(file)
            });
            settled.map_err(EngineError::at(&path))
        };
        CacheReport::of_files(self.table_files(&server)?.into_iter().map(settled), cache)
    }

    fn wait_collector(&self) -> Option<Box<dyn WaitCollector>> {
        let options = ObserveOptions { hz: self.sample_hz?, ..ObserveOptions::default() };
        let (config, backends) = (self.target.config.clone(), self.backends.clone());
        Some(Box::new(PostgresCollector::new(config, options, backends, self.cancel.clone())))
    }

    fn space_bytes(&self) -> Option<u64> {
        self.target.private.as_ref().map(|server| lock(server).space_bytes())
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
            // A trial that was stopped has left work in flight. Such a server, and one that could
            // not be put in order, will not be used again: for the next trial there
            // will be a new one.
            Some(server) if self.cancel.is_cancelled() || self.drop_everything().is_err() => {
                lock(server).stop(Stop::Crash, &self.cancel)?;
            }
            Some(_) => {}
            // The connection may be lost and the server still be there.
            None => self.drop_everything().or_else(|_| {
                self.admin.reconnect(None)?;
                self.drop_everything()
            })?,
        }
        // What a server leaves of a tablespace's folder.
        self.tablespaces
            .iter()
            .try_for_each(|(_, path)| std::fs::remove_dir_all(path).map_err(EngineError::at(path)))
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

impl Tables for PostgresInstance {
    fn create(&self, mut work: Work) -> Result<(), EngineError> {
        let dialect = self.dialect()?;
        self.compression.apply(&mut work.tables);
        if work.measured {
            let session = self.admin.ask(|admin| Ok(admin.backend_pid()))?;
            lock(&self.backends).push(session);
        }
        // The tables that are there already come first.
        let there = self.take_kept(&mut work, &dialect)?;
        let fills = std::mem::take(&mut work.fills);
        fill::make(&self.admin, &dialect, &work.tables, there, fills, &self.cancel)?;
        for statement in dialect.procedures(&work) {
            self.admin.run("creating the procedure", &statement)?;
        }
        if work.measured && (self.target.private.is_some() || self.final_checkpoint) {
            self.admin.run("writing the tables", "CHECKPOINT")?;
        }
        if work.data.is_some() {
            for statement in
                work.tables.iter().filter_map(|table| dialect.workers(table, work.degree))
            {
                self.admin.run("setting workers", &statement)?;
            }
        }
        let options = explain::session_options(&work);
        self.options.get_or_init(|| options);
        let compile = |operation| Self::compile(&dialect, operation, &work);
        let operations = work.operations.iter().map(compile).collect::<Result<Vec<_>, _>>()?;
        // Work that is created twice in one trial would be a defect of the probe: the first one
        // stays.
        self.statements.get_or_init(|| statements(operations.into_iter()));
        Ok(())
    }

    fn data_files(&self) -> u32 {
        self.data_files
    }

    fn stored_bytes(&self) -> Result<Option<u64>, EngineError> {
        let sql = format!(
            "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c JOIN pg_namespace n ON \
             n.oid = relnamespace WHERE nspname = '{SCHEMA}' AND relkind = 'r'"
        );
        let bytes =
            self.admin.ask(|admin| admin.cell(&sql).map_err(failed_at("reading table sizes")))?;
        Ok(bytes.and_then(|bytes| bytes.parse().ok()))
    }
}

impl Explainer for PostgresInstance {
    fn explain(
        &self,
        operation: usize,
        table: &Table,
        analyze: bool,
    ) -> Result<Explained, EngineError> {
        let mut client = Client::connect(&self.load()).map_err(failed_at("connecting"))?;
        client.set_stop(self.cancel.stop(), Duration::ZERO);
        explain::explain(&mut client, operation_sql(self.statements()?, operation), table, analyze)
    }

    fn plans(&self, asked: &[Asked]) -> Result<Vec<Result<Planned, engine::NoPlan>>, EngineError> {
        let mut client = Client::connect(&self.load()).map_err(failed_at("connecting"))?;
        client.set_stop(self.cancel.stop(), Duration::ZERO);
        explain::plans(&mut client, asked)
    }
}

impl ServerProcess for PostgresInstance {
    fn client_environment(&self) -> Vec<(String, Option<String>)> {
        self.load.client_environment()
    }

    fn log_tail(&self) -> Option<String> {
        self.target.log_tail()
    }

    fn server_process(&self) -> Result<Option<i32>, EngineError> {
        if self.target.private.is_some() {
            return Ok(None);
        }
        let elsewhere = EngineError::Unsupported {
            engine: "a server on another machine",
            what: "access to its processes",
        };
        // The first process of a server starts those of sessions.
        let first = |admin: &mut Client| {
            let pid = is_local(admin, &self.target.config.user).then(|| admin.backend_pid());
            pid.and_then(parent).ok_or(elsewhere)
        };
        self.admin.ask(first).map(Some)
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
