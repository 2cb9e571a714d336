//! Begins a run, or resumes one that was stopped.

use crate::catalog::leave_out_missing;
use crate::workdir::folder_error;
use crate::{Options, RunError, volumes};
use experiment::common::ENGINE;
use experiment::file::{EQUIVALENCE_MARGIN, QUESTION, RESPONSE};
use experiment::{Blocks, Changes, Configuration, Experiment, Factor, changes, parse};
use observations::{
    AdaptiveRepeats, ConfigurationRecord, EngineVersion, Environment, Event, FactorRecord,
    FileRecord, GitState, LevelRecord, Recording, RunRecord, number, redacted, redacted_message,
};
use observe::now_ms;
use std::path::{Path, PathBuf};
use std::thread::Builder;
use store::{RunLock, Store};
use work::Stop;

/// The run that trials are recorded in.
#[derive(Debug)]
pub struct Session {
    pub store: Store,
    pub run: i64,
    /// Records of earlier sessions.
    pub recorded: Recording,
    _lock: RunLock,
}

/// Opens the results file and begins a run, or resumes the latest one.
pub fn begin(
    experiment: &Experiment,
    options: &Options,
    announce: &mut dyn FnMut(Event),
) -> Result<Session, RunError> {
    let folder = folder(&options.choices.results);
    std::fs::create_dir_all(&folder).map_err(folder_error(&folder, "create it"))?;
    volumes::check(experiment, &folder)?;
    // Git is asked while the file is opened and the machine looked at.
    let (git, opened) = std::thread::scope(|scope| {
        let state = Builder::new().name("git".into()).spawn_scoped(scope, || git_state(experiment));
        let opened = open(experiment, options);
        (
            state.map_or_else(|_| git_state(experiment), |state| state.join().unwrap_or_default()),
            opened,
        )
    });
    let (mut store, lock, environment) = opened?;
    for left in &experiment.left_out {
        announce(Event::Warning { text: left.to_string() });
    }
    let latest = if options.choices.fresh { None } else { store.latest_run()? };
    let is_resumed = match &latest {
        Some(latest) => {
            let (environment, git) = (&environment, git.as_ref());
            let now = Beginning { experiment, options, environment, git };
            resume(&mut store, latest, now, announce)?
        }
        None => false,
    };
    let run = if let Some(latest) = latest.filter(|_| is_resumed) {
        latest.id
    } else {
        let mut plan = plan_record(experiment, options);
        (plan.run.git, plan.environments) = (git, vec![environment]);
        store.begin_run(&plan)?
    };
    let recorded = store.read_figures(run)?;
    Ok(Session { store, run, recorded, _lock: lock })
}

/// The plan of a run as it is recorded.
fn plan_record(experiment: &Experiment, options: &Options) -> Recording {
    let recorded = experiment.recorded();
    let settings = experiment.configurations.iter().map(|configuration| &configuration.settings);
    Recording {
        run: run_record(experiment, options),
        factors: recorded.factors.iter().map(factor_record).collect(),
        configurations: recorded.configurations.iter().map(configuration_record).collect(),
        roles: options.registry.catalog().roles(settings),
        files: file_records(experiment),
        ..Recording::default()
    }
}

/// The results file, claimed for this run, and what there is to know of the machine.
fn open(
    experiment: &Experiment,
    options: &Options,
) -> Result<(Store, RunLock, Environment), RunError> {
    let store = Store::create_or_open(&options.choices.results)?;
    let lock = store.lock_for_run()?;
    Ok((store, lock, environment(experiment, options)))
}

/// The folder that a results file is in.
pub fn folder(results: &Path) -> PathBuf {
    let parent = results.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new(".")).to_path_buf()
}

/// A session that begins.
#[derive(Clone, Copy)]
struct Beginning<'a> {
    experiment: &'a Experiment,
    options: &'a Options,
    environment: &'a Environment,
    git: Option<&'a GitState>,
}

