//! The connections of a load ([`servers::load`]).

use super::failed_at;
use super::wire::{Features, MariaWire, StatementText};
use crate::client::{Client, Config};
use engine::EngineError;
use servers::load::Opened;
use std::sync::Arc;

/// The numbers of the connections that serve a load.
pub type Sessions = servers::load::Sessions<u32>;

/// The connections of a load.
#[derive(Debug, Clone)]
pub struct LoadConfig {
    /// To which server and database.
    pub config: Config,
    /// Settings of each session.
    pub session: Vec<(String, String)>,
}

impl LoadConfig {
    /// Opens one connection and sets what its session has to have.
    pub fn connect(&self) -> Result<Client, EngineError> {
        let mut client = Client::connect(&self.config).map_err(failed_at("connecting"))?;
        for (name, value) in &self.session {
            let doing = format!("setting {name} = {value} in a session");
            client.run(&format!("SET SESSION {name} = {value}")).map_err(failed_at(&doing))?;
        }
        Ok(client)
    }

    /// Opens a connection of a load.
    pub fn open(
        &self,
        statements: &Arc<[StatementText]>,
    ) -> Result<Opened<MariaWire, u32>, EngineError> {
        let client = self.connect()?;
        let features =
            Features { caches_metadata: client.caches_metadata(), bulk: client.has_bulk() };
        Ok(Opened {
            session: client.connection_id(),
            // A session's time with its client counts once its next statement comes.
            report: Some("DO 0"),
            stream: client.into_stream(),
            wire: MariaWire::new(Arc::clone(statements), features),
        })
    }
}
