//! Makes files, fills them, and keeps them while trials want the same ones.

use super::file_plan::FilePlan;
use super::permission::forbidden;
use super::settings::OFFSET;
use disk_io::{DiskError, Region};
use engine::file_set::{FileSet, Origin, Role, TargetFile};
use engine::{
    CacheReport, CacheState, ConnectionSet, EngineError, FileTarget, Folders, Host, Instance,
    Parts, Permits, Result,
};
use experiment::Configuration;
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use work::Cancel;
use work::conductor::LoadError;

/// Length of a round of pre-conditioning: the throughput of one is one figure of the steady state.
const ROUND_S: f64 = 10.0;

/// Keeps the files that the last trial used.
pub(crate) struct FilesHost {
    place: Arc<Folders>,
    made: Arc<Mutex<Option<CreatedFiles>>>,
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
    ) -> Result<Box<dyn Instance>> {
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
    made: Arc<Mutex<Option<CreatedFiles>>>,
    set: OnceLock<FileSet>,
}

impl FilesInstance {
    fn files_of(&self) -> impl Iterator<Item = &TargetFile> {
        self.set.get().into_iter().flat_map(|set| &set.files)
    }
}

impl Instance for FilesInstance {
    fn connect(&self, _: u32) -> Result<Box<dyn ConnectionSet>> {
        Err(EngineError::Unsupported { engine: "files", what: "connections" })
    }

    fn settle(&self, cache: CacheState) -> Result<CacheReport> {
        let settle = match cache {
            // Warm files are not inspected: that takes long for large files.
            CacheState::Warm => return Ok(CacheReport::NO_FILES),
            CacheState::Cold => observe::page_cache::evict,
            CacheState::Hot => observe::page_cache::load,
        };
        CacheReport::of_files(
            self.files_of().map(|TargetFile { path, .. }| {
                let file = File::open(path).map_err(EngineError::at(path))?;
                settle(&file).map(|()| file).map_err(EngineError::at(path))
            }),
            cache,
        )
    }

    fn space_bytes(&self) -> Option<u64> {
        let created = self.files_of().filter(|file| file.origin == Origin::Created);
        // 512: the unit of st_blocks, for any file system.
        Some(
            created
                .filter_map(|file| file.path.metadata().ok())
                .map(|file| file.blocks() * 512)
                .sum(),
        )
    }

    fn parts(&self) -> Parts<'_> {
        Parts { file_target: Some(self), ..Parts::default() }
    }
}

impl FileTarget for FilesInstance {
    fn create_files(&self, roles: &[Role]) -> Result<&FileSet> {
        let request = FilePlan::read(&self.configuration, &self.place, roles)?;
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        // Others are gone before these are made: there may not be room for both.
        let kept = made.take().filter(|made| made.plan == request);
        let files = match kept {
            Some(files) => files,
            None => CreatedFiles::new(request, &self.place, &self.cancel)?,
        };
        let CreatedFiles { files, notes, .. } = made.insert(files);
        let offset = self.configuration.get(OFFSET);
        Ok(self.set.get_or_init(|| FileSet { files: files.clone(), offset, notes: notes.clone() }))
    }
}

/// The files of several trials. Dropping it removes those that were created.
struct CreatedFiles {
    /// Devices to be written to are held open exclusively, so that they cannot be mounted.
    claims: Vec<File>,
    plan: FilePlan,
    files: Vec<TargetFile>,
    notes: Vec<String>,
}

impl CreatedFiles {
    fn new(request: FilePlan, place: &Folders, cancel: &Cancel) -> Result<Self> {
        let mut made =
            Self { claims: Vec::new(), plan: request, files: Vec::new(), notes: Vec::new() };
        for file in made.plan.files.clone() {
            let named = file.path;
            let (path, origin, size) = match file.create {
                Some(size) => (named.clone(), create(&named, size)?, size),
                None => existing(&named)?,
            };
            let forbidden = forbidden(&named, &path, origin, &place.permits);
            if origin == Origin::Device && forbidden.is_none() {
                made.claims.push(claim(&path)?);
            }
            // From here on, dropping what was made removes it.
            made.files.push(TargetFile {
                role: file.role,
                path: path.clone(),
                size,
                origin,
                forbidden,
            });
            if origin == Origin::Created {
                fill(&path, size, made.plan.compress_percent, cancel)?;
            }
        }
        if let Some(most_s) = made.plan.precondition_s {
            made.precondition(most_s, cancel)?;
        }
        Ok(made)
    }

