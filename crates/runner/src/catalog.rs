use experiment::common::{ENGINE, PROBE};
use experiment::{Catalog, Experiment, FileErrors, Invalid};
use probes::Target;

/// The settings of all engines and probes.
pub fn catalog() -> Catalog {
    Catalog {
        engines: engines::all().map(|engine| (engine.name(), engine.settings())).collect(),
        probes: probes::all().map(|probe| (probe.name(), probe.settings())).collect(),
    }
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
        for objection in from_engine.into_iter().chain(probe.plan(configuration, &target)) {
            if !objections.contains(&objection) {
                objections.push(objection);
            }
        }
    }
    let errors = experiment.objections(&objections);
    if errors.errors.is_empty() { Ok(()) } else { Err(errors) }
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
