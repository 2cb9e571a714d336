//! Builds without the driver, which refuse trials.

/// Why nothing works without the feature.
pub(crate) const NOT_BUILT: &str = "this build does not include SQL Server; build with `cargo \
                                    build --release --features sqlserver`";

/// Trials that are refused.
#[cfg(not(feature = "driver"))]
pub mod trials {
    use crate::not_built::NOT_BUILT;
    use engine::{EngineError, Host, Instance, Need, Preflight, Result};
    use experiment::Configuration;
    use work::{Cancel, Stop};

    /// A host that prepares nothing.
    pub struct MssqlHost;

    impl Host for MssqlHost {
        fn prepare(&mut self, _: &Configuration, _: u32, _: &Cancel) -> Result<Box<dyn Instance>> {
            Err(EngineError::Unsupported { engine: "this build", what: "SQL Server" })
        }
    }

    /// The version and its origin, of which nothing is known.
    pub fn version(_: &Configuration, _: &Stop) -> (String, String) {
        ("none".into(), NOT_BUILT.into())
    }

    /// Finds that the driver is missing.
    pub fn preflight(_: &[Need<'_>], _: &Stop) -> Preflight {
        let mut found = Preflight::default();
        found.misses(NOT_BUILT);
        found
    }
}
