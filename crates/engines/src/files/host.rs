//! Keeps files while trials want the same ones.

use super::made::{Made, file_error};
use super::set::{FileSet, Origin, TargetFile};
use super::{OFFSET, Wanted};
use crate::engine::{CacheReport, CacheState, ConnectionSet, EngineError, Folders, Host, Instance};
use crate::{Cancel, Role};
use experiment::Configuration;
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Keeps the files that the last trial used.
pub struct FilesHost {
    place: Arc<Folders>,
    made: Arc<Mutex<Option<Made>>>,
}

impl FilesHost {
    pub fn new(place: Folders) -> Self {
        Self { place: Arc::new(place), made: Arc::default() }
    }
}

impl Host for FilesHost {
    fn prepare(
        &mut self,
        configuration: &Configuration,
        _: u32,
        cancel: &Cancel,
    ) -> Result<Box<dyn Instance>, EngineError> {
        Ok(Box::new(FilesInstance {
            configuration: configuration.clone(),
            place: self.place.clone(),
            cancel: cancel.clone(),
            made: self.made.clone(),
            set: OnceLock::new(),
        }))
    }
}

/// The files of one trial, once they have been created.
struct FilesInstance {
    configuration: Configuration,
    place: Arc<Folders>,
    cancel: Cancel,
    made: Arc<Mutex<Option<Made>>>,
    set: OnceLock<FileSet>,
}

impl FilesInstance {
    fn files_of(&self) -> impl Iterator<Item = &TargetFile> {
        self.set.get().into_iter().flat_map(|set| &set.files)
    }
}

impl Instance for FilesInstance {
    fn create_files(&self, roles: &[Role]) -> Result<(), EngineError> {
        let wanted = Wanted::of(&self.configuration, &self.place, roles)?;
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if made.as_ref().is_none_or(|made| made.wanted != wanted) {
            // Gone before the next one is made: there may not be room for both.
            *made = None;
            *made = Some(Made::new(wanted, &self.place, &self.cancel)?);
        }
        let Some(made) = made.as_ref() else { return Ok(()) };
        let offset = self.configuration.get(OFFSET);
        self.set.get_or_init(|| FileSet { files: made.files.clone(), offset, notes: made.notes.clone() });
        Ok(())
    }

    fn connect(&self, _: u32) -> Result<Box<dyn ConnectionSet>, EngineError> {
        Err(EngineError::Unsupported { engine: "files", what: "connections" })
    }

    fn settle(&self, cache: CacheState) -> Result<CacheReport, EngineError> {
        let mut report = CacheReport::NO_FILES;
        if cache == CacheState::Warm {
            return Ok(report);
        }
        for file in self.files_of() {
            match cache {
                CacheState::Cold => observe::page_cache::evict(&file.path),
                _ => observe::page_cache::load(&file.path),
            }
            .map_err(file_error(&file.path))?;
            report.file_bytes += file.size;
            // The kernel does not tell it of a device.
            let resident = (file.origin != Origin::Device)
                .then(|| observe::page_cache::resident_bytes(&file.path).ok())
                .flatten();
            report.resident_bytes = report.resident_bytes.zip(resident).map(|(sum, bytes)| sum + bytes);
        }
        report.verified = cache.reached(report.file_bytes, report.resident_bytes);
        Ok(report)
    }

    fn files(&self) -> Option<&FileSet> {
        self.set.get()
    }

    fn space_bytes(&self) -> Option<u64> {
        let created = self.files_of().filter(|file| file.origin == Origin::Created);
        // 512: the unit of st_blocks, whatever the file system's block is.
        Some(created.filter_map(|file| file.path.metadata().ok()).map(|file| file.blocks() * 512).sum())
    }
}
