//! Trials on every engine that is installed, through the engines' own connections.

use decision_support::DecisionSupport;
use engine::{Answer, Engine, EngineError, Folders, Permits, Results};
use experiment::{Configuration, Value};
use observations::Observations;
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
    let mut all =
        vec![Installed { name: "sqlite".into(), engine: &sqlite::Sqlite, settings: Vec::new() }];
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
    all.extend(duckdb().pop());
    all
}

/// DuckDB, of each library that is there.
pub fn duckdb() -> Vec<Installed> {
    let libraries = duckdb_libraries().into_iter();
    libraries
        .map(|library| Installed {
            name: "duckdb".into(),
            engine: &duckdb::DuckDb,
            settings: library.into_iter().map(|path| ("target.library", text(path))).collect(),
        })
        .collect()
}

impl Installed {
    /// Runs a trial, and hands the open target to a check before it is removed.
    pub fn measured(
        &self,
        given: &[(&'static str, Value)],
        check: impl FnOnce(&TrialContext<'_>, Result<Observations, ProbeError>),
    ) {
        let settings = self.settings.iter().chain(given);
        let settings = settings.map(|(path, value)| ((*path).to_owned(), value.clone())).collect();
        let configuration = Configuration { settings, ..Configuration::default() };
        let target = Target::for_engine(self.engine, &configuration);
        let connections = DecisionSupport.connections(&configuration);
        let objections = (
            DecisionSupport.plan(&configuration, &target),
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
        let seen = DecisionSupport.run(&context);
        check(&context, seen);
        instance.remove().unwrap();
    }
}

/// Runs an operation on a connection of the target; its result.
pub fn ask(context: &TrialContext<'_>, operation: usize) -> Result<Results, EngineError> {
    let mut answers = Vec::<Answer>::new();
    let mut connections = context.instance.connect(1)?;
    let statement = Statement::Operation(operation);
    connections.send(0, &Request::Execute { statement, parameters: &[], results: true })?;
    while answers.is_empty() {
        connections.wait(None, &mut answers)?;
    }
    Ok(answers.remove(0).result?.results.pop().unwrap_or_default())
}
