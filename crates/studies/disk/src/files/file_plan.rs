//! The files that settings ask for.

use super::settings::{
    BACKUP_PATH, BACKUP_VOLUME, COMPRESS, DATA_FILES, FILE_SIZE, LOG_PATH, LOG_SIZE, LOG_VOLUME,
    PATHS, PRECONDITION, PRECONDITION_TIME, Precondition, VOLUME,
};
use engine::{Folders, Result, Role};
use experiment::Configuration;
use std::path::PathBuf;

/// The files that have to be there; the same for all configurations that can share them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FilePlan {
    pub files: Vec<PlannedFile>,
    pub compress_percent: u8,
    /// Seconds of pre-conditioning at most; `None`: none.
    pub precondition_s: Option<f64>,
}

/// A file of the plan.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PlannedFile {
    pub role: Role,
    pub path: PathBuf,
    /// Size of a file to create; `None`: it exists.
    pub create: Option<u64>,
}

impl FilePlan {
    /// Reads the wanted files at a place, for files of these roles.
    pub fn read(configuration: &Configuration, place: &Folders, roles: &[Role]) -> Result<Self> {
        let volumes = configuration.get(VOLUME);
        let (paths, size) = (configuration.get(PATHS), configuration.get(FILE_SIZE));
        let mut files = Vec::new();
        if roles.contains(&Role::Data) {
            let role = Role::Data;
            files.extend(paths.iter().map(|path| PlannedFile {
                role,
                path: path.into(),
                create: None,
            }));
            let created = if paths.is_empty() { configuration.get(DATA_FILES) } else { 0 };
            for number in 0..created {
                let folder = folder(place, volumes.get(number % volumes.len().max(1)))?;
                files.push(PlannedFile {
                    role,
                    path: folder.join(format!("data-{number}")),
                    create: Some(size),
                });
            }
        }
        let log = (Role::Log, LOG_PATH, LOG_VOLUME, configuration.get(LOG_SIZE));
        let others = [log, (Role::Backup, BACKUP_PATH, BACKUP_VOLUME, size)];
        for (role, path, volume, size) in
            others.into_iter().filter(|(role, ..)| roles.contains(role))
        {
            if let Some(existing) = configuration.get(path) {
                files.push(PlannedFile { role, path: existing.into(), create: None });
                continue;
            }
            let volume = configuration.get(volume);
            let path = folder(place, volume.as_ref().or(volumes.first()))?.join(role.name());
            files.push(PlannedFile { role, path, create: Some(size) });
        }
        let steady = configuration.get(PRECONDITION) == Precondition::Steady;
        Ok(Self {
            files,
            compress_percent: (configuration.get(COMPRESS) * 100.0).round() as u8,
            precondition_s: steady.then(|| configuration.get(PRECONDITION_TIME)),
        })
    }
}

/// The folder on a volume; on the default one without a name.
fn folder<'a>(place: &'a Folders, volume: Option<&String>) -> Result<&'a PathBuf> {
    volume.map_or(Ok(&place.directory), |name| place.volume(name))
}
