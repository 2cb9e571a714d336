//! No target: for probes that measure the machine itself.

use crate::Cancel;
use crate::engine::{
    CacheReport, CacheState, Capabilities, Collected, ConnectionSet, Engine, EngineError, Host, Instance,
    Place, WaitCollector,
};
use experiment::{Configuration, Declaration, Invalid};
use observations::EngineVersion;

/// The engine that is none: `target.engine = "none"`. No load can work on it.
#[derive(Debug, Clone, Copy)]
pub struct Nothing;

impl Engine for Nothing {
    fn name(&self) -> &'static str {
        "none"
    }

    fn settings(&self) -> &'static [Declaration] {
        &[]
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { embedded: true, ..Capabilities::default() }
    }

    fn version(&self, _: &[&Configuration]) -> EngineVersion {
        let kernel = observe::environment::capture(&[]).kernel;
        EngineVersion { version: kernel.unwrap_or_default(), options: Vec::new() }
    }

    fn validate(&self, _: &Configuration, _: u32) -> Vec<Invalid> {
        Vec::new()
    }

    fn host(&self, _: Place) -> Box<dyn Host> {
        Box::new(Self)
    }
}

impl Host for Nothing {
    fn prepare(&mut self, _: &Configuration, _: u32, _: &Cancel) -> Result<Box<dyn Instance>, EngineError> {
        Ok(Box::new(Self))
    }
}

impl Instance for Nothing {
    fn connect(&self, _: u32) -> Result<Box<dyn ConnectionSet>, EngineError> {
        Err(EngineError::Unsupported { engine: "none", what: "connections" })
    }

    fn settle(&self, _: CacheState) -> Result<CacheReport, EngineError> {
        Ok(CacheReport { file_bytes: 0, resident_bytes: Some(0), verified: true })
    }

    fn wait_collector(&self) -> Box<dyn WaitCollector> {
        Box::new(Self)
    }

    fn space_bytes(&self) -> Option<u64> {
        Some(0)
    }

    fn remove(self: Box<Self>) -> Result<(), EngineError> {
        Ok(())
    }
}

/// What waits there are the load itself sees.
impl WaitCollector for Nothing {
    fn start(&mut self) -> Result<(), EngineError> {
        Ok(())
    }

    fn stop(&mut self) -> Result<Collected, EngineError> {
        Ok(Collected::default())
    }
}

#[cfg(test)]
mod tests {
    use super::Nothing;
    use crate::{Ability, Engine, by_name};

    #[test]
    fn no_load_can_work_on_it() {
        let engine = by_name("none").unwrap();
        let capabilities = engine.capabilities();
        assert!(capabilities.embedded && !capabilities.synthetic);
        for ability in [Ability::Tables, Ability::Files, Ability::Statements] {
            assert!(!capabilities.has(ability));
        }
        assert!(!Nothing.version(&[]).version.is_empty());
    }
}
