//! The host of the trials at hand, kept while consecutive trials have the same engine and volumes; and the folders for
//! their data, with a marker: nothing without our marker is removed.

use crate::RunError;
use crate::throttle::{ControlGroup, Inside};
use engines::{Engine, Folders, Host, Permits};
use experiment::Volume;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The file that marks a folder as made by Steelbench; it holds the path of the results file.
const MARKER: &str = ".steelbench-work";
const PREFIX: &str = "steelbench-trial-";

/// Keeps the host that the last trial used.
pub struct Hosts {
    permits: Permits,
    kept: Option<Kept>,
}

/// A host with what it has of its own.
pub struct Kept {
    engine: &'static str,
    /// Its folder on each volume, by the volume's name; `default` for the work directory.
    pub storage: Vec<(String, PathBuf)>,
    // Dropped in this order: what runs in the folders is stopped before they are removed, and
    // nobody is in a group that is removed.
    pub host: Box<dyn Host>,
    _inside: Option<Inside>,
    _throttled: Option<ControlGroup>,
    _folders: Vec<WorkFolder>,
}

impl Hosts {
    /// No host yet; those that come may overwrite what these permits name.
    pub fn new(permits: Permits) -> Self {
        Self { permits, kept: None }
    }

    /// Ends the host unless it serves a trial of this engine on these volumes. To be called before
    /// volumes are cleaned.
    pub fn release_unless(&mut self, engine: &str, volumes: &[&Volume]) {
        let serves = |kept: &Kept| {
            let names = kept.storage[1..].iter().map(|(name, _)| name);
            kept.engine == engine && names.eq(volumes.iter().map(|volume| &volume.name))
        };
        if !self.kept.as_ref().is_some_and(serves) {
            self.release();
        }
    }

    /// Ends the host and removes its folders.
    pub fn release(&mut self) {
        self.kept = None;
    }

    /// The host for a trial: the one that is kept, or a new one with folders of its own. A volume
    /// that takes no folder fails the trial with the inner error: configurations on other volumes
    /// can still run.
    pub fn host(
        &mut self,
        engine: &'static dyn Engine,
        volumes: &[&Volume],
        workdir: &Workdir,
    ) -> Result<Result<&mut Kept, String>, RunError> {
        self.release_unless(engine.name(), volumes);
        let kept = if let Some(kept) = self.kept.take() {
            kept
        } else {
            let default = workdir.create(&workdir.default)?;
            match Kept::new(engine, volumes, workdir, default, self.permits.clone()) {
                Ok(kept) => kept,
                Err(cause) => return Ok(Err(cause)),
            }
        };
        Ok(Ok(self.kept.insert(kept)))
    }
}

impl Kept {
    fn new(
        engine: &'static dyn Engine,
        volumes: &[&Volume],
        workdir: &Workdir,
        default: WorkFolder,
        permits: Permits,
    ) -> Result<Self, String> {
        let directory = default.path().to_path_buf();
        let mut storage = vec![("default".to_owned(), directory.clone())];
        let mut folders = vec![default];
        for volume in volumes {
            let folder = workdir.create(Path::new(&volume.path));
            let folder = folder.map_err(|error| format!("volume {}: {error}", volume.name))?;
            storage.push((volume.name.clone(), folder.path().to_path_buf()));
            folders.push(folder);
        }
        let throttled = ControlGroup::for_volumes(volumes)?;
        // An embedded engine is our own process; a server joins when it is started.
        let entering =
            throttled.as_ref().filter(|_| engine.abilities().contains(&engines::Ability::Embedded));
        let inside = entering.map(ControlGroup::enter).transpose()?;
        let cgroup_joins = throttled.iter().map(ControlGroup::processes).collect();
        let volumes = storage[1..].to_vec();
        Ok(Self {
            engine: engine.name(),
            storage,
            host: engine.host(Folders { directory, volumes, permits, cgroup_joins }),
            _inside: inside,
            _throttled: throttled,
            _folders: folders,
        })
    }
}

