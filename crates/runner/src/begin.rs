//! A new run, or going on with one that was stopped.

use crate::records::{configuration_records, factor_records, run_record};
use crate::{Options, RunError, catalog};
use experiment::{Experiment, changes, parse};
use observations::{Environment, Event, Recording, RunRecord};
use std::path::PathBuf;
use store::{NewRun, RunLock, Store, StoreError};

/// The run that trials are recorded in.
#[derive(Debug)]
pub struct Sitting {
    pub store: Store,
    pub run: i64,
    /// What earlier sittings recorded.
    pub recorded: Recording,
    _lock: RunLock,
}

/// Opens the results file and begins a run, or goes on with the latest one.
pub fn begin(
    experiment: &Experiment,
    options: &Options,
    announce: &mut dyn FnMut(Event),
) -> Result<Sitting, RunError> {
    if let Some(parent) = options.results.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        std::fs::create_dir_all(parent).map_err(|source| RunError::Folder {
            path: parent.into(),
            action: "create it",
            source,
        })?;
    }
    let mut store = Store::create_or_open(&options.results)?;
    let lock = store.lock_for_run()?;
    let environment = environment(experiment, options);
    let latest = if options.fresh { None } else { store.latest_run()? };
    let run = if let Some(latest) = latest {
        go_on(&mut store, &latest, experiment, &environment, announce)?;
        latest.id
    } else {
        let (factors, configurations) = (factor_records(experiment), configuration_records(experiment));
        store.begin_run(&NewRun {
            run: &run_record(experiment),
            factors: &factors,
            configurations: &configurations,
            environment: &environment,
        })?
    };
    let recorded = store.read(run)?;
    Ok(Sitting { store, run, recorded, _lock: lock })
}

/// Checks that the run can go on with this version of the file and on this machine.
fn go_on(
    store: &mut Store,
    latest: &RunRecord,
    experiment: &Experiment,
    environment: &Environment,
    announce: &mut dyn FnMut(Event),
) -> Result<(), RunError> {
    if latest.source != experiment.source {
        let old = parse(&latest.source, &catalog()).map_err(|_| RunError::Changed {
            changes: vec!["the recorded version cannot be read by this version of Steelbench".into()],
        })?;
        let changes = changes(&old, experiment);
        if !changes.resumable() {
            return Err(RunError::Changed { changes: changes.incompatible });
        }
        for change in changes.harmless {
            announce(Event::Warning { text: format!("the experiment file has changed: {change}") });
        }
    }
    let known = store.read_plan(latest.id)?.environments;
    if let Some(last) = known.last() {
        let differences = environment_differences(last, environment);
        if !differences.is_empty() {
            let text =
                format!("this machine differs from that of the trials before: {}", differences.join("; "));
            announce(Event::Warning { text });
            store.add_environment(latest.id, environment)?;
        }
    }
    Ok(())
}

/// What matters to results; free space, for one, differs at each sitting.
fn environment_differences(old: &Environment, new: &Environment) -> Vec<String> {
    let optional = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".into());
    let versions = |environment: &Environment| {
        let engines = environment.engines.iter();
        engines.map(|(name, engine)| format!("{name} {}", engine.version)).collect::<Vec<_>>().join(", ")
    };
    let pairs = [
        ("host", optional(&old.host), optional(&new.host)),
        ("processor", optional(&old.cpu_model), optional(&new.cpu_model)),
        ("processors", old.cpus.to_string(), new.cpus.to_string()),
        ("memory", format!("{:?}", old.memory_bytes), format!("{:?}", new.memory_bytes)),
        ("kernel", optional(&old.kernel), optional(&new.kernel)),
        ("governor", optional(&old.governor), optional(&new.governor)),
        ("engines", versions(old), versions(new)),
        ("steelbench", old.steelbench.clone(), new.steelbench.clone()),
    ];
    let differing = pairs.into_iter().filter(|(_, old, new)| old != new);
    differing.map(|(what, old, new)| format!("{what} {old} -> {new}")).collect()
}

fn environment(experiment: &Experiment, options: &Options) -> Environment {
    let folder = options.results.parent().filter(|parent| !parent.as_os_str().is_empty());
    let mut volumes = vec![("default".to_owned(), folder.map_or_else(|| PathBuf::from("."), PathBuf::from))];
    volumes.extend(experiment.volumes.iter().map(|volume| (volume.name.clone(), volume.path.clone().into())));
    let mut environment = observe::environment::capture(&volumes);
    environment.steelbench = env!("CARGO_PKG_VERSION").into();
    let used = engines::all().into_iter().filter(|engine| {
        experiment
            .configurations
            .iter()
            .any(|configuration| configuration.text("target.engine") == engine.name())
    });
    environment.engines = used.map(|engine| (engine.name().to_owned(), engine.version())).collect();
    environment
}

impl Sitting {
    /// Commits a trial; when this returns it is on disk.
    pub fn record(&mut self, trial: &observations::TrialRecord) -> Result<(), StoreError> {
        self.store.record_trial(self.run, trial)
    }
}
