use engine::setup::Setup;
use engine::{Ability, Engine, Servers};
use experiment::common::{ENGINE, PROBE};
use experiment::file::{AFTER_RUN, AFTER_TRIAL, BEFORE_RUN, BEFORE_TRIAL, MACHINES};
use experiment::{
    AnalysisSection, Catalog, Configuration, Designs, Experiment, FileErrors, GuestSections,
    Invalid, NamedFile, Setting, Value,
};
use observations::{holds_secret, names_secret};
use probe::load::GENERATORS;
use probe::{Disturbance, Disturbed, Probe, Target};
use std::any::Any;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The variable with the folder of the experiment file, where scripts may be.
pub const FOLDER: &str = "STEELBENCH_FOLDER";

/// The engines and probes that experiments can name. The binary lists them; core knows none.
#[derive(Clone, Copy)]
pub struct Registry {
    /// Engines, in the order in which the documentation lists them.
    pub engines: &'static [&'static Engine],
    /// Probes, in the order in which the documentation lists them.
    pub probes: &'static [&'static dyn Probe],
    /// Disturbances of loads, in the order in which the documentation lists them.
    pub disturbances: &'static [&'static dyn Disturbance],
    /// Designs other than the grid.
    pub designs: Designs,
    /// Sections of experiment files that say how results are analysed.
    pub analysis_sections: &'static [AnalysisSection],
    /// Sections of experiment files with searches, which guests read by themselves.
    pub searches: &'static [GuestSections],
    /// The adapters of guests: of each guest at most one for an engine.
    pub adapters: &'static [Adapter],
}

/// A guest's part for an engine, without its type: a constant of a type of the guest's, by which
/// the guest finds it.
#[derive(Clone, Copy)]
pub struct Adapter {
    /// The name of the engine.
    pub engine: &'static str,
    /// The constant.
    pub part: &'static (dyn Any + Send + Sync),
}

impl Registry {
    /// The engine with this name.
    pub fn engine(&self, name: &str) -> Option<&'static Engine> {
        self.engines.iter().copied().find(|engine| engine.name == name)
    }

    /// The probe with this name.
    pub fn probe(&self, name: &str) -> Option<&'static dyn Probe> {
        self.probes.iter().copied().find(|probe| probe.declarations().name == name)
    }

    /// The adapters of the guest that has this type, in the order of the registry.
    pub fn adapters<A: Any>(&self) -> impl Iterator<Item = (&'static str, &'static A)> + Clone {
        let all = self.adapters.iter();
        all.filter_map(|adapter| Some((adapter.engine, adapter.part.downcast_ref()?)))
    }

    /// The adapter of that guest for the engine with this name.
    pub fn adapter<A: Any>(&self, engine: &str) -> Option<&'static A> {
        self.adapters().find_map(|(name, adapter)| (name == engine).then_some(adapter))
    }

    /// The settings that all engines and probes declare.
    pub fn catalog(&self) -> Catalog {
        let probes = || self.probes.iter().map(|probe| probe.declarations());
        let of_probes = probes().map(|probe| (probe.name, probe.example_levels));
        let of_engines = self.engines.iter().map(|engine| (engine.name, engine.example_levels));
        let examples = of_probes.chain(of_engines);
        Catalog {
            examples: examples.filter_map(|(name, levels)| Some((name, levels?))).collect(),
            aliases: self.engines.iter().flat_map(|engine| aliases(engine)).collect(),
            durability: self
                .engines
                .iter()
                .map(|engine| (engine.name, engine.durability))
                .collect(),
            engines: self.engines.iter().map(|engine| (engine.name, engine.settings)).collect(),
            probes: probes().map(|probe| (probe.name, probe.settings)).collect(),
            other_names: probes().flat_map(|probe| probe.other_names).copied().collect(),
            sections: self.disturbances.iter().map(|disturbance| disturbance.section()).collect(),
            analysis_sections: self.analysis_sections,
            searches: self.searches,
            designs: self.designs,
        }
    }
}

/// Names in URLs of an engine's servers, with its own.
fn aliases(engine: &Engine) -> impl Iterator<Item = (&'static str, &'static str)> {
    let name = engine.name;
    let schemes = engine.servers.map(Servers::url_schemes);
    schemes.unwrap_or_default().iter().filter(move |alias| **alias != name).map(move |a| (*a, name))
}

