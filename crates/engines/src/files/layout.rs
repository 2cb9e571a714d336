//! From settings to the files that have to be there.

use super::set::Role;
use super::{
    BACKUP_PATH, BACKUP_VOLUME, COMPRESS, DATA_FILES, FILE_SIZE, LOG_PATH, LOG_SIZE, LOG_VOLUME, OFFSET,
    PATHS, PRECONDITION, PRECONDITION_TIME, Precondition, VOLUME,
};
use crate::engine::{EngineError, Place};
use experiment::{Configuration, Invalid};
use std::path::PathBuf;

/// What has to be there; the same for all configurations that can share it.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    pub files: Vec<Wanted>,
    pub compress_percent: u8,
    /// Seconds of pre-conditioning at most; `None`: none.
    pub precondition_s: Option<f64>,
}

/// One file.
#[derive(Debug, Clone, PartialEq)]
pub struct Wanted {
    pub role: Role,
    pub path: PathBuf,
    /// Size of a file to create; `None`: it exists.
    pub create: Option<u64>,
}

/// What is wrong with the settings.
pub fn validate(configuration: &Configuration) -> Vec<Invalid> {
    let mut invalid = Vec::new();
    let offset = configuration.get(OFFSET);
    if !offset.is_multiple_of(512) {
        invalid.push(Invalid::new(OFFSET.path(), "not a multiple of 512 bytes, the smallest sector"));
    }
    if configuration.get(PATHS).is_empty() && offset >= configuration.get(FILE_SIZE) {
        invalid.push(Invalid::new(
            OFFSET.path(),
            "nothing is left of the files: target.file_size is not larger",
        ));
    }
    invalid
}

impl Layout {
    /// What a configuration wants at a place, as far as files of these roles are needed.
    pub fn of(configuration: &Configuration, place: &Place, roles: &[Role]) -> Result<Self, EngineError> {
        let volumes = configuration.get(VOLUME);
        let paths = configuration.get(PATHS);
        let mut files = Vec::new();
        let size = configuration.get(FILE_SIZE);
        let data = roles.contains(&Role::Data);
        for path in paths.iter().filter(|_| data) {
            files.push(Wanted { role: Role::Data, path: path.into(), create: None });
        }
        if paths.is_empty() && data {
            for number in 0..configuration.get(DATA_FILES) {
                let volume = volumes.get(number % volumes.len().max(1));
                let path = folder(place, volume)?.join(format!("data-{number}"));
                files.push(Wanted { role: Role::Data, path, create: Some(size) });
            }
        }
        let others = [
            (Role::Log, "log", LOG_PATH, LOG_VOLUME, configuration.get(LOG_SIZE)),
            (Role::Backup, "backup", BACKUP_PATH, BACKUP_VOLUME, size),
        ];
        for (role, name, existing, volume, size) in
            others.into_iter().filter(|(role, ..)| roles.contains(role))
        {
            if let Some(existing) = configuration.get(existing) {
                files.push(Wanted { role, path: existing.into(), create: None });
            } else {
                let own = configuration.get(volume);
                let path = folder(place, own.as_ref().or(volumes.first()))?.join(name);
                files.push(Wanted { role, path, create: Some(size) });
            }
        }
        let steady = configuration.get(PRECONDITION) == Precondition::Steady;
        Ok(Self {
            files,
            compress_percent: percent(configuration.get(COMPRESS)),
            precondition_s: steady.then(|| configuration.get(PRECONDITION_TIME)),
        })
    }
}

/// The folder on a volume; on the default one without a name.
fn folder(place: &Place, volume: Option<&String>) -> Result<PathBuf, EngineError> {
    let Some(name) = volume else { return Ok(place.directory.clone()) };
    let found = place.volumes.iter().find(|(volume, _)| volume == name);
    found.map(|(_, folder)| folder.clone()).ok_or_else(|| EngineError::Engine {
        doing: "laying out files".into(),
        message: format!("volume {name} is not there"),
    })
}

/// A share in whole percent.
fn percent(share: f64) -> u8 {
    (share * 100.0).round().clamp(0.0, 100.0) as u8
}
