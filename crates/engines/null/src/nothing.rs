//! No target: for probes that measure the machine itself.

use engine::{Ability, ConnectionSet, Engine, EngineError, Folders, Host, Instance};
use experiment::Configuration;
use observations::EngineVersion;
use work::{Cancel, Stop};

/// The absence of an engine: `target.engine = "none"`. No load can work on it.
#[derive(Debug, Clone, Copy)]
pub struct Nothing;

impl Engine for Nothing {
    fn name(&self) -> &'static str {
        "none"
    }

    fn abilities(&self) -> &'static [Ability] {
        &[Ability::Embedded, Ability::Keeps]
    }

    fn version(&self, _: &[&Configuration], _: &Stop) -> EngineVersion {
        let kernel = observe::environment::kernel();
        EngineVersion { version: kernel.unwrap_or_default(), options: Vec::new() }
    }

    fn host(&self, _: Folders) -> Box<dyn Host> {
        Box::new(Self)
    }
}

impl Host for Nothing {
    fn prepare(
        &mut self,
        _: &Configuration,
        _: u32,
        _: &Cancel,
    ) -> Result<Box<dyn Instance>, EngineError> {
        Ok(Box::new(Self))
    }
}

impl Instance for Nothing {
    fn connect(&self, _: u32) -> Result<Box<dyn ConnectionSet>, EngineError> {
        Err(EngineError::Unsupported { engine: "none", what: "connections" })
    }
}

#[cfg(test)]
mod tests {
    use super::Nothing;
    use engine::{Ability, Engine};
    use work::Cancel;

    #[test]
    fn no_load_can_work_on_it() {
        assert!(!Nothing.abilities().contains(&Ability::Tables));
        assert!(!Nothing.version(&[], &Cancel::new().stop()).version.is_empty());
    }
}
