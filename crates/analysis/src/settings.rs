//! Settings of a configuration, which a recording has as JSON text by dotted path.

use observations::{ConfigurationRecord, Recording};
use serde::de::DeserializeOwned;

/// The value of a setting; `None` where it is absent or of another type.
pub fn setting<T: DeserializeOwned>(configuration: &ConfigurationRecord, path: &str) -> Option<T> {
    let (_, json) = configuration.settings.iter().find(|(own, _)| own == path)?;
    serde_json::from_str(json).ok()
}

/// Whether a setting has a value.
pub fn is_set(configuration: &ConfigurationRecord, path: &str) -> bool {
    configuration.settings.iter().any(|(own, json)| own == path && json != "null")
}

/// Positions of the configurations whose probe this is.
pub fn with_probe<'a>(recording: &'a Recording, probe: &'a str) -> impl Iterator<Item = usize> {
    let all = recording.configurations.iter().enumerate();
    all.filter(move |(_, own)| setting::<String>(own, "workload.probe").as_deref() == Some(probe))
        .map(|(position, _)| position)
}
