//! Data sets of a private server: each has a data directory of its own, which is cloned from a template in the cache and
//! stays beside that of the running server until the cluster goes.

use super::cluster::{Cluster, Stop};
use super::files::SETTINGS_FILE;
use super::template;
use crate::private::files::{clone_folder, write_back};
use crate::private::process::removed;
use crate::{Cancel, EngineError, cache};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// How the names of the directories beside the server's own begin.
const BESIDE: &str = "data.";

impl Cluster {
    /// Whether the data directory holds this data set, as it was loaded.
    pub fn holds(&self, data_set: &str) -> bool {
        self.data_set.as_deref() == Some(data_set)
    }

    /// A trial changes the data set.
    pub fn forget_data_set(&mut self) {
        self.data_set = None;
    }

    /// Whether data sets of so many bytes can be kept: in the cache there is room, and the log is where the data is.
    ///
    /// # Errors
    /// When there is no cache.
    pub fn keeps(&self, bytes: u64) -> Result<bool, EngineError> {
        let cache = template::cache_folder(&self.options.account)?;
        let plain = self.options.wal_directory.is_none() && self.options.setup.is_none();
        Ok(plain && cache::has_room(&cache, bytes))
    }

    /// Stops the server and starts it on a data directory that holds this data set: the one that an earlier trial had, or
    /// a clone of the template, which `fill` loads where it is not in the cache. The settings stay.
    ///
    /// # Errors
    /// When loading fails, or the server does not stop or start.
    pub fn change_to_data(
        &mut self,
        (data_set, identity): (&str, &str),
        bytes: u64,
        cancel: &Cancel,
        fill: impl FnOnce(&Cluster) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        let next = self.beside(data_set);
        let template = if next.is_dir() {
            None
        } else {
            let none = BTreeMap::new();
            let settings = self.applied.as_ref().unwrap_or(&none);
            Some(template::with_data(&self.options, settings, identity, cancel, fill)?)
        };
        self.stop(Stop::Fast, cancel)?;
        let data = self.data_directory();
        let settings = std::fs::read_to_string(data.join(SETTINGS_FILE)).ok();
        let gone = match self.data_set.take() {
            Some(held) => std::fs::rename(&data, self.beside(&held)),
            None => std::fs::remove_dir_all(&data),
        };
        gone.map_err(EngineError::at(&data))?;
        if let Some(template) = template {
            if !cache::has_room(&self.layout.directory, bytes) {
                remove_beside(&self.layout.directory)?;
            }
            clone_folder(&template.data, &data, &self.options.account)?;
            write_back(&data)?;
        } else {
            std::fs::rename(&next, &data).map_err(EngineError::at(&next))?;
        }
        if let Some(settings) = settings {
            self.options.account.write(&data.join(SETTINGS_FILE), &settings)?;
        }
        self.data_set = Some(data_set.to_owned());
        self.start(cancel)
    }

    fn beside(&self, data_set: &str) -> PathBuf {
        self.layout.directory.join(format!("{BESIDE}{data_set}"))
    }
}

/// Removes the data directories that no server runs on.
pub(super) fn remove_beside(directory: &Path) -> Result<(), EngineError> {
    for (_, folder) in cache::entries(directory, BESIDE, None) {
        removed(&folder, std::fs::remove_dir_all(&folder))?;
    }
    Ok(())
}
