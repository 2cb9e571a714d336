use super::pragma::Pragmas;
use super::settings::{BUSY_TIMEOUT, DATA_FILES, FILE_GROWTH, FINAL_CHECKPOINT, OPEN, Open, VOLUME};
use crate::{Cancel, EngineError, Folders};
use experiment::Configuration;
use experiment::common::OBSERVE_WAITS;
use std::path::PathBuf;

/// The data files of a trial and how sessions open them; shared by all sessions.
#[derive(Debug)]
pub struct DataFiles {
    pub paths: Vec<PathBuf>,
    pub open: Open,
    pub timed: bool,
    pub pragmas: Pragmas,
    pub busy_timeout_s: f64,
    pub growth_bytes: u64,
    pub final_checkpoint: bool,
    pub cancel: Cancel,
}

impl DataFiles {
    /// The name by which a session's statements refer to a data file.
    pub fn schema_of(&self, file: usize) -> String {
        if self.open == Open::Attached && file > 0 { format!("f{file}") } else { "main".into() }
    }

    /// What a configuration asks for.
    pub fn of(configuration: &Configuration, place: &Folders, cancel: &Cancel) -> Result<Self, EngineError> {
        let volumes = configuration.get(VOLUME);
        let mut directories = volumes.iter().map(|name| place.volume(name)).collect::<Result<Vec<_>, _>>()?;
        if directories.is_empty() {
            directories.push(&place.directory);
        }
        let path = |file: usize| directories[file % directories.len()].join(format!("data-{file}.db"));
        Ok(Self {
            paths: (0..configuration.get(DATA_FILES) as usize).map(path).collect(),
            open: configuration.get(OPEN),
            timed: configuration.get(OBSERVE_WAITS),
            pragmas: Pragmas::of(configuration),
            busy_timeout_s: configuration.get(BUSY_TIMEOUT),
            growth_bytes: configuration.get(FILE_GROWTH),
            final_checkpoint: configuration.get(FINAL_CHECKPOINT),
            cancel: cancel.clone(),
        })
    }
}
