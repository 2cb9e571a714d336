use experiment::common::{ENGINE, PROBE};
use experiment::{Catalog, Experiment, FileErrors, Invalid};
use probes::Target;

/// The settings of all engines and probes.
pub fn catalog() -> Catalog {
    Catalog {
        engines: engines::all().map(|engine| (engine.name(), engine.settings())).into(),
        probes: probes::all().map(|probe| (probe.name(), probe.settings())).into(),
    }
}

/// What engines and probes object to in an experiment, at the places of its file.
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
