//! The schema of a trial on a server.

use super::admin::{Admin, LOAD};
use super::compression::Compression;
use super::connecting::{is_local, stoppable};
use super::dialect::PostgresDialect;
use super::errors::failed_at;
use super::explain;
use super::load::PostgresLoad;
use super::server::{PostgresProduct, PrivateServer};
use super::settings::{HOST, STATEMENT_TIMEOUT, VOLUME};
use super::waits::PostgresCollector;
use super::wire::{StatementText, operation_sql, statements};
use crate::client::{Client, Config, quote_identifier, quote_literal};
use engine::{
    CacheReport, CacheState, Dialect as _, EngineError, Explained, Explainer, ObserveOptions,
    PlanRequest, Planned, Result, ServerProcess, Tables, WaitCollector, lock,
};
use experiment::Configuration;
use observe::processes::parent;
use servers::administration::{Administration as _, BulkLoad as _, SCHEMA};
use servers::hosted::{Target, Trial};
use servers::instance::{Common, Schema, ServerInstance};
use servers::network::{Relays, relayed};
use servers::private::Settings;
use servers::settings::path;
use std::fmt::Write as _;
use std::fs::File;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use work::{Cancel, Operation, Table, Work};

/// The schema of one trial on a server.
pub(crate) struct PostgresSchema {
    common: Common<Self>,
    /// Holds the schema; its connection is that of administration.
    admin: Arc<Admin>,
    /// How the load connects, and the options among it that are the trial's.
    load: Config,
    /// The relay over which it does so, if any.
    _relay: Option<Relays>,
    load_options: String,
    /// Settings of the load's sessions that its work asks for.
    options: OnceLock<String>,
    compression: Compression,
}

impl PostgresSchema {
    /// Takes our schema on the server and creates the tablespaces.
    pub fn create(
        target: Target<PostgresProduct>,
        trial: &Trial<'_>,
    ) -> Result<ServerInstance<Self>> {
        let Trial { configuration, cancel, .. } = *trial;
        let load_options = load_options(&target, configuration);
        let load = target.config.clone().with_application_name(LOAD).with_options(&load_options);
        let load = load.with_stop(cancel.stop());
        verify_session_settings(&load, &target.session_settings, cancel)?;
        let admin = Arc::new(Admin::take(&target.config, cancel)?);
        let common = Common::new(target, trial, &HOST);
        let (load, relay) = relayed(load, common.node.as_ref(), configuration)?;
        let mut instance = ServerInstance::new(Self {
            admin,
            common,
            load,
            _relay: relay,
            load_options,
            options: OnceLock::new(),
            compression: Compression::from_configuration(configuration),
        });
        // From here on, dropping it drops what was made.
        instance.schema.common.make_folders(&configuration.get(VOLUME), trial)?;
        instance.schema.create_tablespaces()?;
        Ok(instance)
    }

    fn create_tablespaces(&self) -> Result<()> {
        for (name, path) in self.tablespaces().zip(&self.common.folders) {
            let name = quote_identifier(&name);
            let location = quote_literal(&path.to_string_lossy());
            let doing = format!("creating a tablespace in {}", path.display());
            self.admin.run(&doing, &format!("CREATE TABLESPACE {name} LOCATION {location}"))?;
        }
        Ok(())
    }

    /// The name of each folder's tablespace.
    fn tablespaces(&self) -> impl Iterator<Item = String> {
        (0..self.common.folders.len()).map(|file| format!("{SCHEMA}_{file}"))
    }

    fn dialect(&self) -> Result<PostgresDialect> {
        let sql = "SHOW block_size";
        let page_bytes = self.admin.ask(|admin| admin.cell(sql).map_err(failed_at(sql)))?;
        Ok(PostgresDialect {
            data_files: self.common.data_files,
            tablespaces: self.tablespaces().collect(),
            page_bytes: page_bytes.and_then(|bytes| bytes.parse().ok()).unwrap_or(8192),
        })
    }

    /// A session like those of the load.
    fn connected(&self) -> Result<Client> {
        stoppable(&self.load().config, &self.common.cancel.stop()).map_err(failed_at("connecting"))
    }

    fn compile(
        dialect: &PostgresDialect,
        operation: &Operation,
        work: &Work,
    ) -> Result<StatementText> {
        let copy = match operation {
            Operation::Insert { table, columns } => {
                dialect.copy(&work.tables[*table], columns, "FORMAT binary")
            }
            _ => String::new(),
        };
        let integer_key = operation.table(work).is_some_and(Table::has_integer_key);
        let (sql, keeps_rows) = (dialect.statement(operation, work)?, work.keeps_rows);
        Ok(StatementText { sql, copy, integer_key, keeps_rows })
    }

