//! Ready experiments that the binary contains, and how they get into a folder.

use crate::Failure;
use std::fs::{File, Permissions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// A ready experiment.
pub struct Ready {
    /// The folder among the ready experiments.
    pub folder: &'static str,
    /// The name.
    pub name: &'static str,
    /// The experiment file, then the files that it names.
    pub files: &'static [ReadyFile],
}

/// A file of a ready experiment.
pub struct ReadyFile {
    /// The name.
    pub name: &'static str,
    /// The contents.
    pub text: &'static str,
}

impl Ready {
    /// Writes the files into the current folder, the experiment with another name and text if they
    /// are given; nothing if one exists. Returns the names of the files.
    ///
    /// # Errors
    /// When a file exists or cannot be written.
    pub fn write(&self, experiment: Option<(&str, &str)>) -> Result<Vec<String>, Failure> {
        let built_in = self.files.iter().map(|file| (file.name, file.text));
        let files: Vec<(&str, &str)> = match experiment {
            Some(experiment) => std::iter::once(experiment).chain(built_in.skip(1)).collect(),
            None => built_in.collect(),
        };
        write_all(&files)
    }
}

/// Writes files into the current folder; nothing if one exists, unless it has the same text.
/// Returns their names.
///
/// # Errors
/// When a file exists or cannot be written.
pub fn write_all(files: &[(&str, &str)]) -> Result<Vec<String>, Failure> {
    let new = files
        .iter()
        .filter(|(name, text)| !std::fs::read_to_string(name).is_ok_and(|known| known == *text));
    let new: Vec<_> = new.collect();
    if let Some((name, _)) = new.iter().find(|(name, _)| Path::new(name).exists()) {
        return Err(Failure::usage(format!("{name} exists and is kept; use another folder")));
    }
    new.iter().try_for_each(|(name, text)| write_new(Path::new(name), text))?;
    Ok(files.iter().map(|(name, _)| (*name).to_owned()).collect())
}

/// Writes a file; never over another one.
///
/// # Errors
/// When it exists or cannot be written.
pub fn write_new(file: &Path, text: &str) -> Result<(), Failure> {
    let path = file.display();
    let mut created = File::create_new(file).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => {
            Failure::usage(format!("{path} exists and is kept; name another file"))
        }
        ErrorKind::NotFound | ErrorKind::NotADirectory => {
            Failure::usage(format!("{path}: {error}"))
        }
        _ => Failure::failed(format!("cannot write {path}: {error}")),
    })?;
    if text.starts_with("#!") {
        let _ = created.set_permissions(Permissions::from_mode(0o755));
    }
    created.write_all(text.as_bytes()).map_err(|error| {
        // Remove the partial file; the error to report is that of the write.
        let _ = std::fs::remove_file(file);
        Failure::failed(format!("cannot write {path}: {error}"))
    })
}