/// Makes and removes folders for the trials of one results file. The caller holds the lock of
/// that file, so that a folder with its marker is either our own or left over by a run that was
/// killed.
#[derive(Debug, Clone)]
pub struct Workdir {
    owner: String,
    /// The folder for trials on the default volume, beside the results file.
    pub default: PathBuf,
}

/// A folder of one host; removed with everything in it when dropped.
#[derive(Debug)]
pub struct WorkFolder(PathBuf);

impl Workdir {
    /// The folders of a results file.
    pub fn of(results: &Path) -> Result<Self, RunError> {
        let real = results.canonicalize().map_err(folder_error(results, "resolve its path"))?;
        let mut default = real.clone().into_os_string();
        default.push(".work");
        let default = PathBuf::from(default);
        std::fs::create_dir_all(&default).map_err(folder_error(&default, "create it"))?;
        Ok(Self { owner: real.to_string_lossy().into_owned(), default })
    }

    /// A new folder below `parent`.
    pub fn create(&self, parent: &Path) -> Result<WorkFolder, RunError> {
        let folder = new_folder(parent, PREFIX).map_err(folder_error(parent, "create a folder in it"))?;
        let folder = WorkFolder(folder);
        std::fs::write(folder.path().join(MARKER), &self.owner)
            .map_err(folder_error(folder.path(), "write its marker"))?;
        Ok(folder)
    }

    /// Removes folders that a killed run of the same results file left below `parent`; returns them.
    pub fn remove_orphans(&self, parent: &Path) -> Vec<PathBuf> {
        let Ok(entries) = std::fs::read_dir(parent) else { return Vec::new() };
        let named =
            |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX));
        let ours = |path: &PathBuf| match std::fs::read_to_string(path.join(MARKER)) {
            Ok(owner) if !owner.is_empty() => owner == self.owner,
            // Killed between making the folder and marking it: empty, and its process is gone.
            _ => is_unmarked_leftover(path),
        };
        let orphans = entries.flatten().map(|entry| entry.path()).filter(|path| named(path) && ours(path));
        orphans.filter(|path| reclaim(path) && remove(path).is_ok()).collect()
    }
}

impl WorkFolder {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        // What cannot be removed now is found as an orphan by the next run.
        let _ = remove(&self.0);
    }
}

/// Stops what a killed run has left running in a folder; what cannot be stopped keeps its folder.
fn reclaim(path: &Path) -> bool {
    engines::all().all(|engine| engine.reclaim(path).is_ok())
}

/// Whether an unmarked folder is empty (but for an empty marker) and was made by a process that is gone.
fn is_unmarked_leftover(path: &Path) -> bool {
    let empty = std::fs::read_dir(path)
        .is_ok_and(|entries| entries.flatten().all(|entry| entry.file_name() == MARKER));
    empty && is_of_gone_process(path, PREFIX)
}

/// Makes a folder named after this process: `prefix`, its number, and one that is free.
pub fn new_folder(parent: &Path, prefix: &str) -> std::io::Result<PathBuf> {
    let pid = std::process::id();
    let mut paths = (0_u32..).map(|number| parent.join(format!("{prefix}{pid}-{number}")));
    let made = paths.find_map(|path| match std::fs::create_dir(&path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => None,
        result => Some(result.map(|()| path)),
    });
    made.unwrap_or_else(|| Err(ErrorKind::AlreadyExists.into()))
}

/// Whether [`new_folder`] made it in a process that is gone.
pub fn is_of_gone_process(path: &Path, prefix: &str) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()?.strip_prefix(prefix)?.split_once('-'));
    let pid = name.and_then(|(pid, number)| number.parse::<u32>().and(pid.parse::<u32>()).ok());
    pid.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists())
}

/// Removes a folder, its marker last, so that what a kill leaves is still known as ours.
fn remove(path: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(path)? {
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
    std::fs::remove_dir_all(path)
}

/// That a folder of ours cannot be used.
pub fn folder_error(path: &Path, action: &'static str) -> impl FnOnce(std::io::Error) -> RunError {
    move |source| RunError::Failed(format!("{}: cannot {action}: {source}", path.display()))
}
