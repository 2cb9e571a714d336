//! Scripted targets of load generators in other processes.

use crate::engine::{Null, Scripted};
use engine::{Host, Instance, Result, Shared, Sharing};
use experiment::Configuration;
use work::Cancel;

impl Sharing for Null {
    fn refusal(&self, _: &Configuration) -> Option<&'static str> {
        None
    }

    fn attach(
        &self,
        configuration: &Configuration,
        _: &str,
        cancel: &Cancel,
    ) -> Result<Box<dyn Instance>> {
        Self.prepare(configuration, 0, cancel)
    }
}

/// Each process has its own copy of the script; there is nothing else to share.
impl Shared for Scripted {
    fn attachment(&self) -> Result<String> {
        Ok(String::new())
    }

    fn sessions(&self) -> Vec<i64> {
        Vec::new()
    }

    fn adopt(&self, _: &[i64]) {}

    fn flush(&self) -> Result<()> {
        Ok(())
    }
}