    /// The files of all tables and indexes but those of the system, on a private server.
    fn table_files(&self, server: &PrivateServer) -> Result<Vec<PathBuf>> {
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
}

/// Options of the load's sessions: our schema, and the settings that are left to sessions.
fn load_options(target: &Target<PostgresProduct>, configuration: &Configuration) -> String {
    // Then what the role would see: scripts of the user may work on tables of the user.
    let mut options = format!("-c search_path={SCHEMA},\"$user\",public");
    if let Some(seconds) = configuration.get(STATEMENT_TIMEOUT) {
        // Writing to a string cannot fail.
        let _ = write!(options, " -c statement_timeout={}", (seconds * 1e3).ceil());
    }
    for (name, value) in &target.session_settings {
        let _ = write!(options, " -c {name}={}", escaped(value));
    }
    options
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
fn verify_session_settings(load: &Config, settings: &Settings, cancel: &Cancel) -> Result<()> {
    if settings.is_empty() {
        return Ok(());
    }
    let doing = "applying target.settings on a server by URL (sessions can set these only; for \
                 others set target.allow_server_settings)";
    let mut client = stoppable(load, &cancel.stop()).map_err(failed_at(doing))?;
    for (name, value) in settings {
        let setting = path(name);
        let sql = "SELECT current_setting($1), set_config($1, $2, true)";
        let rows = client.query(sql, &[Some(name), Some(value)]).map_err(failed_at(&setting))?;
        if let Some(row) = rows.first().filter(|row| row.get(0) != row.get(1)) {
            return Err(EngineError::SettingIgnored {
                setting,
                expected: row.text(1),
                got: row.text(0),
            });
        }
    }
    Ok(())
}

impl Schema for PostgresSchema {
    type Product = PostgresProduct;
    type Admin = Admin;
    type Load = PostgresLoad;

    fn common(&self) -> &Common<Self> {
        &self.common
    }

    fn admin(&self) -> &Arc<Admin> {
        &self.admin
    }

    fn load(&self) -> PostgresLoad {
        let options = self.options.get().map_or("", String::as_str);
        let config = self.load.clone().with_options(options);
        PostgresLoad { config, options: format!("{} {options}", self.load_options) }
    }

    fn settle(&self, server: &mut PrivateServer, cache: CacheState) -> Result<CacheReport> {
        if cache == CacheState::Cold {
            server.restart(true, &self.common.cancel)?;
            self.admin.reconnect(server.config())?;
        }
        CacheReport::of_files(
            self.table_files(server)?.into_iter().map(|path| {
                let file = File::open(&path).map_err(EngineError::at(&path))?;
                if cache == CacheState::Hot {
                    observe::page_cache::load(&file).map_err(EngineError::at(&path))?;
                }
                Ok(file)
            }),
            cache,
        )
    }

    fn wait_collector(&self, hz: f64) -> Box<dyn WaitCollector> {
        let options = ObserveOptions { hz, ..ObserveOptions::default() };
        let (config, sessions) = (self.common.target.config.clone(), self.common.sessions.clone());
        Box::new(PostgresCollector::new(config, options, sessions, self.common.cancel.clone()))
    }

    fn drop_all(&self) -> Result<()> {
        self.admin.drop_all(self.tablespaces())
    }

    fn drop_by_url(&self) -> Result<()> {
        self.admin.drop_by_url()
    }
}

impl Tables for PostgresSchema {
    fn create(&self, mut work: Work) -> Result<()> {
        let dialect = self.dialect()?;
        self.compression.apply(&mut work.tables);
        if work.measured {
            let session = self.admin.ask(|admin| Ok(admin.backend_pid()))?;
            lock(&self.common.sessions).push(session);
        }
        // The tables that are there already come first.
        let there = if self.common.folders.is_empty() {
            self.common.take_kept(&mut work, &self.admin, &dialect)?
        } else {
            0
        };
        let fills = std::mem::take(&mut work.fills);
        self.admin.make(&dialect, &work.tables, there, fills, &self.common.cancel)?;
        for statement in dialect.procedures(&work) {
            self.admin.run("creating the procedure", &statement)?;
        }
        if work.measured && (self.common.target.private.is_some() || self.common.final_checkpoint) {
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
        let operations = work
            .operations
            .iter()
            .map(|operation| Self::compile(&dialect, operation, &work))
            .collect::<Result<Vec<_>, _>>()?;
        self.common.keep_statements(statements(operations.into_iter()));
        Ok(())
    }

    fn data_files(&self) -> u32 {
        self.common.data_files
    }

    fn stored_bytes(&self) -> Result<Option<u64>> {
        let sql = format!(
            "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c JOIN pg_namespace n ON \
             n.oid = relnamespace WHERE nspname = '{SCHEMA}' AND relkind = 'r'"
        );
        let bytes =
            self.admin.ask(|admin| admin.cell(&sql).map_err(failed_at("reading table sizes")))?;
        Ok(bytes.and_then(|bytes| bytes.parse().ok()))
    }
}

impl Explainer for PostgresSchema {
    fn explain(&self, operation: usize, table: &Table, analyze: bool) -> Result<Explained> {
        let mut client = self.connected()?;
        explain::explain(
            &mut client,
            operation_sql(self.common.statements()?, operation),
            table,
            analyze,
        )
    }

    fn plans(&self, plan_requests: &[PlanRequest]) -> Result<Vec<Result<Planned, engine::NoPlan>>> {
        let mut client = self.connected()?;
        explain::plans(&mut client, plan_requests)
    }
}

impl ServerProcess for PostgresSchema {
    fn client_environment(&self) -> Vec<(String, Option<String>)> {
        self.load.client_environment()
    }

    fn log_tail(&self) -> Option<String> {
        self.common.target.log_tail()
    }

    fn server_process(&self) -> Result<Option<i32>> {
        if self.common.target.private.is_some() {
            return Ok(None);
        }
        let elsewhere = EngineError::Unsupported {
            engine: "a server on another machine",
            what: "access to its processes",
        };
        // The first process of a server starts those of sessions.
        self.admin
            .ask(|admin: &mut Client| {
                let pid =
                    is_local(admin, &self.common.target.config.user).then(|| admin.backend_pid());
                pid.and_then(parent).ok_or(elsewhere)
            })
            .map(Some)
    }
}
