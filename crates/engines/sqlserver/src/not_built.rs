//! Builds without the driver, which refuse trials.

/// Why nothing works without the feature.
pub const NOT_BUILT: &str = "this build does not include SQL Server; build with `cargo build \
                             --release --features sqlserver`";

/// Trials that are refused.
#[cfg(not(feature = "driver"))]
pub mod trials {
    use crate::not_built::NOT_BUILT;
    use engine::{EngineError, Host, Instance, Need, Preflight};
    use experiment::Configuration;
    use work::{Cancel, Stop};

    /// A host that prepares nothing.
    pub struct MssqlHost;

    impl Host for MssqlHost {
        fn prepare(
            &mut self,
            _: &Configuration,
            _: u32,
            _: &Cancel,
        ) -> Result<Box<dyn Instance>, EngineError> {
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

#[cfg(all(test, not(feature = "driver")))]
mod tests {
    use super::trials::{MssqlHost, preflight, version};
    use crate::SqlServer;
    use engine::{Host, Prerequisites, Servers};
    use experiment::Configuration;
    use work::{Cancel, Stop};

    #[test]
    fn sql_server_is_named_with_the_way_to_build_it() {
        let configuration = Configuration::default();
        let refused = SqlServer.by_url("mssql://sa@db1/master").err().unwrap().to_string();
        let missing = SqlServer.missing(&configuration).unwrap();
        let (_, origin) = version(&configuration, &Stop::when(|| false));
        let found = preflight(&[], &Stop::when(|| false));
        for message in [refused, missing, origin, format!("{found:?}")] {
            assert!(message.contains("this build does not include SQL Server"), "{message}");
            assert!(message.contains("cargo build --release --features sqlserver"), "{message}");
        }
    }

    #[test]
    fn trials_are_refused() {
        let refused = MssqlHost.prepare(&Configuration::default(), 0, &Cancel::default());
        assert!(refused.err().unwrap().to_string().contains("SQL Server"));
    }
}
