//! Plain files and devices: the target of raw disk tests.
//!
//! - this file: the files that its settings ask for
//! - `host`: creating and filling them, and keeping them from trial to trial

mod host;

use engine::Prerequisites;
use engine::file_set::{
    BACKUP_PATH, BACKUP_VOLUME, COMPRESS, DATA_FILES, FILE_SIZE, LOG_PATH, LOG_SIZE, LOG_VOLUME,
    OFFSET, PATHS, PRECONDITION, PRECONDITION_TIME, Precondition, Role, SETTINGS, VOLUME,
};
use engine::{Ability, Engine, EngineError, Folders, Host};
use engine::{Need, Preflight, Space};
use experiment::{Configuration, Declaration, Invalid};
use observations::EngineVersion;
use std::path::PathBuf;
use work::Stop;

/// The engine for plain files and block devices, without a database.
#[derive(Debug, Clone, Copy)]
pub struct Files;

impl Engine for Files {
    fn name(&self) -> &'static str {
        "files"
    }

    fn settings(&self) -> &'static [Declaration] {
        SETTINGS
    }

    fn abilities(&self) -> &'static [Ability] {
        &[Ability::Embedded, Ability::Keeps, Ability::Files]
    }

    fn version(&self, _: &[&Configuration], _: &Stop) -> EngineVersion {
        let kernel = observe::environment::kernel();
        EngineVersion { version: kernel.unwrap_or_default(), options: Vec::new() }
    }

    fn validate(&self, configuration: &Configuration, _: u32) -> Vec<Invalid> {
        let mut invalid = Vec::new();
        let offset = configuration.get(OFFSET);
        if !offset.is_multiple_of(512) {
            let message = "not a multiple of 512 bytes, the smallest sector";
            invalid.push(Invalid::new(OFFSET.path(), message));
        }
        if configuration.get(PATHS).is_empty() && offset >= configuration.get(FILE_SIZE) {
            let message = "must be smaller than target.file_size";
            invalid.push(Invalid::new(OFFSET.path(), message));
        }
        invalid
    }

    fn host(&self, place: Folders) -> Box<dyn Host> {
        Box::new(host::FilesHost::new(place))
    }

    fn prerequisites(&self) -> Option<&dyn Prerequisites> {
        Some(self)
    }
}

impl Prerequisites for Files {
    fn missing(&self, _: &Configuration) -> Option<String> {
        None
    }

    fn preflight(&self, needs: &[Need<'_>], folders: &Folders, _: &Stop) -> Preflight {
        let mut found = Preflight::default();
        for need in needs {
            let roles: Vec<Role> = need.footprint.files.iter().map(|(role, _)| *role).collect();
            let Ok(wanted) = Wanted::read(need.configuration, folders, &roles) else { continue };
            let is_written = |role: Role| {
                let by_load = need.footprint.files.contains(&(role, true));
                by_load || (role == Role::Data && wanted.precondition_s.is_some())
            };
            for file in wanted.files.iter().filter(|file| file.create.is_none()) {
                let is_written = is_written(file.role);
                if let Some(obstacle) = host::obstacle(&file.path, is_written, &folders.permits) {
                    found.misses(obstacle);
                }
            }
            found.needs(wanted.files.into_iter().filter_map(|file| {
                let folder = file.path.parent()?.to_path_buf();
                Some(Space { folder, bytes: file.create?, is_estimate: false })
            }));
        }
        found
    }
}

/// The files that have to be there; the same for all configurations that can share them.
#[derive(Debug, Clone, PartialEq)]
struct Wanted {
    files: Vec<WantedFile>,
    compress_percent: u8,
    /// Seconds of pre-conditioning at most; `None`: none.
    precondition_s: Option<f64>,
}

/// One file.
#[derive(Debug, Clone, PartialEq)]
struct WantedFile {
    role: Role,
    path: PathBuf,
    /// Size of a file to create; `None`: it exists.
    create: Option<u64>,
}

impl Wanted {
    /// Reads the wanted files at a place, for files of these roles.
    fn read(
        configuration: &Configuration,
        place: &Folders,
        roles: &[Role],
    ) -> Result<Self, EngineError> {
        let volumes = configuration.get(VOLUME);
        let (paths, size) = (configuration.get(PATHS), configuration.get(FILE_SIZE));
        let mut files = Vec::new();
        if roles.contains(&Role::Data) {
            let role = Role::Data;
            files.extend(paths.iter().map(|path| WantedFile {
                role,
                path: path.into(),
                create: None,
            }));
            let created = if paths.is_empty() { configuration.get(DATA_FILES) } else { 0 };
            for number in 0..created {
                let folder = folder(place, volumes.get(number % volumes.len().max(1)))?;
                files.push(WantedFile {
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
                files.push(WantedFile { role, path: existing.into(), create: None });
                continue;
            }
            let volume = configuration.get(volume);
            let path = folder(place, volume.as_ref().or(volumes.first()))?.join(role.name());
            files.push(WantedFile { role, path, create: Some(size) });
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
fn folder<'a>(place: &'a Folders, volume: Option<&String>) -> Result<&'a PathBuf, EngineError> {
    volume.map_or(Ok(&place.directory), |name| place.volume(name))
}
