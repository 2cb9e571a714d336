use crate::{FromValue, NamedFile, Setting, Value};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A level of one factor, as labelled in the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// Factor name: a dotted path, or the name of a group of linked levels.
    pub factor: String,
    /// Label as printed.
    pub label: String,
}

/// A level for each factor: all settings of a trial, defaults filled in, validated.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Configuration {
    /// The level of each factor, in the order of the file.
    pub levels: Vec<Level>,
    /// Every setting by dotted path.
    pub settings: BTreeMap<String, Value>,
    /// The files that its settings name, as they were read: every trial runs what they held then.
    pub files: Vec<Arc<NamedFile>>,
}

impl Configuration {
    /// The value of a setting.
    pub fn get<T: FromValue>(&self, setting: Setting<T>) -> T {
        setting.value_in(&self.settings)
    }

    /// The value at a path, if it is given or has a default.
    pub fn value(&self, path: &str) -> Option<&Value> {
        self.settings.get(path)
    }

    /// Names of the volumes that its `SECTION.*volume` settings give, in the order of the settings;
    /// one that several settings name stands there once.
    pub fn volumes(&self) -> Vec<&str> {
        let settings = self.settings.iter().filter(|(path, _)| names_volume(path));
        let mut names: Vec<&str> = Vec::new();
        for value in settings.flat_map(|(_, value)| value.elements()) {
            if let Value::Text(name) = value
                && !names.contains(&name.as_str())
            {
                names.push(name);
            }
        }
        names
    }

    /// Settings below a prefix, with the prefix removed: the engine's own under `target.settings.`.
    pub fn below<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a Value)> {
        self.settings
            .iter()
            .filter_map(move |(path, value)| path.strip_prefix(prefix).map(|name| (name, value)))
    }

    /// The content of a file that one of its settings names.
    pub fn file(&self, path: &str) -> Option<&str> {
        self.files.iter().find(|file| file.path == path).map(|file| file.content.as_str())
    }

    /// The files that a setting names, and those that they read.
    pub fn files_of<'a>(&'a self, setting: &'a str) -> impl Iterator<Item = &'a Arc<NamedFile>> {
        self.files.iter().filter(move |file| file.named_by == setting)
    }

    /// All that it is: every setting and, by the path of the setting that names it, a dot and its
    /// own, the SHA-256 of each file: `workload.script.r.sql`.
    pub fn identity(&self) -> BTreeMap<String, Value> {
        let mut identity = self.settings.clone();
        let files = self.files.iter();
        identity.extend(
            files.map(|file| {
                (format!("{}.{}", file.named_by, file.path), Value::Text(file.sha256()))
            }),
        );
        identity
    }

    /// Stable identity: FNV-1a (64 bit) of [`Self::identity`] as JSON with sorted keys, in
    /// hexadecimal. The same settings have the same key in every run, on every machine.
    pub fn key(&self) -> String {
        // A map of plain values can always be written.
        let text = serde_json::to_string(&self.identity()).unwrap_or_default();
        observations::fnv1a(&text)
    }

    /// The levels in a line: `data_files=4 synchronous=full`. The last part of a dotted factor
    /// name is enough for people; linked levels show their own name.
    pub fn label(&self) -> String {
        let mut parts = Vec::with_capacity(self.levels.len());
        for level in &self.levels {
            let short = level.factor.rsplit('.').next().unwrap_or(&level.factor);
            parts.push(format!("{short}={}", level.label));
        }
        parts.join(" ")
    }
}

/// Returns whether a setting names volumes: `target.volume`, `target.log_volume`,
/// `background.volume`.
pub(crate) fn names_volume(path: &str) -> bool {
    let section_key = path.split_once('.').filter(|(_, key)| !key.contains('.'));
    section_key.is_some_and(|(_, key)| key.ends_with("volume") || key.ends_with("volumes"))
}
