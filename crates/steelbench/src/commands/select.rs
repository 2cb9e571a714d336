//! Configurations as they are named on a command line or in a form.

use crate::exit_code::Failure;
use observations::{ConfigurationRecord, Recording};

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
fn has_level(configuration: &ConfigurationRecord, level: &str) -> bool {
    configuration.levels.iter().any(|it| is_level(&it.factor, &it.level, level))
}

/// Whether a text means this level of this factor. Names and levels may have a `=` of their own.
pub fn is_level(factor: &str, level: &str, text: &str) -> bool {
    let named = |name: &str| text.strip_prefix(name).and_then(|rest| rest.strip_prefix('=')) == Some(level);
    named(factor) || factor.rsplit('.').next().is_some_and(named)
}

/// Splits `data_files=1,log=wal, synced` at the commas that a level follows: labels may have commas.
fn levels(text: &str) -> Vec<String> {
    let mut levels: Vec<String> = Vec::new();
    for part in text.split(',') {
        match levels.last_mut() {
            Some(last) if !part.contains('=') => {
                last.push(',');
                last.push_str(part);
            }
            _ => levels.push(part.to_owned()),
        }
    }
    levels.iter().map(|level| level.trim().to_owned()).collect()
}

/// The one configuration that has these levels.
pub fn find(recording: &Recording, text: &str) -> Result<usize, Failure> {
    let levels = levels(text);
    let matching = recording.configurations.iter().enumerate().filter(|(_, configuration)| {
        configuration.label == text || levels.iter().all(|level| has_level(configuration, level))
    });
    let found: Vec<usize> = matching.map(|(position, _)| position).collect();
    let labels = |positions: &mut dyn Iterator<Item = usize>| {
        positions.map(|it| recording.configurations[it].label.clone()).collect::<Vec<_>>().join("\n  ")
    };
    match found.as_slice() {
        [one] => Ok(*one),
        [] => {
            let all = labels(&mut (0..recording.configurations.len()));
            Err(Failure::usage(format!("no configuration is {text}; there are:\n  {all}")))
        }
        several => {
            let some = labels(&mut several.iter().copied());
            Err(Failure::usage(format!("several configurations are {text}; name one of:\n  {some}")))
        }
    }
}
