//! Prerequisites of the first trial: the needs of trials and the engine's findings.

use crate::{Folders, Result, Role};
use experiment::{Configuration, Invalid, Setting, Value};
use std::collections::{BTreeMap, HashSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Needs of one configuration's trials.
#[derive(Debug, Clone)]
pub struct Need<'a> {
    /// The settings.
    pub configuration: &'a Configuration,
    /// Connections that the load opens.
    pub connections: u32,
    /// The footprint.
    pub footprint: Footprint,
}

/// Space that trials use on their target, as far as settings determine it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Bytes of the rows alone, to which an engine adds its own: the data takes at least about so
    /// much. 0 where it is not known.
    pub row_bytes: u64,
    /// The files that they work on, each with whether they write to it.
    pub files: Vec<(Role, bool)>,
}

/// An engine's findings about its targets, made without changes.
#[derive(Debug, Clone, Default)]
pub struct Preflight {
    /// Settings that a target cannot have: the file must be changed.
    pub invalid: Vec<Invalid>,
    /// Missing prerequisites and permissions, a sentence each.
    pub missing: Vec<String>,
    /// Differences between the file and the targets that trials will have, a sentence each.
    pub notes: Vec<String>,
    /// Space that the largest trial needs on each file system.
    pub space: Vec<Space>,
}

/// Space that a trial needs in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Space {
    /// The folder.
    pub folder: PathBuf,
    /// Bytes.
    pub bytes: u64,
    /// True if the figure is an estimate and a lower bound.
    pub is_estimate: bool,
}

impl Need<'_> {
    /// The space for its rows, spread over these volumes; without any, over the default folder.
    pub fn of_rows(&self, volumes: &[String], folders: &Folders) -> Vec<Space> {
        let mut places: Vec<PathBuf> =
            volumes.iter().filter_map(|name| folders.volume(name).ok().cloned()).collect();
        if places.is_empty() {
            places.push(folders.directory.clone());
        }
        let bytes = self.footprint.row_bytes / places.len() as u64;
        places.into_iter().map(|folder| Space { folder, bytes, is_estimate: true }).collect()
    }
}

impl Preflight {
    /// Checks private servers: room for rows, and the `objections` of each different target.
    /// Returns the needs of servers by URL, which are checked on the server.
    pub fn of_private<'n, 'c>(
        &mut self,
        needs: &'n [Need<'c>],
        folders: &Folders,
        url: Setting<Option<String>>,
        volumes: Setting<Vec<String>>,
        objections: impl Fn(&Configuration) -> Result<Vec<Invalid>>,
    ) -> BTreeMap<String, Vec<&'n Need<'c>>> {
        let (mut devices, mut by_url) = (HashSet::new(), BTreeMap::<String, Vec<&Need<'_>>>::new());
        for need in needs {
            if let Some(url) = need.configuration.get(url) {
                by_url.entry(url).or_default().push(need);
                continue;
            }
            self.needs(need.of_rows(&need.configuration.get(volumes), folders));
            let target: Vec<(&str, &Value)> = need.configuration.below("target.").collect();
            if devices.insert(format!("{target:?}")) {
                match objections(need.configuration) {
                    Err(error) => self.misses(error.to_string()),
                    Ok(invalid) => self.invalid.extend(invalid),
                }
            }
        }
        by_url
    }

    /// Takes note of a difference, once.
    pub fn note(&mut self, text: Option<String>) {
        self.notes.extend(text.filter(|text| !self.notes.contains(text)));
    }

    /// Takes note of something that is missing, once.
    pub fn misses(&mut self, what: impl Into<String>) {
        let what = what.into();
        if !self.missing.contains(&what) {
            self.missing.push(what);
        }
    }

    /// Takes note of what a run that was killed has left on a server, where it is in the way.
    pub fn reclaims(&mut self, setting: &str, what: &str) {
        self.notes.push(format!(
            "{setting}: {what} of an earlier run is still there; the first trial drops it, unless \
             another run is using it"
        ));
    }

    /// Takes note of the space that one trial needs; files that are on one file system need it
    /// together.
    pub fn needs(&mut self, of_trial: impl IntoIterator<Item = Space>) {
        let mut together: Vec<(Option<u64>, Space)> = Vec::new();
        for space in of_trial.into_iter().filter(|space| space.bytes > 0) {
            let device = device(&space.folder);
            match together.iter_mut().find(|(other, _)| *other == device) {
                Some((_, sum)) => {
                    sum.bytes = sum.bytes.saturating_add(space.bytes);
                    sum.is_estimate |= space.is_estimate;
                }
                None => together.push((device, space)),
            }
        }
        for (shared_device, space) in together {
            match self.space.iter_mut().find(|known| device(&known.folder) == shared_device) {
                Some(known) if known.bytes < space.bytes => *known = space,
                Some(_) => {}
                None => self.space.push(space),
            }
        }
    }
}

/// The number of the file system that holds a folder, or will hold it when it is made.
fn device(folder: &Path) -> Option<u64> {
    folder.ancestors().find_map(|folder| folder.metadata().ok()).map(|found| found.dev())
}

#[cfg(test)]
mod tests {
    use super::{Preflight, Space};

    #[test]
    fn files_of_a_trial_on_one_file_system_add_up_and_the_largest_trial_counts() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (folder.path().join("a"), folder.path().join("b"));
        std::fs::create_dir(&a).unwrap();
        let space = |folder: &std::path::Path, bytes, is_estimate| Space {
            folder: folder.into(),
            bytes,
            is_estimate,
        };
        let mut found = Preflight::default();
        found.needs([space(&a, 2, false), space(&b, 3, true)]);
        found.needs([space(&b, 4, false)]);
        found.needs([space(&a, 0, false)]);
        assert_eq!(found.space, [space(&a, 5, true)]);
    }
}
