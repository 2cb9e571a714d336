//! The hosts of the trials at hand: one for each engine while its trials take no volumes, one in
//! all while they have the same.

use crate::error::{FolderError, VolumeError};
use crate::throttle::{ControlGroup, Inside};
use crate::workdir::{WorkFolder, Workdir};
use engine::{Engine, Folders, Host, Permits};
use experiment::Volume;
use std::path::{Path, PathBuf};

/// Keeps the hosts that trials have used; that of the last one is at the end.
pub(crate) struct Hosts {
    permits: Permits,
    entries: Vec<HostEntry>,
}

/// A host with what it has of its own.
pub(crate) struct HostEntry {
    engine: &'static str,
    /// The folder on each volume, by the volume's name; `default` for the work directory.
    pub storage: Vec<(String, PathBuf)>,
    // Dropped in this order: servers in the folders stop before the folders are removed, and
    // processes leave a control group before it is removed.
    pub host: Box<dyn Host>,
    _inside: Option<Inside>,
    _throttled: Option<ControlGroup>,
    _folders: Vec<WorkFolder>,
}

/// The host of a trial and those of other engines.
pub(crate) struct HostForTrial<'a> {
    pub entry: &'a mut HostEntry,
    pub others: &'a mut [HostEntry],
}

impl Hosts {
    /// No host yet; those that come may overwrite what these permits name.
    pub fn new(permits: Permits) -> Self {
        Self { permits, entries: Vec::new() }
    }

    /// Returns the objects that trials may overwrite.
    pub fn permits(&self) -> &Permits {
        &self.permits
    }

    /// Ends the hosts that conflict with a trial of this engine on these volumes: a host with files
    /// on volumes, or throttled with them, uses them exclusively. Call it before volumes are
    /// cleaned.
    pub fn release_unless(&mut self, engine: &str, volumes: &[&Volume]) {
        self.entries.retain(|kept| {
            let names = kept.storage[1..].iter().map(|(name, _)| name);
            (kept.engine == engine || volumes.is_empty())
                && names.eq(volumes.iter().map(|volume| &volume.name))
        });
    }

    /// Ends all hosts and removes their folders.
    pub fn release(&mut self) {
        self.entries.clear();
    }

    /// Releases the host of the last trial.
    pub fn release_last(&mut self) {
        self.entries.pop();
    }

    /// The host for a trial, and those of other engines: one that is kept, or a new one with
    /// folders of its own. A volume that takes no folder fails the trial with the inner error:
    /// configurations on other volumes can still run.
    pub fn host(
        &mut self,
        engine: &'static Engine,
        volumes: &[&Volume],
        workdir: &Workdir,
    ) -> Result<Result<HostForTrial<'_>, VolumeError>, FolderError> {
        self.release_unless(engine.name, volumes);
        let kept = if let Some(of_engine) =
            self.entries.iter().position(|kept| kept.engine == engine.name)
        {
            self.entries.remove(of_engine)
        } else {
            let default = workdir.create(workdir.parent(engine.name))?;
            match HostEntry::new(engine, volumes, workdir, default, self.permits.clone()) {
                Ok(kept) => kept,
                Err(cause) => return Ok(Err(cause)),
            }
        };
        let others = self.entries.len();
        self.entries.push(kept);
        let (others, last) = self.entries.split_at_mut(others);
        Ok(Ok(HostForTrial { entry: &mut last[0], others }))
    }
}

impl HostEntry {
    fn new(
        engine: &'static Engine,
        volumes: &[&Volume],
        workdir: &Workdir,
        default: WorkFolder,
        permits: Permits,
    ) -> Result<Self, VolumeError> {
        let directory = default.path().to_path_buf();
        let mut storage = vec![("default".to_owned(), directory.clone())];
        let mut folders = vec![default];
        for volume in volumes {
            let folder = workdir.create(Path::new(&volume.path)).map_err(|error| {
                VolumeError::Folder { volume: volume.name.clone(), cause: error.to_string() }
            })?;
            storage.push((volume.name.clone(), folder.path().to_path_buf()));
            folders.push(folder);
        }
        let throttled = ControlGroup::for_volumes(volumes)?;
        // An embedded engine is our own process; a server joins when it is started.
        let entering =
            throttled.as_ref().filter(|_| engine.abilities.contains(&engine::Ability::Embedded));
        let inside = entering.map(ControlGroup::enter).transpose()?;
        let cgroup_joins = throttled.iter().map(ControlGroup::processes).collect();
        let volumes = storage[1..].to_vec();
        Ok(Self {
            engine: engine.name,
            storage,
            host: (engine.host)(Folders { directory, volumes, permits, cgroup_joins }),
            _inside: inside,
            _throttled: throttled,
            _folders: folders,
        })
    }
}
