//! The files that jobs work on.

use super::job::Job;
use crate::commands::disk::places::{PlaceKind, kind};
use crate::exit_code::Failure;
use std::io::{Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// All files of a job file, each once.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Files {
    /// In the order of their numbers.
    pub files: Vec<JobFile>,
    /// Size of those that we create.
    pub size: u64,
}

/// A file of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobFile {
    /// Its path, or the one that fio would give it.
    pub path: PathBuf,
    /// What is there; `None`: nothing, we create a file of ours in its directory.
    pub existing: Option<PlaceKind>,
    /// Whether a job writes to it.
    pub written: bool,
}

/// Which files a job uses, and how much of each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Used {
    /// Positions in [`Files::files`].
    pub files: Vec<usize>,
    /// Bytes of each.
    pub bytes: u64,
}

impl Files {
    /// Adds the files of one job, or of clone number `clone` of it.
    pub fn add(&mut self, job: &Job, clone: u32) -> Result<Used, Failure> {
        let own = [PathBuf::from(format!("{}.{clone}.0", job.name.replace('/', "_")))];
        let names = if job.files.is_empty() { &own[..] } else { &job.files };
        let per_file = job.size.map(|size| size / names.len() as u64);
        let (mut files, mut bytes) = (Vec::new(), 0);
        for name in names {
            let path = job.directory.join(name);
            let existing = if path.exists() { Some(kind(&path)?) } else { None };
            bytes = match existing {
                Some(PlaceKind::Directory) => {
                    return Err(Failure::usage(format!(
                        "{}: a file is wanted, this is a directory",
                        path.display()
                    )));
                }
                Some(_) => job.file_size.or(per_file).map_or_else(|| size_of(&path), Ok)?,
                None => job.file_size.or(per_file).ok_or_else(|| {
                    let path = path.display();
                    Failure::usage(format!(
                        "job {}: {path} does not exist: size says how large to make it",
                        job.name
                    ))
                })?,
            };
            if existing.is_none() {
                self.size = self.size.max(bytes + job.offset);
            }
            files.push(self.number(path, existing, job.pattern.writes()));
        }
        Ok(Used { files, bytes })
    }

    fn number(&mut self, path: PathBuf, existing: Option<PlaceKind>, written: bool) -> usize {
        if let Some(known) = self.files.iter().position(|file| file.path == path) {
            self.files[known].written |= written;
            return known;
        }
        self.files.push(JobFile { path, existing, written });
        self.files.len() - 1
    }

    /// Whether all files are there; an error where only some are.
    pub fn all_exist(&self) -> Result<bool, Failure> {
        let missing = self.files.iter().find(|file| file.existing.is_none());
        let existing = self.files.iter().find(|file| file.existing.is_some());
        match (existing, missing) {
            (Some(existing), Some(missing)) => Err(Failure::usage(format!(
                "{} exists and {} does not: jobs that run together work either on files that are there or on files that we create",
                existing.path.display(),
                missing.path.display()
            ))),
            (existing, _) => Ok(existing.is_some()),
        }
    }
}

impl JobFile {
    /// The directory that a file of ours is created in.
    pub fn directory(&self) -> &Path {
        self.path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
    }
}

/// Bytes of a file or device.
fn size_of(path: &Path) -> Result<u64, Failure> {
    let size = std::fs::File::open(path).and_then(|mut file| file.seek(SeekFrom::End(0)));
    size.map_err(|error| Failure::usage(format!("{}: {error}", path.display())))
}
