//! From settings to the files that have to be there.

use super::set::Role;
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
    let size = configuration.integer("target.file_size").unwrap_or(0);
    let offset = configuration.integer("target.offset").unwrap_or(0);
    if !offset.is_multiple_of(512) {
        invalid.push(Invalid::new("target.offset", "not a multiple of 512 bytes, the smallest sector"));
    }
    if configuration.value("target.paths").is_none() && offset >= size {
        invalid.push(Invalid::new(
            "target.offset",
            "nothing is left of the files: target.file_size is not larger",
        ));
    }
    invalid
}

impl Layout {
    /// What a configuration wants at a place, as far as files of these roles are needed.
    pub fn of(configuration: &Configuration, place: &Place, roles: &[Role]) -> Result<Self, EngineError> {
        let volumes = configuration.texts("target.volume");
        let paths = configuration.texts("target.paths");
        let mut files = Vec::new();
        let size = configuration.integer("target.file_size").unwrap_or(1 << 30);
        let data = roles.contains(&Role::Data);
        for path in paths.iter().filter(|_| data) {
            files.push(Wanted { role: Role::Data, path: path.into(), create: None });
        }
        if paths.is_empty() && data {
            for number in 0..configuration.integer("target.data_files").unwrap_or(1) as usize {
                let volume = volumes.get(number % volumes.len().max(1)).copied();
                let path = folder(place, volume)?.join(format!("data-{number}"));
                files.push(Wanted { role: Role::Data, path, create: Some(size) });
            }
        }
        let log_size = configuration.integer("target.log_size").unwrap_or(256 << 20);
        let others = [(Role::Log, "log", log_size), (Role::Backup, "backup", size)];
        for (role, name, size) in others.into_iter().filter(|(role, ..)| roles.contains(role)) {
            let existing = configuration.text(&format!("target.{name}_path"));
            if existing.is_empty() {
                let own = Some(configuration.text(&format!("target.{name}_volume")));
                let volume = own.filter(|volume| !volume.is_empty()).or(volumes.first().copied());
                let path = folder(place, volume)?.join(name);
                files.push(Wanted { role, path, create: Some(size) });
            } else {
                files.push(Wanted { role, path: existing.into(), create: None });
            }
        }
        let steady = configuration.text("target.precondition") == "steady";
        Ok(Self {
            files,
            compress_percent: percent(configuration.number("target.compress").unwrap_or(0.0)),
            precondition_s: steady.then(|| configuration.number("target.precondition_time").unwrap_or(600.0)),
        })
    }
}

/// The folder on a volume; on the default one without a name.
fn folder(place: &Place, volume: Option<&str>) -> Result<PathBuf, EngineError> {
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
