//! Data sets that stay on a private server between trials.

use super::private_server::{PrivateServer, Stop};
use super::template;
use engine::{EngineError, cache};
use servers::data_sets::{KeptTables, is_beside};
use work::Cancel;

impl PrivateServer {
    /// Whether data sets of so many bytes can be kept: in the cache there is room, and the log is
    /// where the data is.
    ///
    /// # Errors
    /// When there is no cache.
    pub(crate) fn keeps(&self, bytes: u64) -> Result<bool, EngineError> {
        let cache = template::cache_folder(&self.options.account)?;
        let plain = self.options.log_directory.is_none() && self.options.setup.is_none();
        Ok(plain && cache::has_room(&cache, bytes))
    }

    /// Stops the server and starts it, with the same settings, on a data directory that holds this
    /// data set: the one that an earlier trial had, or a clone of the template, which `fill`
    /// loads where it is not in the cache.
    ///
    /// # Errors
    /// When loading fails, or the server does not stop or start.
    pub(crate) fn change_to_data(
        &mut self,
        kept: &KeptTables,
        bytes: u64,
        cancel: &Cancel,
        fill: impl FnOnce(&PrivateServer) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        let settings = self.in_force.clone().unwrap_or_default();
        let template = if is_beside(&self.layout, &kept.name) {
            None
        } else {
            Some(template::with_data(&self.options, &settings, &kept.identity, cancel, fill)?)
        };
        // What is thrown away need not be written.
        let how = if self.data_sets.is_held() { Stop::Clean } else { Stop::Kill };
        self.stop(how, cancel)?;
        let (layout, account) = (&self.layout, &self.options.account);
        self.data_sets.change(layout, account, (&kept.name, bytes), template.as_ref())?;
        self.start(&settings, cancel)
    }
}
