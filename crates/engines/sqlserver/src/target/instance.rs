//! The subject of a trial: our database on a server.

use super::bulk::{ColumnTypes, fill};
use super::cache::settle;
use super::database::{Database, Properties};
use super::layout::{self, DATABASE, Layout};
use super::load::{BulkTarget, MssqlConnections, Sessions, StatementText};
use super::plans::{ExplainSession, plans};
use super::waits::MssqlCollector;
use crate::dialect::{MssqlDialect, declared, spelled};
use crate::live::Config;
use crate::live::config::Login;
use crate::live::views;
use crate::settings::{COMPRESSION, FINAL_CHECKPOINT, RECOVERY, SEQUENTIAL_KEY, server_settings};
use engine::{
    CacheReport, CacheState, ConnectionSet, Dialect as _, EngineError, Explained, Explainer,
    Instance, Parts, PlanRequest, Planned, Result, Rows, ServerProcess, Tables, WaitCollector,
    open_files,
};
use experiment::Configuration;
use experiment::common::OBSERVE_WAITS;
use std::sync::{Arc, OnceLock};
use work::{Cancel, Operation, Table, Work};

/// Our database on a server, for one trial.
#[expect(clippy::struct_excessive_bools, reason = "settings, each independent of the others")]
pub struct MssqlInstance {
    pub(super) database: Arc<Database>,
    /// How the load connects.
    config: Config,
    sessions: Arc<Sessions>,
    statements: OnceLock<Arc<[StatementText]>>,
    dialect: MssqlDialect,
    connections: u64,
    observes_waits: bool,
    final_checkpoint: bool,
    /// The recovery model is set to one that keeps the log for backups.
    keeps_log: bool,
    cancel: Cancel,
    gone: bool,
}

impl MssqlInstance {
    /// Makes our database on the server as the configuration wants it.
    pub fn create(
        config: &Config,
        configuration: &Configuration,
        connections: u32,
        cancel: &Cancel,
    ) -> Result<Self> {
        let request = Properties {
            layout: &Layout::from_configuration(configuration),
            options: layout::options(configuration),
            settings: server_settings(configuration),
        };
        Ok(Self {
            database: Database::take(config, &request, cancel)?,
            config: Config { database: DATABASE.into(), reads_only: false, ..config.clone() },
            sessions: Arc::default(),
            statements: OnceLock::new(),
            dialect: MssqlDialect {
                compression: configuration.get(COMPRESSION),
                sequential_key: configuration.get(SEQUENTIAL_KEY),
                integers: Vec::new(),
            },
            connections: connections.into(),
            observes_waits: configuration.get(OBSERVE_WAITS),
            final_checkpoint: configuration.get(FINAL_CHECKPOINT),
            keeps_log: configuration.get(RECOVERY).is_some_and(|model| model != "simple"),
            cancel: cancel.clone(),
            gone: false,
        })
    }

    fn compile(&self, operation: &Operation, work: &Work) -> Result<StatementText> {
        let table = operation.table(work);
        let target = match (operation, table) {
            (Operation::Insert { columns, .. }, Some(table)) => columns.first().map(|key| {
                BulkTarget { table: self.dialect.table(table), key, types: ColumnTypes::default() }
            }),
            _ => None,
        };
        let sql = self.dialect.about(table).statement(operation, work)?;
        let integer_key = table.is_some_and(Table::has_integer_key);
        Ok(StatementText { sql: spelled(&sql).to_owned(), target, integer_key })
    }

    /// Reads back how the tables of a trial are stored.
    fn verify(&self, tables: &[Table]) -> Result<()> {
        let compression = self.dialect.compression.as_ref().map(|method| method.to_uppercase());
        let sequential_key = self.dialect.sequential_key.map(|is_on| u8::from(is_on).to_string());
        for (setting, expected, view) in [
            (COMPRESSION.path(), compression, views::OWN_COMPRESSION),
            (SEQUENTIAL_KEY.path(), sequential_key, views::OWN_SEQUENTIAL_KEYS),
        ] {
            let Some(expected) = expected else { continue };
            let found =
                self.database.view(&view)?.map_err(|why| EngineError::failed(setting, why))?;
            for table in
                tables.iter().filter(|table| setting == COMPRESSION.path() || !table.key.is_empty())
            {
                let row = found.iter().find(|row| row.get("name") == Some(table.name));
                let got = row.map(|row| row.text("value")).unwrap_or_default();
                if got != expected {
                    let setting = format!("{setting} (of table {})", table.name);
                    return Err(EngineError::SettingIgnored { setting, expected, got });
                }
            }
        }
        Ok(())
    }