/// Reads the files that an experiment names and validates it with them. What they hold now is what
/// its trials run.
///
/// # Errors
/// Files that cannot be read, else all objections of engines and probes, with the positions in the
/// experiment's file.
pub fn load(registry: Registry, mut experiment: Experiment) -> Result<Experiment, FileErrors> {
    leave_out_missing(registry, &mut experiment);
    if experiment.configurations.is_empty() && !experiment.left_out.is_empty() {
        let all = experiment.left_out.iter().map(|left| Invalid::new("level", left.to_string()));
        return Err(experiment.objections(&all.collect::<Vec<_>>()));
    }
    let mut unreadable: Vec<Invalid> = Vec::new();
    // What each of them stands for: itself, and what it reads in its turn.
    let mut read: BTreeMap<(&str, String), Vec<Arc<NamedFile>>> = BTreeMap::new();
    for configuration in &mut experiment.configurations {
        for (named, in_place) in files(registry, configuration) {
            if !read.contains_key(&named) {
                match read_named(named.0, &named.1, in_place, &experiment.folder) {
                    Ok(files) => {
                        let new =
                            files.iter().filter(|file| !experiment.files.contains(file)).cloned();
                        let new: Vec<_> = new.collect();
                        experiment.files.extend(new);
                        read.insert(named.clone(), files);
                    }
                    Err(objection) if !unreadable.contains(&objection) => {
                        unreadable.push(objection);
                    }
                    Err(_) => {}
                }
            }
            configuration.files.extend(read.get(&named).into_iter().flatten().cloned());
        }
    }
    if !unreadable.is_empty() {
        return Err(experiment.objections(&unreadable));
    }
    if experiment.hides_commands() {
        experiment.hide_commands(&registry.catalog(), |recorded| {
            leave_out_missing(registry, recorded);
        })?;
    } else {
        let programs = programs(&experiment);
        experiment.files.extend(programs.into_iter().map(Arc::new));
    }
    validate(registry, &experiment).map(|()| experiment)
}

/// Leaves out the levels that are only for where their engine is installed.
pub(crate) fn leave_out_missing(registry: Registry, experiment: &mut Experiment) {
    experiment.leave_out(|configuration| {
        let engine = registry.engine(&configuration.get(ENGINE))?;
        Some((engine.name.to_owned(), engine.missing(configuration)?))
    });
}

