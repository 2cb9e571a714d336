use crate::{settings, wording};
use observations::{ConfigurationRecord, FactorRecord, Recording};
use serde::Serialize;
use std::collections::HashMap;

/// The settings that say how many I/Os are under way.
const LOAD: [&str; 2] = ["workload.threads", "workload.queue_depth"];

/// Configurations with the disk probe that differ in threads and queue depth only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DiskGroup {
    /// Levels of the factors by which groups differ: `pattern=random-read block_size=8 KiB`; empty when
    /// there is none.
    pub label: String,
    /// Their positions in the recording, in the order of the file.
    pub configurations: Vec<usize>,
}

/// By their settings, so that linked levels which set threads and queue depth together are seen through.
pub fn of(recording: &Recording) -> Vec<DiskGroup> {
    let mut index: HashMap<Vec<&(String, String)>, usize> = HashMap::new();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for position in settings::with_probe(recording, "disk") {
        let settings = &recording.configurations[position].settings;
        let key = settings.iter().filter(|(path, _)| !LOAD.contains(&path.as_str())).collect();
        let group = *index.entry(key).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[group].push(position);
    }
    let telling: Vec<&FactorRecord> = recording
        .factors
        .iter()
        .filter(|factor| factor.levels.len() > 1 && groups.iter().all(|g| constant(recording, factor, g)))
        .collect();
    let label = |configuration: &ConfigurationRecord| {
        let levels = telling.iter().filter_map(|factor| {
            Some(format!("{}={}", wording::short_name(&factor.name), level(configuration, factor)?))
        });
        levels.collect::<Vec<_>>().join(" ")
    };
    let group = |configurations: Vec<usize>| DiskGroup {
        label: configurations.first().map_or_else(String::new, |c| label(&recording.configurations[*c])),
        configurations,
    };
    groups.into_iter().map(group).collect()
}

fn level<'a>(configuration: &'a ConfigurationRecord, factor: &FactorRecord) -> Option<&'a str> {
    configuration.levels.iter().find(|level| level.factor == factor.name).map(|level| level.level.as_str())
}

fn constant(recording: &Recording, factor: &FactorRecord, group: &[usize]) -> bool {
    let mut levels = group.iter().map(|position| level(&recording.configurations[*position], factor));
    let first = levels.next();
    levels.all(|level| Some(level) == first)
}
