use experiment::{Catalog, Experiment, FileErrors, Invalid};

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
        let engine = engines::by_name(configuration.text("target.engine"));
        let probe = probes::by_name(configuration.text("workload.probe"));
        let from_engine = engine.map(|engine| engine.validate(configuration)).unwrap_or_default();
        let from_probe = probe.map(|probe| probe.plan(configuration)).unwrap_or_default();
        for objection in from_engine.into_iter().chain(from_probe) {
            if !objections.contains(&objection) {
                objections.push(objection);
            }
        }
    }
    let errors = experiment.objections(&objections);
    if errors.errors.is_empty() { Ok(()) } else { Err(errors) }
}