    /// Reads back that all rows of a filled columnstore are compressed.
    fn verify_row_groups(&self, table: &Table) -> Result<()> {
        let groups = self.database.look("States of row groups", &views::OWN_ROW_GROUPS)?;
        let groups = groups.unwrap_or_default();
        let open = groups.iter().find(|row| {
            row.get("name") == Some(table.name)
                && row.parse::<u64>("rows_in_state").is_some_and(|rows| rows > 0)
        });
        open.map_or(Ok(()), |row| {
            Err(EngineError::SettingIgnored {
                setting: format!("{} (of table {})", COMPRESSION.path(), table.name),
                expected: "row groups compressed".into(),
                got: format!("{} rows in state {}", row.text("rows_in_state"), row.text("state")),
            })
        })
    }

    /// Has the server keep the log from now on, where the recovery model is set to one that does.
    fn begin_log_chain(&self) -> Result<()> {
        if !self.keeps_log {
            return Ok(());
        }
        self.database.run("starting the log chain by a first backup", views::FIRST_BACKUP)?;
        let chain = self.database.look("Start of the log chain", &views::OWN_LOG_CHAIN)?;
        let begun = chain.and_then(|rows| rows.first()?.parse::<u8>("has_begun"));
        if begun != Some(0) {
            return Ok(());
        }
        Err(EngineError::SettingIgnored {
            setting: RECOVERY.path().into(),
            expected: "a log that is kept".into(),
            got: "no log chain after a backup to NUL".into(),
        })
    }

    /// Returns the space of tables and their indexes, where the server reports it.
    fn tables(&self) -> Result<Option<Rows>> {
        self.database.look("Table pages", &views::OWN_TABLES)
    }

    /// The plan of an operation whose parameters, if it has any, are a key.
    fn plan(&self, operation: usize, table: &Table) -> Option<Planned> {
        let sql = &self.statements.get()?.get(operation)?.sql;
        let declared = match sql.matches("@P").count() {
            0 => String::new(),
            parameters if parameters == table.key.len() => declared(table),
            _ => return None,
        };
        let client = self.database.connect().ok()?;
        ExplainSession::begin(client).ok()?.plan(&format!("{declared}{sql}")).ok()
    }
}

impl Instance for MssqlInstance {
    fn connect(&self, connections: u32) -> Result<Box<dyn ConnectionSet>> {
        open_files::allow(self.connections, || {
            format!("opening {} connections", self.connections)
        })?;
        let statements = self.statements.get().ok_or_else(|| {
            EngineError::failed("connecting", "the tables have not been created yet")
        })?;
        let checkpoints = self.final_checkpoint.then(|| Arc::clone(&self.database));
        let sessions = Arc::clone(&self.sessions);
        let opened = MssqlConnections::connect(
            &self.config,
            connections,
            statements,
            sessions,
            checkpoints,
            &self.cancel,
        )?;
        Ok(Box::new(opened))
    }

    fn settle(&self, cache: CacheState) -> Result<CacheReport> {
        settle(&self.database, cache)
    }

    fn wait_collector(&self) -> Option<Box<dyn WaitCollector>> {
        self.observes_waits.then(|| -> Box<dyn WaitCollector> {
            Box::new(MssqlCollector::new(Arc::clone(&self.database), Arc::clone(&self.sessions)))
        })
    }

    fn space_bytes(&self) -> Option<u64> {
        None
    }

    fn remove(mut self: Box<Self>) -> Result<()> {
        self.gone = true;
        self.database.drop_all()
    }

