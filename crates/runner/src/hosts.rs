//! The host of the trials at hand: kept while consecutive trials have the same engine and volumes.

use crate::RunError;
use crate::throttle::{ControlGroup, Inside};
use crate::workdir::{WorkFolder, Workdir};
use engines::{Engine, Folders, Host, Permits};
use experiment::Volume;
use std::path::{Path, PathBuf};

/// Keeps the host that the last trial used.
pub struct Hosts {
    permits: Permits,
    kept: Option<Kept>,
}

/// A host with what it has of its own.
pub struct Kept {
    engine: &'static str,
    volumes: Vec<String>,
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
            kept.engine == engine
                && kept
                    .volumes
                    .iter()
                    .map(String::as_str)
                    .eq(volumes.iter().map(|volume| volume.name.as_str()))
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
        let kept = match self.kept.take() {
            Some(kept) => kept,
            None => match Kept::new(engine, volumes, workdir, self.permits.clone())? {
                Ok(kept) => kept,
                Err(cause) => return Ok(Err(cause)),
            },
        };
        Ok(Ok(self.kept.insert(kept)))
    }
}

impl Kept {
    fn new(
        engine: &'static dyn Engine,
        volumes: &[&Volume],
        workdir: &Workdir,
        permits: Permits,
    ) -> Result<Result<Self, String>, RunError> {
        let default = workdir.create(&workdir.default)?;
        let directory = default.path().to_path_buf();
        let (mut folders, mut places) = (vec![default], Vec::new());
        for volume in volumes {
            match workdir.create(Path::new(&volume.path)) {
                Ok(folder) => {
                    places.push((volume.name.clone(), folder.path().to_path_buf()));
                    folders.push(folder);
                }
                Err(error) => return Ok(Err(format!("volume {}: {error}", volume.name))),
            }
        }
        let limited = ControlGroup::for_volumes(volumes).and_then(|throttled| {
            // An embedded engine is our own process; a server joins when it is started.
            let entering = throttled.as_ref().filter(|_| engine.capabilities().embedded);
            let inside = entering.map(ControlGroup::enter).transpose()?;
            Ok((throttled, inside))
        });
        let (throttled, inside) = match limited {
            Ok(limited) => limited,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let mut storage = vec![("default".to_owned(), directory.clone())];
        storage.extend(places.iter().cloned());
        let cgroup_joins = throttled.as_ref().map(ControlGroup::joins).unwrap_or_default();
        Ok(Ok(Self {
            engine: engine.name(),
            volumes: volumes.iter().map(|volume| volume.name.clone()).collect(),
            storage,
            host: engine.host(Folders { directory, volumes: places, permits, cgroup_joins }),
            _inside: inside,
            _throttled: throttled,
            _folders: folders,
        }))
    }
}

/// The directories whose file systems a trial fills.
pub fn filled_by(workdir: &Workdir, volumes: &[&Volume]) -> Vec<PathBuf> {
    let volumes = volumes.iter().map(|volume| PathBuf::from(&volume.path));
    std::iter::once(workdir.default.clone()).chain(volumes).collect()
}