/// Resumes the run with this version of the file and on this machine. Returns false for a run
/// without trials of another version, which a new run may replace.
fn resume(
    store: &mut Store,
    latest: &RunRecord,
    now: Beginning<'_>,
    announce: &mut dyn FnMut(Event),
) -> Result<bool, RunError> {
    let Beginning { experiment, options, environment, git } = now;
    let recorded = store.read_plan(latest.id)?;
    let files = file_records(experiment);
    if latest.source != redacted(&experiment.recorded().source) || recorded.files != files {
        let catalog = options.registry.catalog();
        let unreadable = "this version of Steelbench cannot read the recorded version";
        let mut changes = match parse(&latest.source, &catalog) {
            Ok(mut old) => {
                leave_out_missing(options.registry, &mut old);
                changes(&old, experiment.recorded(), &catalog)
            }
            Err(_) => Changes { incompatible: vec![unreadable.into()], ..Changes::default() },
        };
        changes.of_files(&recorded.files, &files);
        if !changes.resumable() {
            if store.recorded_trials(latest.id)?.is_empty() {
                return Ok(false);
            }
            return Err(RunError::Refused(format!(
                "the experiment has changed since this run began:\n  {}\nundo the changes to \
                 resume the run, or start a new one with --fresh (the old one is kept)",
                changes.incompatible.join("\n  ")
            )));
        }
        for change in changes.harmless {
            announce(Event::Warning { text: format!("the experiment file has changed: {change}") });
        }
        for unknown in changes.unknown {
            announce(Event::Warning { text: unknown });
        }
    }
    // Trials refer to configurations by their position.
    let has_conditions =
        experiment.factors.iter().flat_map(|factor| &factor.levels).any(|level| level.if_installed);
    let then = &recorded.configurations;
    let all_same = then.len() == experiment.configurations.len()
        && then.iter().zip(&experiment.configurations).all(|(was, is)| was.label == is.label());
    if (has_conditions || !experiment.left_out.is_empty()) && !all_same {
        let message = "the installed engines differ from those at the start of this run, which \
                       changes levels with if_installed; start a new run with --fresh (the old \
                       one is kept)";
        return Err(RunError::Refused(message.into()));
    }
    let plan = plan_record(experiment, options);
    let record = &plan.run;
    let relabelled = record.label.is_some() && latest.label != record.label;
    // A run of a version before may not say how its number of blocks comes about.
    let changed = latest.source != record.source
        || recorded.files != files
        || latest.adaptive != record.adaptive;
    if changed || relabelled {
        store.update_run(latest.id, &plan)?;
    }
    if let (Some(begun), Some(now)) = (&latest.git, git)
        && begun.commit != now.commit
    {
        let (begun, now) = (&begun.commit, &now.commit);
        let text = format!("the run began at commit {begun} and continues at commit {now}");
        announce(Event::Warning { text });
    }
    if let Some(last) = recorded.environments.last() {
        let differences = environment_differences(last, environment);
        if !differences.is_empty() {
            let text = format!(
                "this machine differs from that of the earlier trials: {}",
                differences.join("; ")
            );
            announce(Event::Warning { text });
            store.add_environment(latest.id, environment)?;
        }
    }
    Ok(true)
}

