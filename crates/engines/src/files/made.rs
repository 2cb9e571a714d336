//! Makes files and fills them.

use super::set::{Origin, Role, TargetFile, forbidden};
use super::{Wanted, WantedFile};
use crate::Cancel;
use crate::engine::{EngineError, Folders};
use disk_io::{DiskError, LoadError, Region};
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

/// Length of a round of pre-conditioning: the throughput of one is one figure of the steady state.
const ROUND_S: f64 = 10.0;

/// The files of several trials. Dropping it removes those that were created.
pub struct Made {
    /// Devices that may be written to are held, so that nobody mounts one meanwhile.
    claims: Vec<File>,
    pub wanted: Wanted,
    pub files: Vec<TargetFile>,
    pub notes: Vec<String>,
}

impl Made {
    pub fn new(wanted: Wanted, place: &Folders, cancel: &Cancel) -> Result<Self, EngineError> {
        let mut made = Self { claims: Vec::new(), wanted, files: Vec::new(), notes: Vec::new() };
        for wanted in made.wanted.files.clone() {
            let file = match wanted.create {
                Some(size) => {
                    // From here on, dropping what was made removes it.
                    made.files.push(create(&wanted, size)?);
                    fill(&wanted, size, made.wanted.compress_percent, cancel)?;
                    continue;
                }
                None => existing(&wanted, place)?,
            };
            if file.origin == Origin::Device && file.forbidden.is_none() {
                made.claims.push(claim(&file.path)?);
            }
            made.files.push(file);
        }
        if let Some(most_s) = made.wanted.precondition_s {
            made.precondition(most_s, cancel)?;
        }
        Ok(made)
    }

    /// Brings the data files into the state of a drive that has been in use.
    fn precondition(&mut self, most_s: f64, cancel: &Cancel) -> Result<(), EngineError> {
        let data: Vec<&TargetFile> = self.files.iter().filter(|file| file.role == Role::Data).collect();
        if let Some(reason) = data.iter().find_map(|file| file.forbidden.clone()) {
            return Err(EngineError::Engine { doing: "pre-conditioning".into(), message: reason });
        }
        let regions: Vec<Region> =
            data.iter().map(|file| Region { path: file.path.clone(), start: 0, length: file.size }).collect();
        let round_s = ROUND_S.min(most_s);
        let rounds_max = (most_s / round_s).ceil() as u32;
        let done = disk_io::precondition(
            &regions,
            Duration::from_secs_f64(round_s),
            rounds_max,
            self.wanted.compress_percent,
            &|| cancel.is_cancelled(),
        )
        .map_err(|error| failed("pre-conditioning", error))?;
        if !done.steady {
            let figures: Vec<String> = done.iops.iter().map(|iops| format!("{iops:.0}")).collect();
            self.notes.push(format!(
                "pre-conditioning was not steady after {} rounds of {round_s:.0} s; I/Os/s of each: {}",
                done.iops.len(),
                figures.join(", ")
            ));
        }
        Ok(())
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        for file in self.files.iter().filter(|file| file.origin == Origin::Created) {
            // What cannot be removed goes with the folder that it is in.
            let _ = std::fs::remove_file(&file.path);
        }
    }
}

/// What a failed operation on a file means.
pub fn file_error(path: &Path) -> impl Fn(std::io::Error) -> EngineError {
    move |source| match source.kind() {
        std::io::ErrorKind::StorageFull => {
            EngineError::DiskFull { doing: format!("writing {}", path.display()) }
        }
        _ => EngineError::File { path: path.into(), source },
    }
}

fn create(wanted: &WantedFile, size: u64) -> Result<TargetFile, EngineError> {
    let folder = wanted.path.parent().unwrap_or(Path::new("."));
    let free = observe::environment::space(folder).map_or(u64::MAX, |(_, free)| free);
    if free < size {
        // Filling what is there would take its time and leave no room for anybody else.
        let path = wanted.path.display();
        let doing = format!("creating {path} of {size} bytes where {free} are free");
        return Err(EngineError::DiskFull { doing });
    }
    // A file that is already there is not ours.
    let created = OpenOptions::new().write(true).create_new(true).open(&wanted.path);
    created.map_err(file_error(&wanted.path))?;
    Ok(TargetFile {
        role: wanted.role,
        path: wanted.path.clone(),
        size,
        origin: Origin::Created,
        forbidden: None,
    })
}

/// Writes a file in full, so that a read finds data and a write overwrites.
fn fill(wanted: &WantedFile, size: u64, compress_percent: u8, cancel: &Cancel) -> Result<(), EngineError> {
    let file = OpenOptions::new().write(true).open(&wanted.path).map_err(file_error(&wanted.path))?;
    file.set_len(size).map_err(file_error(&wanted.path))?;
    drop(file);
    let region = Region { path: wanted.path.clone(), start: 0, length: size };
    disk_io::fill(&region, false, compress_percent, &|| cancel.is_cancelled())
        .map_err(|error| failed("filling a file", error))?;
    // Its pages would otherwise stay in memory, where measured reads may find them.
    observe::page_cache::evict(&wanted.path).map_err(file_error(&wanted.path))
}

fn existing(wanted: &WantedFile, place: &Folders) -> Result<TargetFile, EngineError> {
    let path = &wanted.path;
    let metadata = path.metadata().map_err(file_error(path))?;
    let kind = metadata.file_type();
    let origin = if kind.is_block_device() {
        Origin::Device
    } else if kind.is_file() {
        Origin::Existing
    } else {
        return Err(EngineError::Engine {
            doing: path.display().to_string(),
            message: "neither a file nor a block device; a directory is declared as a [[volume]]".into(),
        });
    };
    let mut file = File::open(path).map_err(file_error(path))?;
    let size = file.seek(SeekFrom::End(0)).map_err(file_error(path))?;
    let forbidden = forbidden(path, origin, &place.permits);
    Ok(TargetFile { role: wanted.role, path: path.clone(), size, origin, forbidden })
}

/// Opens a device as the only one who may, as a mount does (open(2), `O_EXCL` without `O_CREAT`).
fn claim(device: &Path) -> Result<File, EngineError> {
    OpenOptions::new().read(true).custom_flags(libc::O_EXCL).open(device).map_err(file_error(device))
}

fn failed(doing: &str, error: DiskError) -> EngineError {
    match error {
        DiskError::Load(LoadError::Stopped) => EngineError::Cancelled,
        DiskError::File { path, source, .. } => file_error(&path)(source),
        error => EngineError::Engine { doing: doing.into(), message: error.to_string() },
    }
}
