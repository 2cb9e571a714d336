//! Trials of a probe on every engine that is installed, through the engines' own connections.

use crate::installed::{duckdb_libraries, folder, installations, mariadb_installations};
use engine::{Answer, ConnectionSet, Engine, EngineError, Folders, Host, Permits, Results};
use experiment::{Configuration, NamedFile, Value};
use observations::Observations;
use probe::{Disturbance, Probe, ProbeError, Target, TrialContext};
use std::path::Path;
use std::sync::Arc;
use work::{Cancel, Request, Statement};

/// An engine and the settings that name its installation.
pub struct TestEngine {
    pub name: String,
    pub engine: &'static Engine,
    pub settings: Vec<(&'static str, Value)>,
}

/// The value of a setting.
pub fn text(text: impl Into<String>) -> Value {
    Value::Text(text.into())
}

/// SQLite, and the last installation of each of the others.
pub fn installed() -> Vec<TestEngine> {
    let mut all =
        vec![TestEngine { name: "sqlite".into(), engine: &sqlite::SQLITE, settings: Vec::new() }];
    all.extend(installations().pop().map(|installation| TestEngine {
        name: format!("postgres {}", installation.version),
        engine: &postgres::POSTGRES,
        settings: vec![
            ("target.bindir", text(installation.bindir.to_str().unwrap())),
            ("target.version", text(installation.version.to_string())),
            ("target.settings.fsync", Value::Bool(false)),
        ],
    }));
    all.extend(mariadb_installations().pop().map(|mariadb_installation| TestEngine {
        name: format!("mariadb {}", mariadb_installation.version),
        engine: &mariadb::MARIADB,
        settings: vec![
            (
                "target.bindir",
                text(mariadb_installation.server.parent().unwrap().display().to_string()),
            ),
            ("target.version", text(mariadb_installation.version.clone())),
        ],
    }));
    all.extend(duckdb());
    all
}

/// The last of the DuckDB libraries that are there.
pub fn duckdb() -> Option<TestEngine> {
    duckdb_libraries().pop().map(|library| TestEngine {
        name: "duckdb".into(),
        engine: &duckdb::DUCKDB,
        settings: library.into_iter().map(|path| ("target.library", text(path))).collect(),
    })
}

impl TestEngine {
    /// These settings on the engine.
    pub fn configuration(&self, settings: &[(&'static str, Value)]) -> Configuration {
        let engine = [("target.engine", text(self.engine.name))];
        let settings = engine.iter().chain(&self.settings).chain(settings);
        let settings = settings.map(|(path, value)| ((*path).to_owned(), value.clone())).collect();
        Configuration { settings, ..Configuration::default() }
    }

    /// The settings that the probe refuses.
    pub fn objections(&self, probe: &dyn Probe, configuration: &Configuration) -> Vec<String> {
        let target = Target::for_engine(self.engine, configuration);
        probe.plan(configuration, &target).into_iter().map(|plan| plan.path).collect()
    }

    /// Runs a trial, and hands the open target to a check before it is removed. An error: the
    /// target could not be removed.
    pub fn measured(
        &self,
        probe: &dyn Probe,
        settings: &[(&'static str, Value)],
        check: impl FnOnce(&TrialContext<'_>, Result<Observations, ProbeError>),
    ) -> Result<(), EngineError> {
        self.bench().measured(probe, settings, check)
    }

    /// Runs a trial with these actions beside its load, as [`TestEngine::measured`].
    pub fn measured_beside(
        &self,
        probe: &dyn Probe,
        settings: &[(&'static str, Value)],
        disturbances: &[&'static dyn Disturbance],
        check: impl FnOnce(&TrialContext<'_>, Result<Observations, ProbeError>),
    ) -> Result<(), EngineError> {
        self.bench().run(probe, settings, disturbances, check)
    }

    /// The engine ready for several trials.
    pub fn bench(&self) -> Bench<'_> {
        let folder = folder();
        let host = (self.engine.host)(Folders {
            directory: folder.path().into(),
            volumes: Vec::new(),
            permits: Permits::default(),
            cgroup_joins: Vec::new(),
        });
        Bench { installation: self, host, _folder: folder }
    }
}

/// An engine that runs several trials one after the other: its server and the data sets that it has
/// loaded stay, as in a run.
pub struct Bench<'a> {
    installation: &'a TestEngine,
    host: Box<dyn Host>,
    // Removed after the host has ended.
    _folder: tempfile::TempDir,
}

impl Bench<'_> {
    /// Name of the engine with its version.
    pub fn name(&self) -> &str {
        &self.installation.name
    }

    /// The engine.
    pub fn installed(&self) -> &TestEngine {
        self.installation
    }

    /// Runs a trial, as [`TestEngine::measured`].
    pub fn measured(
        &mut self,
        probe: &dyn Probe,
        settings: &[(&'static str, Value)],
        check: impl FnOnce(&TrialContext<'_>, Result<Observations, ProbeError>),
    ) -> Result<(), EngineError> {
        self.run(probe, settings, &[], check)
    }

    fn run(
        &mut self,
        probe: &dyn Probe,
        settings: &[(&'static str, Value)],
        disturbances: &[&'static dyn Disturbance],
        check: impl FnOnce(&TrialContext<'_>, Result<Observations, ProbeError>),
    ) -> Result<(), EngineError> {
        let installation = self.installation;
        let mut configuration = installation.configuration(settings);
        let files = probe
            .files(&configuration)
            .into_iter()
            .flat_map(|(setting, path)| NamedFile::read_all(setting, &path, Path::new("")).unwrap())
            .map(Arc::new);
        configuration.files.extend(files);
        let connections = probe.connections(&configuration);
        let tables = probe.tables(&configuration);
        let refused = (installation.engine.validate)(&configuration, connections, &tables);
        let objections = (installation.objections(probe, &configuration), refused);
        assert_eq!(objections, (Vec::new(), Vec::new()), "{}", installation.name);
        let cancel = Cancel::new();
        let instance = self.host.prepare(&configuration, connections, &cancel).unwrap();
        let context = TrialContext {
            disturbances,
            generation: probe::generation::Generation::Here,
            configuration: &configuration,
            instance: instance.as_ref(),
            target: Target::for_engine(installation.engine, &configuration),
            storage: &[],
            seed: 7,
            cancel: &cancel,
            progress: &|_| {},
        };
        let observations = probe.run(&context);
        check(&context, observations);
        instance.remove()
    }
}

/// A connection of a target.
pub struct Session(Box<dyn ConnectionSet>);

impl Session {
    /// Opens one.
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

/// Runs a statement on a connection of its own; its last result.
pub fn ask(context: &TrialContext<'_>, statement: Statement<'_>) -> Result<Results, EngineError> {
    Session::open(context)?.run(statement)
}
