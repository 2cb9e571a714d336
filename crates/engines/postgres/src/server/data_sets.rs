//! Data sets that stay on a private cluster between trials.

use super::cluster::{Cluster, Stop};
use super::files::SETTINGS_FILE;
use super::template;
use engine::{EngineError, cache};
use servers::data_sets::{KeptTables, is_beside};
use std::collections::BTreeMap;
use work::Cancel;

impl Cluster {
    /// Whether data sets of so many bytes can be kept: in the cache there is room, and the log is
    /// where the data is.
    ///
    /// # Errors
    /// When there is no cache.
    pub(crate) fn keeps(&self, bytes: u64) -> Result<bool, EngineError> {
        let cache = template::cache_folder(&self.options.account)?;
        let plain = self.options.wal_directory.is_none() && self.options.setup.is_none();
        Ok(plain && cache::has_room(&cache, bytes))
    }

    /// Stops the server and starts it on a data directory that holds this data set: the one that an
    /// earlier trial had, or a clone of the template, which `fill` loads where it is not in the
    /// cache. The settings stay.
    ///
    /// # Errors
    /// When loading fails, or the server does not stop or start.
    pub(crate) fn change_to_data(
        &mut self,
        kept: &KeptTables,
        bytes: u64,
        cancel: &Cancel,
        fill: impl FnOnce(&Cluster) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        let template = if is_beside(&self.layout, &kept.name) {
            None
        } else {
            let none = BTreeMap::new();
            let settings = self.applied.as_ref().unwrap_or(&none);
            Some(template::with_data(&self.options, settings, &kept.identity, cancel, fill)?)
        };
        self.stop(Stop::Fast, cancel)?;
        let file = self.layout.data.join(SETTINGS_FILE);
        let settings = std::fs::read_to_string(&file).ok();
        let (layout, account) = (&self.layout, &self.options.account);
        self.data_sets.change(layout, account, (&kept.name, bytes), template.as_ref())?;
        if let Some(settings) = settings {
            account.write(&file, &settings)?;
        }
        self.start(cancel)
    }
}
