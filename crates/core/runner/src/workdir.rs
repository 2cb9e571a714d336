//! Folders for the data of trials. Each has a marker file that names its owner and that its run
//! keeps locked. Steelbench removes no folder without its marker, or whose marker is locked.
//!
//! Removal reaches a folder by the descriptor of its folder, so that no link leads us elsewhere.

use crate::Registry;
use crate::error::FolderError;
use engine::Engine;
use experiment::Experiment;
use experiment::common::ENGINE;
use observations::RunRecord;
use observe::processes;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The file that marks a folder as made by Steelbench. It holds the path of the results file and
/// which run of it.
const MARKER: &str = ".steelbench-work";
/// Largest size of a marker.
const MARKER_BYTES_MAX: u64 = 16 << 10;
const PREFIX: &str = "steelbench-trial-";

/// Makes and removes folders for the trials of one results file. The caller holds the claim on that
/// file.
#[derive(Clone)]
pub(crate) struct Workdir {
    pub registry: Registry,
    /// Contents of the markers of the results file's runs; the last is that of this run.
    pub owners: Vec<String>,
    /// The folder for trials on the default volume, beside the results file.
    pub default: PathBuf,
    /// Parents of the folders of engines that cannot be there.
    pub places: Places,
}

/// Folders for engines whose servers' users cannot enter the folder of the results, by the engine's
/// name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places(BTreeMap<&'static str, PathBuf>);

impl Places {
    /// Finds them for an experiment whose trials would work in this folder.
    pub fn find(registry: Registry, experiment: &Experiment, folder: &Path) -> Self {
        let place = |engine: &&'static Engine| {
            let all = experiment.configurations.iter();
            let configurations: Vec<_> =
                all.filter(|configuration| configuration.get(ENGINE) == engine.name).collect();
            let place = engine.prerequisites?.other_place(&configurations, folder)?;
            Some((engine.name, place))
        };
        Self(registry.engines.iter().filter_map(place).collect())
    }

    /// The folder of an engine.
    pub fn of_engine(&self, engine: &str) -> Option<&Path> {
        self.0.get(engine).map(PathBuf::as_path)
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &Path> {
        self.0.values().map(PathBuf::as_path)
    }
}

impl Workdir {
    /// The folders of a results file with these runs, of which the last is the one at hand.
    pub fn for_results(
        registry: Registry,
        experiment: &Experiment,
        results: &Path,
        runs: &[RunRecord],
    ) -> Result<Self, FolderError> {
        let real = results.canonicalize().map_err(folder_error(results, "resolve its path"))?;
        let mut default = real.clone().into_os_string();
        default.push(".work");
        let default = PathBuf::from(default);
        let made = std::fs::create_dir(&default).or_else(|error| match error.kind() {
            ErrorKind::AlreadyExists => Ok(()),
            _ => Err(error),
        });
        // A link could lead to anybody's folder.
        made.and_then(|()| open_folder(&default))
            .map_err(folder_error(&default, "create a folder there"))?;
        let owners = runs
            .iter()
            .map(|run| format!("{}\nrun {} begun {}\n", real.display(), run.id, run.started_ms))
            .collect();
        let places = Places::find(registry, experiment, &default);
        Ok(Self { registry, owners, default, places })
    }

    /// The parent of the folders of an engine.
    pub fn parent(&self, engine: &str) -> &Path {
        self.places.of_engine(engine).unwrap_or(&self.default)
    }

    /// A new folder below `parent`.
    pub fn create(&self, parent: &Path) -> Result<WorkFolder, FolderError> {
        loop {
            let path = new_folder(parent, PREFIX)
                .map_err(folder_error(parent, "create a folder in it"))?;
            let owner = self.owners.last().map_or("", String::as_str);
            match WorkFolder::mark(path.clone(), owner) {
                Ok(folder) => return Ok(folder),
                // Another run took it for left over before it was marked.
                Err(error)
                    if [ErrorKind::NotFound, ErrorKind::WouldBlock].contains(&error.kind()) => {}
                Err(error) => return Err(folder_error(&path, "write its marker")(error)),
            }
        }
    }

    /// Removes folders that a killed run of the same results file left below `parent`; returns
    /// them.
    pub fn remove_orphans(&self, parent: &Path) -> Vec<PathBuf> {
        let named = with_prefix(parent, PREFIX).into_iter();
        let orphans =
            named.filter_map(|path| WorkFolder::orphan(path, &self.owners, PREFIX).ok()?);
        // What cannot be stopped keeps its folder.
        let removed = orphans
            .filter(|orphan| reclaim(self.registry, &orphan.path) && orphan.remove().is_ok());
        removed.map(|orphan| orphan.path.clone()).collect()
    }
}

/// Stops what a killed run has left running in a folder.
fn reclaim(registry: Registry, path: &Path) -> bool {
    let mut recoveries = registry.engines.iter().filter_map(|engine| engine.recovery);
    recoveries.all(|recovery| recovery.reclaim(path).is_ok())
}

/// The entries of a folder whose names begin with this.
fn with_prefix(parent: &Path, prefix: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(parent).into_iter().flatten().flatten();
    let named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix));
    named.map(|entry| entry.path()).collect()
}

/// A folder of one host, or one that a killed run has left.
#[derive(Debug)]
pub struct WorkFolder {
    path: PathBuf,
    folder: File,
    /// Locked.
    marker: Option<File>,
    /// True if it is removed when this is dropped.
    is_ours: bool,
}

