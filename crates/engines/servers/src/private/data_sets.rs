//! Data sets that stay on a private server between trials.

use super::server::{Product, Server, Stop};
use super::templates::{Content, cache_folder, with_data_set};
use crate::data_sets::{KeptTables, is_stored};
use engine::{Result, cache};
use work::{Cancel, Fill, Work};

impl<P: Product> Server<P> {
    /// Has the server hold the data set of this work, where no trial works on its tables. `load`
    /// loads them there into a server, with the fills that it replaces: they are gone from the
    /// work. Returns whether the server has other data now; `None` when the data set cannot be
    /// kept.
    ///
    /// # Errors
    /// When loading fails, or the server does not stop or start.
    pub fn hold(
        &mut self,
        kept: &KeptTables,
        work: &mut Work,
        cancel: &Cancel,
        load: impl FnOnce(&Self, &Work, Vec<Fill>) -> Result<()>,
    ) -> Result<Option<bool>> {
        let bytes = work.data.as_ref().map_or(0, |data| data.bytes);
        let is_held = self.data_sets.holds(&kept.name);
        if !is_held && !self.keeps(bytes)? {
            return Ok(None);
        }
        let count = kept.count();
        let fills: Vec<Fill> = work.fills.extract_if(.., |fill| fill.table < count).collect();
        if !is_held {
            self.change_to_data(kept, bytes, cancel, |template| load(template, work, fills))?;
        }
        if kept.changed {
            self.data_sets.forget();
        }
        Ok(Some(!is_held))
    }

    /// Returns whether data sets of this size can be kept: the cache has room, and the log is with
    /// the data.
    fn keeps(&self, bytes: u64) -> Result<bool> {
        let cache = cache_folder::<P>(&self.options.account)?;
        let plain = self.options.log_directory.is_none() && self.options.setup.is_none();
        Ok(plain && cache::has_room(&cache, bytes))
    }

    /// Restarts the server, with the same settings, on a data directory that holds this data set:
    /// that of an earlier trial, or a clone of the template. `fill` loads a template that is not in
    /// the cache.
    fn change_to_data(
        &mut self,
        kept: &KeptTables,
        bytes: u64,
        cancel: &Cancel,
        fill: impl FnOnce(&Self) -> Result<()>,
    ) -> Result<()> {
        let template = if is_stored(&self.layout, &kept.name) {
            None
        } else {
            let settings = &self.in_force.clone().unwrap_or_default();
            let content = Content { identity: &kept.identity, settings };
            Some(with_data_set(&self.options, &content, cancel, fill)?)
        };
        // Data that is dropped need not be written.
        let how = if self.data_sets.is_held() { Stop::Clean } else { Stop::Crash };
        self.stop(how, cancel)?;
        let (layout, account) = (&self.layout, &self.options.account);
        self.data_sets.change(layout, account, &kept.name, bytes, template.as_ref())?;
        self.start(cancel)
    }
}
