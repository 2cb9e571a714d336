//! The targets of consecutive trials.

use super::instance::DuckDbInstance;
use engine::{EngineError, Folders, Host, Instance};
use experiment::Configuration;
use work::Cancel;

/// Nothing is shared between trials but the folders.
pub struct DuckDbHost(pub Folders);

impl Host for DuckDbHost {
    fn prepare(
        &mut self,
        configuration: &Configuration,
        _: u32,
        cancel: &Cancel,
    ) -> Result<Box<dyn Instance>, EngineError> {
        Ok(Box::new(DuckDbInstance::create(configuration, &self.0, cancel)?))
    }
}
