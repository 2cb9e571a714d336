use experiment::common::{ENGINE, PROBE};
use experiment::file::{AFTER_RUN, AFTER_TRIAL, BEFORE_RUN, BEFORE_TRIAL};
use experiment::{Catalog, Configuration, Experiment, FileErrors, Invalid, NamedFile};
use observations::redacted;
use probes::Target;
use std::sync::Arc;

/// The settings of all engines and probes.
pub fn catalog() -> Catalog {
    Catalog {
        engines: engines::all().map(|engine| (engine.name(), engine.settings())).collect(),
        probes: probes::all().map(|probe| (probe.name(), probe.settings())).collect(),
    }
}

/// Reads the files that an experiment names and validates it with them. What they hold now is what its trials run.
///
/// # Errors
/// Files that cannot be read, else all objections of engines and probes, with the positions in the experiment's file.
pub fn load(mut experiment: Experiment) -> Result<Experiment, FileErrors> {
    let mut unreadable: Vec<Invalid> = Vec::new();
    for configuration in &mut experiment.configurations {
        let probe = probes::by_name(&configuration.get(PROBE));
        for (setting, path) in probe.map(|probe| probe.files(configuration)).unwrap_or_default() {
            let known = experiment.files.iter().find(|file| file.named_by == setting && file.path == path);
            match known.cloned().map_or_else(|| NamedFile::read(setting, &path).map(Arc::new), Ok) {
                Ok(file) => {
                    if known.is_none() {
                        experiment.files.push(file.clone());
                    }
                    configuration.files.push(file);
                }
                Err(error) => {
                    let objection = Invalid::new(setting, format!("{path}: {error}"));
                    if !unreadable.contains(&objection) {
                        unreadable.push(objection);
                    }
                }
            }
        }
    }
    if !unreadable.is_empty() {
        return Err(experiment.objections(&unreadable));
    }
    let programs = programs(&experiment);
    experiment.files.extend(programs.into_iter().map(Arc::new));
    validate(&experiment).map(|()| experiment)
}

/// What the commands of an experiment run, as far as they name it.
fn programs(experiment: &Experiment) -> Vec<NamedFile> {
    let mut files = Vec::new();
    for hook in [BEFORE_RUN, AFTER_RUN, BEFORE_TRIAL, AFTER_TRIAL] {
        let command = experiment.get(hook).unwrap_or_default();
        files.extend(NamedFile::in_command(hook.path(), &command));
    }
    for volume in &experiment.volumes {
        for (what, command) in [("prepare", &volume.prepare), ("cleanup", &volume.cleanup)] {
            let named_by = format!("volume {}: {what}", volume.name);
            files.extend(NamedFile::in_command(&named_by, command.as_deref().unwrap_or_default()));
        }
    }
    files
}

/// What engines and probes object to in an experiment, with the positions in its file.
///
/// # Errors
/// All objections to all configurations.
pub fn validate(experiment: &Experiment) -> Result<(), FileErrors> {
    let mut objections: Vec<Invalid> = Vec::new();
    for configuration in &experiment.configurations {
        let (Some(engine), Some(probe)) =
            (engines::by_name(&configuration.get(ENGINE)), probes::by_name(&configuration.get(PROBE)))
        else {
            continue;
        };
        let target = Target::of(engine, configuration);
        let from_engine = engine.validate(configuration, probe.connections(configuration));
        let objections_of_all = from_engine.into_iter().chain(probe.plan(configuration, &target));
        for objection in objections_of_all.chain(secrets(configuration)) {
            if !objections.contains(&objection) {
                objections.push(objection);
            }
        }
    }
    let errors = experiment.objections(&objections);
    if errors.errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Settings and labels are in results, reports and the environment of hooks: what looks like a password is refused there.
fn secrets(configuration: &Configuration) -> impl Iterator<Item = Invalid> {
    let holds_secret = |text: &str| redacted(text) != text;
    let settings = configuration.settings.iter().map(|(path, value)| (path, value.to_string()));
    let labels = configuration.levels.iter().map(|level| (&level.factor, level.label.clone()));
    let found = settings.chain(labels).filter(move |(_, text)| holds_secret(text));
    found.map(|(path, _)| {
        let message =
            "a password in the file would end up in results and reports; use PGPASSWORD or ~/.pgpass";
        Invalid::new(path.as_str(), message)
    })
}

#[cfg(test)]
mod tests {
    use super::catalog;
    use std::collections::HashSet;

    #[test]
    fn every_setting_is_declared_once_and_its_type_holds_its_default() {
        let catalog = catalog();
        for (owner, settings) in catalog.engines.iter().chain(&catalog.probes) {
            let mut paths = HashSet::new();
            for setting in *settings {
                assert!(setting.is_consistent(), "{owner}: {}: {:?}", setting.path, setting.default);
                assert!(paths.insert(setting.path), "{owner} declares {} twice", setting.path);
                assert!(!setting.doc.is_empty(), "{owner}: {} says nothing", setting.path);
            }
        }
    }
}