/// The files that a configuration names, and whether they are used from where they lie.
fn files(registry: Registry, configuration: &Configuration) -> Vec<((&'static str, String), bool)> {
    let probe = registry.probe(&configuration.get(PROBE));
    let of_probe = probe.map(|probe| probe.files(configuration)).unwrap_or_default();
    let of_engine = Setup::files(configuration);
    let of_probe = of_probe.into_iter().map(|file| (file, false));
    of_probe.chain(of_engine.into_iter().map(|file| (file, true))).collect()
}

/// Reads a file, and those that it reads itself where it is used from where it lies; else a folder
/// of SQL files too.
fn read_named(
    setting: &'static str,
    path: &str,
    in_place: bool,
    folder: &Path,
) -> Result<Vec<Arc<NamedFile>>, Invalid> {
    let files = if in_place {
        NamedFile::used_in_place(setting, path, folder).map(|file| vec![file])
    } else {
        NamedFile::read_all(setting, path, folder)
    };
    let mut files = files.map_err(|error| {
        let place = folder.join(path);
        let is_as_named = place == Path::new(path);
        let counts =
            if is_as_named { "" } else { "; relative paths start at the experiment file's folder" };
        Invalid::new(setting, format!("{}: {error}{counts}", place.display()))
    })?;
    if in_place {
        files.extend(files.iter().flat_map(NamedFile::included).collect::<Vec<_>>());
    }
    Ok(files.into_iter().map(Arc::new).collect())
}

/// The folder of the experiment file.
pub fn folder(experiment: &Experiment) -> String {
    let folder = std::path::absolute(experiment.folder.join(".")).unwrap_or_default();
    folder.display().to_string()
}

/// Returns the programs that an experiment's commands name, by their paths or beside its file.
fn programs(experiment: &Experiment) -> Vec<NamedFile> {
    let place = folder(experiment);
    let commands = commands(experiment, &[BEFORE_RUN, AFTER_RUN, BEFORE_TRIAL, AFTER_TRIAL]);
    let programs = commands.into_iter().flat_map(|(named_by, command)| {
        let command = command.replace(&format!("${FOLDER}"), &place);
        NamedFile::in_command(&named_by, &command)
    });
    programs.collect()
}

/// The commands of these hooks and of volumes, each with what names it.
pub fn commands(
    experiment: &Experiment,
    hooks: &[Setting<Option<String>>],
) -> Vec<(String, String)> {
    let hooks =
        hooks.iter().filter_map(|hook| Some((hook.path().to_owned(), experiment.get(*hook)?)));
    let volumes = experiment.volumes.iter().flat_map(|volume| {
        let commands = [("prepare", &volume.prepare), ("cleanup", &volume.cleanup)];
        commands.into_iter().filter_map(|(purpose, command)| {
            Some((format!("volume {}: {purpose}", volume.name), command.clone()?))
        })
    });
    hooks.chain(volumes).collect()
}

/// Returns the objections of engines and probes to an experiment, with positions in its file.
///
/// # Errors
/// All objections to all configurations.
pub fn validate(registry: Registry, experiment: &Experiment) -> Result<(), FileErrors> {
    let mut objections: Vec<Invalid> = Vec::new();
    for configuration in &experiment.configurations {
        let (Some(engine), Some(probe)) = (
            registry.engine(&configuration.get(ENGINE)),
            registry.probe(&configuration.get(PROBE)),
        ) else {
            continue;
        };
        let target = Target::for_engine(engine, configuration);
        let (connections, tables) = (probe.connections(configuration), probe.tables(configuration));
        let from_engine = (engine.validate)(configuration, connections, &tables).into_iter();
        let disturbances = registry.disturbances.iter();
        let disturbing = disturbances
            .flat_map(|disturbance| disturbance.plan(configuration, Disturbed { engine, probe }));
        let from_engine = from_engine
            .chain(disturbing)
            .chain(without_link(engine, configuration))
            .chain(shared(engine, configuration))
            .chain(divided_twice(experiment, configuration));
        let objections_of_all = from_engine.chain(probe.plan(configuration, &target));
        for objection in objections_of_all.chain(secrets(experiment.recorded_form(configuration))) {
            if !objections.contains(&objection) {
                objections.push(objection);
            }
        }
    }
    let errors = experiment.objections(&objections);
    if errors.errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Objections to settings of a link where the engine has none.
fn without_link(engine: &Engine, configuration: &Configuration) -> Vec<Invalid> {
    if engine.abilities.contains(&Ability::Relayed) {
        return Vec::new();
    }
    let name = engine.name;
    let message = format!("no relay can be between a load and {name}; remove this setting");
    let below = configuration.below("network.");
    below.map(|(key, _)| Invalid::new(format!("network.{key}"), message.clone())).collect()
}

/// Returns an objection to load generators on a target that they cannot work on.
fn shared(engine: &Engine, configuration: &Configuration) -> Option<Invalid> {
    configuration.get(GENERATORS)?;
    let refusal = match engine.sharing {
        _ if configuration.below("network.").next().is_some() => {
            "generators connect without the relay of [network]"
        }
        Some(sharing) => sharing.refusal(configuration)?,
        None => "this engine runs in the process of the load; use a server by URL (target.url)",
    };
    let message = format!("load generators cannot work on this target: {refusal}");
    Some(Invalid::new(GENERATORS.path(), message))
}

/// Returns an objection to load generators of trials that themselves run on other machines.
fn divided_twice(experiment: &Experiment, configuration: &Configuration) -> Option<Invalid> {
    (configuration.get(GENERATORS).is_some() && experiment.get(MACHINES).is_some()).then(|| {
        let message = "each machine of [machines] generates the whole load of its trials";
        Invalid::new(GENERATORS.path(), message)
    })
}

/// Settings and labels are in results, reports and the environment of hooks: what looks like a
/// password is refused there, and the value of what is called one.
fn secrets(configuration: &Configuration) -> impl Iterator<Item = Invalid> {
    let settings = configuration.settings.iter().filter(move |(path, value)| {
        let name = path.rsplit_once('.').map_or(path.as_str(), |(_, name)| name);
        let is_called = names_secret(name) && !matches!(value, Value::Bool(_));
        is_called || holds_secret(&in_words(value))
    });
    let settings = settings.map(|(path, _)| path);
    let labels = configuration.levels.iter().filter(move |level| holds_secret(&level.label));
    settings.chain(labels.map(|level| &level.factor)).map(|path| {
        let message = "a password in the file would appear in results and reports; pass it in an \
                       environment variable, or for PostgreSQL in PGPASSWORD or ~/.pgpass; \
                       observe.commands = false keeps command lines out of results";
        Invalid::new(path.as_str(), message)
    })
}

/// The text of a value; of the words of a command what follows an option is its value.
fn in_words(value: &Value) -> String {
    match value {
        Value::List(words) => words.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
        value => value.to_string(),
    }
}
