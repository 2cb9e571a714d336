//! PostgreSQL: servers of our own that are thrown away, and servers by URL.
//!
//! - `settings`: what `[target]` can say, and objections to it
//! - `server`: installations, private clusters
//! - `host`: the server of consecutive trials, ours or another's, brought into the same state
//! - `instance`: what a trial works on: a schema of our own
//! - `admin`: the connection that holds it
//! - `schema`: that schema, marked as ours
//! - `tables`: the tables of our loads
//! - `load`: the connections of a load
//! - `waits`: what sessions wait for

mod admin;
mod failure;
mod host;
mod instance;
mod load;
mod schema;
pub mod server;
mod settings;
mod tables;
pub mod waits;

use crate::engine::{Capabilities, Engine, EngineError, Host, Place};
use experiment::{Configuration, Invalid, Setting};
use observations::EngineVersion;
use std::path::Path;

/// PostgreSQL, from version 14 up.
#[derive(Debug, Clone, Copy)]
pub struct Postgres;

impl Engine for Postgres {
    fn name(&self) -> &'static str {
        "postgres"
    }

    fn settings(&self) -> &'static [Setting] {
        settings::SETTINGS
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { statements: true, ..Capabilities::default() }
    }

    fn version(&self) -> EngineVersion {
        let found = server::Installation::find_all(&[]);
        let versions: Vec<String> = found.iter().map(|found| found.version.to_string()).collect();
        let version = if versions.is_empty() { "none installed".into() } else { versions.join(", ") };
        let options = found.iter().map(|found| found.bindir.display().to_string()).collect();
        EngineVersion { version, options }
    }

    fn validate(&self, configuration: &Configuration) -> Vec<Invalid> {
        settings::validate(configuration)
    }

    fn host(&self, place: Place) -> Box<dyn Host> {
        Box::new(host::PostgresHost::new(place))
    }

    fn reclaim(&self, directory: &Path) -> Result<(), EngineError> {
        server::reclaim(directory)
    }
}