impl WorkFolder {
    /// Makes a folder outside of a run, of which the marker has this text. Only its owner can enter
    /// it.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn create(parent: &Path, prefix: &str, owner: &str) -> io::Result<Self> {
        loop {
            let path = new_folder(parent, prefix)?;
            std::fs::set_permissions(&path, Permissions::from_mode(0o700))?;
            match Self::mark(path, owner) {
                // Another process looked at it before it was marked.
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                result => return result,
            }
        }
    }

    /// Removes folders of [`Self::create`] that no process uses any more, with what still runs in
    /// the folders of trials in them.
    pub fn remove_abandoned(registry: Registry, parent: &Path, prefix: &str, owner: &str) {
        let owners = [owner.to_owned()];
        for path in with_prefix(parent, prefix) {
            let Ok(Some(orphan)) = Self::orphan(path, &owners, prefix) else { continue };
            let runs = std::fs::read_dir(&orphan.path).into_iter().flatten().flatten();
            let mut trials = runs.flat_map(|run| with_prefix(&run.path(), PREFIX));
            if trials.all(|trial| reclaim(registry, &trial)) {
                let _ = orphan.remove();
            }
        }
    }

    /// Claims a folder that was made just now.
    fn mark(path: PathBuf, owner: &str) -> io::Result<Self> {
        // From here on, dropping it removes it: a full disk leaves nothing.
        let mut folder_of_run =
            Self { folder: open_folder(&path)?, path, marker: None, is_ours: true };
        let mut marker = File::create_new(within(&folder_of_run.folder, MARKER))?;
        marker.try_lock()?;
        marker.write_all(owner.as_bytes())?;
        if marker.metadata()?.nlink() == 0 {
            return Err(ErrorKind::NotFound.into());
        }
        folder_of_run.marker = Some(marker);
        Ok(folder_of_run)
    }

    /// A folder that is marked with one of these owners and not locked, or an empty one of a
    /// process that is gone.
    fn orphan(path: PathBuf, owners: &[String], prefix: &str) -> io::Result<Option<Self>> {
        let folder = open_folder(&path)?;
        // SAFETY: asks for our own user number and has no preconditions.
        let is_foreign = folder.metadata()?.uid() != unsafe { libc::geteuid() };
        let mut open = OpenOptions::new();
        open.read(true).write(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
        let marker = match open.open(within(&folder, MARKER)) {
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            marker => Some(marker?),
        };
        let mut owner = String::new();
        if let Some(marker) = &marker {
            marker.try_lock()?;
            marker.take(MARKER_BYTES_MAX).read_to_string(&mut owner)?;
        }
        // Killed between making the folder and marking it.
        let is_orphan = !is_foreign
            && (owners.contains(&owner)
                || (owner.is_empty() && is_empty(&folder) && is_of_gone_process(&path, prefix)));
        Ok(is_orphan.then_some(Self { path, folder, marker, is_ours: false }))
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes it with everything in it, its marker last, so that what a kill leaves is still known
    /// as ours.
    fn remove(&self) -> io::Result<()> {
        for entry in std::fs::read_dir(within(&self.folder, ""))? {
            let entry = entry?;
            if entry.file_name() == MARKER {
                continue;
            }
            if entry.file_type()?.is_dir() {
                std::fs::remove_dir_all(entry.path())?;
            } else {
                std::fs::remove_file(entry.path())?;
            }
        }
        match std::fs::remove_file(within(&self.folder, MARKER)) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        std::fs::remove_dir(&self.path)
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        if self.is_ours {
            // What cannot be removed now is found as an orphan by the next run.
            let _ = self.remove();
        }
    }
}

/// Opens a folder; a link to one is an error.
fn open_folder(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(libc::O_DIRECTORY | libc::O_NOFOLLOW).open(path)
}

/// A name in an open folder, even if the folder's own path leads elsewhere by now (proc(5),
/// `/proc/self/fd`).
fn within(folder: &File, name: &str) -> PathBuf {
    format!("/proc/self/fd/{}/{name}", folder.as_raw_fd()).into()
}

/// Returns whether a folder holds only a marker.
fn is_empty(folder: &File) -> bool {
    let entries = std::fs::read_dir(within(folder, ""));
    entries.is_ok_and(|entries| entries.flatten().all(|entry| entry.file_name() == MARKER))
}

/// Makes a folder named after this process: `prefix`, its number, and one that is free.
pub(crate) fn new_folder(parent: &Path, prefix: &str) -> std::io::Result<PathBuf> {
    let pid = std::process::id();
    let mut paths = (0_u32..).map(|number| parent.join(format!("{prefix}{pid}-{number}")));
    let made = paths.find_map(|path| match std::fs::create_dir(&path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => None,
        result => Some(result.map(|()| path)),
    });
    made.unwrap_or_else(|| Err(ErrorKind::AlreadyExists.into()))
}

/// Returns whether [`new_folder`] of an ended process made it.
pub fn is_of_gone_process(path: &Path, prefix: &str) -> bool {
    let name =
        path.file_name().and_then(|name| name.to_str()?.strip_prefix(prefix)?.split_once('-'));
    let pid = name.and_then(|(pid, number)| number.parse::<u32>().and(pid.parse()).ok());
    pid.is_some_and(|pid| !processes::is_alive(pid))
}

/// Returns a function that makes the error of an unusable work folder.
pub(crate) fn folder_error(
    path: &Path,
    action: &'static str,
) -> impl FnOnce(io::Error) -> FolderError {
    move |source| FolderError { path: path.into(), action, source }
}
