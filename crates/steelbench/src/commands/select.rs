//! Configurations as they are named on a command line or in a form.

use crate::exit_code::Failure;
use observations::{ConfigurationRecord, Recording};

/// Drops all configurations but those that have the given levels, with their trials.
pub fn keep_only(recording: &mut Recording, levels: &[String]) -> Result<(), Failure> {
    if levels.is_empty() {
        return Ok(());
    }
    let kept = with_levels(recording, levels);
    if kept.is_empty() {
        let (levels, all) = (levels.join(" and "), labels(&recording.configurations));
        return Err(Failure::usage(format!("no configuration has {levels}; there are:\n  {all}")));
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

/// The configurations that have these levels, each given as `factor=level` by the factor's whole name or the last part
/// of it.
fn with_levels(recording: &Recording, levels: &[String]) -> Vec<usize> {
    let has = |configuration: &ConfigurationRecord, level: &String| {
        configuration.levels.iter().any(|it| is_level(&it.factor, &it.level, level))
    };
    let wanted = |it: &usize| levels.iter().all(|level| has(&recording.configurations[*it], level));
    (0..recording.configurations.len()).filter(wanted).collect()
}

fn labels<'a>(configurations: impl IntoIterator<Item = &'a ConfigurationRecord>) -> String {
    configurations.into_iter().map(|it| it.label.as_str()).collect::<Vec<_>>().join("\n  ")
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
    let all = &recording.configurations;
    if let Some(labelled) = all.iter().position(|configuration| configuration.label == text) {
        return Ok(labelled);
    }
    match with_levels(recording, &levels(text)).as_slice() {
        [one] => Ok(*one),
        [] => Err(Failure::usage(format!("no configuration is {text}; there are:\n  {}", labels(all)))),
        several => {
            let some = labels(several.iter().map(|it| &all[*it]));
            Err(Failure::usage(format!("several configurations are {text}; name one of:\n  {some}")))
        }
    }
}
