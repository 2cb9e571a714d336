//! No target: for probes that measure the machine itself.

use engine::{Ability, ConnectionSet, Engine, EngineError, Host, Instance, Result};
use experiment::Configuration;
use observations::EngineVersion;
use work::{Cancel, Stop};

/// The host and target of nothing.
#[derive(Debug, Clone, Copy)]
pub struct Nothing;

/// The absence of an engine: `target.engine = "none"`. No load can work on it.
pub const NONE: Engine = Engine {
    abilities: &[Ability::Embedded, Ability::Keeps],
    ..Engine::new("none", version, |_| Box::new(Nothing))
};

fn version(_: &[&Configuration], _: &Stop) -> EngineVersion {
    let kernel = observe::environment::kernel();
    EngineVersion { version: kernel.unwrap_or_default(), options: Vec::new() }
}

impl Host for Nothing {
    fn prepare(&mut self, _: &Configuration, _: u32, _: &Cancel) -> Result<Box<dyn Instance>> {
        Ok(Box::new(Self))
    }
}

impl Instance for Nothing {
    fn connect(&self, _: u32) -> Result<Box<dyn ConnectionSet>> {
        Err(EngineError::Unsupported { engine: "none", what: "connections" })
    }
}

#[cfg(test)]
mod tests {
    use super::NONE;
    use engine::Ability;
    use work::Cancel;

    #[test]
    fn no_load_can_work_on_it() {
        assert!(!NONE.abilities.contains(&Ability::Tables));
        assert!(!(NONE.version)(&[], &Cancel::new().stop()).version.is_empty());
    }
}
