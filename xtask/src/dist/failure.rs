//! Failures of the packing, and file operations that name their file.

use std::path::{Path, PathBuf};

/// A step of the packing that could not be made.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The text names the program and its output.
    #[error("{0}")]
    Process(String),
    #[error("{}: {cause}", path.display())]
    File { path: PathBuf, cause: std::io::Error },
    #[error("cargo printed something else than its metadata: {0}")]
    Metadata(#[from] serde_json::Error),
    #[error("{}: {cause}", path.display())]
    Binary { path: PathBuf, cause: object::Error },
    #[error("{} has no text that looks like {looks}", path.display())]
    Text { path: PathBuf, looks: &'static str },
    #[error("{program} wrote no file that ends in {ending} to {}", folder.display())]
    NoPackage { program: &'static str, ending: &'static str, folder: PathBuf },
    #[error("not fit to be handed out:\n  {}", .0.join("\n  "))]
    Found(Vec<String>),
}

impl Failure {
    /// Returns an error that lists everything found, if there is anything.
    pub fn unless_empty(found: Vec<String>) -> Result<(), Self> {
        if found.is_empty() { Ok(()) } else { Err(Self::Found(found)) }
    }
}

pub fn create_folder(path: &Path) -> Result<(), Failure> {
    let cause = |cause| Failure::File { path: path.into(), cause };
    std::fs::create_dir_all(path).map_err(cause)
}

pub fn read(path: &Path) -> Result<String, Failure> {
    let cause = |cause| Failure::File { path: path.into(), cause };
    std::fs::read_to_string(path).map_err(cause)
}

/// Writes a file, and its folder if it does not exist.
pub fn write(path: &Path, text: impl AsRef<[u8]>) -> Result<(), Failure> {
    create_folder(path.parent().unwrap_or(path))?;
    let cause = |cause| Failure::File { path: path.into(), cause };
    std::fs::write(path, text).map_err(cause)
}

/// Copies a file, and creates the folder of the copy if it does not exist.
pub fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    create_folder(to.parent().unwrap_or(to))?;
    let cause = |cause| Failure::File { path: from.into(), cause };
    std::fs::copy(from, to).map(|_| ()).map_err(cause)
}

/// Returns the files in a folder and in those below it, sorted by path.
pub fn files_below(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let cause = |cause| Failure::File { path: folder.into(), cause };
    let mut files = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(next) = waiting.pop() {
        for entry in std::fs::read_dir(&next).map_err(cause)? {
            let path = entry.map_err(cause)?.path();
            if path.is_dir() { waiting.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    Ok(files)
}