    fn parts(&self) -> Parts<'_> {
        Parts {
            tables: Some(self),
            explainer: Some(self),
            server: Some(self),
            background_work: Some(self),
            ..Parts::default()
        }
    }
}

impl Tables for MssqlInstance {
    fn create(&self, mut work: Work) -> Result<()> {
        let fills = std::mem::take(&mut work.fills);
        for table in &work.tables {
            for statement in self.dialect.create(table)? {
                self.database.run("creating the tables", &statement)?;
            }
        }
        self.verify(&work.tables)?;
        for statement in self.dialect.procedures(&work) {
            self.database.run("creating the procedure", &statement)?;
        }
        for table_fill in fills {
            let table = &work.tables[table_fill.table];
            let (name, index) = (self.dialect.table(table), self.dialect.create_index(table));
            self.database.ask(|client| fill(client, &work, &name, table_fill, &self.cancel))?;
            index.map_or(Ok(()), |sql| self.database.run("creating the index", &sql))?;
            if let Some(sql) = self.dialect.settled(table) {
                self.database.run(&format!("compressing table {}", table.name), &sql)?;
                self.verify_row_groups(table)?;
            }
        }
        self.begin_log_chain()?;
        let compile = |operation| self.compile(operation, &work);
        let operations = work.operations.iter().map(compile).collect::<Result<Arc<[_]>, _>>()?;
        // Work that is created twice in one trial would be a defect of the probe: the first one
        // stays.
        self.statements.get_or_init(|| operations);
        Ok(())
    }

    fn stored_bytes(&self) -> Result<Option<u64>> {
        let sum = |rows: Rows| {
            rows.iter()
                .map(|row| row.parse::<u64>("used_pages"))
                .sum::<Option<u64>>()
                .map(|pages| pages * views::PAGE_BYTES)
        };
        Ok(self.tables()?.and_then(sum))
    }
}

impl Explainer for MssqlInstance {
    fn explain(&self, operation: usize, table: &Table, _: bool) -> Result<Explained> {
        let pages = self.tables()?.and_then(|rows| {
            // Index 0 is the heap, 1 the clustered index.
            let main_index = rows.iter().find(|row| {
                row.get("name") == Some(table.name)
                    && row.parse::<u32>("index_id").is_some_and(|index| index < 2)
            });
            main_index.and_then(|row| row.parse("data_pages"))
        });
        Ok(Explained {
            plan: self.plan(operation, table),
            pages,
            page_bytes: Some(views::PAGE_BYTES),
            ..Explained::default()
        })
    }

    fn plans(&self, requests: &[PlanRequest]) -> Result<Vec<Result<Planned, engine::NoPlan>>> {
        Ok(plans(self.database.connect()?, requests))
    }
}

impl ServerProcess for MssqlInstance {
    fn server_process(&self) -> Result<Option<i32>> {
        Err(EngineError::Unsupported {
            engine: "SQL Server by URL",
            what: "access to its processes",
        })
    }

    /// As `sqlcmd` reads them.
    fn client_environment(&self) -> Vec<(String, Option<String>)> {
        let Config { host, instance, port, login, .. } = &self.config;
        let instance = instance.as_ref().map_or_else(String::new, |name| format!("\\{name}"));
        let port = port.map_or_else(String::new, |port| format!(",{port}"));
        let (user, password) = match login {
            Login::Sql { user, password } => {
                (Some(user.clone()), Some(password.reveal().to_owned()))
            }
            Login::Kerberos | Login::Token(_) => (None, None),
        };
        let fact = |name: &str, value| (name.to_owned(), value);
        vec![
            fact("SQLCMDSERVER", Some(format!("tcp:{host}{instance}{port}"))),
            fact("SQLCMDUSER", user),
            fact("SQLCMDPASSWORD", password),
            fact("SQLCMDDBNAME", Some(DATABASE.to_owned())),
        ]
    }
}

impl Drop for MssqlInstance {
    fn drop(&mut self) {
        if !self.gone {
            // Best effort after a panic; `remove` is the way that reports errors.
            let _ = self.database.drop_all();
        }
    }
}