    /// Brings the data files into the state of a drive that has been in use.
    fn precondition(&mut self, most_s: f64, cancel: &Cancel) -> Result<()> {
        let data: Vec<&TargetFile> =
            self.files.iter().filter(|file| file.role == Role::Data).collect();
        if let Some(reason) = data.iter().find_map(|file| file.forbidden.clone()) {
            return Err(EngineError::failed("pre-conditioning", reason));
        }
        let regions: Vec<Region> = data
            .iter()
            .map(|file| Region { path: file.path.clone(), start: 0, length: file.size })
            .collect();
        let round_s = ROUND_S.min(most_s);
        let rounds_max = (most_s / round_s).ceil() as u32;
        let done = disk_io::precondition(
            &regions,
            Duration::from_secs_f64(round_s),
            rounds_max,
            self.plan.compress_percent,
            &|| cancel.is_cancelled(),
        )
        .map_err(|error| failed("pre-conditioning", error))?;
        if !done.steady {
            let figures: Vec<String> = done.iops.iter().map(|iops| format!("{iops:.0}")).collect();
            self.notes.push(format!(
                "pre-conditioning did not reach a steady state after {} rounds of {round_s:.0} \
                 s; IOPS per round: {}",
                done.iops.len(),
                figures.join(", ")
            ));
        }
        Ok(())
    }
}

impl Drop for CreatedFiles {
    fn drop(&mut self) {
        for file in self.files.iter().filter(|file| file.origin == Origin::Created) {
            // A file that cannot be removed goes with its folder.
            let _ = std::fs::remove_file(&file.path);
        }
    }
}

fn create(path: &Path, size: u64) -> Result<Origin> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let free = observe::file_system::space(folder).map_or(u64::MAX, |(_, free)| free);
    if free < size {
        // Filling the free space would take time and leave no room for other processes.
        let doing = format!("creating {} of {size} bytes with {free} bytes free", path.display());
        return Err(EngineError::DiskFull { doing });
    }
    // A file that is already there is not ours.
    File::create_new(path).map_err(EngineError::at(path))?;
    Ok(Origin::Created)
}

/// Writes a file in full, so that a read finds data and a write overwrites.
fn fill(path: &Path, size: u64, compress_percent: u8, cancel: &Cancel) -> Result<()> {
    let region = Region { path: path.into(), start: 0, length: size };
    disk_io::fill(&region, false, compress_percent, &|| cancel.is_cancelled())
        .map_err(|error| failed("filling a file", error))?;
    // Its pages would otherwise stay in memory, where measured reads may find them.
    File::open(path)
        .and_then(|file| observe::page_cache::evict(&file))
        .map_err(EngineError::at(path))
}

/// An existing file or device, with links resolved, its origin and its size.
fn existing(path: &Path) -> Result<(PathBuf, Origin, u64)> {
    // Resolved once: changing the link during the run has no effect.
    let path = &path.canonicalize().map_err(EngineError::at(path))?;
    let kind = path.metadata().map_err(EngineError::at(path))?.file_type();
    if !kind.is_block_device() && !kind.is_file() {
        let message = "neither a file nor a block device; declare a directory as a [[volume]]";
        return Err(EngineError::failed(path.display().to_string(), message));
    }
    let origin = if kind.is_file() { Origin::Existing } else { Origin::Device };
    Ok((path.clone(), origin, size(path).map_err(EngineError::at(path))?))
}

/// Bytes of a file or device.
pub fn size(path: &Path) -> std::io::Result<u64> {
    File::open(path)?.seek(SeekFrom::End(0))
}

/// Why a file or device that is there cannot be worked on; `None`: it can.
pub fn obstacle(path: &Path, is_written: bool, permits: &Permits) -> Option<String> {
    match existing(path) {
        Err(error) => Some(error.to_string()),
        Ok((real, origin, _)) if is_written => forbidden(path, &real, origin, permits),
        Ok(_) => None,
    }
}

/// Opens a device as the only one who may, as a mount does (open(2), `O_EXCL` without `O_CREAT`).
fn claim(device: &Path) -> Result<File> {
    OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_EXCL)
        .open(device)
        .map_err(EngineError::at(device))
}

fn failed(doing: &str, error: DiskError) -> EngineError {
    match error {
        DiskError::Load(LoadError::Stopped) => EngineError::Cancelled,
        DiskError::File { path, source, .. } => EngineError::at(&path)(source),
        error => EngineError::failed(doing, error.to_string()),
    }
}
