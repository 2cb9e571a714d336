//! The engine of plain files: its abilities, checks of its settings, and what it needs.

use super::file_plan::FilePlan;
use super::host::{self, FilesHost};
use super::settings::{FILE_SIZE, OFFSET, PATHS, SETTINGS};
use engine::{Ability, Engine, Folders, Need, Preflight, Prerequisites, Role, Space};
use experiment::{Configuration, Invalid};
use observations::EngineVersion;
use work::{Stop, Table};

/// Implements the parts of the engine that are traits.
#[derive(Debug, Clone, Copy)]
pub struct Files;

/// The engine for plain files and block devices, without a database.
pub const FILES: Engine = Engine {
    settings: SETTINGS,
    abilities: &[Ability::Embedded, Ability::Keeps, Ability::Files],
    validate,
    prerequisites: Some(&Files),
    ..Engine::new("files", version, |place| Box::new(FilesHost::new(place)))
};

fn version(_: &[&Configuration], _: &Stop) -> EngineVersion {
    let kernel = observe::environment::kernel();
    EngineVersion { version: kernel.unwrap_or_default(), options: Vec::new() }
}

fn validate(configuration: &Configuration, _: u32, _: &[Table]) -> Vec<Invalid> {
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

impl Prerequisites for Files {
    fn missing(&self, _: &Configuration) -> Option<String> {
        None
    }

    fn preflight(&self, needs: &[Need<'_>], folders: &Folders, _: &Stop) -> Preflight {
        let mut found = Preflight::default();
        for need in needs {
            let roles: Vec<Role> = need.footprint.files.iter().map(|(role, _)| *role).collect();
            let Ok(request) = FilePlan::read(need.configuration, folders, &roles) else { continue };
            let is_written = |role: Role| {
                let by_load = need.footprint.files.contains(&(role, true));
                by_load || (role == Role::Data && request.precondition_s.is_some())
            };
            for file in request.files.iter().filter(|file| file.create.is_none()) {
                let is_written = is_written(file.role);
                if let Some(obstacle) = host::obstacle(&file.path, is_written, &folders.permits) {
                    found.misses(obstacle);
                }
            }
            found.needs(request.files.into_iter().filter_map(|file| {
                let folder = file.path.parent()?.to_path_buf();
                Some(Space { folder, bytes: file.create?, is_estimate: false })
            }));
        }
        found
    }
}
