//! Untrusted experiments, from the network or by `run --untrusted`: they may reach their trials,
//! and nothing else of the machine.

use crate::catalog::{Registry, commands};
use engine::Ability;
use engine::server::names_only_server;
use engine::setup::Setup;
use experiment::common::ENGINE;
use experiment::file::{AFTER_RUN, AFTER_TRIAL, BEFORE_RUN, BEFORE_TRIAL};
use experiment::{Configuration, Experiment, Reach, Value};
use std::path::{Component, Path};

/// Returns the part of an experiment by which it reaches more of this machine than its trials.
/// Volumes may be in `folder`. This loads, reads and starts nothing.
pub fn reach_beyond(
    registry: Registry,
    experiment: &Experiment,
    folder: Option<&Path>,
) -> Option<String> {
    if !commands(experiment, &[BEFORE_RUN, AFTER_RUN, BEFORE_TRIAL, AFTER_TRIAL]).is_empty() {
        return Some("the experiment has hooks".into());
    }
    let outside = experiment.volumes.iter().find(|volume| {
        let path = Path::new(&volume.path).canonicalize();
        let folder = folder.and_then(|folder| folder.canonicalize().ok());
        !path.is_ok_and(|path| folder.is_some_and(|folder| path.starts_with(folder)))
    });
    if let Some(volume) = outside {
        return Some(format!("volume {} is a folder of this machine", volume.name));
    }
    let mut configurations = experiment.configurations.iter();
    configurations
        .find_map(|configuration| reach_of_trials(registry, configuration, &experiment.folder))
}

/// Returns the setting by which a configuration reaches more of this machine than its trials.
/// `folder`: that of the experiment.
pub fn reach_of_trials(
    registry: Registry,
    configuration: &Configuration,
    folder: &Path,
) -> Option<String> {
    let Some(engine) = registry.engine(&configuration.get(ENGINE)) else {
        return Some("its engine is not known".into());
    };
    let (catalog, mut is_remote) = (registry.catalog(), false);
    for (path, reach, value) in catalog.reaches(configuration) {
        let is_plain = |is_permitted: &dyn Fn(&str) -> bool| {
            let mut texts = value.elements().iter();
            texts.all(|text| matches!(text, Value::Text(text) if is_permitted(text)))
        };
        let what = match reach {
            Reach::Trial => continue,
            Reach::Files if is_plain(&|file| is_inside(folder, file)) => continue,
            Reach::Files => "names a file outside of the experiment's folder",
            Reach::Url if is_plain(&names_only_server) => {
                is_remote = true;
                continue;
            }
            Reach::Url => "is not a plain URL of a server",
            Reach::Command => return Some("the experiment has commands".into()),
            Reach::TrialIf(_) | Reach::Machine => {
                "can reach programs, libraries and files of this machine"
            }
        };
        return Some(format!("{path} {what}"));
    }
    // A server that runs already needs no program here, but for dumps and work beside the load.
    let mut sections = registry.disturbances.iter().map(|disturbance| disturbance.section());
    let is_disturbed = sections.any(|section| {
        let prefix = format!("{}.", section.name);
        configuration.below(&prefix).next().is_some()
    });
    let is_alone = is_remote && !is_disturbed && Setup::files(configuration).is_empty();
    let is_embedded = engine.abilities.contains(&Ability::Embedded);
    (!is_embedded && !is_alone).then(|| "the experiment starts servers or clients".into())
}

/// Returns whether a path stays in a folder, also by its links.
fn is_inside(folder: &Path, path: &str) -> bool {
    let mut parts = Path::new(path).components();
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    // What does not exist cannot be read.
    let is_linked_elsewhere = || {
        let real = folder.join(path).canonicalize().ok().zip(folder.canonicalize().ok());
        real.is_some_and(|(file, folder)| !file.starts_with(folder))
    };
    parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
        && !is_linked_elsewhere()
}
