//! `steelbench show`

use crate::args::Show;
use crate::exit_code::{ExitCode, Failure};
use crate::{output, results};
use observations::{ConfigurationRecord, Recording};
use report::Text;
use store::Store;

/// Shows what a run found.
pub fn show(arguments: &Show) -> Result<ExitCode, Failure> {
    let store = results::open(arguments.recorded.name.as_deref())?;
    if arguments.runs {
        return runs(&store, arguments.form.json);
    }
    let mut recording = results::read_run(&store, arguments.recorded.run)?;
    keep_only(&mut recording, &arguments.only)?;
    let summary = results::summary(&recording, store.path());
    output::show(arguments.form, || report::json::summary(&summary), || report::run(&summary))?;
    Ok(ExitCode::Ok)
}

fn runs(store: &Store, json: bool) -> Result<ExitCode, Failure> {
    let runs = store.runs()?;
    if json {
        output::print_json(
            &serde_json::json!({ "schema": report::json::SCHEMA, "kind": "runs", "runs": runs }),
        )?;
        return Ok(ExitCode::Ok);
    }
    for run in runs {
        let trials = store.recorded_trials(run.id)?.len();
        let name = Text::from(run.name.as_str());
        output::print(&format!(
            "run {}: {name}, {}, {trials} trials\n",
            run.id,
            report::utc(run.started_ms)
        ))?;
    }
    Ok(ExitCode::Ok)
}

/// Drops all configurations but those that have the given levels, with their trials.
pub fn keep_only(recording: &mut Recording, levels: &[String]) -> Result<(), Failure> {
    if levels.is_empty() {
        return Ok(());
    }
    let wanted =
        |configuration: &ConfigurationRecord| levels.iter().all(|level| has_level(configuration, level));
    let kept: Vec<usize> =
        (0..recording.configurations.len()).filter(|it| wanted(&recording.configurations[*it])).collect();
    if kept.is_empty() {
        let labels: Vec<&str> = recording.configurations.iter().map(|it| it.label.as_str()).collect();
        let message =
            format!("no configuration has {}; there are:\n  {}", levels.join(" and "), labels.join("\n  "));
        return Err(Failure::usage(message));
    }
    let position = |old: usize| kept.iter().position(|it| *it == old);
    recording.run.baseline = recording.run.baseline.and_then(position);
    recording.trials.retain_mut(|trial| {
        let new = position(trial.configuration);
        trial.configuration = new.unwrap_or(trial.configuration);
        new.is_some()
    });
    recording.configurations = kept.iter().map(|it| recording.configurations[*it].clone()).collect();
    Ok(())
}

/// Whether a configuration has a level given as `factor=level`, by the factor's whole name or the
/// last part of it.
pub fn has_level(configuration: &ConfigurationRecord, level: &str) -> bool {
    configuration.levels.iter().any(|it| is_level(&it.factor, &it.level, level))
}

/// Whether a text means this level of this factor. Names and levels may have a `=` of their own.
pub fn is_level(factor: &str, level: &str, text: &str) -> bool {
    let named = |name: &str| text.strip_prefix(name).and_then(|rest| rest.strip_prefix('=')) == Some(level);
    named(factor) || factor.rsplit('.').next().is_some_and(named)
}
