//! Recorded settings by which configurations belong together.

use crate::response_names::distinct;
use experiment::DurabilityRule;
use experiment::common::{ENGINE, PROBE};
use observations::{ConfigurationRecord, FactorRecord, Recording, Role, Value};
use serde::Serialize;

/// Roles of the factors that say how many work at the same time.
pub const CONCURRENCY: [Role; 2] = [Role::Concurrency, Role::QueueDepth];

/// The settings by which each engine weakens durability.
pub type DurabilityRules = Vec<(&'static str, &'static [DurabilityRule])>;

/// Returns the probe of a configuration.
pub fn probe(configuration: &ConfigurationRecord) -> Option<&str> {
    text(configuration, PROBE.path())
}

/// Returns the engine of a configuration.
pub fn engine(configuration: &ConfigurationRecord) -> Option<&str> {
    text(configuration, ENGINE.path())
}

fn text<'a>(configuration: &'a ConfigurationRecord, path: &str) -> Option<&'a str> {
    match configuration.settings.get(path) {
        Some(Value::Text(text)) => Some(text),
        _ => None,
    }
}

/// The last part of a dotted path: `data_files`.
pub fn short_name(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

/// The kind of work of a configuration: its probe, and which part of the data a unit of work
/// touches and what it computes. Responses of different work are not compared.
#[derive(Debug, PartialEq)]
pub(crate) struct WorkKind<'a> {
    probe: Option<&'a str>,
    operations: Vec<(&'a str, &'a Value)>,
}

impl<'a> WorkKind<'a> {
    /// Reads it from the settings that declare this role.
    pub fn of_configuration(recording: &'a Recording, configuration: usize) -> Self {
        let configuration = &recording.configurations[configuration];
        let operations = recording.roles.paths(&[Role::Operation]);
        Self {
            probe: probe(configuration),
            operations: operations
                .filter_map(|path| Some((path, configuration.settings.get(path)?)))
                .collect(),
        }
    }
}

/// Returns whether a configuration has this probe.
pub(crate) fn has_probe(configuration: &ConfigurationRecord, name: &str) -> bool {
    probe(configuration) == Some(name)
}

/// Positions of the configurations whose probe this is.
pub fn with_probe<'a>(recording: &'a Recording, probe: &'a str) -> impl Iterator<Item = usize> {
    let all = recording.configurations.iter().enumerate();
    all.filter(move |(_, record)| has_probe(record, probe)).map(|(position, _)| position)
}

/// Configurations that differ in some settings only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConfigurationGroup {
    /// Levels of the factors by which groups differ: `pattern=random-read block_size=8 KiB`; empty
    /// when there is none.
    pub label: String,
    /// Their positions in the recording, in the order of the file; there is one at least.
    pub configurations: Vec<usize>,
}

/// Configurations with a probe that differ in threads and queue depth only.
pub fn concurrency_groups(recording: &Recording, probe: &str) -> Vec<ConfigurationGroup> {
    groups(recording, probe, |path| recording.roles.has(path, &CONCURRENCY))
}

/// The configurations with a probe, grouped by all settings but those whose path is left out: by
/// settings and not by factors, so that linked levels which set several of them together are seen
/// through.
pub fn groups(
    recording: &Recording,
    probe: &str,
    left_out: impl Fn(&str) -> bool,
) -> Vec<ConfigurationGroup> {
    let mut keys: Vec<Vec<(&String, &Value)>> = Vec::new();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for position in with_probe(recording, probe) {
        let settings = &recording.configurations[position].settings;
        let key: Vec<_> = settings.iter().filter(|(path, _)| !left_out(path)).collect();
        let group = keys.iter().position(|known| *known == key).unwrap_or_else(|| {
            keys.push(key);
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[group].push(position);
    }
    let telling: Vec<&FactorRecord> = recording
        .factors
        .iter()
        .filter(|factor| {
            factor.levels.len() > 1
                && groups.iter().all(|group| {
                    distinct(
                        group
                            .iter()
                            .map(|group| recording.configurations[*group].level(&factor.name)),
                    )
                    .len()
                        == 1
                })
        })
        .collect();
    groups
        .into_iter()
        .map(|configurations| ConfigurationGroup {
            label: configurations.first().map_or_else(String::new, |c| {
                let configuration: &ConfigurationRecord = &recording.configurations[*c];

                let levels = telling.iter().filter_map(|factor| {
                    Some(format!(
                        "{}={}",
                        short_name(&factor.name),
                        configuration.level(&factor.name)?
                    ))
                });
                levels.collect::<Vec<_>>().join(" ")
            }),
            configurations,
        })
        .collect()
}
