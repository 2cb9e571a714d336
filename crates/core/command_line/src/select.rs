//! Configurations as they are named on a command line or in a form.

use crate::Failure;
use analysis::MatchedCells;
use observations::{ConfigurationRecord, FactorRecord, Recording};

/// Drops all configurations but those that have the given levels, with their trials.
pub fn keep_only(recording: &mut Recording, levels: &[String]) -> Result<(), Failure> {
    if levels.is_empty() {
        return Ok(());
    }
    let kept = with_levels(recording, levels);
    if kept.is_empty() {
        let (levels, all) = (levels.join(" and "), labels(&recording.configurations));
        return Err(Failure::usage(format!("no configuration has {levels}; available:\n  {all}")));
    }
    let position = |old: usize| kept.iter().position(|index| *index == old);
    recording.run.baseline = recording.run.baseline.and_then(position);
    recording.trials.retain_mut(|trial| {
        let new = position(trial.configuration);
        trial.configuration = new.unwrap_or(trial.configuration);
        new.is_some()
    });
    recording.configurations =
        kept.iter().map(|index| recording.configurations[*index].clone()).collect();
    Ok(())
}

/// The configurations that have these levels, each given as `factor=level` by the factor's whole
/// name or the last part of it.
fn with_levels(recording: &Recording, levels: &[String]) -> Vec<usize> {
    let matching = (0..recording.configurations.len()).filter(|index: &usize| {
        let recorded_levels = &recording.configurations[*index].levels;
        levels.iter().all(|level| {
            recorded_levels
                .iter()
                .any(|level_record| is_level(&level_record.factor, &level_record.level, level))
        })
    });
    matching.collect()
}

fn labels<'a>(configurations: impl IntoIterator<Item = &'a ConfigurationRecord>) -> String {
    configurations
        .into_iter()
        .map(|configuration| configuration.label.as_str())
        .collect::<Vec<_>>()
        .join("\n  ")
}

/// Returns whether a text names this level of this factor. Names and levels may contain `=`.
pub fn is_level(factor: &str, level: &str, text: &str) -> bool {
    let named =
        |name: &str| text.strip_prefix(name).and_then(|rest| rest.strip_prefix('=')) == Some(level);
    named(factor) || factor.rsplit('.').next().is_some_and(named)
}

/// Splits `data_files=1,log=wal, synced` at the commas that a level follows: labels may have
/// commas.
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

/// The configurations that have these levels, or this label; there is one at least.
fn selected(recording: &Recording, text: &str) -> Result<Vec<usize>, Failure> {
    let all = &recording.configurations;
    if let Some(labelled) = all.iter().position(|configuration| configuration.label == text) {
        return Ok(vec![labelled]);
    }
    let found = with_levels(recording, &levels(text));
    if found.is_empty() {
        return Err(Failure::usage(format!(
            "no configuration is {text}; available:\n  {}",
            labels(all)
        )));
    }
    Ok(found)
}

/// The one configuration that has these levels.
pub fn configuration(recording: &Recording, text: &str) -> Result<usize, Failure> {
    let text = text.trim();
    let found = if text.is_empty() {
        (0..recording.configurations.len()).collect()
    } else {
        selected(recording, text)?
    };
    match found.as_slice() {
        [index] => Ok(*index),
        several => {
            let all = labels(several.iter().map(|index| &recording.configurations[*index]));
            Err(Failure::usage(format!(
                "several configurations match; add levels of other factors:\n  {all}"
            )))
        }
    }
}

/// Matches two selections and names the sides: a configuration with a configuration; with several,
/// each with the one that has the same levels of all factors that are not named by both.
pub fn cells(
    recording: &Recording,
    a: &str,
    b: &str,
) -> Result<(MatchedCells, [String; 2]), Failure> {
    let sides = [selected(recording, a)?, selected(recording, b)?];
    let label = |index: usize| recording.configurations[index].label.clone();
    if let [[from], [to]] = sides.each_ref().map(Vec::as_slice) {
        let cells = MatchedCells::pair(*from, *to);
        return Ok((cells, [label(*from), label(*to)]));
    }
    let names = |text: &str, factor: &FactorRecord| {
        // A label names every factor.
        recording.configurations.iter().any(|configuration| configuration.label == text)
            || levels(text).iter().any(|configuration| {
                factor.levels.iter().any(|level| is_level(&factor.name, level, configuration))
            })
    };
    let varied = recording.factors.iter().filter(|factor| names(a, factor) && names(b, factor));
    let varied: Vec<&str> = varied.map(|factor| factor.name.as_str()).collect();
    let cells = analysis::matched_cells(recording, [&sides[0], &sides[1]], &varied);
    if cells.pairs.is_empty() || varied.is_empty() {
        return Err(Failure::usage(format!(
            "no two configurations differ only in {a} and {b}; give levels of the same factor, \
             as in sync=on and sync=off"
        )));
    }
    let labels = match cells.pairs.as_slice() {
        [(from, to)] => [label(*from), label(*to)],
        _ => [a.to_owned(), b.to_owned()],
    };
    Ok((cells, labels))
}

#[cfg(test)]
mod tests {
    use super::cells;
    use observations::{ConfigurationRecord, FactorRecord, LevelRecord, Recording};

    fn recording() -> Recording {
        let factor = |name: &str, levels: &[&str]| FactorRecord {
            name: name.into(),
            levels: levels.iter().map(|&level| level.to_owned()).collect(),
            numeric: None,
            hard_to_change: false,
        };
        let all = [("off", "1"), ("off", "4"), ("on", "1"), ("on", "4"), ("on", "16")];
        Recording {
            factors: vec![
                factor("target.sync", &["off", "on"]),
                factor("workload.connections", &["1", "4", "16"]),
            ],
            configurations: all
                .map(|(sync, connections)| ConfigurationRecord {
                    key: String::new(),
                    label: format!("sync={sync} connections={connections}"),
                    levels: vec![
                        LevelRecord { factor: "target.sync".into(), level: sync.into() },
                        LevelRecord {
                            factor: "workload.connections".into(),
                            level: connections.into(),
                        },
                    ],
                    settings: [].into(),
                })
                .to_vec(),
            ..Recording::default()
        }
    }

    #[test]
    fn levels_are_compared_over_the_cells_that_both_have() {
        let recording = recording();
        let pairs = |a: &str, b: &str| cells(&recording, a, b).map(|(cells, _)| cells.pairs);
        let (both, _) = cells(&recording, "sync=off", "sync=on").unwrap();
        assert_eq!((both.pairs, both.unmatched), (vec![(0, 2), (1, 3)], 1));
        // What one side alone names restricts it.
        assert_eq!(pairs("sync=off,connections=4", "sync=on").unwrap(), [(1, 3)]);
        assert_eq!(pairs("connections=1", "connections=4").unwrap(), [(0, 1), (2, 3)]);
        assert_eq!(pairs("sync=off,connections=1", "sync=on,connections=16").unwrap(), [(0, 4)]);
        assert!(pairs("sync=off", "connections=1").is_err());
        assert!(pairs("sync=off", "sync=maybe").is_err());
    }
}
