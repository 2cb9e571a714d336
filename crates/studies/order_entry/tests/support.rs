//! Trials on every engine that is installed, through the engines' own connections.

use engine::{Ability, Answer, ConnectionSet, Engine, EngineError, Folders, Permits, Results};
use experiment::{Configuration, Value};
use observations::Observations;
use order_entry::OrderEntry;
use probe::{Probe as _, ProbeError, Target, TrialContext};
use testing::installed::{duckdb_libraries, folder, installations, mariadb_installations};
use work::{Cancel, Request, Statement};

/// An engine and the settings that name its installation.
pub struct Installed {
    pub name: String,
    pub engine: &'static dyn Engine,
    pub settings: Vec<(&'static str, Value)>,
}

pub fn text(text: impl Into<String>) -> Value {
    Value::Text(text.into())
}

/// SQLite, and the last installation of each of the others.
pub fn installed() -> Vec<Installed> {
    let wal = ("target.settings.journal_mode", text("wal"));
    let sqlite = Installed { name: "sqlite".into(), engine: &sqlite::Sqlite, settings: vec![wal] };
    let mut all = vec![sqlite];
    all.extend(installations().pop().map(|own| Installed {
        name: format!("postgres {}", own.version),
        engine: &postgres::Postgres,
        settings: vec![
            ("target.bindir", text(own.bindir.to_str().unwrap())),
            ("target.version", text(own.version.to_string())),
            ("target.settings.fsync", Value::Bool(false)),
        ],
    }));
    all.extend(mariadb_installations().pop().map(|own| Installed {
        name: format!("mariadb {}", own.version),
        engine: &mariadb::MariaDb,
        settings: vec![
            ("target.bindir", text(own.server.parent().unwrap().display().to_string())),
            ("target.version", text(own.version.clone())),
        ],
    }));
    all.extend(duckdb_libraries().pop().map(|library| Installed {
        name: "duckdb".into(),
        engine: &duckdb::DuckDb,
        settings: library.into_iter().map(|path| ("target.library", text(path))).collect(),
    }));
    all
}

impl Installed {
    /// Returns whether it has foreign keys.
    pub fn has_foreign_keys(&self) -> bool {
        self.engine.abilities().contains(&Ability::ForeignKeys)
    }

    fn configuration(&self, given: &[(&'static str, Value)]) -> Configuration {
        let base = [
            ("workload.warehouses", Value::Integer(2)),
            ("workload.reduced_by", Value::Integer(100)),
            ("workload.connections", Value::Integer(1)),
        ];
        let engine = [("target.engine", text(self.engine.name()))];
        let settings = base.iter().chain(&engine).chain(&self.settings).chain(given);
        let settings = settings.map(|(path, value)| ((*path).to_owned(), value.clone())).collect();
        Configuration { settings, ..Configuration::default() }
    }

    /// The settings that the study refuses.
    pub fn objections(&self, given: &[(&'static str, Value)]) -> Vec<String> {
        let configuration = self.configuration(given);
        let target = Target::for_engine(self.engine, &configuration);
        OrderEntry.plan(&configuration, &target).into_iter().map(|own| own.path).collect()
    }

    /// Runs a trial on reduced tables of two warehouses, and hands the open target to a check
    /// before it is removed.
    pub fn measured(
        &self,
        given: &[(&'static str, Value)],
        check: impl FnOnce(&TrialContext<'_>, Result<Observations, ProbeError>),
    ) {
        let configuration = self.configuration(given);
        let target = Target::for_engine(self.engine, &configuration);
        let connections = OrderEntry.connections(&configuration);
        let objections = (
            OrderEntry.plan(&configuration, &target),
            self.engine.validate(&configuration, connections),
        );
        assert_eq!(objections, (Vec::new(), Vec::new()), "{}", self.name);
        let (folder, cancel) = (folder(), Cancel::new());
        let mut host = self.engine.host(Folders {
            directory: folder.path().into(),
            volumes: Vec::new(),
            permits: Permits::default(),
            cgroup_joins: Vec::new(),
        });
        let instance = host.prepare(&configuration, connections, &cancel).unwrap();
        let context = TrialContext {
            configuration: &configuration,
            instance: instance.as_ref(),
            target,
            storage: &[],
            seed: 7,
            cancel: &cancel,
            progress: &|_| {},
        };
        let seen = OrderEntry.run(&context);
        check(&context, seen);
        // A killed server cannot be asked.
        drop(instance.remove());
    }
}

/// A connection of the target.
pub struct Session(Box<dyn ConnectionSet>);

impl Session {
    pub fn open(context: &TrialContext<'_>) -> Result<Self, EngineError> {
        context.instance.connect(1).map(Self)
    }

    /// Runs a statement; its last result.
    pub fn run(&mut self, statement: Statement<'_>) -> Result<Results, EngineError> {
        let mut answers = Vec::<Answer>::new();
        self.0.send(0, &Request::Execute { statement, parameters: &[], results: true })?;
        while answers.is_empty() {
            self.0.wait(None, &mut answers)?;
        }
        Ok(answers.remove(0).result?.results.pop().unwrap_or_default())
    }
}

/// Runs statements on a connection of their own; the last result.
pub fn ask(context: &TrialContext<'_>, sql: &str) -> Result<Results, EngineError> {
    Session::open(context)?.run(Statement::Text(sql))
}
