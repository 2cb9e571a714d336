//! Which results files may be asked for, and whether they have changed.

use super::page::Refusal;
use crate::exit_code::Failure;
use crate::results;
use report::Text;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// File systems may give the same time to two changes that are no further apart than this.
const CLOCK_STEP: Duration = Duration::from_millis(50);

/// The results files that are served.
#[derive(Debug)]
pub enum Library {
    /// One file.
    File(PathBuf),
    /// All in a folder, also those that come later.
    Folder(PathBuf),
}

/// A results file, and the name by which clients ask for it.
#[derive(Debug, Clone)]
pub struct File {
    /// Its name without folder and ending, control characters spelled out.
    pub name: String,
    pub path: PathBuf,
}

impl Library {
    /// What a name, a file or a folder means; without one, the usual folder.
    pub fn of(name: Option<&str>) -> Result<Self, Failure> {
        match name {
            None => Ok(Self::Folder(results::FOLDER.into())),
            Some(name) if Path::new(name).is_dir() => Ok(Self::Folder(name.into())),
            Some(name) => Ok(Self::File(results::find(Some(name))?)),
        }
    }

    /// The files by name.
    pub fn files(&self) -> Vec<File> {
        let mut files: Vec<File> = match self {
            Self::File(path) => vec![File::new(path.clone())],
            Self::Folder(folder) => store::results_files(folder).map(File::new).collect(),
        };
        files.sort_by(|a, b| a.name.cmp(&b.name));
        files
    }

    /// The file that a client names. Names are only compared with those of the list, never made into paths.
    pub fn file(&self, name: &str) -> Result<File, Refusal> {
        let found = self.files().into_iter().find(|file| file.name == name);
        found.ok_or_else(|| Refusal::nothing(format!("There is no results file {name} here.")))
    }
}

impl fmt::Display for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Folder(folder) => write!(f, "the results files in {}", folder.display()),
        }
    }
}

impl File {
    fn new(path: PathBuf) -> Self {
        let name =
            Text::from(path.file_stem().unwrap_or_default().to_string_lossy().into_owned()).to_string();
        Self { name, path }
    }

    /// A text that is another one when a trial has been committed, or a run has begun or ended.
    ///
    /// Only looks at the file's time and size. (It must not be opened: closing any descriptor of a file releases all
    /// of this process's locks on it, those of a page that is being built included.)
    pub fn version(&self) -> String {
        let Ok(metadata) = self.path.metadata() else { return format!("{}:gone", self.name) };
        let modified = metadata.modified().unwrap_or(UNIX_EPOCH);
        // What changed this moment may change again at the same time: asked later, the version is another one.
        let fresh = SystemTime::now().duration_since(modified).is_ok_and(|age| age < CLOCK_STEP);
        let nanoseconds = modified.duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
        let process = store::claimed_by(&self.path).unwrap_or(0);
        format!(
            "{}:{nanoseconds:x}.{:x}.{process}{}",
            self.name,
            metadata.len(),
            if fresh { "~" } else { "" }
        )
    }
}

/// The versions of several files.
pub fn version(files: &[File]) -> String {
    files.iter().map(File::version).collect::<Vec<_>>().join(" ")
}