/// Returns the differences that matter to results; free space, for example, differs in each
/// session.
pub(crate) fn environment_differences(old: &Environment, new: &Environment) -> Vec<String> {
    let optional = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".into());
    let versions = |environment: &Environment| {
        let engines = environment.engines.iter();
        engines
            .map(|(name, engine)| format!("{name} {}", engine.version))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let memory = |environment: &Environment| {
        environment.memory_bytes.map_or_else(|| "unknown".into(), number::bytes)
    };
    let pairs = [
        ("host", optional(&old.host), optional(&new.host)),
        ("CPU model", optional(&old.cpu_model), optional(&new.cpu_model)),
        ("CPUs", old.cpus.to_string(), new.cpus.to_string()),
        ("memory", memory(old), memory(new)),
        ("kernel", optional(&old.kernel), optional(&new.kernel)),
        ("governor", optional(&old.governor), optional(&new.governor)),
        ("engines", versions(old), versions(new)),
        ("steelbench", old.steelbench.clone(), new.steelbench.clone()),
    ];
    let differing = pairs.into_iter().filter(|(_, old, new)| old != new);
    differing.map(|(what, old, new)| format!("{what}: {old} -> {new}")).collect()
}

fn environment(experiment: &Experiment, options: &Options) -> Environment {
    let mut volumes = vec![("default".to_owned(), folder(&options.choices.results))];
    volumes.extend(
        experiment.volumes.iter().map(|volume| (volume.name.clone(), volume.path.clone().into())),
    );
    let mut environment = observe::environment::capture(&volumes);
    for volume in &mut environment.volumes {
        let declared = experiment.volumes.iter().find(|declared| declared.name == volume.name);
        volume.throttle = declared.and_then(|declared| declared.throttle);
    }
    environment.steelbench = env!("CARGO_PKG_VERSION").into();
    let interrupt = options.interrupt.clone();
    let stop = Stop::when(move || interrupt.requested());
    for engine in options.registry.engines {
        let configurations: Vec<&Configuration> = experiment
            .configurations
            .iter()
            .filter(|configuration| configuration.get(ENGINE) == engine.name)
            .collect();
        if !configurations.is_empty() {
            let mut version = (engine.version)(&configurations, &stop);
            // In place of a version it may be a message of a server.
            version.version = redacted_message(&version.version);
            environment.engines.insert(engine.name.to_owned(), version);
        }
    }
    for left in &experiment.left_out {
        let version = EngineVersion { version: NOT_INSTALLED.into(), ..EngineVersion::default() };
        let engine = environment.engines.entry(left.engine.clone()).or_insert(version);
        engine.options.push(left.to_string());
    }
    environment
}

/// The version of an engine of which all levels were left out.
const NOT_INSTALLED: &str = "not installed";

/// Returns the state of the repository that holds the experiment file.
fn git_state(experiment: &Experiment) -> Option<GitState> {
    let folder = &experiment.folder;
    observe::git_state(if folder.as_os_str().is_empty() { Path::new(".") } else { folder })
}

fn run_record(experiment: &Experiment, options: &Options) -> RunRecord {
    RunRecord {
        id: 0,
        name: experiment.name.clone(),
        question: experiment.get(QUESTION),
        source: experiment.recorded().source.clone(),
        seed: experiment.repeats.seed,
        response: experiment.get(RESPONSE),
        baseline: experiment.baseline,
        equivalence_margin: experiment.get(EQUIVALENCE_MARGIN),
        adaptive: match experiment.repeats.blocks {
            Blocks::Fixed(_) => None,
            Blocks::Adaptive { min, max, until } => Some(AdaptiveRepeats { min, max, until }),
        },
        started_ms: now_ms(),
        steelbench: env!("CARGO_PKG_VERSION").into(),
        label: options.choices.label.clone(),
        git: None,
    }
}

fn factor_record(factor: &Factor) -> FactorRecord {
    FactorRecord {
        name: factor.name.clone(),
        levels: factor.levels.iter().map(|level| level.label.clone()).collect(),
        numeric: factor.numeric(),
        hard_to_change: factor.hard_to_change,
    }
}

fn file_records(experiment: &Experiment) -> Vec<FileRecord> {
    experiment.files.iter().map(|file| file.record()).collect()
}

fn configuration_record(configuration: &Configuration) -> ConfigurationRecord {
    let levels = configuration.levels.iter();
    ConfigurationRecord {
        key: configuration.key(),
        label: configuration.label(),
        levels: levels
            .map(|level| LevelRecord { factor: level.factor.clone(), level: level.label.clone() })
            .collect(),
        settings: configuration.identity(),
    }
}
